//! Findings about a changeset that the names of its paths do not show. File tools and trials have the same findings.

use std::fs;
use std::os::unix::fs::symlink;

use holdshort_tools::Layers;
use serde_json::json;

use crate::bench::Bench;
use crate::trial::complete_trial;

/// Makes a bare repository in the folder `fx`, whose name does not show that it is one.
fn bare(bench: &Bench) {
    for path in ["fx/HEAD", "fx/objects/x", "fx/refs/x", "fx/config"] {
        bench.put(path, "ref: refs/heads/main\n");
    }
}

#[tokio::test]
async fn a_file_tool_asks_about_what_git_obeys_in_a_folder_of_any_name() {
    let table: &[(&str, &[&str])] = &[
        ("fx/config", &["bare_repository"]),
        ("fx/CONFIG", &["bare_repository"]),
        ("fx/hooks/post-checkout", &["bare_repository"]),
        ("fx/info/attributes", &["bare_repository"]),
        ("fx/notes.txt", &[]),
        ("fx/refs/heads/main", &[]),
        ("config", &[]),
        ("half/HEAD", &["bare_repository"]),
        ("half/config", &[]),
        ("linked/HEAD", &["bare_repository"]),
    ];
    for (path, expected) in table {
        let bench = Bench::new();
        bare(&bench);
        for path in ["half/objects/x", "half/refs/x", "linked/commondir"] {
            bench.put(path, "");
        }
        let inspection = bench.ready("write_file", json!({"path": path, "content": "[core]"})).await;
        assert_eq!(inspection.ask_because, *expected, "write_file {path}");
    }
    let bench = Bench::new();
    bare(&bench);
    let edit = json!({"path": "fx/config", "old": "main", "new": "other"});
    assert_eq!(bench.ready("edit_file", edit).await.ask_because, ["bare_repository"]);
    symlink("fx", bench.at("link")).unwrap();
    let through = json!({"path": "link/config", "content": "[core]"});
    assert_eq!(bench.ready("write_file", through).await.ask_because, ["bare_repository"]);
}

/// A bare repository that contains the workspace is found too.
#[tokio::test]
async fn a_repository_above_the_workspace_counts() {
    let root = tempfile::tempdir().unwrap();
    let repository = root.path().join("fx");
    for folder in ["objects", "refs", "hooks"] {
        fs::create_dir_all(repository.join(folder)).unwrap();
    }
    fs::write(repository.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    for folder in ["data", "home"] {
        fs::create_dir(root.path().join(folder)).unwrap();
    }
    symlink("fx/hooks", root.path().join("workspace")).unwrap();
    let bench = Bench::over(root.path());
    let inspection = bench.ready("write_file", json!({"path": "post-checkout", "content": "x"})).await;
    assert_eq!(inspection.ask_because, ["bare_repository"]);
}

#[tokio::test]
async fn a_trial_asks_about_repositories_and_about_links_that_lead_out() {
    let table: &[(&str, &[&str])] = &[
        ("mkdir -p t/objects t/refs; echo x > t/HEAD; echo '[core]' > t/config", &["bare_repository"]),
        ("mkdir -p t/objects t/refs; echo '[core]' > t/config", &[]),
        ("echo '[core]' > fx/config", &["bare_repository"]),
        ("rm fx/config", &["bare_repository"]),
        ("mkdir fx/hooks; echo x > fx/hooks/post-checkout", &["bare_repository"]),
        ("echo x > fx/refs/new", &[]),
        ("mv fx gx", &["bare_repository"]),
        ("mv half/notes half/HEAD", &["bare_repository"]),
        ("ln -s half h; echo x > h/other", &[]),
        ("ln -s ../half/notes fx/n; ln -s nowhere new", &[]),
        ("ln -s /etc/passwd log", &["link_out"]),
        ("ln -s ../outside log", &["link_out"]),
        ("ln -s fx/../../outside log", &["link_out"]),
        ("ln -s out/log log", &["link_out"]),
        ("ln -s a b; ln -s b a", &["link_out"]),
        ("ln -s \"$PWD/half\" inside", &[]),
        ("ln -sf half out", &[]),
    ];
    for (line, expected) in table {
        for layers in [Layers::Overlay, Layers::Copy] {
            let bench = Bench::new();
            bare(&bench);
            for path in ["half/objects/x", "half/refs/x", "half/notes"] {
                bench.put(path, "");
            }
            symlink("/tmp", bench.at("out")).unwrap();
            let tools = bench.tools_with(|settings| settings.layers = layers);
            let kept = complete_trial(&bench, &tools, line).await;
            assert_eq!(kept.trial.codes, *expected, "{line} over {layers:?}");
        }
    }
}

#[tokio::test]
async fn a_file_tool_proposes_the_resolved_path_and_says_what_git_ignores() {
    let bench = Bench::new();
    bench.put(".git/HEAD", "ref: refs/heads/main\n");
    bench.put(".gitignore", "target/\n");
    fs::create_dir(bench.at("ci")).unwrap();
    symlink("ci", bench.at("c8")).unwrap();
    for (path, expected) in [
        ("./ci/deploy.yml", ("ci/deploy.yml", false)),
        ("c8/deploy.yml", ("ci/deploy.yml", false)),
        ("c8//deploy.yml", ("ci/deploy.yml", false)),
        ("target/x", ("target/x", true)),
    ] {
        let inspection = bench.ready("write_file", json!({"path": path, "content": "x"})).await;
        let changeset = inspection.proposed.expect("it changes a file").changeset;
        let last = changeset.changes().last().expect("a file");
        assert_eq!((last.path.as_str(), last.ignored), expected, "{path}");
    }
}
