//! Programs that show, count and compare text.

use super::{Operands, Parser, Row, row};

pub(super) const ROWS: &[Row] = &[
    row(
        &["cat"],
        "-A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank \
         --show-tabs --show-nonprinting",
    )
    .takes_any_name(),
    row(&["tac"], "-b -r -s: --before --regex --separator:").takes_any_name(),
    row(
        &["head"],
        "-# -n: -c: -q -v -z --lines: --bytes: --quiet --silent --verbose --zero-terminated",
    )
    .takes_any_name(),
    // `--pid` is not listed, because it reports on other processes.
    row(
        &["tail"],
        "-# -n: -c: -f -F -s: --follow? --retry --sleep-interval: -q -v -z --lines: --bytes: --quiet --silent --verbose --zero-terminated",
    )
    .takes_any_name(),
    // Without a terminal, these programs print their files and read no keys. Options with files of keys or tags, and
    // with an output file, are not listed. A word that begins with `+` is a command of the program.
    row(&["less"], "-e -E -F -g -G -i -I -J -m -M -n -N -q -Q -r -R -s -S -w -X").with(Operands::Without("+")),
    row(&["more"], "-d -f -l -p -c -s -u").with(Operands::Without("+")),
    row(
        &["bat", "batcat"],
        "-A -n -p -P -l: -r: -s --plain? --number --language: --line-range: --paging=never --style: --color: --decorations: \
         --show-all",
    ),
    // `tee` with any other file is not treated as read-only, because it writes the file.
    row(&["tee"], "-a -i -p --append --ignore-interrupts").with(Operands::Only(&["/dev/null"])),
    row(&["iconv"], "-c -f: -l -s -t: --from-code: --to-code: --list --silent"),
    // Options for pagers, formatters, configuration, other folders and pages in the workspace are not listed.
    row(&["man"], "-k -f -a -w -i -I --apropos --whatis --all --where --path --regex --wildcard").with(Operands::Names),
    row(&["whatis", "apropos"], "-r -w -l -s: --regex --wildcard --long --sections:").with(Operands::Names),
    // `--files0-from` is not listed, because it reads file names from a file that is not analyzed.
    row(
        &["wc"],
        "-c -m -l -L -w --bytes --chars --lines --words --max-line-length --total:",
    )
    .takes_any_name(),
    row(
        &["nl"],
        "-b: -d: -f: -h: -i: -l: -n: -p -s: -v: -w: --body-numbering: --number-format: --number-width: \
         --number-separator: --line-increment: --starting-line-number:",
    )
    .takes_any_name(),
    row(
        &["cut"],
        "-b: -c: -d: -f: -n -s -z --bytes: --characters: --delimiter: --fields: --complement --only-delimited \
         --output-delimiter: --zero-terminated",
    )
    .takes_any_name(),
    row(&["tr"], "-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1"),
    row(&["rev"], "").takes_any_name(),
    row(&["fold"], "-b -s -w: --bytes --spaces --width:").takes_any_name(),
    row(&["fmt"], "-c -s -t -u -w: -g: -p: --width: --goal: --prefix: --split-only --uniform-spacing"),
    row(&["expand", "unexpand"], "-a -i -t: --all --initial --first-only --tabs:").takes_any_name(),
    row(&["paste"], "-d: -s -z --delimiters: --serial --zero-terminated").takes_any_name(),
    row(
        &["join"],
        "-1: -2: -j: -t: -o: -a: -v: -e: -i -z --ignore-case --header --check-order --nocheck-order \
         --zero-terminated",
    ),
    row(
        &["comm"],
        "-1 -2 -3 -z --check-order --nocheck-order --output-delimiter: --total --zero-terminated",
    ),
    row(
        &["column"],
        "-t -s: -n -o: -x -c: -N: -R: -r: -H: -J -e -L --table --separator: --output-separator: --json \
         --table-columns: --output-width:",
    ),
    // `-o`, `-T`, `--compress-program`, `--files0-from` and `--random-source` are not listed. `-S` is not listed,
    // because with it sort may write temporary files.
    row(
        &["sort"],
        "-b -d -f -g -h -i -M -n -R -r -V -c -C -m -s -u -z -k: -t: --ignore-leading-blanks --dictionary-order \
         --ignore-case --general-numeric-sort --human-numeric-sort --ignore-nonprinting --month-sort \
         --numeric-sort --random-sort --reverse --version-sort --check? --merge --stable --unique \
         --zero-terminated --key: --field-separator: --sort: --debug",
    ),
    // The second operand is a file that `uniq` writes.
    row(
        &["uniq"],
        "-c -d -D -u -i -z -f: -s: -w: --count --repeated --all-repeated? --unique --group? --ignore-case \
         --zero-terminated --skip-fields: --skip-chars: --check-chars:",
    )
    .with(Operands::Most(1)),
    // `-l` is not listed, because it runs `pr`. Options with files of patterns are not listed either.
    row(
        &["diff"],
        "-u -U: -c -C: -q -s -r -N -a -b -B -w -i -E -Z -y -W: -t -T -p -e -n -d -F: -L: -x: -I: -0 -1 -2 -3 -4 -5 \
         --brief --color? --side-by-side --suppress-common-lines --left-column --strip-trailing-cr --unified? \
         --context? --report-identical-files --recursive --new-file --text --ignore-case --ignore-all-space \
         --ignore-space-change --ignore-blank-lines --ignore-trailing-space --ignore-tab-expansion \
         --ignore-matching-lines: --ignore-file-name-case --no-ignore-file-name-case --width: --expand-tabs \
         --initial-tab --tabsize: --label: --minimal --speed-large-files --show-c-function \
         --show-function-line: --exclude: --normal --ed --rcs --no-dereference --horizon-lines: \
         --unidirectional-new-file",
    ),
    row(&["diff3"], "-a -A -e -E -m -T -x -X -3 -i -L: --text --merge --strip-trailing-cr --initial-tab"),
    row(
        &["cmp"],
        "-b -l -s -n: -i: --print-bytes --verbose --quiet --silent --bytes: --ignore-initial:",
    ),
    row(
        &["md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum"],
        "-b -t -c -z -w -l: --binary --text --check --tag --zero --quiet --status --ignore-missing --strict --warn \
         --length:",
    )
    .takes_any_name(),
    row(&["shasum"], "-a: -b -t -c -U -0 -q -s -w --algorithm: --binary --text --check --tag --status"),
    row(&["cksum"], "-a: -c -l: -z --algorithm: --check --tag --untagged --length: --raw --base64 --zero")
        .takes_any_name(),
    row(&["sum"], "-r -s --sysv").takes_any_name(),
    row(&["base64", "base32"], "-d -i -w: --decode --ignore-garbage --wrap:").takes_any_name(),
    // The second operand is a file that `xxd` writes, and `-r` converts text to bytes.
    row(
        &["xxd"],
        "-a -b -c: -d -e -E -g: -i -l: -n: -o: -p -ps -plain -s: -u -cols: -len: -seek:",
    )
    .parsed(Parser::OneByOne)
    .with(Operands::Most(1)),
    row(
        &["od"],
        "-A: -t: -N: -j: -S: -w? -a -b -c -d -f -i -l -o -s -v -x --address-radix: --format: --read-bytes: \
         --skip-bytes: --strings? --width? --output-duplicates --endian: --traditional",
    ),
    row(&["hexdump", "hd"], "-b -c -C -d -e: -n: -o -s: -v -x --canonical --length: --skip: --no-squeezing"),
    // A word that begins with `@` is a file with further options.
    row(
        &["strings"],
        "-# -a -f -n: -t: -o -e: -w -s: --all --print-file-name --bytes: --radix: --encoding: --include-all-whitespace \
         --output-separator:",
    )
    .with(Operands::Without("@")),
    row(&["shuf"], "-e -i: -n: -r -z --echo --input-range: --head-count: --repeat --zero-terminated"),
    row(&["tsort"], ""),
    row(
        &["numfmt"],
        "-d: -z --from: --to: --from-unit: --to-unit: --field: --format: --header? --padding: --round: --suffix: \
         --grouping --delimiter: --invalid: --zero-terminated --debug",
    ),
    row(&["seq"], "-f: -s: -w --format: --separator: --equal-width").with(Operands::Numbers),
    row(&["factor"], "-h --exponents").with(Operands::Numbers),
    row(&["expr"], "").with(Operands::Words),
    // A jq program only reads: it writes no file and runs no program. Options for modules and program files are not
    // listed, because these files are not analyzed.
    row(
        &["jq"],
        "-r -c -n -s -S -e -R -a -j -M -C --arg:: --argjson:: --slurpfile:: --rawfile:: --args --jsonargs --tab \
         --indent: --raw-output --raw-output0 --compact-output --null-input --slurp --sort-keys --exit-status \
         --raw-input --ascii-output --join-output --monochrome-output --color-output --seq --stream",
    ),
];
