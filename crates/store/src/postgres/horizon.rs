//! Watches up to which position reads may see, and reports it. The answer comes from the database. A wake-up, from an
//! append of this node or a NOTIFY of another, only makes it sooner. It may be missing (behind a connection pooler).
//!
//! No append notifies: a NOTIFY locks the whole cluster's queue while its transaction commits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::future::poll_fn;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_postgres::{AsyncMessage, Config};

use super::pool::Pool;
use super::read;
use super::tls::Tls;
use crate::journal::Error;

/// Minimum time between two queries, however much is written.
const FASTEST: Duration = Duration::from_millis(4);
/// Wait after a change; it grows up to `SLOWEST`.
const SOON: Duration = Duration::from_millis(10);
const SLOWEST: Duration = Duration::from_millis(250);
/// Time between two notifications of a node. One notification covers everything written in that time.
const WINDOW: Duration = Duration::from_millis(20);
/// Pause after the listening connection was lost.
const PAUSE: Duration = Duration::from_secs(1);

/// Last position written by this node, and the tasks that a new one wakes.
#[derive(Debug, Default)]
pub(super) struct WrittenPosition {
    position: AtomicU64,
    look: Notify,
    tell: Notify,
}

impl WrittenPosition {
    pub(super) fn advance_to(&self, position: u64) {
        if self.position.fetch_max(position, Ordering::AcqRel) < position {
            self.look.notify_one();
            self.tell.notify_one();
        }
    }
}

/// Reports up to which position the journal can be read, until it is dropped.
pub(super) async fn keep_looking(pool: Pool, written: Arc<WrittenPosition>, visible: watch::Sender<u64>) {
    let mut wait = SOON;
    loop {
        let earliest = Instant::now() + FASTEST;
        match read::last_visible(&pool).await {
            Ok(position) => {
                let grew = visible.send_if_modified(|known| {
                    let grew = *known < position;
                    *known = position.max(*known);
                    grew
                });
                wait = if grew { SOON } else { (wait * 2).min(SLOWEST) };
            }
            Err(Error::Closed) => return,
            Err(error) => {
                tracing::warn!(%error, "new events cannot be read");
                wait = SLOWEST;
            }
        }
        // The node's own events are beyond the horizon while any older transaction of the cluster runs.
        let behind = *visible.borrow() < written.position.load(Ordering::Acquire);
        let latest = if behind { wait.min(SOON * 2) } else { wait };
        // The loop looks again after the time-out, too.
        let _woken = timeout(latest, written.look.notified()).await;
        sleep_until(earliest).await;
    }
}

/// Notifies the other nodes after this one wrote something.
pub(super) async fn keep_telling(pool: Pool, node: u64, written: Arc<WrittenPosition>) {
    let payload = node.to_string();
    loop {
        written.tell.notified().await;
        sleep(WINDOW).await;
        match pool.query("SELECT pg_notify('holdshort', $1)", &[&payload]).await {
            Ok(_) => {}
            Err(Error::Closed) => return,
            Err(error) => tracing::debug!(%error, "other nodes cannot be notified"),
        }
    }
}

/// Listens for notifications of other nodes, which wake the watcher.
pub(super) async fn keep_listening(address: Config, node: u64, written: Arc<WrittenPosition>) {
    let own = node.to_string();
    let tls = match Tls::for_address(&address) {
        Ok(tls) => tls,
        // The pool has already reported this error before opening a connection.
        Err(error) => return tracing::error!(%error, "notifications of other nodes cannot be received"),
    };
    loop {
        if let Err(error) = listen(&address, &tls, &own, &written).await {
            tracing::debug!(%error, "notifications of other nodes cannot be received");
        }
        sleep(PAUSE).await;
    }
}

/// Listens until the connection is lost.
async fn listen(
    address: &Config,
    tls: &Tls,
    own: &str,
    written: &WrittenPosition,
) -> Result<(), tokio_postgres::Error> {
    let (client, mut connection) = address.connect(tls.clone()).await?;
    let mut listening = std::pin::pin!(client.batch_execute("LISTEN holdshort"));
    let mut asked = false;
    poll_fn(|context| {
        loop {
            if !asked && let std::task::Poll::Ready(answer) = listening.as_mut().poll(context) {
                asked = true;
                if let Err(error) = answer {
                    return std::task::Poll::Ready(Err(error));
                }
            }
            match std::task::ready!(connection.poll_message(context)) {
                Some(Ok(AsyncMessage::Notification(note))) if note.payload() != own => {
                    written.look.notify_one();
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return std::task::Poll::Ready(Err(error)),
                None => return std::task::Poll::Ready(Ok(())),
            }
        }
    })
    .await
}
