//! Named values that all nodes of a database share, and that are not part of the journal.

use super::Postgres;
use super::column::get;
use crate::journal::Error;

impl Postgres {
    /// Returns the value that all nodes share under this name. If there is none, first stores `offered`. The value may
    /// be secret, so this module never logs it.
    pub async fn agree(&self, name: &str, offered: &str) -> Result<String, Error> {
        let offer = "INSERT INTO agreed (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";
        self.upkeep.query(offer, &[&name, &offered]).await?;
        let rows = self.upkeep.query("SELECT value FROM agreed WHERE name = $1", &[&name]).await?;
        let row =
            rows.first().ok_or_else(|| Error::Corrupt(format!("the shared value {name} is missing")))?;
        Ok(get::<&str>(row, 0)?.to_owned())
    }

    /// Sets the value that all nodes share under this name. `None` removes the value.
    pub async fn share(&self, name: &str, value: Option<&str>) -> Result<(), Error> {
        match value {
            Some(value) => {
                let put = "INSERT INTO agreed (name, value) VALUES ($1, $2) \
                           ON CONFLICT (name) DO UPDATE SET value = excluded.value";
                self.pool.query(put, &[&name, &value]).await?;
            }
            None => {
                self.pool.query("DELETE FROM agreed WHERE name = $1", &[&name]).await?;
            }
        }
        Ok(())
    }

    /// Returns the names, with this prefix, of the values that all nodes share.
    pub async fn shared_under(&self, prefix: &str) -> Result<Vec<String>, Error> {
        let rows = self.pool.query("SELECT name FROM agreed WHERE starts_with(name, $1)", &[&prefix]).await?;
        rows.iter().map(|row| Ok(get::<&str>(row, 0)?.to_owned())).collect()
    }

    pub async fn shared(&self, name: &str) -> Result<Option<String>, Error> {
        let rows = self.pool.query("SELECT value FROM agreed WHERE name = $1", &[&name]).await?;
        rows.first().map(|row| Ok(get::<&str>(row, 0)?.to_owned())).transpose()
    }
}
