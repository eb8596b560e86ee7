//! The hand-written loop in PostgreSQL. A cycle has three transactions with two prepared statements each, which are
//! twelve round trips with `BEGIN` and `COMMIT`. Commits are durable, because `synchronous_commit` is on by default.

use anyhow::Result;
use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod};
use tokio_postgres::NoTls;
use tokio_postgres::types::ToSql;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS runs (id BIGINT PRIMARY KEY, status TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS asks (
        id BIGINT PRIMARY KEY REFERENCES runs, payload TEXT NOT NULL, decision TEXT
    );";

pub(super) struct Postgres(Pool);

impl Postgres {
    pub(super) async fn open(url: &str, connections: usize) -> Result<Self> {
        let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(url.parse()?, NoTls, manager);
        let pool = Pool::builder(manager).max_size(connections).build()?;
        pool.get().await?.batch_execute(SCHEMA).await?;
        Ok(Self(pool))
    }

    /// Returns the highest id of a question, and the ids of the open questions.
    pub(super) async fn load_questions(&self) -> Result<(i64, Vec<i64>)> {
        let client = self.0.get().await?;
        let last = client.query_one("SELECT coalesce(max(id), 0) FROM asks", &[]).await?.get(0);
        let open = client.query("SELECT id FROM asks WHERE decision IS NULL", &[]).await?;
        Ok((last, open.iter().map(|row| row.get(0)).collect()))
    }

    pub(super) async fn ask(&self, id: i64, payload: &str) -> Result<()> {
        let run = "INSERT INTO runs (id, status) VALUES ($1, 'waiting')";
        let ask = "INSERT INTO asks (id, payload) VALUES ($1, $2)";
        self.transact([(run, &[&id]), (ask, &[&id, &payload])]).await
    }

    pub(super) async fn decide(&self, id: i64, option: &str) -> Result<()> {
        let look = "SELECT decision FROM asks WHERE id = $1 FOR UPDATE";
        let decide = "UPDATE asks SET decision = $2 WHERE id = $1 AND decision IS NULL";
        self.transact([(look, &[&id]), (decide, &[&id, &option])]).await
    }

    /// Reads the decision on a question from PostgreSQL, and completes the run.
    pub(super) async fn finish(&self, id: i64) -> Result<()> {
        let look = "SELECT decision FROM asks WHERE id = $1";
        let done = "UPDATE runs SET status = 'completed' WHERE id = $1";
        self.transact([(look, &[&id]), (done, &[&id])]).await
    }

    pub(super) async fn decision(&self, id: i64) -> Result<Option<String>> {
        let client = self.0.get().await?;
        let read = client.prepare_cached("SELECT decision FROM asks WHERE id = $1").await?;
        Ok(client.query_opt(&read, &[&id]).await?.and_then(|row| row.get(0)))
    }

    async fn transact(&self, statements: [(&str, &[&(dyn ToSql + Sync)]); 2]) -> Result<()> {
        let client = self.0.get().await?;
        command(&client, "BEGIN").await?;
        for (sql, values) in statements {
            let statement = client.prepare_cached(sql).await?;
            client.execute(&statement, values).await?;
        }
        command(&client, "COMMIT").await
    }
}

async fn command(client: &Object, sql: &str) -> Result<()> {
    let statement = client.prepare_cached(sql).await?;
    client.execute(&statement, &[]).await?;
    Ok(())
}
