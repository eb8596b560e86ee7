//! Reasons for which a server does not start, with their error messages.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use holdshort_server::{StartError, start};

use crate::harness::{Served, options};

#[tokio::test]
async fn other_machines_need_a_public_url_and_somebody_who_says_who_they_are() {
    let data = tempfile::tempdir().unwrap();
    for listen in ["0.0.0.0:0", "192.0.2.1:0", "[::]:0"] {
        let mut options = options(data.path());
        options.listen = listen.parse().unwrap();
        let error = start(options).await.err().unwrap();
        assert!(matches!(error, StartError::NoPublicUrl(_)), "{error}");
    }
    assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0, "nothing was made");
    for listen in ["0.0.0.0:0", "127.0.0.1:0"] {
        let mut options = options(data.path());
        options.listen = listen.parse().unwrap();
        options.front.public_url = Some("https://holdshort.example".parse().unwrap());
        let error = start(options).await.err().unwrap();
        assert!(matches!(error, StartError::NoIdentity), "{error}");
    }
}

#[tokio::test]
async fn a_data_folder_serves_one_server() {
    let served = Served::new().await;
    let error = start(options(served.data())).await.err().unwrap();
    let in_use = holdshort_engine::Error::Store(holdshort_store::Error::InUse);
    assert_eq!(error.to_string(), in_use.to_string());
    let folder = served.stop().await;
    let again = start(options(&folder.path().join("data"))).await.unwrap();
    again.stop().await;
}

#[tokio::test]
async fn tokens_that_others_can_read_are_not_used() {
    let served = Served::new().await;
    let path = served.data().join("tokens.json");
    let data = served.data().to_owned();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let _folder = served.stop().await;
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let error = start(options(&data)).await.err().unwrap();
    assert!(matches!(error, StartError::Secrets(_)), "{error}");
    // The failed start has released the lock of the directory.
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    start(options(&data)).await.unwrap().stop().await;
}

#[tokio::test]
async fn a_workflow_that_is_wrong_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let workflows = folder.path().join("workflows");
    fs::create_dir_all(workflows.join("mine")).unwrap();
    let mut options = options(&folder.path().join("data"));
    options.workflows = Some(workflows.clone());
    let error = start(options.clone()).await.err().unwrap();
    assert!(error.to_string().contains("contains no workflow"), "{error}");

    let text = "name: mine\nphases:\n  - id: look\n    kind: checkpoint\n    mesage: Good?\n";
    fs::write(workflows.join("mine/workflow.yaml"), text).unwrap();
    let error = start(options).await.err().unwrap();
    let said = error.to_string();
    assert!(said.contains("mine/workflow.yaml:5:5") && said.contains("did you mean `message`?"), "{said}");
}
