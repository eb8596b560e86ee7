//! Sends a delivery again by hand, whichever wire asks for it.

use holdshort_core::delivery::{Delivery, DeliveryState};
use holdshort_core::id::DeliveryId;
use holdshort_protocol::Code;
use holdshort_store::{DeliveryChange, Outbox};

use crate::app::App;
use crate::auth::Caller;
use crate::problem::{Answer, Refused};

pub async fn known(app: &App, id: &DeliveryId) -> Answer<Delivery> {
    app.journal().delivery(id).await?.ok_or_else(|| Refused::not_found("delivery"))
}

/// The delivery as it waits.
pub async fn retry(caller: &Caller, id: &DeliveryId) -> Answer<Delivery> {
    let app = &caller.app;
    let change = DeliveryChange::Retry { delivery: id.clone(), now: app.now() };
    let is_retried = app.journal().change_deliveries(change).await? > 0;
    let row = known(app, id).await?;
    if !is_retried {
        return Err(Refused::new(Code::NotRetriable, why_not(&row)));
    }
    tracing::info!(delivery = %id, by = caller.actor.id, "a delivery is retried");
    app.driver.ring_outbox();
    Ok(row)
}

fn why_not(row: &Delivery) -> &'static str {
    if row.state == DeliveryState::Delivered {
        "it was delivered, and is not sent twice"
    } else if row.notice.is_empty() {
        "what it said is kept no longer"
    } else {
        "a server is sending it at this moment: read it again in a moment"
    }
}
