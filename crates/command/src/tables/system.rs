//! Rows of programs and shell built-ins that report on the machine, the user and the time.

use super::{Operands, Row, row};

pub(super) const ROWS: &[Row] = &[
    row(&["true", "false", ":"], "").with(Operands::Words).takes_any_name(),
    row(&["sleep", "exit", "wait"], "").with(Operands::Numbers),
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
    // An operand would set the host name.
    row(&["hostname"], "-a -A -d -f -i -I -s -y --fqdn --short --ip-address --all-ip-addresses").with(Operands::None),
    row(&["uptime"], "-p -s --pretty --since").with(Operands::None),
    row(&["free"], "-b -k -m -g -h -l -t -w --bytes --kibi --mebi --gibi --human --lohi --total --wide")
        .with(Operands::None),
    // An operand without `+` sets the clock. `-f` reads dates from a file, so it is not listed.
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
    // `-m` is not listed, because it unpacks files.
    row(&["locale"], "-a -c -k --all-locales").with(Operands::Words),
    row(&["getconf"], "-a").with(Operands::Words),
    row(&["lscpu"], "-a -b -c -J -e? -p? -x -y -B --json --all --bytes").with(Operands::None),
    row(
        &["ps"],
        "-A -a -d -e -f -F -H -j -l -L -M -N -o: -O: -p: -q: -s: -T -t: -u: -U: -w -x -y -Z --forest --headers \
         --no-headers --pid: --ppid: --sort: --width: --cols: --format: --user:",
    )
    .with(Operands::Words),
    row(
        &["lsof"],
        "-a -b -c: -C -d: -h -i? -K -l -L -n -N -O -p: -P -R -t -u: -U -v -V -w -x?",
    ),
    // `-K` (closes sockets), `-D` (writes a file), and host names are not listed.
    row(
        &["ss"],
        "-t -u -l -n -p -a -e -m -o -s -4 -6 -x -w -i -H -0 -O --tcp --udp --listening --numeric --processes --all --summary \
         --extended --memory --options --unix --info --no-header --oneline",
    )
    .with(Operands::Words),
    row(&["netstat"], "-t -u -l -n -p -a -r -i -s -e -x -4 -6 -w").with(Operands::None),
    row(&["pidof"], "-s -x -c -n -o: -S:").with(Operands::Words),
    row(&["pstree"], "-a -A -c -g -h -l -n -p -s -S -t -T -u -U").with(Operands::Words),
    row(&["fuser"], "-a -c -m -n: -s -u -v -4 -6 --all --mount --namespace: --silent --user --verbose"),
    // In batch mode `top` reads no keys.
    row(&["top"], "-b -c -d: -e: -E: -H -i -n: -o: -p: -s -u: -U: -w?").with(Operands::None),
    row(&["vmstat"], "-a -d -D -f -m -n -s -S: -t -w --active --stats --wide").with(Operands::Numbers),
    row(&["iostat", "mpstat"], "-c -d -h -k -m -N -t -x -y -z -P:").with(Operands::Numbers),
    row(&["w"], "-f -h -i -o -s -u").with(Operands::Words),
    row(&["who"], "-a -b -H -l -m -q -r -s -T -u --all --boot --heading --count --users").with(Operands::None),
    row(&["last"], "-# -a -F -i -n: -w -x").with(Operands::Words),
    row(&["lsblk"], "-a -b -d -f -i -J -l -m -n -o: -p -P -r -S -t --all --bytes --fs --json --list --output: --paths"),
    row(&["lspci"], "-b -k -m -n -s: -t -v -d:").with(Operands::None),
    row(&["lsusb"], "-s: -d: -t -v").with(Operands::None),
    row(&["lsmod"], "").with(Operands::None),
    row(&["mount"], "-l").with(Operands::None),
    row(&["findmnt"], "-A -a -b -D -f -J -l -n -o: -P -r -R -S: -t: -T: -u -M:").with(Operands::Words),
    row(&["ifconfig"], "-a -s -v").with(Operands::Most(1)),
    row(&["sysctl"], "-a -A -e -n -N -X --all --names --values --ignore").with(Operands::Names),
    row(
        &["dmesg"],
        "-d -e -f: -k -l: -L? -r -t -T -u -x --color? --ctime --decode --facility: --kernel --level: --nopager --raw --reltime \
         --since: --until: --userspace",
    )
    .with(Operands::None),
    // Options for other folders and files, and options that remove old entries, are not listed.
    row(
        &["journalctl"],
        "-a -b? -e -k -n: -o: -p: -q -r -S: -t: -u: -U: -x -g: --all --boot? --catalog --dmesg --disk-usage --grep: \
         --identifier: --lines: --list-boots --no-pager --output: --priority: --quiet --reverse --since: --system --unit: \
         --until: --user --utc",
    )
    .with(Operands::None),
    row(&["ulimit"], "-a -c -d -f -H -l -m -n -s -S -t -u -v").with(Operands::None),
    row(&["umask"], "-S").with(Operands::None),
    row(&["alias", "history"], "").with(Operands::None),
    row(&["jobs"], "-l -p -r -s").with(Operands::None),
    row(&["yes"], "").with(Operands::Words),
    // The listed options show installed packages. Installing or removing a package needs an option that is not listed.
    row(&["dpkg"], "-l -L -s -S --list --listfiles --status --search --print-architecture --get-selections"),
    row(&["dpkg-query"], "-f: -l -L -s -S -W --list --listfiles --search --show --showformat: --status"),
    row(&["pgrep"], "-a -c -f -i -l -n -o -u: -U: -v -w -x --list-name --list-full --full --count --exact"),
];
