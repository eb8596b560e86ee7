//! Tests of the PostgreSQL store only: several nodes at once, lost connections, and databases that are rejected.

mod followers;
mod lost;
mod nodes;
mod older;
mod refused;

use std::time::Duration;

use holdshort_store::Postgres;
use holdshort_store::postgres::Config;
use tokio_postgres::{NoTls, SimpleQueryMessage};

/// Runs statements over a separate connection, as an administrator of the database would.
pub(crate) async fn sql(url: &str, statements: &str) -> Vec<SimpleQueryMessage> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    let answer = client.simple_query(statements).await.unwrap();
    drop(client);
    connection.await.unwrap().unwrap();
    answer
}

async fn node(url: &str) -> Postgres {
    Postgres::open(Config::new(url, "test")).await.unwrap()
}

/// Opens a node with a lease that is short enough to expire during a test.
async fn short_lived(url: &str, lease: Duration) -> Postgres {
    Postgres::open(Config { lease, ..Config::new(url, "short") }).await.unwrap()
}
