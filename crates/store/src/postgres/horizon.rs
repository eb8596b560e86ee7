//! Watches the horizon of the journal: the position up to which the order of events is final, so that they can be read
//! by position. The horizon is read from the database at intervals. The horizon is read earlier after an append of this
//! node, and after a notification (NOTIFY) of another node. If there is a connection pooler before the database, some
//! notifications may be lost.
//!
//! An append itself sends no notification, because NOTIFY locks a queue of the whole cluster until its transaction has
//! committed.

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

/// Minimum time between two reads of the horizon (the position up to which events are final), independent of the number
/// of appends.
const FASTEST: Duration = Duration::from_millis(4);
/// Delay before the horizon is read again after it has advanced. While the horizon does not change, the delay grows up
/// to `SLOWEST`.
const SOON: Duration = Duration::from_millis(10);
const SLOWEST: Duration = Duration::from_millis(250);
/// Minimum time between two notifications that this node sends to other nodes. One notification is enough for all
/// appends in this time.
const WINDOW: Duration = Duration::from_millis(20);
/// Pause before a new database connection for notifications replaces a lost one.
const PAUSE: Duration = Duration::from_secs(1);

/// Position of the last event that this node has written. The notifiers wake waiting tasks after a write.
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

/// Reports the horizon (the position up to which events are final) to `visible` whenever it changes. Runs until the
/// pool is closed.
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
        // While an older transaction of the cluster is running, reads by position do not see the newest events of this
        // node.
        let behind = *visible.borrow() < written.position.load(Ordering::Acquire);
        let latest = if behind { wait.min(SOON * 2) } else { wait };
        // The horizon is read after a notification or after a time-out, whichever is first.
        let _woken = timeout(latest, written.look.notified()).await;
        sleep_until(earliest).await;
    }
}

/// Notifies the other nodes of appends by this node.
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

/// Listens for notifications of other nodes. After each notification, the horizon is read from the database.
pub(super) async fn keep_listening(address: Config, node: u64, written: Arc<WrittenPosition>) {
    let own = node.to_string();
    let tls = match Tls::for_address(&address) {
        Ok(tls) => tls,
        // The address of the store is valid: otherwise the pool would have rejected it when the store was opened.
        Err(error) => return tracing::error!(%error, "notifications of other nodes cannot be received"),
    };
    loop {
        if let Err(error) = listen(&address, &tls, &own, &written).await {
            tracing::debug!(%error, "notifications of other nodes cannot be received");
        }
        sleep(PAUSE).await;
    }
}

/// Listens for notifications of other nodes until the connection to the database is lost.
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
