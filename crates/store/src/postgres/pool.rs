//! Connection pool: the settings, the number and the time-outs of connections. A lost connection is replaced when a
//! connection is next requested.

use std::net::IpAddr;
use std::time::Duration;

use deadpool_postgres::{
    Client, Hook, HookError, Manager, ManagerConfig, Object, RecyclingMethod, Runtime, Timeouts,
};
use tokio::time::timeout;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Config, Row};

use super::error::{DatabaseTimeout, Unsupported};
use super::tls::Tls;
use crate::journal::Error;

const CONNECT: Duration = Duration::from_secs(5);
/// Maximum time to wait for a free connection while all connections are in use.
const FREE: Duration = Duration::from_secs(30);
/// Maximum time to wait for the result of an SQL statement. The database itself cancels the statement a little earlier,
/// because of the settings in `SESSION`.
const ANSWER: Duration = Duration::from_secs(35);
/// Maximum time without an acknowledgement for sent bytes, and interval of the probes on an idle connection. With both,
/// a broken network connection is detected.
const UNACKNOWLEDGED: Duration = Duration::from_secs(10);

/// Settings of every connection, which override the defaults of the database. They ensure that an append is on disk
/// when it is acknowledged.
const SESSION: &str = "
    SET default_transaction_isolation = 'read committed';
    SET statement_timeout = '30s';
    SET idle_in_transaction_session_timeout = '60s';
    SET jit = off;
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

pub(super) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

#[derive(Clone, Debug)]
pub(super) struct Pool(deadpool_postgres::Pool);

/// Additional setting of connections to a journal that is opened for reading. With this setting, the database refuses
/// every change.
const READ_ONLY: &str = "SET default_transaction_read_only = on";

/// A connection on which a query is running. If the caller stops waiting for the result, the connection is closed
/// instead of returned to the pool. Otherwise its next user would have to wait for the query.
struct PendingConnection(Option<Client>);

impl Drop for PendingConnection {
    fn drop(&mut self) {
        if let Some(client) = self.0.take() {
            drop(Object::take(client));
        }
    }
}

/// Returns a warning if the connection is unencrypted and the database is on another machine.
pub fn warning(url: &str) -> Option<&'static str> {
    let config = read(url).ok()?;
    let is_open = config.get_ssl_mode() != SslMode::Require && leaves_the_machine(&config);
    is_open.then_some(
        "the connection to the database is not encrypted; add `sslmode=verify-full` to its address",
    )
}

/// Returns an error if the URL is not a valid address of a database.
pub fn check(url: &str) -> Result<(), Unsupported> {
    read(url).map(drop)
}

fn read(url: &str) -> Result<Config, Unsupported> {
    // The driver does not know `verify-full`, so it is replaced by `require`. For `require`, this store verifies the
    // certificate chain and the host name too.
    let parsed = url
        .parse::<Config>()
        .or_else(|_| url.replace("sslmode=verify-full", "sslmode=require").parse::<Config>());
    let config: Config = parsed.map_err(|_| Unsupported::Address)?;
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        return Err(Unsupported::Address);
    }
    Ok(config)
}

/// Parses the address of a database, and adds the settings that are used to connect.
pub(super) fn address(url: &str, application: &str) -> Result<Config, Error> {
    let mut config = read(url)?;
    if let Some(warning) = warning(url) {
        tracing::warn!("{warning}");
    }
    if config.get_ssl_mode() != SslMode::Require {
        config.ssl_mode(SslMode::Disable);
    }
    if config.get_application_name().is_none() {
        config.application_name(format!("holdshort {application}"));
    }
    if config.get_hosts().len() > 1 {
        // Standby servers are excluded, because they may return outdated data.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    config
        .connect_timeout(CONNECT)
        .tcp_user_timeout(UNACKNOWLEDGED)
        .keepalives_idle(UNACKNOWLEDGED)
        .keepalives_interval(Duration::from_secs(3))
        .keepalives_retries(3);
    Ok(config)
}

/// Returns true if a server in the address may be on another machine. An address on this machine is a loopback address
/// or a Unix socket.
fn leaves_the_machine(config: &Config) -> bool {
    if !config.get_hostaddrs().is_empty() {
        return config.get_hostaddrs().iter().any(|address| !address.is_loopback());
    }
    config.get_hosts().iter().any(|host| match host {
        Host::Tcp(name) => {
            let address = name.parse::<IpAddr>();
            name != "localhost" && !address.is_ok_and(|address| address.is_loopback())
        }
        Host::Unix(_) => false,
    })
}

impl Pool {
    /// Creates the connection pool. Connections are opened only when they are requested.
    pub(super) fn new(address: &Config, size: usize) -> Result<Self, Error> {
        Self::with_session(address, size, SESSION.to_owned())
    }

    /// Creates a pool of read-only connections.
    pub(super) fn to_read(address: &Config, size: usize) -> Result<Self, Error> {
        Self::with_session(address, size, format!("{SESSION};\n{READ_ONLY}"))
    }

    fn with_session(address: &Config, size: usize, session: String) -> Result<Self, Error> {
        let how = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(address.clone(), Tls::for_address(address)?, how);
        let set_up = Hook::async_fn(move |client: &mut deadpool_postgres::ClientWrapper, _| {
            let session = session.clone();
            Box::pin(async move { client.batch_execute(&session).await.map_err(HookError::Backend) })
        });
        let pool = deadpool_postgres::Pool::builder(manager)
            .max_size(size.max(1))
            .runtime(Runtime::Tokio1)
            .timeouts(Timeouts { wait: Some(FREE), create: Some(2 * CONNECT), recycle: Some(CONNECT) })
            .post_create(set_up)
            .build()
            .map_err(|error| Error::Io(Box::new(error)))?;
        Ok(Self(pool))
    }

    pub(super) async fn client(&self) -> Result<Client, Error> {
        Ok(self.0.get().await?)
    }

    /// Runs one SQL statement. Each connection prepares the statement only the first time.
    pub(super) async fn query(&self, sql: &str, params: Params<'_>) -> Result<Vec<Row>, Error> {
        self.ask(sql, params).await?.map_err(Error::from)
    }

    /// Runs one SQL statement that changes nothing. If the connection is found closed, runs the statement again on
    /// another connection.
    pub(super) async fn read(&self, sql: &str, params: Params<'_>) -> Result<Vec<Row>, Error> {
        match self.ask(sql, params).await? {
            Err(error) if error.is_closed() => self.query(sql, params).await,
            answer => answer.map_err(Error::from),
        }
    }

    /// Runs one statement. The inner error is an error of the database or of the connection.
    pub(super) async fn ask(
        &self,
        sql: &str,
        params: Params<'_>,
    ) -> Result<Result<Vec<Row>, tokio_postgres::Error>, Error> {
        let mut asked = PendingConnection(Some(self.client().await?));
        let client = asked.0.as_ref().ok_or(Error::Closed)?;
        let answer = timeout(ANSWER, async {
            let statement = client.prepare_cached(sql).await?;
            client.query(&statement, params).await
        });
        let answer = answer.await.map_err(|_| DatabaseTimeout(ANSWER))?;
        drop(asked.0.take());
        Ok(answer)
    }

    /// Closes the connection pool. Later requests return [`Error::Closed`].
    pub(super) fn close(&self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_words_for_tls_ask_for_it_and_others_are_refused() {
        for (word, mode) in [
            ("sslmode=verify-full", Some(SslMode::Require)),
            ("sslmode=require", Some(SslMode::Require)),
            ("sslmode=disable", Some(SslMode::Disable)),
            ("application_name=a", Some(SslMode::Disable)),
            ("sslmode=verify-ca", None),
            ("sslmode=verify-fuller", None),
        ] {
            let found = address(&format!("postgresql://u@db.internal/d?{word}"), "test").ok();
            assert_eq!(found.map(|config| config.get_ssl_mode()), mode, "{word}");
        }
    }

    #[test]
    fn only_what_leaves_the_machine_in_the_clear_is_warned_of() {
        for (url, is_warned_of) in [
            ("postgresql://u@db.internal/d", true),
            ("postgresql://u@10.0.0.1/d", true),
            ("postgresql://u@localhost,db.internal/d", true),
            ("host=localhost hostaddr=10.0.0.1", true),
            ("postgresql://u@localhost/d", false),
            ("postgresql://u@127.0.0.1/d", false),
            ("host=db.internal hostaddr=127.0.0.1", false),
            ("host=/run/postgresql", false),
            ("postgresql://u@db.internal/d?sslmode=prefer", true),
            ("postgresql://u@db.internal/d?sslmode=verify-full", false),
            ("postgresql://u@db.internal/d?sslmode=require", false),
            ("no address", false),
        ] {
            assert_eq!(warning(url).is_some(), is_warned_of, "{url}");
        }
    }
}
