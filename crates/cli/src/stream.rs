//! A run's events as they come: reconnects where a server goes away, and goes on after the last event seen.

use std::time::Duration;

use futures::StreamExt;
use holdshort_protocol::{Code, Event, Preview};
use sse_stream::SseStream;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::client::{self, Client};

const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
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

#[derive(Debug)]
pub(crate) struct Events {
    items: mpsc::Receiver<Item>,
    task: AbortHandle,
}

impl Events {
    /// Those with a sequence number above `since`.
    pub(crate) fn follow(client: &Client, run: &str, since: u64) -> Self {
        let (sender, items) = mpsc::channel(WAITING);
        let reader = Reader { client: client.clone(), run: run.to_owned(), last: since, sender };
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
}

impl Reader {
    async fn read(mut self) {
        let mut pause = FIRST_PAUSE;
        let mut is_lost = false;
        loop {
            match self.client.events(&self.run, self.last).await {
                Ok(response) => {
                    if is_lost && !self.put(Item::Back).await {
                        return;
                    }
                    is_lost = false;
                    let before = self.last;
                    if !self.pass_on(response).await {
                        return;
                    }
                    if self.last > before {
                        pause = FIRST_PAUSE;
                    }
                }
                Err(error) if is_final(&error) => {
                    self.put(Item::Broken(error)).await;
                    return;
                }
                Err(_) => {
                    if !is_lost && !self.put(Item::Lost).await {
                        return;
                    }
                    is_lost = true;
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
            self.client.find_again();
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

    async fn put(&self, item: Item) -> bool {
        self.sender.send(item).await.is_ok()
    }
}

/// Whether the server has answered that there is nothing to follow.
fn is_final(error: &anyhow::Error) -> bool {
    match client::code(error) {
        Some(Code::Stopping | Code::StoreFailed | Code::Busy | Code::TooManyStreams) | None => {
            error.is::<crate::exit::Usage>()
        }
        Some(_) => true,
    }
}
