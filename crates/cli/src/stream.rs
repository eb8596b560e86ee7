//! Events in order: a run's, or those of everything. Reconnects when the connection ends, and continues after the last event seen.

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
        let place = Place::InRun { run: run.to_owned(), last: since };
        let reader = Reader { client: client.clone(), place, sender, watched };
        Self { items, task: tokio::spawn(reader.read(None)).abort_handle() }
    }

    /// Those of all streams from now on: what is read after this and followed from here has no gap.
    pub(crate) async fn everything(client: &Client, watched: Watched) -> anyhow::Result<Self> {
        let first = client.everything(None).await?;
        let (sender, items) = mpsc::channel(WAITING);
        let reader =
            Reader { client: client.clone(), place: Place::Everywhere { position: None }, sender, watched };
        Ok(Self { items, task: tokio::spawn(reader.read(Some(first))).abort_handle() })
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

/// What is followed, and the last that was seen of it.
enum Place {
    InRun { run: String, last: u64 },
    Everywhere { position: Option<String> },
}

impl Place {
    async fn open(&self, client: &Client) -> anyhow::Result<reqwest::Response> {
        match self {
            Self::InRun { run, last } => client.events(run, *last).await,
            Self::Everywhere { position } => client.everything(position.as_deref()).await,
        }
    }

    /// Whether it is new: what was seen before a connection broke may come again.
    fn moves_to(&mut self, event: &Event) -> bool {
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
    place: Place,
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

    /// Passes on what one connection brings: so many events. `None`: nobody listens any more, or it can not be
    /// understood.
    async fn pass_on(&mut self, response: reqwest::Response) -> Option<usize> {
        let mut passed = 0;
        let mut frames = SseStream::from_bytes_stream(response.bytes_stream());
        while let Some(Ok(frame)) = frames.next().await {
            let Some(data) = frame.data else { continue };
            let item = match frame.event.as_deref() {
                None | Some("message") => match serde_json::from_str::<Event>(&data) {
                    // What was seen before the connection broke.
                    Ok(event) if !self.place.moves_to(&event) => continue,
                    Ok(event) => {
                        passed += 1;
                        Item::Event(Box::new(event), data)
                    }
                    Err(error) => {
                        let error = anyhow::Error::new(error)
                            .context("an event that this version does not understand: update holdshort");
                        self.put(Item::Broken(error)).await;
                        return None;
                    }
                },
                // Where a stream of everything begins.
                Some("position") => {
                    if let Place::Everywhere { position } = &mut self.place {
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
