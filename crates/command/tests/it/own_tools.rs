//! Paths that a line reaches: files that the user's own tools execute, scripts, folders, and named paths.

use holdshort_command::guarded::{all, ends_guarded, guards};
use holdshort_command::parse;

#[test]
fn what_writes_to_the_persons_own_tools_is_told() {
    let rows = [
        ("git config core.pager x", Some("config")),
        ("git init sub", Some("init")),
        ("git clone a b", Some("clone")),
        ("git worktree add x", Some("worktree")),
        ("git submodule update", Some("submodule")),
        ("git remote add x y", Some("remote")),
        ("git -C sub config a b", Some("config")),
        ("echo x > .git/hooks/pre-commit", Some(".git/hooks")),
        ("cp x sub/.git/config", Some(".git/config*")),
        ("cp x .GIT/Config", Some(".git/config*")),
        ("cd .git && cp ../x hooks/post-checkout", Some(".git/hooks")),
        ("cp .git/objects/x y", Some(".git/*")),
        ("touch .envrc", Some(".envrc*")),
        ("echo x > sub/rust-toolchain.toml", Some("rust-toolchain*")),
        ("mkdir .vscode && cp x .vscode/tasks.json", Some(".vscode")),
        ("cp x remote.git/hooks/update", Some("*.git/hooks")),
        ("tar -C .husky -xf x", Some(".husky*")),
        ("cp --target-directory=.git/hooks x", Some("*.git/hooks")),
        ("cp -t.git/hooks x", Some("*.git/hooks")),
        ("rm -rf .gi*", Some(".git/config*")),
        ("sed -i s/a/b/ .[a-z]nvrc", Some(".envrc*")),
        ("sudo cp x .bashrc", Some(".bashrc*")),
        ("mkdir x && cd x/../.husky && touch pre-push", Some(".husky*")),
        ("touch .zlogout", Some(".zlogout*")),
        ("cp x ~/.cshrc", Some(".*cshrc")),
        ("tee .claude/settings.json", Some(".claude*")),
        ("cp x .MCP.json", Some("*mcp.json*")),
        ("echo x >> .hg/hgrc", Some(".hg/hgrc*")),
        ("touch .bash_completion", Some(".bash_*")),
        ("cp x .local/share/bash-completion/completions/git", Some(".local/share/bash-completion")),
        ("cp x .oh-my-zsh/custom/a.zsh", Some(".oh-my-*")),
        ("cp x .cargo/env", Some(".cargo/env")),
        ("cp x sub/.cargo/config.toml", Some(".cargo/config*")),
        ("tee .npmrc", Some(".npmrc*")),
        ("cp x .yarnrc", Some(".yarnrc*")),
        ("cp x .yarnrc.yml", Some(".yarnrc*")),
        ("cp x .hgrc", Some(".hgrc")),
        ("cp x .local/bin/git", Some(".local/bin")),
        ("cp x .tmux.conf", Some(".tmux*")),
        ("cp x .gnupg/gpg.conf", Some(".gnupg")),
        ("touch package.json Makefile src/lib.rs", None),
        ("touch .cargo/x .local/share/app", None),
        ("cat .git/config", None),
        ("ls .vscode", None),
        ("git status", None),
        ("git commit -m x", None),
        ("touch src/config", None),
        ("rm *.o", None),
    ];
    let told = rows.map(|(line, _)| (line, parse(line).own_tools("").map(|guarded| guarded.name)));
    assert_eq!(told, rows);
}

#[test]
fn the_scripts_that_a_line_names() {
    let rows: [(&str, &[&str]); 29] = [
        ("sh a.sh", &["a.sh"]),
        ("bash -x a.sh b", &["a.sh", "b"]),
        ("python3 tools/x.py data", &["tools/x.py", "tools/x.py/__main__.py"]),
        ("python3 -m tools.x", &["tools/x.py", "tools/x/__main__.py"]),
        ("python3 -m unittest tests", &["unittest.py", "unittest/__main__.py"]),
        ("python3 app", &["app", "app/__main__.py"]),
        ("sh < deploy.sh", &["deploy.sh"]),
        ("cd sub && python3 < x.py > out", &["sub/x.py", "sub/x.py/__main__.py"]),
        ("bash -m a.sh", &["a.sh"]),
        ("sed -n p a.txt", &[]),
        ("./deploy.sh now", &["deploy.sh"]),
        (". ./env.sh", &["env.sh"]),
        ("make test", &["GNUmakefile", "Makefile", "makefile"]),
        ("make -C sub -f x.mk", &["sub/GNUmakefile", "sub/Makefile", "sub/makefile", "sub/x.mk"]),
        ("make -f x.mk -Ca -C b", &["a/b/GNUmakefile", "a/b/Makefile", "a/b/makefile", "a/b/x.mk"]),
        ("python3 -mtools.x", &["tools/x.py", "tools/x/__main__.py"]),
        ("cd sub && sh a.sh", &["sub/a.sh"]),
        ("cd sub; sh a.sh", &["a.sh", "sub/a.sh"]),
        ("cd sub && ls | sh a.sh", &["sub/a.sh"]),
        ("cd sub || sh a.sh", &["a.sh", "sub/a.sh"]),
        ("ls | cd sub && sh a.sh", &["a.sh", "sub/a.sh"]),
        ("cd a && cd ../b && ./x", &["a/../b/x"]),
        ("npm run build", &[".npmrc", "package.json"]),
        ("nice sh a.sh", &["a.sh"]),
        ("env X=1 sh a.sh", &["a.sh"]),
        ("sh -c 'sh a.sh'", &["a.sh"]),
        ("/usr/bin/python3 x.py", &["x.py", "x.py/__main__.py"]),
        ("ls -la", &[]),
        ("git commit -m x", &[]),
    ];
    let told = rows.map(|(line, _)| (line, parse(line).scripts()));
    assert_eq!(told, rows.map(|(line, scripts)| (line, scripts.iter().map(|&it| it.to_owned()).collect())));
}

/// A line that executes something that it does not name is reported, because an approval cannot be bound to an unnamed
/// file.
#[test]
fn what_is_run_without_a_name_is_told() {
    let unnamed = [
        "sh dep*.sh",
        "bash ./[d]eploy.sh",
        "sh ./*.sh",
        "sh ~alice/proj/a.sh",
        "python3 < x?.py",
        "sh < ~/a.sh",
        "node ~/server",
        ". ./en*",
        "cat a.sh | sh",
        "cat a.sh | bash -s now",
        "python3 -",
        "go run ./cmd",
        "go run .",
        "python3 -m pytest tests/*.py",
        "pytest tests/*.py",
        "make -C s*",
        // The pattern may expand to a file named `-fx.txt`.
        "sed -i s/a/b/ *.txt",
        "git -C s* add a",
    ];
    let named = [
        "sh deploy.sh",
        "python3 -m pytest tests",
        "python3 -mpytest",
        "python3 -c 'print(1)'",
        "go run main.go",
        "go test ./...",
        "node --version",
        "rm *.o",
        "git add *.rs",
        "sh a.sh *.txt",
        "sed -i s/a/b/ src/*.txt",
        "cat *.sh",
        "cp *.sh d",
    ];
    let told = |lines: &[&str]| lines.iter().map(|line| parse(line).runs_unnamed()).collect::<Vec<_>>();
    assert_eq!((told(&unnamed), told(&named)), (vec![true; unnamed.len()], vec![false; named.len()]));
}

/// If a line may execute files that it names, all its texts that may be files are looked up. If a line executes no
/// file, no texts are looked up.
#[test]
fn the_texts_that_a_line_may_run() {
    let rows: [(&str, &[&str]); 41] = [
        ("python3 -m unittest tests.t.Case.test_a", &["tests/t.py", "tests/__init__.py"]),
        ("pytest tests/t.py::test_a", &["tests/t.py"]),
        ("cargo run --manifest-path sub/Cargo.toml", &["sub/Cargo.toml"]),
        ("java -jar a.jar", &["a.jar"]),
        ("java A.java", &["A.java"]),
        ("java pkg.Main", &["pkg/Main.class"]),
        ("uv run a.py", &["a.py"]),
        ("jest t.js", &["t.js"]),
        ("vitest run t.ts", &["t.ts"]),
        ("mocha t.js", &["t.js"]),
        ("bundle exec rspec a_spec.rb", &["a_spec.rb"]),
        ("ruby -r./a.rb b.rb", &["./a.rb", "b.rb"]),
        ("just -d sub -f j.just", &["sub", "j.just"]),
        ("tox -c t.ini", &["t.ini"]),
        ("pre-commit run -c x.yaml", &["x.yaml"]),
        ("ansible-playbook a.yml", &["a.yml"]),
        ("swift a.swift", &["a.swift"]),
        ("escript a.erl", &["a.erl"]),
        ("awk -fx.awk a", &["x.awk"]),
        ("sed -fx.sed a", &["x.sed"]),
        ("sed --file=x.sed a", &["x.sed"]),
        ("vim -S a.vim", &["a.vim"]),
        ("emacs --script a.el", &["a.el"]),
        ("psql -f a.sql", &["a.sql"]),
        ("sqlite3 db '.read a.sql'", &["a.sql"]),
        ("guile a.scm", &["a.scm"]),
        ("cmake -P x.cmake", &["x.cmake"]),
        ("git rebase -x ./a.sh HEAD~1", &["./a.sh"]),
        ("git rebase --exec='sh a.sh' HEAD~1", &["a.sh"]),
        ("git apply a.patch", &["a.patch"]),
        ("tar cf o.tar --checkpoint-action=exec=./a.sh a", &["./a.sh"]),
        ("sort --compress-program=./a.sh a", &["./a.sh"]),
        ("python3 -c \"exec(open('x.py').read())\"", &["x.py"]),
        ("no-such-program a.conf --with=b.conf -Cc.conf", &["a.conf", "b.conf", "c.conf"]),
        ("env -C sub sh a.sh", &["sub", "a.sh"]),
        ("cat a.sh", &[]),
        ("rm -rf a", &[]),
        ("cp a.sh b.sh", &[]),
        ("git commit -m 'fix a.sh'", &[]),
        ("sed -i s/a/b/ a.txt", &[]),
        ("tar xf a.tar", &[]),
    ];
    for (line, expected) in rows {
        let named = parse(line).named_paths().unwrap();
        let texts: Vec<&str> = named.iter().flat_map(|it| &it.texts).map(String::as_str).collect();
        let has_all = expected.iter().all(|text| texts.contains(text));
        assert!(has_all && (expected.is_empty() == texts.is_empty()), "{line}: {texts:?}");
    }
}

/// Arguments of make are files in the folder to which make changes, and not files of the same name elsewhere.
#[test]
fn make_is_given_files_of_the_folder_that_it_enters() {
    let folders = |line: &str| parse(line).named_paths().unwrap().remove(0).folders;
    assert_eq!(folders("make -C sub -f x.mk"), ["sub"]);
    assert_eq!(folders("make -f x.mk"), [""]);
    assert_eq!(folders("git apply -C1 a.patch"), [""]);
}

#[test]
fn the_folders_that_a_line_changes_into() {
    let rows: [(&str, &[&str]); 9] = [
        ("cd d1 && touch v", &["d1"]),
        ("cd d1 && cat v", &["d1"]),
        ("cd a && cd b && touch v", &["a", "a/b"]),
        ("git -C sub add a", &["sub"]),
        ("make -C sub", &["sub"]),
        ("tar -xf a.tar -Csub", &["sub"]),
        ("env -C sub touch a", &["sub"]),
        ("cd d && git -C sub add a", &["d", "d/sub"]),
        ("touch d1/v", &[]),
    ];
    for (line, expected) in rows {
        let mut entered: Vec<String> =
            parse(line).named_paths().unwrap().into_iter().flat_map(|it| it.entered).collect();
        entered.sort();
        entered.dedup();
        assert_eq!(entered, expected, "{line}");
    }
}

#[test]
fn the_paths_that_a_line_names() {
    let rows: [(&str, Option<&[&str]>); 6] = [
        ("cat a/b", Some(&["a/b"])),
        ("cd s && cat --x=y > /z", Some(&["/z", "s", "s/--x=y", "s/y"])),
        ("tar -xfa", Some(&["-xfa", "a", "fa"])),
        ("cd $X && cat a", None),
        ("cd - && cat a", None),
        ("./x", Some(&["./x"])),
    ];
    let told = rows.map(|(line, _)| (line, parse(line).paths()));
    assert_eq!(
        told,
        rows.map(|(line, paths)| (line, paths.map(|paths| paths.iter().map(|&it| it.to_owned()).collect())))
    );
}

/// Each guarded name matches alone, below any folder, in any letter case, as a local variant, and for paths below it.
#[test]
fn every_row_is_met() {
    for row in all() {
        let name = row.name.replace('*', "x");
        for path in [name.clone(), format!("a/b/{name}"), name.to_uppercase(), format!("./{name}")] {
            assert!(guards(path.split('/')).is_some(), "{path}");
            let names: Vec<&str> = path.split('/').filter(|name| *name != ".").collect();
            assert!(ends_guarded(&names), "{path}");
        }
        if row.name != ".git" {
            for path in [format!("{name}/deeper"), format!("{name}.local")] {
                assert!(guards(path.split('/')).is_some(), "{path}");
            }
        }
    }
}

/// For each kind of tool, some names that the tool executes or reads are guarded.
#[test]
fn names_that_tools_run_are_met() {
    let kinds: [(&str, &[&str]); 11] = [
        ("git", &["sub/.git/config.local", ".gitconfig.local", ".gitattributes", "x.git/hooks/update"]),
        (
            "hooks",
            &[
                ".github/hooks/a.json",
                ".kiro/hooks/a",
                ".husky/pre-push",
                "hk.pkl",
                "lefthook.yaml",
                "lefthook-local.json",
                ".lefthook.local.toml",
                ".pre-commit-config.yml",
                ".lintstagedrc.mjs",
                "commitlint.config.ts",
                ".simple-git-hooks.cjs",
            ],
        ),
        (
            "entering a folder",
            &[
                ".envrc.local",
                ".mise.local.toml",
                "mise.local.toml",
                "mise.production.toml",
                "mise/config.toml",
                ".config/mise.toml",
                ".autoenv.zsh",
            ],
        ),
        (
            "versions",
            &[".tool-versions", ".python-version", ".node-version", ".nvmrc", "rust-toolchain", ".sdkmanrc"],
        ),
        (
            "packages and builds",
            &[
                ".pnp.cjs",
                ".pnp.loader.mjs",
                ".npmrc.local",
                ".yarnrc.yml",
                ".mvn/jvm.config",
                ".mvn/maven.config",
                ".mvn/wrapper/maven-wrapper.properties",
                "tools/bazel",
                "tools/bazel.bat",
                ".bazelrc",
                "user.bazelrc",
                "gradle/wrapper/gradle-wrapper.jar",
                "bunfig.toml",
                "NuGet.Config",
                ".pdm-python",
            ],
        ),
        (
            "editors",
            &[
                ".vscode/settings.json",
                "x.code-workspace",
                ".dir-locals-2.el",
                ".dir-locals.el",
                ".luarc.json",
                ".luarc.jsonc",
                ".nvim.lua",
                ".lvimrc",
                "_vimrc",
                ".ycm_extra_conf.py",
                "hie.yaml",
                ".bsp/sbt.json",
                "x.sublime-project",
                ".clangd",
                "pyrightconfig.json",
            ],
        ),
        (
            "linters",
            &[
                ".pylintrc",
                "pylintrc",
                ".pylintrc.toml",
                ".rubocop.yml",
                ".rubocop.local.yml",
                ".eslintrc.cjs",
                "eslint.config.mjs",
                ".prettierrc",
                ".stylelintrc.json",
                ".golangci.yml",
                ".php-cs-fixer.dist.php",
            ],
        ),
        (
            "agents",
            &[
                "AGENTS.md",
                "sub/AGENTS.override.md",
                "CLAUDE.md",
                "CLAUDE.local.md",
                "GEMINI.md",
                ".cursorrules",
                ".clinerules",
                ".clinerules-code",
                ".roo/rules.md",
                ".roomodes",
                ".kiro/steering/a.md",
                ".amazonq/rules/a.md",
                ".qwen/settings.json",
                "opencode.json",
                "opencode.jsonc",
                "crush.json",
                ".crush.json",
                ".mcp.json",
                "mcp.json",
                "tools/my-mcp.json",
                "mcp_config.json",
                ".github/copilot-instructions.md",
                ".github/prompts/a.prompt.md",
                ".claude.json",
                ".aider.conf.yml",
            ],
        ),
        (
            "environments",
            &[
                ".replit",
                "replit.nix",
                ".gitpod.yml",
                ".gitpod.Dockerfile",
                ".devcontainer.json",
                "devbox.json",
            ],
        ),
        (
            "interpreters and debuggers",
            &[
                ".RData",
                ".Rprofile",
                ".pdbrc.py",
                ".gdbinit",
                ".iex.exs",
                ".irbrc.local",
                "sitecustomize.py",
                ".venv/lib/python3.12/site-packages/x.pth",
                "jupyter_server_config.py",
            ],
        ),
        ("shells", &[".zshrc.local", ".bashrc.d/a", ".bash_aliases", ".profile", ".config/fish/config.fish"]),
    ];
    let is_free = |path: &&&str| {
        let upper = path.to_uppercase();
        guards(path.split('/')).is_none() || guards(upper.split('/')).is_none()
    };
    let free = kinds.map(|(kind, paths)| (kind, paths.iter().filter(is_free).collect::<Vec<_>>()));
    assert_eq!(free, kinds.map(|(kind, _)| (kind, Vec::new())));
}

#[test]
fn ordinary_names_are_free() {
    let free = [
        "src/config",
        "gradlew",
        "mvnw",
        "config",
        "hooks/x",
        "info",
        "x/.github/workflows/a.yml",
        ".gitignore",
        ".git/HEAD",
        "git/config",
        ".gitkeep",
        "profile",
        "settings.json",
        ".env",
        ".config/app",
        ".cargo/registry/x",
        ".local/share/app",
        ".docker/Dockerfile",
        "package.json",
        "Makefile",
        "bin/tool",
        "mise.toml.txt",
        "src/hooks/use.ts",
        "../hooks/use.ts",
        "Cargo.toml",
        "pyproject.toml",
        "setup.cfg",
        "tsconfig.json",
        "vite.config.ts",
        "build.gradle",
        "pom.xml",
        "go.mod",
        "Gemfile",
        "Dockerfile",
        "docker-compose.override.yml",
        "README.md",
        "docs/agents/overview.md",
        "src/agents.rs",
        "src/claude.ts",
        "src/mcp.rs",
        "src/mcp/server.json",
        "config/settings.local.json",
        "src/lib.d.ts",
        ".editorconfig",
        ".dockerignore",
        ".prettierignore",
        ".clang-format",
        ".ruff.toml",
        "data/model.pth",
        ".venv/bin/python",
        "node_modules/x/.eslintrc",
        "",
    ];
    let met: Vec<_> = free.iter().filter(|path| guards(path.split('/')).is_some()).collect();
    assert_eq!(met, Vec::<&&str>::new());
}
