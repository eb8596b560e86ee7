//! Rows of programs that report on files and folders.

use super::{Operands, Parser, Row, row};

pub(super) const ROWS: &[Row] = &[
    row(
        &["ls", "dir", "vdir"],
        "-1 -a -A -b -B -c -C -d -D -f -F -g -G -h -H -i -I: -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -T: -u -U \
         -v -w: -x -X -z -Z --all --almost-all --author --escape --block-size: --ignore-backups --color? \
         --directory --dired --classify? --file-type --format: --full-time --group-directories-first --no-group \
         --human-readable --si --dereference --dereference-command-line \
         --dereference-command-line-symlink-to-dir --hide: --hyperlink? --indicator-style: --inode --ignore: \
         --kibibytes --numeric-uid-gid --literal --hide-control-chars --show-control-chars --quote-name \
         --quoting-style: --reverse --recursive --size --sort: --time: --time-style: --tabsize: --width: --context \
         --zero",
    )
    .takes_any_name(),
    row(
        &["stat"],
        "-c: -f -L -t --format: --printf: --file-system --dereference --terse --cached:",
    )
    .takes_any_name(),
    row(&["basename"], "-a -s: -z --multiple --suffix: --zero").takes_any_name(),
    row(&["dirname"], "-z --zero").takes_any_name(),
    row(
        &["realpath"],
        "-e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --logical --physical --quiet \
         --relative-to: --relative-base: --strip --no-symlinks --zero",
    )
    .takes_any_name(),
    row(
        &["readlink"],
        "-e -f -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline \
         --quiet --silent --verbose --zero",
    )
    .takes_any_name(),
    // `--files0-from` and `-X` are not listed, because they read names from a file that is not analyzed.
    row(
        &["du"],
        "-0 -a -b -B: -c -d: -D -h -H -k -l -L -m -P -s -S -t: -x --null --all --apparent-size --block-size: --bytes \
         --total --max-depth: --human-readable --inodes --count-links --dereference --no-dereference \
         --separate-dirs --si --summarize --threshold: --time? --time-style: --exclude: --one-file-system",
    )
    .takes_any_name(),
    row(
        &["df"],
        "-a -B: -h -H -i -k -l -P -t: -T -x: --all --block-size: --human-readable --si --inodes --local --portability \
         --print-type --type: --exclude-type: --total --output?",
    ),
    // `-z` (runs programs), `-C` (writes a file), `-p` (sets timestamps), and options with magic files or files of
    // names are not listed.
    row(
        &["file"],
        "-b -i -h -L -k -N -n -0 -r -F: --brief --mime --mime-type --mime-encoding --dereference --no-dereference \
         --keep-going --no-pad --print0 --raw --extension --apple --separator:",
    ),
    // `-o`, which writes a file, and `-R`, which writes a file in each folder, are not listed.
    row(
        &["tree"],
        "-a -A -c -C -d -D -f -F -g -h -i -I: -J -l -L: -n -N -p -P: -q -Q -r -s -S -t -u -U -v -x -X --dirsfirst \
         --filesfirst --noreport --gitignore --filelimit: --prune --du --si --sort? --charset: --matchdirs \
         --ignore-case --inodes --device --metafirst --timefmt: --nolinks --info",
    )
    .parsed(Parser::ValueApart),
    row(&["pwd"], "-L -P --logical --physical").with(Operands::None),
    row(&["lsattr"], "-a -d -l -p -v -R"),
    row(&["getfacl"], "-a -c -e -E -n -p -t -s --omit-header --absolute-names --numeric"),
    row(&["pathchk"], "-p -P --portability"),
    row(&["namei"], "-l -m -n -o -v -x"),
    row(&["zcat", "bzcat", "xzcat", "zstdcat"], ""),
    row(&["zipinfo"], "-1 -2 -s -m -l -v -h -t -z -T"),
];
