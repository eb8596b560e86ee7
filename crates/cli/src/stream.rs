//! Event stream of one run, or of the whole journal. After a lost connection, the stream reconnects and continues after
//! the last event.

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
/// Maximum number of stream items that wait for a slow terminal. At this number, the stream stops reading from the
/// server.
const WAITING: usize = 64;

#[derive(Debug)]
pub(crate) enum Item {
    /// An event of the journal, and the same event as a line of JSON.
    Event(Box<Event>, String),
    Preview(Preview),
    /// The server of the event stream does not respond. The stream keeps trying to connect.
    Lost,
    /// The server of the event stream responds again after a lost connection.
    Back,
    /// The event stream has failed with a permanent error. A retry would not help.
    Broken(anyhow::Error),
}

/// Presence of a person who watches an event stream. A person can see that the connection is lost, and leave, so the
/// stream then reconnects without a time limit. Without a person, the stream fails after one minute without a
/// connection.
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
    /// Streams the events of a run with a sequence number above `since`.
    ///
    ///
    /// If the server does not respond, the stream keeps trying to connect. If no person watches, the stream fails after
    /// one minute.
    pub(crate) fn follow(client: &Client, run: &str, since: u64, watched: Watched) -> Self {
        let (sender, items) = mpsc::channel(WAITING);
        let place = EventSource::InRun { run: run.to_owned(), last: since };
        let reader = Reader { client: client.clone(), place, sender, watched };
        Self { items, task: tokio::spawn(reader.read(None)).abort_handle() }
    }

    /// Streams all events that are appended to the journal after this call. The caller must read lists only after this
    /// call, so that no event is missed.
    pub(crate) async fn everything(client: &Client, watched: Watched) -> anyhow::Result<Self> {
        let first = client.everything(None).await?;
        let (sender, items) = mpsc::channel(WAITING);
        let reader = Reader {
            client: client.clone(),
            place: EventSource::Everywhere { position: None },
            sender,
            watched,
        };
        Ok(Self { items, task: tokio::spawn(reader.read(Some(first))).abort_handle() })
    }

    /// Returns the next item of the event stream. [`Item::Broken`] is the last item; after it, returns `None`.
    pub(crate) async fn next(&mut self) -> Option<Item> {
        self.items.recv().await
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Source of an event stream, with the position of the last event that was received.
enum EventSource {
    InRun { run: String, last: u64 },
    Everywhere { position: Option<String> },
}

impl EventSource {
    async fn open(&self, client: &Client) -> anyhow::Result<reqwest::Response> {
        match self {
            Self::InRun { run, last } => client.events(run, *last).await,
            Self::Everywhere { position } => client.everything(position.as_deref()).await,
        }
    }

    /// Records the position of a received event. Returns false for a repeated event, which may occur after a lost
    /// connection.
    fn advance(&mut self, event: &Event) -> bool {
        match self {
            Self::InRun { last, .. } => {
                let is_new = event.seq > *last;
                *last = event.seq.max(*last);
                is_new
            }
            Self::Everywhere { position } => {
                if event.position.is_some() {
                    position.clone_from(&event.position);
                }
                true
            }
        }
    }
}

struct Reader {
    client: Client,
    place: EventSource,
    sender: mpsc::Sender<Item>,
    watched: Watched,
}

impl Reader {
    async fn read(mut self, mut first: Option<reqwest::Response>) {
        let mut pause = FIRST_PAUSE;
        let mut lost_at: Option<Instant> = None;
        loop {
            let opened = match first.take() {
                Some(response) => Ok(response),
                None => self.place.open(&self.client).await,
            };
            match opened {
                Ok(response) => {
                    if lost_at.take().is_some() && !self.put(Item::Back).await {
                        return;
                    }
                    match self.pass_on(response).await {
                        None => return,
                        Some(0) => {}
                        Some(_) => pause = FIRST_PAUSE,
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

    /// Sends the events of one connection to the receiver of the stream, and returns their number. Returns `None` if
    /// the receiver is closed, or if an event is unreadable.
    async fn pass_on(&mut self, response: reqwest::Response) -> Option<usize> {
        let mut passed = 0;
        let mut frames = SseStream::from_bytes_stream(response.bytes_stream());
        while let Some(Ok(frame)) = frames.next().await {
            let Some(data) = frame.data else { continue };
            let item = match frame.event.as_deref() {
                None | Some("message") => match serde_json::from_str::<Event>(&data) {
                    // An event that already arrived on the previous connection.
                    Ok(event) if !self.place.advance(&event) => continue,
                    Ok(event) => {
                        passed += 1;
                        Item::Event(Box::new(event), data)
                    }
                    Err(error) => {
                        let error = anyhow::Error::new(error)
                            .context("the server sent an event unknown to this version: update holdshort");
                        self.put(Item::Broken(error)).await;
                        return None;
                    }
                },
                // The server sends this event first: the position at which the stream of all events begins.
                Some("position") => {
                    if let EventSource::Everywhere { position } = &mut self.place {
                        *position = frame.id.or_else(|| position_of(&data));
                    }
                    continue;
                }
                Some("preview") => match serde_json::from_str(&data) {
                    Ok(preview) => Item::Preview(preview),
                    Err(_) => continue,
                },
                Some(_) => continue,
            };
            if !self.put(item).await {
                return None;
            }
        }
        Some(passed)
    }

    fn is_over(&self, lost_at: Option<Instant>) -> bool {
        self.watched == Watched::ByNobody && lost_at.is_some_and(|at| at.elapsed() > UNWATCHED)
    }

    async fn put(&self, item: Item) -> bool {
        self.sender.send(item).await.is_ok()
    }
}

fn position_of(data: &str) -> Option<String> {
    let data: serde_json::Value = serde_json::from_str(data).ok()?;
    Some(data.get("position")?.as_str()?.to_owned())
}
