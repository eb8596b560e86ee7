//! Subcommands of git that only read, with their harmless options.
//!
//! Some harmful options are left out on purpose. They name another repository or folder (`-C`, `--git-dir`,
//! `--no-index`), name an output file (`--output`), or run a program (`--ext-diff`, `--textconv`, `-O`,
//! `--show-signature`, `--filters`). Subcommands that use the network are left out too.

use super::{Operands, Parser, Row, git};

/// Options of git before the subcommand that do not change what the subcommand does.
pub(crate) const BEFORE: &[&str] = &[
    "--no-pager",
    "-P",
    "--no-optional-locks",
    "--no-replace-objects",
    "--literal-pathspecs",
    "--glob-pathspecs",
    "--noglob-pathspecs",
    "--icase-pathspecs",
    "--no-advice",
];

pub(crate) fn only_shapes_output(setting: &str) -> bool {
    let Some((key, value)) = setting.split_once('=') else { return false };
    let key = key.to_ascii_lowercase();
    let is_plain = value.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    match key.as_str() {
        "core.pager" => value == "cat",
        "core.quotepath" | "core.abbrev" | "log.date" | "log.decorate" | "diff.renames" | "diff.context"
        | "diff.algorithm" | "status.short" | "column.ui" => is_plain,
        key => (key.starts_with("color.") || key.starts_with("advice.")) && is_plain,
    }
}

/// Harmless options of git subcommands that show differences.
const DIFF: &str = "-# -p -u -U: -s --patch --no-patch --unified: --raw --patch-with-raw --patch-with-stat --stat? \
     --numstat --shortstat --dirstat? --cumulative --summary --compact-summary --name-only --name-status --color? \
     --no-color --color-words? --color-moved? --no-color-moved --color-moved-ws: --word-diff? --word-diff-regex: \
     --no-renames --rename-empty --no-rename-empty --find-renames? --find-copies? --find-copies-harder -M? -C? -B? \
     --break-rewrites? -D --irreversible-delete -l: --diff-filter: -S: -G: --pickaxe-all --pickaxe-regex -R --relative? \
     --no-relative -a --text -w -b --ignore-all-space --ignore-space-change --ignore-space-at-eol \
     --ignore-blank-lines --ignore-cr-at-eol -I: --ignore-matching-lines: -W --function-context \
     --inter-hunk-context: --exit-code --quiet --no-ext-diff --no-textconv --src-prefix: --dst-prefix: --no-prefix \
     --default-prefix --line-prefix: --full-index --binary --abbrev? --minimal --patience --histogram --anchored: \
     --diff-algorithm: --cached --staged --merge-base -z --check --ws-error-highlight: --indent-heuristic \
     --no-indent-heuristic --ignore-submodules? -c --cc -m -r -t --ours --theirs --base -0 -1 -2 -3";

/// Harmless options of git subcommands that list commits. `remerge` is left out, because it repeats merges and thereby
/// writes objects.
const LOG: &str = "-n: --max-count: --skip: --oneline --graph --no-graph --all --branches? --tags? --remotes? --glob: \
     --exclude: --since: --after: --until: --before: --since-as-filter: --author: --committer: --grep: --grep-reflog: \
     --invert-grep --all-match -i -E -F -P --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp \
     --basic-regexp --merges --no-merges --min-parents: --max-parents: --no-min-parents --no-max-parents \
     --first-parent --exclude-first-parent-only --reverse --date: --relative-date --format: --pretty? \
     --abbrev-commit --no-abbrev-commit --decorate? --no-decorate --decorate-refs: --decorate-refs-exclude: \
     --clear-decorations --source --follow -L: --topo-order --date-order --author-date-order --left-right \
     --left-only --right-only --cherry-pick --cherry-mark --cherry -g --walk-reflogs --merge --boundary \
     --simplify-by-decoration --full-history --dense --sparse --simplify-merges --ancestry-path? --show-pulls \
     --no-walk? --do-walk --notes? --no-notes --no-show-signature --parents --children --mailmap --no-mailmap \
     --use-mailmap --log-size --expand-tabs? --no-expand-tabs --encoding: --no-diff-merges \
     --combined-all-paths --remove-empty --full-diff --show-linear-break? --reflog --alternate-refs \
     --ignore-missing --bisect --root --always --diff-merges=off --diff-merges=none --diff-merges=on --diff-merges=m \
     --diff-merges=first-parent --diff-merges=1 --diff-merges=separate --diff-merges=combined --diff-merges=c \
     --diff-merges=dense-combined --diff-merges=cc";

/// Options with which git subcommands select references for a list.
const REFS: &str = "--contains: --no-contains: --merged? --no-merged? --points-at: --sort: --format: --count: \
     --ignore-case -i --color? --no-color --column? --no-column --omit-empty";

pub(super) const ROWS: &[Row] = &[
    git(
        "status",
        &["-s -b -v -vv -u? -z --short --branch --no-branch --verbose --porcelain? --long --untracked-files? --ignored? \
           --show-stash --no-show-stash --ahead-behind --no-ahead-behind --renames --no-renames --find-renames? \
           --column? --no-column --ignore-submodules?"],
    ),
    git("log", &[LOG, DIFF]),
    git("whatchanged", &[LOG, DIFF]),
    git("show", &[LOG, DIFF]),
    git("diff", &[DIFF]),
    git("diff-tree", &[DIFF, "-v --root --stdin --no-commit-id --pretty? --format: --always --combined-all-paths"]),
    git("diff-index", &[DIFF]),
    git("diff-files", &[DIFF]),
    git("range-diff", &[DIFF, "--creation-factor: --no-dual-color --left-only --right-only"]),
    git(
        "blame",
        &["-L: -l -t -s -e -w -f -n -c -b -M? -C? -p --porcelain --line-porcelain --incremental --show-email \
           --show-name --show-number --root --reverse --first-parent --since: --date: --abbrev: --color-lines \
           --color-by-age --score-debug --show-stats --ignore-rev: --no-progress --encoding: --minimal"],
    ),
    git("annotate", &["-L: -l -t -w -f -n -M? -C? -p --since: --date:"]),
    git(
        "grep",
        &["-# -n -i -v -c -l -L -o -w -h -H -E -F -P -G -e: -A: -B: -C: -W -p -q -a -I -z -r -m: --cached --untracked \
           --and --or --not --all-match --max-depth: --max-count: --heading --break --color? --no-color \
           --line-number --column --count --name-only --files-with-matches --files-without-match --ignore-case \
           --invert-match --word-regexp --only-matching --extended-regexp --basic-regexp --fixed-strings \
           --perl-regexp --full-name --null --quiet --text --threads: --show-function --function-context \
           --context: --after-context: --before-context: --exclude-standard --no-exclude-standard \
           --no-recurse-submodules --recursive --no-recursive --no-textconv"],
    ),
    git(
        "ls-files",
        &["-c -d -m -o -i -s -u -k -t -v -f -z -x: --cached --deleted --modified --others --ignored --stage --unmerged \
           --killed --exclude-standard --exclude: --full-name --error-unmatch --directory --no-empty-directory \
           --eol --deduplicate --debug --abbrev? --format: --resolve-undo --sparse"],
    ),
    git("ls-tree", &["-r -d -t -l -z --name-only --name-status --object-only --long --full-name --full-tree --abbrev? --format:"]),
    git(
        "rev-parse",
        &["-q --verify --quiet --short? --abbrev-ref? --symbolic --symbolic-full-name --all --branches? --tags? \
           --remotes? --glob: --exclude: --not --revs-only --no-revs --flags --no-flags --default: --prefix: \
           --show-toplevel --show-prefix --show-cdup --git-dir --git-common-dir --absolute-git-dir --git-path: \
           --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository \
           --show-superproject-working-tree --show-object-format? --show-ref-format --path-format: --since: \
           --until: --disambiguate: --sq --local-env-vars --shared-index-path"],
    ),
    git("rev-list", &[LOG, DIFF, "--count --objects --disk-usage? --header --timestamp --no-commit-header --stdin"]),
    git(
        "describe",
        &["--tags --all --long --always --abbrev: --match: --exclude: --exact-match --contains --first-parent \
           --candidates: --dirty? --debug"],
    ),
    // The options of `shortlog` itself precede `LOG`, because `-n` takes no value here.
    git("shortlog", &["-n -s -e -c -w? --numbered --summary --email --committer --group:", LOG]),
    git("cat-file", &["-t -s -p -e --batch? --batch-check? --batch-all-objects --buffer --unordered -Z"]),
    git("merge-base", &["-a --all --is-ancestor --fork-point --octopus --independent"]),
    git("name-rev", &["--tags --refs: --exclude: --name-only --all --always --no-undefined"]),
    git("for-each-ref", &[REFS, "--exclude: --include-root-refs --shell --perl --python --tcl"]),
    git("show-ref", &["--head --heads --branches --tags --verify -q --quiet -d --dereference -s --hash? --abbrev? --exists"]),
    git("count-objects", &["-v -H --verbose --human-readable"]),
    git("check-ignore", &["-v -n -q -z --verbose --non-matching --quiet --no-index --stdin"]),
    git("check-attr", &["-a -z --all --cached --stdin --source:"]),
    git("check-ref-format", &["--branch --normalize --allow-onelevel --no-allow-onelevel --refspec-pattern"]),
    git("cherry", &["-v --abbrev?"]),
    git("show-branch", &["-a -r --all --remotes --topo-order --date-order --sparse --more: --list --current --sha1-name --no-name --color? --no-color"]),
    git("version", &["--build-options"]),
    git("var", &["-l"]),
    git("reflog show", &[LOG, DIFF]),
    git("reflog list", &[""]).with(Operands::None),
    git("reflog exists", &[""]),
    // Without an operand, `git reflog` shows earlier values of `HEAD`. An operand may be a subcommand that writes.
    git("reflog", &[LOG, DIFF]).with(Operands::None),
    git("fsck", &["--full --strict --root --tags --unreachable --dangling --no-dangling --connectivity-only --no-reflogs --no-progress --verbose"]),
    git("symbolic-ref", &["-q --quiet --short --no-recurse"]).with(Operands::Most(1)),
    git("verify-pack", &["-v -s --verbose --stat-only"]),
    git("submodule status", &["--cached"]),
    git("stash list", &[LOG, DIFF]),
    git("stash show", &[DIFF, "--include-untracked --only-untracked --no-include-untracked"]),
    git("notes show", &[""]),
    git("notes list", &[""]),
    git("worktree list", &["--porcelain -v -z --verbose"]).with(Operands::None),
    git("remote get-url", &["--all --push"]),
    git("remote", &["-v --verbose"]).with(Operands::None),
    git("bisect log", &[""]).with(Operands::None),
    // An operand creates a branch, except with an option that lists branches.
    git("branch", &[REFS, "-a -r -v -vv -l --list --all --remotes --show-current --verbose --abbrev? --no-abbrev"])
        .with(Operands::Beside(&["--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"])),
    // An operand creates a tag, except with an option that lists tags. `-v` runs the program that checks signatures.
    git("tag", &[REFS, "-l -n? --list"])
        .with(Operands::Beside(&["-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"])),
    git("config get", &["--all --regexp --show-origin --show-scope --show-names --null -z --type: --default: --local --global --system --worktree --includes --no-includes"])
        .parsed(Parser::OneByOne)
        .with(Operands::OneKey),
    git("config list", &["--show-origin --show-scope --name-only --null -z --local --global --system --worktree --includes --no-includes"])
        .parsed(Parser::OneByOne)
        .with(Operands::None),
    // With one operand, `git config` shows a setting. With two operands, it sets a value. An option after the name is
    // used as the value: `git config a.b -l`.
    git(
        "config",
        &["-l -z --list --get --get-all --get-regexp --show-origin --show-scope --name-only --local --global --system \
           --worktree --null --type: --bool --int --path --includes --no-includes --default:"],
    )
    .parsed(Parser::OneByOne)
    .with(Operands::OneKey),
];

/// Built-in subcommands of git. Any other subcommand is either an alias or a program on `PATH`.
pub(crate) const KNOWN: &[&str] = &[
    "add",
    "am",
    "annotate",
    "apply",
    "archive",
    "bisect",
    "blame",
    "branch",
    "bugreport",
    "bundle",
    "cat-file",
    "check-attr",
    "check-ignore",
    "check-mailmap",
    "check-ref-format",
    "checkout",
    "checkout-index",
    "cherry",
    "cherry-pick",
    "citool",
    "clean",
    "clone",
    "column",
    "commit",
    "commit-graph",
    "commit-tree",
    "config",
    "count-objects",
    "credential",
    "credential-cache",
    "credential-store",
    "daemon",
    "describe",
    "diagnose",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "difftool",
    "fast-export",
    "fast-import",
    "fetch",
    "fetch-pack",
    "filter-branch",
    "fmt-merge-msg",
    "for-each-ref",
    "for-each-repo",
    "format-patch",
    "fsck",
    "fsmonitor--daemon",
    "gc",
    "get-tar-commit-id",
    "grep",
    "gui",
    "hash-object",
    "help",
    "hook",
    "http-backend",
    "imap-send",
    "index-pack",
    "init",
    "instaweb",
    "interpret-trailers",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "mailinfo",
    "mailsplit",
    "maintenance",
    "merge",
    "merge-base",
    "merge-file",
    "merge-index",
    "merge-tree",
    "mergetool",
    "mktag",
    "mktree",
    "multi-pack-index",
    "mv",
    "name-rev",
    "notes",
    "pack-objects",
    "pack-redundant",
    "pack-refs",
    "patch-id",
    "prune",
    "prune-packed",
    "pull",
    "push",
    "range-diff",
    "read-tree",
    "rebase",
    "receive-pack",
    "reflog",
    "refs",
    "remote",
    "repack",
    "replace",
    "replay",
    "request-pull",
    "rerere",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "revert",
    "rm",
    "send-email",
    "send-pack",
    "shortlog",
    "show",
    "show-branch",
    "show-index",
    "show-ref",
    "sparse-checkout",
    "stage",
    "stash",
    "status",
    "stripspace",
    "submodule",
    "switch",
    "symbolic-ref",
    "tag",
    "unpack-file",
    "unpack-objects",
    "update-index",
    "update-ref",
    "update-server-info",
    "upload-archive",
    "upload-pack",
    "var",
    "verify-commit",
    "verify-pack",
    "verify-tag",
    "version",
    "whatchanged",
    "worktree",
    "write-tree",
    "lfs",
];

/// Returns true if a format or a sort key makes git run the program that verifies signatures. Examples are `%G?`,
/// `%+GS` and `%(signature)`.
pub(crate) fn checks_signatures(text: &str) -> bool {
    let placeholder = |rest: &str| rest.trim_start_matches(['+', '-', ' ']).starts_with('G');
    text.contains("signature") || text.split('%').skip(1).any(placeholder)
}
