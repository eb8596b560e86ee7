//! Identity of the database in which the journal was created or taken over. A database that was restored from a dump
//! has another identity. In this way, Holdshort detects a restored journal, which lacks all events after the dump.
//!
//! The identity consists of two numbers that PostgreSQL assigns: one to the cluster and one to the database. A promoted
//! standby and a copy of the cluster's files have the same numbers as the original. A database that `pg_restore`,
//! `createdb --template` or `pg_upgrade` created has different numbers.

use deadpool_postgres::Transaction;
use tokio_postgres::types::FromSqlOwned;

use super::column::get;
use super::pool::Pool;
use crate::journal::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Home {
    /// System identifier of the cluster; 0 if the database does not disclose it.
    cluster: i64,
    database: i64,
}

const CLUSTER: &str = "cluster";
const DATABASE: &str = "database";

impl Home {
    pub(super) async fn from_database(pool: &Pool) -> Result<Self, Error> {
        // The administrator of PostgreSQL may have revoked the permission to call this function.
        let is_told: bool =
            one(pool, "SELECT has_function_privilege('pg_control_system()', 'EXECUTE')").await?;
        let cluster =
            if is_told { one(pool, "SELECT system_identifier FROM pg_control_system()").await? } else { 0 };
        let sql = "SELECT oid::bigint FROM pg_database WHERE datname = current_database()";
        Ok(Self { cluster, database: one(pool, sql).await? })
    }

    /// Returns true if the journal records another database as its home. If the journal records no home, records this
    /// database.
    pub(super) async fn is_another(self, transaction: &Transaction<'_>) -> Result<bool, Error> {
        let sql = "SELECT value FROM meta WHERE name = $1";
        for (name, here) in [(CLUSTER, self.cluster), (DATABASE, self.database)] {
            match transaction.query_opt(sql, &[&name]).await? {
                Some(row) if here != 0 && get::<i64>(&row, 0)? != here => return Ok(true),
                Some(_) => {}
                None => self.write(transaction, name, here).await?,
            }
        }
        Ok(false)
    }

    async fn write(self, transaction: &Transaction<'_>, name: &str, here: i64) -> Result<(), Error> {
        if here != 0 {
            let sql = "INSERT INTO meta (name, value) VALUES ($1, $2)
                       ON CONFLICT (name) DO UPDATE SET value = excluded.value";
            transaction.execute(sql, &[&name, &here]).await?;
        }
        Ok(())
    }

    /// Records that the journal is now at home in this database.
    pub(super) async fn take_up(self, pool: &Pool) -> Result<(), Error> {
        let mut client = pool.client().await?;
        let transaction = client.transaction().await?;
        for (name, here) in [(CLUSTER, self.cluster), (DATABASE, self.database)] {
            self.write(&transaction, name, here).await?;
        }
        Ok(transaction.commit().await?)
    }
}

async fn one<T: FromSqlOwned>(pool: &Pool, sql: &str) -> Result<T, Error> {
    get(pool.read(sql, &[]).await?.first().ok_or(Error::Closed)?, 0)
}
