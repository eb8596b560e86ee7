//! Sends frames to the client: responses, and the items of each subscription. Both keep their order.

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use holdshort_protocol::Code;
use holdshort_protocol::frame::ServerFrame;
use holdshort_web::feed::Item;
use holdshort_web::limits::SUBSCRIPTIONS;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::websocket::{Outbox, Unsent};
use tokio::sync::mpsc;
use tokio_stream::StreamMap;

use super::write;

/// Instruction to the task that sends frames of a socket. The task in `listen.rs` gives one after each frame of the
/// client.
pub(super) enum Order {
    Say(Box<ServerFrame>),
    Follow { id: String, answer: Box<ServerFrame>, items: BoxStream<'static, Item> },
    Unfollow { id: String },
}

impl Order {
    pub(super) fn say(frame: ServerFrame) -> Self {
        Self::Say(Box::new(frame))
    }

    pub(super) fn refuse(id: Option<String>, refused: Refused) -> Self {
        Self::say(error(id, refused))
    }
}

/// Open subscriptions of a socket by the id that the client chose. The stream of a subscription yields `None` once,
/// after its last item.
type Subscriptions = StreamMap<String, BoxStream<'static, Option<Item>>>;

/// Sends responses and subscribed events to the client of a socket. Ends when no sender of orders is left, or when the
/// client stops reading.
pub(super) async fn all(mut orders: mpsc::Receiver<Order>, outbox: Outbox) -> Result<(), Unsent> {
    let mut subscriptions = Subscriptions::new();
    loop {
        tokio::select! {
            biased;
            order = orders.recv() => match order {
                None => return Ok(()),
                Some(order) => outbox.put(write::text(&obey(&mut subscriptions, order))).await?,
            },
            Some((id, item)) = subscriptions.next() => match item {
                Some(Item::Event(words)) => outbox.put(write::event(&id, words.json())).await?,
                Some(Item::Preview(preview)) => {
                    outbox.offer(write::text(&ServerFrame::Preview { id, preview }));
                }
                Some(Item::Problem(refused)) => outbox.put(write::text(&error(Some(id), refused))).await?,
                None => {
                    // The client may now use the id for a new subscription.
                    subscriptions.remove(&id);
                    outbox.put(write::text(&ServerFrame::Ended { id })).await?;
                }
            },
        }
    }
}

fn obey(subscriptions: &mut Subscriptions, order: Order) -> ServerFrame {
    match order {
        Order::Say(frame) => *frame,
        Order::Follow { id, answer, items } => match room(subscriptions, &id) {
            Ok(()) => {
                let items = items.map(Some).chain(stream::once(async { None })).boxed();
                subscriptions.insert(id, items);
                *answer
            }
            Err(refused) => error(Some(id), refused),
        },
        Order::Unfollow { id } => match subscriptions.remove(&id) {
            Some(_) => ServerFrame::Ended { id },
            None => error(Some(id), Refused::not_found("subscription")),
        },
    }
}

fn room(subscriptions: &Subscriptions, id: &str) -> Answer<()> {
    if subscriptions.contains_key(id) {
        return Err(Refused::invalid_at(
            "/id",
            "is already the id of an open subscription: choose another id, or end that subscription",
        ));
    }
    if subscriptions.len() >= SUBSCRIPTIONS {
        let rule = format!(
            "a socket can have at most {SUBSCRIPTIONS} subscriptions: end a subscription, or open another \
            socket"
        );
        return Err(Refused::new(Code::LimitReached, rule));
    }
    Ok(())
}

fn error(id: Option<String>, refused: Refused) -> ServerFrame {
    ServerFrame::Error { id, problem: refused.0 }
}
