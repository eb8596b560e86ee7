//! A run's events in order. Reconnects when the connection ends, and continues after the last event seen.

use std::time::{Duration, Instant};

use futures::StreamExt;
use holdshort_protocol::{Event, Preview};
use sse_stream::SseStream;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::client::{self, Client};

const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
const UNWATCHED: Duration = Duration::from_mins(1);
/// Items that may wait for a slow terminal; then the stream waits.
const WAITING: usize = 64;

#[derive(Debug)]
pub(crate) enum Item {
    /// The event, and the line that it came in.
    Event(Box<Event>, String),
    Preview(Preview),
    /// The server is gone; we go on trying.
    Lost,
    /// It is back.
    Back,
    /// Trying again would not help.
    Broken(anyhow::Error),
}

/// Who sees that a server is gone, and can leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watched {
    ByAPerson,
    ByNobody,
}

impl Watched {
    pub(crate) fn now() -> Self {
        if console::Term::stderr().is_term() { Self::ByAPerson } else { Self::ByNobody }
    }
}

#[derive(Debug)]
pub(crate) struct Events {
    items: mpsc::Receiver<Item>,
    task: AbortHandle,
}

impl Events {
    /// Those with a sequence number above `since`.
    ///
    /// A server that is gone is waited for: where nobody watches, no longer than a minute.
    pub(crate) fn follow(client: &Client, run: &str, since: u64, watched: Watched) -> Self {
        let (sender, items) = mpsc::channel(WAITING);
        let reader = Reader { client: client.clone(), run: run.to_owned(), last: since, sender, watched };
        Self { items, task: tokio::spawn(reader.read()).abort_handle() }
    }

    /// `None` never comes before an [`Item::Broken`].
    pub(crate) async fn next(&mut self) -> Option<Item> {
        self.items.recv().await
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Reader {
    client: Client,
    run: String,
    last: u64,
    sender: mpsc::Sender<Item>,
    watched: Watched,
}

impl Reader {
    async fn read(mut self) {
        let mut pause = FIRST_PAUSE;
        let mut lost_at: Option<Instant> = None;
        loop {
            match self.client.events(&self.run, self.last).await {
                Ok(response) => {
                    if lost_at.take().is_some() && !self.put(Item::Back).await {
                        return;
                    }
                    let before = self.last;
                    if !self.pass_on(response).await {
                        return;
                    }
                    if self.last > before {
                        pause = FIRST_PAUSE;
                    }
                }
                Err(error) if !client::is_passing(&error) || self.is_over(lost_at) => {
                    self.put(Item::Broken(error)).await;
                    return;
                }
                Err(_) => {
                    if lost_at.is_none() && !self.put(Item::Lost).await {
                        return;
                    }
                    lost_at.get_or_insert_with(Instant::now);
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Passes on what one connection brings. False: nobody listens any more, or it can not be understood.
    async fn pass_on(&mut self, response: reqwest::Response) -> bool {
        let mut frames = SseStream::from_bytes_stream(response.bytes_stream());
        while let Some(Ok(frame)) = frames.next().await {
            let Some(data) = frame.data else { continue };
            let item = match frame.event.as_deref() {
                None | Some("message") => match serde_json::from_str::<Event>(&data) {
                    // What was seen before the connection broke.
                    Ok(event) if event.seq <= self.last => continue,
                    Ok(event) => {
                        self.last = event.seq;
                        Item::Event(Box::new(event), data)
                    }
                    Err(error) => {
                        let error = anyhow::Error::new(error)
                            .context("an event that this version does not understand: update holdshort");
                        self.put(Item::Broken(error)).await;
                        return false;
                    }
                },
                Some("preview") => match serde_json::from_str(&data) {
                    Ok(preview) => Item::Preview(preview),
                    Err(_) => continue,
                },
                Some(_) => continue,
            };
            if !self.put(item).await {
                return false;
            }
        }
        true
    }

    fn is_over(&self, lost_at: Option<Instant>) -> bool {
        self.watched == Watched::ByNobody && lost_at.is_some_and(|at| at.elapsed() > UNWATCHED)
    }

    async fn put(&self, item: Item) -> bool {
        self.sender.send(item).await.is_ok()
    }
}
