//! Programs that search. The grammar of `find` is in `grammars.rs`.

use super::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row(
        &["grep", "egrep", "fgrep"],
        "-# -A: -a -b -B: -c -C: -d: -D: -e: -E -f: -F -G -h -H -i -I -l -L -m: -n -o -P -q -r -R -s -T -u -U -v -V -w -x -y \
         -z -Z --after-context: --text --byte-offset --before-context: --count --context: --color? --colour? \
         --directories: --devices: --regexp: --extended-regexp --file: --fixed-strings --basic-regexp \
         --no-filename --with-filename --ignore-case --no-ignore-case --include: --exclude: --exclude-from: \
         --exclude-dir: --files-with-matches --files-without-match --label: --line-buffered --line-number \
         --max-count: --only-matching --perl-regexp --quiet --silent --recursive --dereference-recursive \
         --no-messages --initial-tab --binary --binary-files: --invert-match --word-regexp --line-regexp \
         --null --null-data --no-ignore-case --group-separator: --no-group-separator",
    )
    .takes_any_name(),
    // `--pre`, `--hostname-bin` and `-z` are not listed, because they run programs. `--ignore-file` and `-f` are not
    // listed either.
    row(
        &["rg"],
        "-# -A: -a -b -B: -c -C: -d: -e: -E: -F -g: -H -h -i -I -j: -l -L -m: -M: -n -N -o -P -p -q -r: -s -S -t: -T: -u -U -v \
         -V -w -x -0 -. --after-context: --before-context: --context: --count --count-matches --color: --column \
         --case-sensitive --crlf --encoding: --files --files-with-matches --files-without-match --fixed-strings \
         --follow --glob: --iglob: --glob-case-insensitive --heading --no-heading --hidden --no-hidden \
         --ignore-case --include-zero --invert-match --json --line-number --no-line-number --line-regexp \
         --max-columns: --max-columns-preview --max-count: --max-depth: --maxdepth: --max-filesize: --multiline \
         --multiline-dotall --no-config --no-filename --no-ignore --no-ignore-dot --no-ignore-exclude \
         --no-ignore-global --no-ignore-parent --no-ignore-vcs --no-messages --null --null-data \
         --one-file-system --only-matching --passthru --path-separator: --pcre2 --pcre2-unicode --pretty \
         --quiet --regexp: --replace: --smart-case --sort: --sortr: --stats --text --threads: --trim --type: \
         --type-not: --type-list --unrestricted --vimgrep --with-filename --word-regexp --no-unicode \
         --context-separator: --field-match-separator: --engine: --binary",
    ),
    row(&["locate", "plocate", "mlocate"], "-# -0 -A -b -c -e -i -l: -n: -q -r --basename --count --existing --ignore-case --limit: --regex"),
    // `-x`, `-X` and `-l` are not listed, because they run programs. Options that start in other folders are not listed
    // either.
    row(
        &["fd", "fdfind"],
        "-0 -1 -a -d: -e: -E: -F -g -H -i -I -L -o: -p -q -s -S: -t: -u -V --absolute-path --relative-path --and: \
         --case-sensitive --color: --changed-before: --changed-within: --changed-after: --exclude: --exact-depth: \
         --extension: --fixed-strings --follow --full-path --glob --regex --hidden --no-hidden --ignore-case \
         --max-depth: --min-depth: --maxdepth: --max-results: --newer: --older: --no-ignore --no-ignore-vcs \
         --no-ignore-parent --one-file-system --owner: --path-separator: --print0 --prune --quiet --size: \
         --strip-cwd-prefix? --type: --unrestricted --show-errors --threads: -j:",
    ),
];
