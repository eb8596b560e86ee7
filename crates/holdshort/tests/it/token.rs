//! Tests that the operator's token is sent only to the server of the data folder.

use std::net::TcpListener;

use holdshort_testkit::home::Home;
use serde_json::{Value, json};

#[test]
fn without_a_server_nothing_is_sent() {
    let home = Home::new();
    home.serve(&[]).stop();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let inbox = |what: &str| {
        let ran = home.run(&["inbox"]);
        assert!(ran.code == 2 && ran.err.contains("no server uses"), "{what}: {ran:?}");
        assert!(ran.err.contains("holdshort serve --data"), "{what}: {ran:?}");
        assert!(listener.accept().is_err(), "{what}");
    };
    inbox("stopped");
    // The process id in the file belongs to a running process, but this process does not hold the lock.
    let left = json!({"listening": format!("http://{address}"), "pid": std::process::id()});
    std::fs::write(home.data().join("server.json"), left.to_string()).unwrap();
    inbox("another process");
    std::fs::remove_file(home.data().join("holdshort.lock")).unwrap();
    inbox("no lock");
    let ran = home.run(&["inbox", "--json"]);
    let error: Value = serde_json::from_str(&ran.err).expect(&ran.err);
    assert_eq!(error["error"]["code"], "no_server");
}
