//! How far reads by position may see, for those who wait for it. The answer comes from the database. A wake-up, by an
//! append of this node or a NOTIFY of another, only makes it sooner, and may be missing (behind a connection pooler).
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

/// Between two questions at least, however much is written.
const FASTEST: Duration = Duration::from_millis(4);
/// After something happened, growing up to the slowest.
const SOON: Duration = Duration::from_millis(10);
const SLOWEST: Duration = Duration::from_millis(250);
/// Between two notifications of a node: what it wrote meanwhile needs one.
const WINDOW: Duration = Duration::from_millis(20);
/// After a connection that listens was lost.
const PAUSE: Duration = Duration::from_secs(1);

/// What this node wrote, and whom that wakes.
#[derive(Debug, Default)]
pub(super) struct Written {
    position: AtomicU64,
    look: Notify,
    tell: Notify,
}

impl Written {
    pub(super) fn up_to(&self, position: u64) {
        if self.position.fetch_max(position, Ordering::AcqRel) < position {
            self.look.notify_one();
            self.tell.notify_one();
        }
    }
}

/// Tells how far the journal can be read, for as long as it is not dropped.
pub(super) async fn keep_looking(pool: Pool, written: Arc<Written>, visible: watch::Sender<u64>) {
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
                tracing::warn!(%error, "what was written can not be looked for");
                wait = SLOWEST;
            }
        }
        // Its own events lie beyond the horizon while any older transaction of the cluster runs.
        let behind = *visible.borrow() < written.position.load(Ordering::Acquire);
        let latest = if behind { wait.min(SOON * 2) } else { wait };
        // Not woken is as good: it looks all the same.
        let _woken = timeout(latest, written.look.notified()).await;
        sleep_until(earliest).await;
    }
}

/// Tells the other nodes that this one wrote something.
pub(super) async fn keep_telling(pool: Pool, node: u64, written: Arc<Written>) {
    let payload = node.to_string();
    loop {
        written.tell.notified().await;
        sleep(WINDOW).await;
        match pool.query("SELECT pg_notify('holdshort', $1)", &[&payload]).await {
            Ok(_) => {}
            Err(Error::Closed) => return,
            Err(error) => tracing::debug!(%error, "other nodes can not be notified"),
        }
    }
}

/// Is woken by the other nodes.
pub(super) async fn keep_listening(address: Config, node: u64, written: Arc<Written>) {
    let own = node.to_string();
    let tls = match Tls::of(&address) {
        Ok(tls) => tls,
        // The pool has said so before anything was opened.
        Err(error) => return tracing::error!(%error, "other nodes can not be listened to"),
    };
    loop {
        if let Err(error) = listen(&address, &tls, &own, &written).await {
            tracing::debug!(%error, "other nodes can not be listened to");
        }
        sleep(PAUSE).await;
    }
}

/// Returns when the connection is lost.
async fn listen(
    address: &Config,
    tls: &Tls,
    own: &str,
    written: &Written,
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
