//! Where messages of channels lead: the inbox, or for one person the page of a link of their own.

use std::sync::Arc;

use holdshort_core::delivery::Delivery;
use holdshort_core::id::InterruptId;
use holdshort_core::time::Timestamp;
use holdshort_engine::outbox::{Pages, PersonalLink};
use holdshort_web::app::App;
use holdshort_web::limits::LINK_DEFAULT_MS;
use holdshort_web::links::Claim;
use holdshort_web::problem::Answer;
use holdshort_web::view;

pub(crate) struct Telling(pub(crate) Arc<App>);

impl Pages for Telling {
    fn all(&self) -> String {
        format!("{}/inbox", self.0.base)
    }

    fn inbox(&self, interrupt: &InterruptId) -> String {
        format!("{}/inbox/{interrupt}", self.0.base)
    }

    fn personal<'a>(&'a self, delivery: &'a Delivery, person: &'a str) -> PersonalLink<'a> {
        Box::pin(async move {
            match link(&self.0, delivery, person).await {
                Ok(link) => link,
                Err(refused) => {
                    tracing::warn!(delivery = %delivery.delivery, why = refused.0.detail, "no link is made");
                    None
                }
            }
        })
    }
}

/// The same for each attempt. Where it is risky they sign in: whoever reads their mail is not them.
async fn link(app: &App, delivery: &Delivery, person: &str) -> Answer<Option<(String, Timestamp)>> {
    let asked = app.asked(&delivery.interrupt).await?;
    let Some(subject) = view::interrupt::mailable(app, &asked).await? else { return Ok(None) };
    let expires_at = delivery.created_at.plus_ms(LINK_DEFAULT_MS);
    let claim = Claim {
        interrupt: delivery.interrupt.clone(),
        person: person.to_owned(),
        subject,
        expires_at,
        key: None,
        made_at: Some(delivery.created_at),
        seq: None,
        mailed: Some(delivery.delivery.clone()),
    };
    Ok(Some((format!("{}/d/{}", app.base, app.links.token(&claim)), expires_at)))
}
