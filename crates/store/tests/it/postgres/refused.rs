//! Databases that the store rejects, and the error messages, which never contain a password.

use std::error::Error as _;
use std::time::Duration;

use holdshort_store::postgres::{Config, Unsupported};
use holdshort_store::{Error, Postgres};

use super::{node, short_lived, sql};
use crate::fixture::PATIENCE;

async fn refused(url: &str) -> Error {
    Postgres::open(Config::new(url, "test")).await.expect_err("it is refused")
}

fn unsupported(error: &Error) -> &Unsupported {
    error.source().and_then(|source| source.downcast_ref()).unwrap_or_else(|| panic!("{error:?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_a_newer_version() {
    let url = holdshort_testpg::shared().database();
    node(&url).await.close().await.unwrap();
    sql(&url, "UPDATE meta SET value = 99 WHERE name = 'version'").await;
    // According to `least`, this binary is still compatible.
    node(&url).await.close().await.unwrap();
    sql(&url, "UPDATE meta SET value = 99 WHERE name = 'least'").await;
    let error = refused(&url).await;
    assert!(matches!(error, Error::FromTheFuture { found: 99, .. }), "{error:?}");
}

/// Opening rejects a database of a newer version that does not record the oldest compatible version (`least`). A node
/// that has already opened the database stops.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_a_newer_version_that_says_nothing_of_older_ones() {
    let url = holdshort_testpg::shared().database();
    let open = short_lived(&url, Duration::from_millis(300)).await;
    sql(&url, "UPDATE meta SET value = 99 WHERE name = 'version'; DELETE FROM meta WHERE name = 'least'")
        .await;
    let error = refused(&url).await;
    assert!(matches!(error, Error::FromTheFuture { found: 99, .. }), "{error:?}");
    let failed = tokio::time::timeout(PATIENCE, open.failed()).await.unwrap();
    assert!(failed.contains("schema version 99"), "{failed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_does_not_say_its_version() {
    let url = holdshort_testpg::shared().database();
    node(&url).await.close().await.unwrap();
    sql(&url, "DELETE FROM meta WHERE name = 'version'").await;
    let error = refused(&url).await;
    assert!(matches!(error, Error::Corrupt(_)), "{error:?}");
}

/// The store works without the query for the cluster's identity if the administrator forbids it. An error of a
/// permitted query is still an error.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_which_nobody_can_tell_where_it_is() {
    let server = holdshort_testpg::shared();
    let url = server.database();
    let name = url.rsplit('/').next().unwrap();
    sql(
        &url,
        &format!(
            "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC; CREATE ROLE of_{name} LOGIN;
             ALTER DATABASE {name} OWNER TO of_{name}"
        ),
    )
    .await;
    node(&url.replace("postgres@", &format!("of_{name}@"))).await.close().await.unwrap();
    sql(&url, "ALTER FUNCTION pg_control_system() RENAME TO pg_control_gone").await;
    let error = refused(&url).await;
    assert!(matches!(error, Error::Io(_)), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_not_utf8() {
    let server = holdshort_testpg::shared();
    let options = ["--encoding", "LATIN1", "--locale", "C", "--template", "template0", "latin"];
    server.run("createdb", &options).unwrap();
    let error = refused(&server.url("latin")).await;
    assert_eq!(*unsupported(&error), Unsupported::Encoding("LATIN1".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_read_only() {
    let url = holdshort_testpg::shared().database();
    sql(&url, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$").await;
    assert!(matches!(refused(&url).await, Error::ReadOnly));
}

/// The store never connects without TLS if the address requires it.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_speaks_no_tls_where_the_address_asks_for_it() {
    let url = format!("{}?sslmode=require", holdshort_testpg::shared().database());
    let error = refused(&url).await;
    assert!(matches!(error, Error::Io(_)), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_makes_no_sense_and_its_password_is_not_told() {
    for url in
        ["", "hidden", "postgresql://me:hidden@", "host=a password=hid den", "postgresql://u:hidden@h:port/d"]
    {
        let error = refused(url).await;
        assert_eq!(*unsupported(&error), Unsupported::Address, "{url}");
    }
    let config = Config::new("postgresql://me:hidden@127.0.0.1:1/db", "test");
    let error = Postgres::open(config.clone()).await.unwrap_err();
    let told = format!("{config:?} {error} {error:?}");
    assert!(matches!(error, Error::Io(_)) && !told.contains("hidden"), "{told}");
}
