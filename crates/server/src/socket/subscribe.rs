//! Converts a subscription to a feed, which is a stream of events. The requested run must exist, match the topic of the
//! subscription, and be visible to the caller.

use holdshort_core::id::RunId;
use holdshort_protocol::frame::{ServerFrame, Subscribe, Topic};
use holdshort_web::auth::Caller;
use holdshort_web::feed::{self, Previews, Source, Visibility, position};
use holdshort_web::problem::{Answer, Refused};

use super::deliver::Order;

pub(super) async fn to(caller: &Caller, wish: Subscribe) -> Answer<Order> {
    let refuse = |pointer, why| Err(Refused::invalid_at(pointer, why));
    let Subscribe { id, topic, run, since, position, previews } = wish;
    let source = match topic {
        Topic::Run if position.is_some() => {
            return refuse("/position", "must be omitted for the topic `run`: use `since`");
        }
        Topic::Run => {
            let Some(run) = run else { return refuse("/run", "missing field `run`") };
            let run: RunId = run.parse().map_err(|_| Refused::not_found("run"))?;
            let row = caller.run(&run).await?;
            Source::run(&row, since.unwrap_or(row.seq))
        }
        Topic::Inbox | Topic::All if run.is_some() => {
            return refuse("/run", "is only valid for the topic `run`");
        }
        Topic::Inbox | Topic::All if since.is_some() => {
            return refuse("/since", "is only valid for the topic `run`");
        }
        Topic::Inbox if previews == Some(true) => {
            return refuse("/previews", "must be omitted, because the topic `inbox` has no previews");
        }
        Topic::Inbox => Source::Inbox { after: after(caller, position).await? },
        Topic::All => Source::All { after: after(caller, position).await? },
    };
    let (position, seq) = match &source {
        Source::Run { since, .. } => (None, Some(*since)),
        Source::Inbox { after } | Source::All { after } | Source::Decisions { after } => {
            (Some(position::text(*after)), None)
        }
    };
    let previews = if topic == Topic::Inbox { Previews::Hidden } else { Previews::from_choice(previews) };
    Ok(Order::Follow {
        answer: Box::new(ServerFrame::Subscribed { id: id.clone(), position, seq }),
        id,
        items: feed::follow(source, Visibility::for_caller(caller.clone()), previews),
    })
}

async fn after(caller: &Caller, text: Option<String>) -> Answer<u64> {
    let Some(text) = text else { return Ok(position::last(&caller.app)) };
    position::parse(&caller.app, &text, |why| Refused::invalid_at("/position", why)).await
}
