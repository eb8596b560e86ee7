//! What a line reaches for beside its words: files that a person's own tools run, scripts, folders, paths.

use holdshort_core::gate::command::parse;
use holdshort_core::gate::guarded::{all, guards};

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
        ("cp x sub/.git/config", Some(".git/config")),
        ("cp x .GIT/Config", Some(".git/config")),
        ("cd .git && cp ../x hooks/post-checkout", Some(".git/hooks")),
        ("cp .git/objects/x y", Some(".git/*")),
        ("touch .envrc", Some(".envrc")),
        ("mkdir .vscode && cp x .vscode/tasks.json", Some(".vscode")),
        ("cp x remote.git/hooks/update", Some("*.git/hooks")),
        ("tar -C .husky -xf x", Some(".husky")),
        ("cp --target-directory=.git/hooks x", Some("*.git/hooks")),
        ("cp -t.git/hooks x", Some("*.git/hooks")),
        ("rm -rf .gi*", Some(".git/config")),
        ("sed -i s/a/b/ .[a-z]nvrc", Some(".envrc")),
        ("sudo cp x .bashrc", Some(".bashrc")),
        ("mkdir x && cd x/../.husky && touch pre-push", Some(".husky")),
        ("touch .zlogout", Some(".zlogout")),
        ("cp x ~/.cshrc", Some(".cshrc")),
        ("tee .claude/settings.json", Some(".claude")),
        ("cp x .MCP.json", Some(".mcp.json")),
        ("echo x >> .hg/hgrc", Some(".hg/hgrc")),
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
    let rows: [(&str, &[&str]); 27] = [
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
        (
            "make -C sub -f x.mk",
            &[
                "GNUmakefile",
                "Makefile",
                "makefile",
                "sub/GNUmakefile",
                "sub/Makefile",
                "sub/makefile",
                "x.mk",
            ],
        ),
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

/// Where something is run that no name on the line tells, nobody can bind it.
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
    ];
    let named = [
        "sh deploy.sh",
        "python3 -m pytest tests/*.py",
        "sh a.sh *.txt",
        "sed -i s/a/b/ *.txt",
        "cat *.sh",
        "cp *.sh d",
    ];
    let told = |lines: &[&str]| lines.iter().map(|line| parse(line).runs_unnamed()).collect::<Vec<_>>();
    assert_eq!((told(&unnamed), told(&named)), (vec![true; unnamed.len()], vec![false; named.len()]));
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

/// Each row is met by its own name, below any folder, in any case, and by what lies below it.
#[test]
fn every_row_is_met() {
    for row in all() {
        let name = row.name.replace('*', "x");
        for path in [name.clone(), format!("a/b/{name}"), name.to_uppercase(), format!("./{name}")] {
            assert!(guards(path.split('/')).is_some(), "{path}");
        }
        if row.name != ".git" {
            assert!(guards(format!("{name}/deeper").split('/')).is_some(), "{name}");
        }
    }
}

#[test]
fn ordinary_names_are_free() {
    let free = [
        "src/config",
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
        "mise.toml.txt",
        "",
    ];
    let met: Vec<_> = free.iter().filter(|path| guards(path.split('/')).is_some()).collect();
    assert_eq!(met, Vec::<&&str>::new());
}
