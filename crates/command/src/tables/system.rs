//! Rows of programs and shell built-ins that report on the machine, the user and the time.

use super::{Operands, Row, row};

pub(super) const ROWS: &[Row] = &[
    row(&["true", "false", ":"], "").with(Operands::Words).takes_any_name(),
    row(&["sleep", "exit"], "").with(Operands::Numbers),
    row(&["whoami", "arch", "logname", "tty"], "").with(Operands::None),
    row(&["id"], "-a -g -G -n -r -u -z -Z --group --groups --name --real --user --zero"),
    row(&["groups"], ""),
    row(
        &["uname"],
        "-a -s -n -r -v -m -p -i -o --all --kernel-name --nodename --kernel-release --kernel-version --machine \
         --processor --hardware-platform --operating-system",
    )
    .with(Operands::None),
    row(&["nproc"], "--all --ignore:").with(Operands::None),
    // An operand is the name that the machine gets.
    row(&["hostname"], "-a -A -d -f -i -I -s -y --fqdn --short --ip-address --all-ip-addresses").with(Operands::None),
    row(&["uptime"], "-p -s --pretty --since").with(Operands::None),
    row(&["free"], "-b -k -m -g -h -l -t -w --bytes --kibi --mebi --gibi --human --lohi --total --wide")
        .with(Operands::None),
    // An operand without `+` sets the clock; `-f` names its dates in a file.
    row(
        &["date"],
        "-d: -I? -r: -R -u --date: --iso-8601? --reference: --rfc-email --rfc-2822 --rfc-3339: --utc --universal \
         --debug",
    )
    .with(Operands::Beginning("+")),
    row(&["cal", "ncal"], "-1 -3 -j -m: -y -h -s -n: -w -b -M -S").with(Operands::Words),
    row(&["which"], "-a -s --all").with(Operands::Words),
    row(&["whereis"], "-b -m -s -u -l").with(Operands::Words),
    row(&["type"], "-a -f -p -P -t").with(Operands::Words),
    row(&["printenv"], "-0 --null").with(Operands::Words),
    row(&["env"], "").with(Operands::None),
    // Without `-m`, which unpacks files.
    row(&["locale"], "-a -c -k --all-locales").with(Operands::Words),
    row(&["getconf"], "-a").with(Operands::Words),
    row(&["lscpu"], "-a -b -c -J -e? -p? -x -y -B --json --all --bytes").with(Operands::None),
    row(
        &["ps"],
        "-A -a -d -e -f -F -H -j -l -L -M -N -o: -O: -p: -q: -s: -T -t: -u: -U: -w -x -y -Z --forest --headers \
         --no-headers --pid: --ppid: --sort: --width: --cols: --format: --user:",
    )
    .with(Operands::Words),
    row(&["pgrep"], "-a -c -f -i -l -n -o -u: -U: -v -w -x --list-name --list-full --full --count --exact"),
];
