//! Programs that run no second program, in general or with certain options.
//!
//! The words of a command of such a program name every program that runs. They are therefore enough to decide if a rule
//! that forbids commands applies. A row never lists an option with which a program runs a second program, loads code,
//! or reads instructions from a file. The table does not tell if a program writes files.

use super::{Parser, Row, row};

pub(crate) const RUNS_NOTHING: &[&str] = &[
    "rm",
    "rmdir",
    "unlink",
    "shred",
    "cp",
    "mv",
    "ln",
    "mkdir",
    "mkfifo",
    "mktemp",
    "touch",
    "truncate",
    "fallocate",
    "chmod",
    "chown",
    "chgrp",
    "setfacl",
    "chattr",
    "tee",
    "dd",
    "sync",
    "kill",
    "killall",
    "pkill",
    "gzip",
    "gunzip",
    "bzip2",
    "bunzip2",
    "xz",
    "unxz",
    "zstd",
    "unzstd",
    "lz4",
    "compress",
    "uncompress",
    "csplit",
    "iconv",
    "dos2unix",
    "unix2dos",
    "base64",
    "md5sum",
    "sha256sum",
    "patchelf",
    "strip",
    "printf",
    "echo",
    "set",
    "cd",
    "test",
    "[",
    "git add",
    "git rm",
    "git mv",
    "git restore",
    "git mktag",
    "git update-ref",
    "git symbolic-ref",
];

/// Programs that accept option letters without a dash as their first word.
pub(crate) const TAKES_OLD_BUNDLES: &[&str] = &["tar", "bsdtar", "gtar"];

const fn of_subcommand(
    programs: &'static [&'static str],
    subcommand: &'static str,
    options: &'static str,
) -> Row {
    Row { subcommand, ..row(programs, options) }
}

const fn names(programs: &'static [&'static str], subcommand: &'static str, options: &'static str) -> Row {
    of_subcommand(programs, subcommand, options).parsed(Parser::Names)
}

const NODE: &[&str] = &["npm", "pnpm", "yarn", "bun"];
const NODE_PACKAGES: &str = "-D -d -E -O -S -P -g -f -s --dev --save --save-dev --save-exact --save-optional --save-prod \
     --no-save --exact --optional --prod --production --global --force --silent --omit: --include: --no-audit --no-fund \
     --frozen-lockfile --no-frozen-lockfile --immutable --legacy-peer-deps --prefer-offline --offline \
     --ignore-scripts --package-lock-only --no-package-lock --no-optional";
const PIP: &str = "-r: -c: -U -e: -q -v --upgrade --user --no-deps --pre --requirement: --constraint: --editable: --quiet \
     --no-cache-dir --force-reinstall --break-system-packages --no-input --dry-run -y --yes";
const POETRY: &str = "--no-root --with: --without: --only: --sync -G: --group: -D --dev -n --no-interaction -q --all-extras \
     -E: --extras: --no-dev";
const UV: &str =
    "--dev --no-dev --all-extras --extra: --group: --frozen --locked --no-sync -q -v -U --upgrade";
const KUBE: &str = "-n: --namespace: -o: --output: -f: --filename: -k: -A --all-namespaces -l: --selector: -w --watch --context: \
     --all --show-labels --dry-run? -R --recursive --tail: --since: -c: --container: --follow --replicas: --force \
     --grace-period: --timeout: --wait?";
const COMPOSE: &str = "-d --detach --build --no-build --force-recreate --remove-orphans -v --volumes --follow --tail: -t: \
     --timeout: -q --quiet -a --all --no-deps --wait --no-cache --pull?";
const GO: &str = "-v -race -count: -run: -short -cover -coverprofile: -bench: -benchmem -benchtime: -timeout: -tags: -o: -x -n -u -a \
     -json -failfast -parallel: -cpu: -p: -mod: -trimpath -shuffle: -skip: -list: -m -f: -t -d";

/// Commands that run no second program with the listed options, in the same format as the rows for programs that only
/// read. A row without a subcommand applies to all subcommands.
const ROWS: &[Row] = &[
    row(
        &["tar", "bsdtar", "gtar"],
        "-c -x -t -r -u -A -z -j -J -a -v -f: -C: -k -p -h -m -O -P --create --extract --get --list --append --update \
         --gzip --gunzip --bzip2 --xz --zstd --auto-compress --verbose --file: --directory: --exclude: \
         --exclude-vcs --strip-components: --keep-old-files --skip-old-files --overwrite --to-stdout --dereference \
         --no-same-owner --no-same-permissions --wildcards --numeric-owner --owner: --group: --mtime: --sort: \
         --transform: --one-top-level?",
    ),
    row(&["zip"], "-r -q -v -# -0 -j -m -u -d -f -x: -i: -y -X -o -g -D --recurse-paths --quiet --exclude:"),
    row(&["unzip"], "-o -q -n -d: -x: -l -j -v -t -p -a -C -u -f"),
    row(
        &["curl"],
        "-s -S -f -L -o: -O -I -i -k -v -H: -X: -d: -F: -u: -A: -G -m: -J -4 -6 --silent --show-error --fail --location \
         --output: --remote-name --head --include --insecure --verbose --header: --request: --data: --data-raw: \
         --json: --form: --user: --user-agent: --get --max-time: --connect-timeout: --retry: --compressed \
         --create-dirs --write-out: -w:",
    ),
    row(
        &["wget"],
        "-q -v -c -O: -P: -N -r -l: --quiet --no-verbose --output-document: --directory-prefix: --timeout:",
    ),
    of_subcommand(NODE, "install", NODE_PACKAGES),
    of_subcommand(NODE, "i", NODE_PACKAGES),
    of_subcommand(NODE, "ci", NODE_PACKAGES),
    of_subcommand(NODE, "add", NODE_PACKAGES),
    of_subcommand(NODE, "remove", NODE_PACKAGES),
    of_subcommand(NODE, "uninstall", NODE_PACKAGES),
    of_subcommand(NODE, "update", NODE_PACKAGES),
    of_subcommand(NODE, "run", "-s --silent --if-present"),
    of_subcommand(NODE, "test", "-s --silent --if-present"),
    of_subcommand(NODE, "audit", "--json --production --omit: --audit-level:"),
    of_subcommand(NODE, "outdated", "-l -g --long --json"),
    of_subcommand(NODE, "ls", "-a -l -g --all --long --json --depth:"),
    of_subcommand(NODE, "list", "-a -l -g --all --long --json --depth:"),
    row(&["pip", "pip3"], PIP),
    of_subcommand(&["uv"], "pip install", PIP),
    of_subcommand(&["uv"], "sync", UV),
    of_subcommand(&["uv"], "add", UV),
    of_subcommand(&["uv"], "lock", UV),
    of_subcommand(&["poetry"], "install", POETRY),
    of_subcommand(&["poetry"], "add", POETRY),
    of_subcommand(&["poetry"], "update", POETRY),
    of_subcommand(&["docker", "podman"], "compose up", COMPOSE),
    of_subcommand(&["docker", "podman"], "compose down", COMPOSE),
    of_subcommand(&["docker", "podman"], "compose logs", COMPOSE),
    of_subcommand(&["docker", "podman"], "compose ps", COMPOSE),
    of_subcommand(&["docker", "podman"], "compose build", COMPOSE),
    of_subcommand(
        &["docker", "podman"],
        "build",
        "-t: -f: -q --tag: --file: --target: --no-cache --pull --quiet --platform:",
    ),
    of_subcommand(
        &["docker", "podman"],
        "ps",
        "-a -q --all --quiet --no-trunc --format: -f: --filter: -n: -l",
    ),
    of_subcommand(&["docker", "podman"], "images", "-a -q --all --quiet --no-trunc --format: -f: --filter:"),
    of_subcommand(&["docker", "podman"], "logs", "-f -t -n: --follow --timestamps --tail: --since: --until:"),
    of_subcommand(&["docker", "podman"], "rm", "-f -v --force --volumes"),
    of_subcommand(&["docker", "podman"], "rmi", "-f --force"),
    of_subcommand(&["kubectl"], "get", KUBE),
    of_subcommand(&["kubectl"], "describe", KUBE),
    of_subcommand(&["kubectl"], "apply", KUBE),
    of_subcommand(&["kubectl"], "delete", KUBE),
    of_subcommand(&["kubectl"], "logs", KUBE),
    of_subcommand(&["kubectl"], "scale", KUBE),
    names(&["go"], "test", GO),
    names(&["go"], "build", GO),
    names(&["go"], "vet", "-v -n -x -json -tags:"),
    names(&["go"], "run", "-v -race -n -x -tags:"),
    names(&["go"], "install", GO),
    names(&["go"], "get", GO),
    names(&["go"], "list", GO),
    names(&["go"], "mod tidy", "-v -e -go: -compat:"),
    names(
        &["terraform", "tofu"],
        "",
        "-auto-approve -input: -out: -var: -var-file: -target: -refresh: -no-color -json -upgrade \
         -check -recursive -diff -destroy -lock: -reconfigure -raw",
    ),
    row(
        &["gh"],
        "-t: -b: -B: -H: -d -F: -f -q: -L: -s: -S: -w -c -l: -a: -r: -R: -m -n: --title: --body: --body-file: --base: --head: \
         --draft --fill --jq: --limit: --state: --search: --web --comments --label: --assignee: --reviewer: --repo: \
         --merge --squash --rebase --delete-branch --json: --notes: --watch --name-only --patch --log --log-failed",
    ),
    of_subcommand(
        &["git"],
        "push",
        "-u -f -n -q -v -d --force --force-with-lease? --set-upstream --tags --all --delete --dry-run \
         --no-verify --follow-tags --prune --atomic --porcelain",
    ),
    of_subcommand(
        &["git"],
        "pull",
        "-q -v -r -t -p --rebase? --no-rebase --ff-only --no-ff --ff --all --tags --prune --autostash --depth:",
    ),
    of_subcommand(
        &["git"],
        "fetch",
        "-q -v -t -p -f -a --all --tags --prune --depth: --unshallow --dry-run --force --no-tags",
    ),
    of_subcommand(
        &["git"],
        "merge",
        "-q -n --no-ff --ff-only --ff --squash --abort --continue --quit --no-edit --no-commit -m:",
    ),
    of_subcommand(
        &["git"],
        "rebase",
        "-q --abort --continue --skip --quit --onto: --autostash --root --keep-base",
    ),
    of_subcommand(&["git"], "reset", "-q --hard --soft --mixed --keep --merge --quiet"),
    of_subcommand(&["git"], "cherry-pick", "-n -x --abort --continue --skip --quit --no-commit -m:"),
    of_subcommand(&["git"], "revert", "-n --no-edit --abort --continue --skip --quit --no-commit -m:"),
    of_subcommand(
        &["git"],
        "stash",
        "-u -k -a -q -m: -p --include-untracked --keep-index --all --index --message:",
    ),
    of_subcommand(&["git"], "clean", "-f -d -x -X -n -q -e: --force --dry-run"),
    of_subcommand(
        &["git"],
        "apply",
        "--check --stat -p: -R -v --index --cached --3way --reverse --summary --numstat",
    ),
    of_subcommand(&["git"], "init", "-q -b: --bare --quiet --initial-branch:"),
    of_subcommand(
        &["git"],
        "clone",
        "-q -b: --depth: --branch: --single-branch --bare --quiet --recursive --recurse-submodules",
    ),
    of_subcommand(&["git"], "worktree", "-b: -B: -f --force --detach"),
    of_subcommand(&["git"], "bisect", ""),
    of_subcommand(&["git"], "gc", "-q --auto --aggressive --prune?"),
    of_subcommand(&["git"], "fsck", "--full --strict --lost-found --no-dangling"),
    of_subcommand(
        &["cargo"],
        "add",
        "-p: -D -F: --package: --dev --build --features: --no-default-features --optional --path: --rename:",
    ),
    of_subcommand(&["cargo"], "remove", "-p: --package: --dev --build"),
    of_subcommand(
        &["cargo"],
        "tree",
        "-p: -i: -d -e: --package: --invert? --duplicates --depth: --edges: --workspace -f:",
    ),
    of_subcommand(&["cargo"], "metadata", "--no-deps --format-version: --offline --locked"),
    of_subcommand(&["cargo"], "update", "-p: -w --package: --precise: --workspace --dry-run"),
    of_subcommand(
        &["cargo"],
        "install",
        "-f --path: --force --locked --root: --version: --git: --features: --bin:",
    ),
    of_subcommand(&["cargo"], "publish", "-p: -n --package: --dry-run --allow-dirty --no-verify --locked"),
    of_subcommand(&["apt", "apt-get"], "", "-y -q -qq --yes --no-install-recommends --fix-broken -f --purge"),
    of_subcommand(&["systemctl"], "", "--user --system --no-pager -l --now --all -q --quiet"),
    of_subcommand(&["rustup"], "", "-v -q --force --toolchain:"),
    of_subcommand(&["brew"], "", "-q -v --cask --formula --force"),
    of_subcommand(&["dotnet"], "", "-c: --configuration: --no-restore --no-build -v: --verbosity: --nologo"),
    of_subcommand(&["bundle"], "", "--jobs: --retry: --quiet --path:"),
    row(
        &["make", "gmake"],
        "-j? -k -s -B -n -q -i -w -l? --jobs? --keep-going --silent --quiet --always-make --dry-run --no-print-directory --trace --debug? --output-sync?",
    ),
    row(&["ninja"], "-v -j: -k: -n -l: -d: --quiet --verbose"),
    row(&["just"], "-n -l -q -v --list --dry-run --quiet --verbose --summary --show:"),
    row(&["task"], "-l -a -s -v --list --list-all --dry --force --silent --verbose --summary"),
    row(&["rake"], "-n -q -s -t -T -m -v --dry-run --quiet --silent --trace --tasks --multitask --verbose"),
    row(&["invoke"], "-l -e -p --list --echo --dry"),
    names(&["ant"], "", "-q -v -d -k -emacs -quiet -verbose -keep-going"),
    names(
        &["gradle", "./gradlew"],
        "",
        "-q -i -d -s -S -x: -quiet -info -debug -stacktrace -full-stacktrace -offline -daemon -no-daemon -parallel \
         -no-parallel -continue -console: -build-cache -no-build-cache -rerun-tasks -scan -no-scan -dry-run -m \
         -tests: -warning-mode: -exclude-task:",
    ),
    names(
        &["mvn", "./mvnw"],
        "",
        "-q -B -o -U -e -X -N -am -amd -ntp -fae -ff -fn -pl: -T: -DskipTests? -Dtest: -DskipITs? -batch-mode -offline \
         -quiet -errors -no-transfer-progress -also-make -projects: -threads:",
    ),
    row(&["eslint"], "--fix --ext: --quiet --max-warnings: --cache"),
    row(&["prettier"], "-w -c -l -u --write --check --list-different --ignore-unknown"),
    row(&["tsc"], "-p: -b -w --noEmit --watch --pretty --project: --build --strict --skipLibCheck"),
    row(&["ruff"], "--fix --check --diff -q --quiet --select: --ignore: --show-fixes --unsafe-fixes"),
    row(&["black"], "-q -l: --check --diff --quiet --line-length:"),
    row(&["isort"], "-q --check --check-only --diff --profile:"),
    row(&["flake8"], "--max-line-length: --select: --ignore: --count --statistics"),
    row(&["mypy"], "-p: --strict --ignore-missing-imports --package: --pretty"),
    row(&["rustfmt"], "-l --check --edition:"),
    row(&["gofmt"], "-l -w -d -s -e"),
    row(
        &["jest", "vitest"],
        "-t: -i -u -b --watch --coverage --testNamePattern: --ci --runInBand --silent --verbose --bail --run",
    ),
    names(
        &["cc", "gcc", "g++", "clang", "clang++", "c++"],
        "",
        "-c -g -o: -O -O0 -O1 -O2 -O3 -Os -Wall -Wextra -Werror -Wpedantic -pedantic -fPIC -shared -static -pthread \
         -lm -lpthread -std: -E -S -v",
    ),
    row(&["install"], "-d -D -m: -v -p -C -t: -T --mode: --directory --target-directory:"),
    row(
        &["split"],
        "-b: -l: -n: -d -a: --bytes: --lines: --number: --numeric-suffixes? --suffix-length: --additional-suffix:",
    ),
    row(&["patch"], "-p: -R -N -i: -s --dry-run --forward --reverse --input: --silent --verbose"),
    row(&["unittest"], "-v -q -f -b -c --verbose --quiet --failfast --buffer"),
    row(&["venv"], "--clear --upgrade --without-pip --system-site-packages --prompt:"),
];

/// Returns the row of a program or subcommand that runs no second program, and the number of words that name the
/// subcommand.
pub(crate) fn find_row(program: &str, words: &[String]) -> Option<(&'static Row, usize)> {
    super::longest(&ROWS.iter(), program, words)
}
