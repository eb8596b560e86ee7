//! Connections to the database over TLS, which require a certificate that the machine trusts, for the host name of the
//! URL.

use holdshort_testkit::mailbox::tls;
use holdshort_testkit::model::ScriptedModel;
use holdshort_testkit::server::eventually;
use holdshort_testpg::Server;

use super::setup;

fn sql(server: &Server, statement: &str) -> String {
    server.run("psql", &["-Atc", statement, "postgres"]).unwrap().trim().to_owned()
}

/// Installs the tests' certificate for `localhost` in a PostgreSQL server. PostgreSQL itself writes the files, because
/// it must own them.
fn speak_tls(server: &Server) {
    for (file, name) in [("certificate.pem", "server.crt"), ("key.pem", "server.key")] {
        let pem = std::fs::read_to_string(tls(file)).unwrap();
        let lines = format!("SELECT unnest(string_to_array('{}', E'\\n'))", pem.trim());
        sql(server, &format!("COPY ({lines}) TO PROGRAM 'umask 077; cat > {name}'"));
    }
    sql(server, "ALTER SYSTEM SET ssl = on");
    sql(server, "SELECT pg_reload_conf()");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_speaks_tls_to_its_database_or_not_at_all() {
    let started = tokio::task::spawn_blocking(|| {
        let server = Server::start().unwrap();
        speak_tls(&server);
        server
    });
    let database = started.await.unwrap();
    eventually("it speaks TLS", async || (sql(&database, "SHOW ssl") == "on").then_some(())).await;
    let plain = database.database();
    let url = format!("{}?sslmode=require", plain.replace("127.0.0.1", "localhost"));
    let model = ScriptedModel::start().await;
    let node = |url: &str, trusted: &str| {
        setup(&model).database(url, "a").env("SSL_CERT_FILE", &tls(trusted)).stopped()
    };

    let mut trusting = node(&url, "authority.pem");
    trusting.start().await;
    let encrypted = "SELECT count(*) > 0 AND bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                     WHERE application_name LIKE 'holdshort%'";
    assert_eq!(sql(&database, encrypted), "t", "every connection, that of notifications, too");
    assert_eq!(trusting.get("/v1/audit/verify").await.ok()["intact"], true);
    trusting.stop().await;

    // The first certificate comes from an untrusted authority. The second certificate is for a different host name.
    node(&url, "served-authority.pem").try_start().await.unwrap_err();
    let by_address = url.replace("localhost", "127.0.0.1");
    node(&by_address, "authority.pem").try_start().await.unwrap_err();
    // Without the TLS option the connection is unencrypted.
    node(&plain, "authority.pem").try_start().await.unwrap();
}
