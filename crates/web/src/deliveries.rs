//! Deliveries of an interrupt, and manual retries of deliveries, for several routes.

use holdshort_core::actor::LOCAL_OPERATOR;
use holdshort_core::channel::CALLBACKS;
use holdshort_core::delivery::{Delivery, DeliveryState};
use holdshort_core::id::{DeliveryId, InterruptId, WebhookId};
use holdshort_core::json;
use holdshort_core::notice::{Notice, Recipient};
use holdshort_engine::outbox::NoCallback;
use holdshort_protocol::{Code, NotCovered};
use holdshort_store::{DeliveryChange, DeliveryFilter, Outbox};

use crate::app::App;
use crate::auth::Caller;
use crate::limits::RECORD_DELIVERIES;
use crate::problem::{Answer, Refused};
use crate::view;

/// Returns the newest [`RECORD_DELIVERIES`] deliveries of notifications about an interrupt, oldest first, for the
/// interrupt's record.
pub async fn recorded(app: &App, interrupt: &InterruptId) -> Answer<NotCovered> {
    let filter = DeliveryFilter { interrupt: Some(interrupt.clone()), ..DeliveryFilter::default() };
    let newest = app.journal().deliveries(&filter, None, RECORD_DELIVERIES).await?;
    let mut deliveries = Vec::with_capacity(newest.items.len());
    for row in newest.items.iter().rev() {
        deliveries.push(view::delivery::recorded(row, &app.journal().attempts(&row.delivery).await?));
    }
    Ok(NotCovered { deliveries, has_older: newest.next.is_some() })
}

pub async fn find_delivery(app: &App, id: &DeliveryId) -> Answer<Delivery> {
    app.journal().delivery(id).await?.ok_or_else(|| Refused::not_found("delivery"))
}

/// Retries a delivery of a notification on request of a person. Returns the delivery in its new state.
pub async fn retry(caller: &Caller, id: &DeliveryId) -> Answer<Delivery> {
    let app = &caller.app;
    let before = find_delivery(app, id).await?;
    let has_ended = matches!(before.state, DeliveryState::Failed | DeliveryState::Dropped);
    if has_ended && let Some(why) = gone(app, &before).await? {
        return Err(Refused::new(Code::NotRetriable, why));
    }
    let change = DeliveryChange::Retry { delivery: id.clone(), now: app.now() };
    let is_retried = app.journal().change_deliveries(change).await? > 0;
    let row = find_delivery(app, id).await?;
    if !is_retried {
        return Err(Refused::new(Code::NotRetriable, why_not(&row)));
    }
    tracing::info!(delivery = %id, by = caller.actor.id, "a delivery is retried");
    app.driver.ring_outbox();
    Ok(row)
}

/// Returns the reason why a delivery of a notification can reach nobody: its channel, its recipient or the recipient's
/// browser was removed. Returns `None` if the delivery can be retried.
async fn gone(app: &App, row: &Delivery) -> Answer<Option<String>> {
    let name = &row.channel;
    if name == CALLBACKS {
        let callback = app.callbacks.find_callback(app, &row.interrupt).await;
        return Ok(match callback {
            Err(NoCallback::Never(why)) => Some(format!("the delivery is not sent again, because {why}")),
            Ok(_) | Err(NoCallback::NotNow) => None,
        });
    }
    if !app.driver.channels().iter().any(|channel| channel.name == *name) {
        let what = if name.parse::<WebhookId>().is_ok() { "webhook" } else { "channel" };
        let why =
            format!("the delivery is not sent again, because {what} {name} was removed or is not active");
        return Ok(Some(why));
    }
    let system = app.driver.system().await?;
    let to = json::from_slice::<Notice>(row.notice.as_bytes()).ok().and_then(|notice| notice.to);
    let why = match to {
        Some(Recipient::Person(id)) if id != LOCAL_OPERATOR && system.people.get(&id).is_none() => {
            format!("the delivery is not sent again, because the recipient `{id}` has been removed")
        }
        Some(Recipient::Browser { push, .. }) if !system.push.contains_key(&push) => {
            "the delivery is not sent again, because the browser no longer receives notifications".to_owned()
        }
        Some(_) | None => return Ok(None),
    };
    Ok(Some(why))
}

fn why_not(row: &Delivery) -> &'static str {
    if row.state == DeliveryState::Delivered {
        "the notification was delivered and is not sent again"
    } else if row.notice.is_empty() {
        "the content of the notification is no longer stored"
    } else {
        "a server is sending the notification right now: read the delivery again in a moment"
    }
}
