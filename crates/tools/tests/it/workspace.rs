//! Folders that can be a workspace, and folders that cannot.

use std::fs;

use holdshort_tools::{Error, Workspace};

#[test]
fn workspace_and_data_folder_keep_apart() {
    let root = tempfile::tempdir().unwrap();
    let at = |path: &str| root.path().join(path);
    for folder in ["work/inner", "data/inner", "data-2"] {
        fs::create_dir_all(at(folder)).unwrap();
    }
    fs::write(at("file"), "").unwrap();
    std::os::unix::fs::symlink(at("data"), at("work/link")).unwrap();
    let open = |workspace: &str, data: &str| match Workspace::open(&at(workspace), &at(data)) {
        Ok(_) => "open",
        Err(Error::Overlap { .. }) => "overlap",
        Err(Error::Unreachable { .. }) => "unreachable",
        Err(Error::NotAFolder { .. }) => "not a folder",
        Err(Error::DataFolder { .. }) => "no data folder",
        Err(Error::NotUtf8 { .. }) => "not UTF-8",
    };
    let cases = [
        ("work", "data", "open"),
        ("data-2", "data", "open"),
        ("work", "work", "overlap"),
        ("work", "work/inner", "overlap"),
        ("data/inner", "data", "overlap"),
        ("work/link/inner", "data", "overlap"),
        ("work/../data", "data", "overlap"),
        ("missing", "data", "unreachable"),
        ("file", "data", "not a folder"),
        ("work", "missing", "no data folder"),
    ];
    for (workspace, data, expected) in cases {
        assert_eq!(open(workspace, data), expected, "{workspace} {data}");
    }
}
