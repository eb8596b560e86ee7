//! Links that notifications contain. A link leads to the inbox, or to a decision page for one person.

use std::sync::Arc;

use holdshort_core::actor::Actor;
use holdshort_core::definition::EXTERNAL;
use holdshort_core::delivery::Delivery;
use holdshort_core::id::{InterruptId, PushId};
use holdshort_core::interrupt::{Assignment, Kind, Timing};
use holdshort_core::run::{Ask, Config, Origin};
use holdshort_core::time::Timestamp;
use holdshort_engine::outbox::{
    Alert, BrowserFuture, Buttons, CallbackFuture, CallbackTargetFuture, Pages, PersonalLink,
};
use holdshort_engine::{Error, StartRun};
use holdshort_notify::Button;
use holdshort_web::app::{App, detached};
use holdshort_web::limits::LINK_DEFAULT_MS;
use holdshort_web::links::{Claim, Press};
use holdshort_web::problem::Answer;
use holdshort_web::push::Push;
use holdshort_web::sign_in::DECIDE;
use holdshort_web::view;
use serde_json::json;

use crate::slack;

pub(crate) struct NotificationPages(pub(crate) Arc<App>);

impl Pages for NotificationPages {
    fn all(&self) -> String {
        format!("{}/inbox", self.0.base)
    }

    fn inbox(&self, interrupt: &InterruptId) -> String {
        format!("{}/inbox/{interrupt}", self.0.base)
    }

    /// Returns the URL of an interrupt's decision page without scripts. Returns `None` if no identity provider is
    /// configured, because people then sign in with the app.
    fn plain(&self, interrupt: &InterruptId) -> Option<String> {
        let has_provider = self.0.sign_ins.name().is_some();
        has_provider.then(|| format!("{}{DECIDE}{interrupt}", self.0.base))
    }

    fn disabled<'a>(&'a self, channel: &'a str, why: String) -> Alert<'a> {
        Box::pin(async move {
            if let Err(error) = alert(&self.0, channel, &why).await {
                tracing::error!(channel, %error, "the request to check the channel could not be created");
            }
        })
    }

    fn buttons<'a>(&'a self, delivery: &'a Delivery) -> Buttons<'a> {
        Box::pin(async move {
            let made = buttons(&self.0, delivery).await;
            made.unwrap_or_else(|refused| {
                tracing::warn!(
                    delivery = %delivery.delivery, why = refused.0.detail,
                    "the buttons of a notification could not be created"
                );
                Vec::new()
            })
        })
    }

    fn browser<'a>(&'a self, push: &'a PushId) -> BrowserFuture<'a> {
        Box::pin(async move {
            let found = self.0.push.browser(&self.0, push).await;
            found.unwrap_or_else(|refused| {
                tracing::warn!(%push, why = refused.0.detail, "a browser subscription could not be read");
                None
            })
        })
    }

    fn browser_left<'a>(&'a self, push: &'a PushId) -> Alert<'a> {
        Box::pin(async move {
            if let Err(refused) = Push::unsubscribe(&self.0, push.clone(), Actor::engine()).await {
                tracing::warn!(
                    %push, why = refused.0.detail,
                    "an ended browser subscription could not be removed"
                );
            }
        })
    }

    fn callback_target<'a>(&'a self, delivery: &'a Delivery) -> CallbackTargetFuture<'a> {
        Box::pin(self.0.callbacks.find_recipient(&self.0, &delivery.interrupt))
    }

    fn callback<'a>(&'a self, delivery: &'a Delivery) -> CallbackFuture<'a> {
        Box::pin(self.0.callbacks.find_callback(&self.0, &delivery.interrupt))
    }

    fn called_back<'a>(&'a self, interrupt: &'a InterruptId) -> Alert<'a> {
        Box::pin(async move {
            // If the callback cannot be deleted now, the sweep deletes it later.
            if let Err(refused) = self.0.callbacks.forget(&self.0, interrupt).await {
                tracing::warn!(
                    %interrupt, why = refused.0.detail,
                    "a delivered callback could not be removed"
                );
            }
        })
    }

    fn personal<'a>(&'a self, delivery: &'a Delivery, person: &'a str) -> PersonalLink<'a> {
        Box::pin(async move {
            match link(&self.0, delivery, person).await {
                Ok(link) => link,
                Err(refused) => {
                    tracing::warn!(
                        delivery = %delivery.delivery, why = refused.0.detail,
                        "the personal link of a notification could not be created"
                    );
                    None
                }
            }
        })
    }
}

/// Returns a decision link for a notification, with which one person decides without signing in, and the expiry of this
/// link. All attempts of one delivery get the same link. Returns `None` if the link has expired, if the interrupt is
/// resolved, or if the risk is high, because a reader of the message must then sign in.
async fn link(app: &App, delivery: &Delivery, person: &str) -> Answer<Option<(String, Timestamp)>> {
    let asked = app.find_interrupt(&delivery.interrupt).await?;
    let Some(subject) = view::interrupt::mailable(app, &asked).await? else { return Ok(None) };
    let expires_at = delivery.created_at.plus_ms(LINK_DEFAULT_MS);
    if expires_at <= app.now() {
        return Ok(None);
    }
    let claim = Claim {
        interrupt: delivery.interrupt.clone(),
        person: person.to_owned(),
        subject,
        expires_at,
        key: None,
        made_at: Some(delivery.created_at),
        seq: None,
        mailed: Some(delivery.delivery.clone()),
        option: None,
        there: None,
        let_in_by: None,
    };
    Ok(Some((format!("{}/d/{}", app.base, app.links.token(&claim)), expires_at)))
}

/// Returns the buttons of a notification, one for each option that needs no input or only text, and gives no grant.
/// Returns no buttons if the risk is high or the interrupt is resolved.
async fn buttons(app: &App, delivery: &Delivery) -> Answer<Vec<Button>> {
    let asked = app.find_interrupt(&delivery.interrupt).await?;
    let Some(subject) = view::interrupt::mailable(app, &asked).await? else { return Ok(Vec::new()) };
    let offers = view::interrupt::offers(app, &asked).await?;
    let shown = (1..).zip(offers).filter(|(_, offer)| slack::is_offered(offer)).map(|(nth, offer)| {
        let option = slack::key(&delivery.interrupt, &offer.id);
        let press = Press { interrupt: delivery.interrupt.clone(), subject, option };
        let label = slack::label(nth, &offer.id);
        Button { label, value: app.pressed.value(&press), tone: slack::tone(&offer) }
    });
    Ok(shown.collect())
}

/// Opens a question for admins and operators to check a notification channel that was disabled. The question appears in
/// their inbox, and is sent through the channels that still work.
async fn alert(app: &App, channel: &str, why: &str) -> Result<(), Error> {
    let Some(definition) = app.library.get(EXTERNAL) else { return Ok(()) };
    let title = format!("The channel `{channel}` is disabled and sends no notifications");
    let ask = Ask {
        kind: Kind::Question,
        title: title.clone(),
        message: format!(
            "Reason: {why}. Notifications to this channel wait for up to seven days and then \
            fail."
        ),
        payload: json!({
            "question": title,
            "context": "See `holdshort channels`. To try the channel again, retry any of its deliveries: \
                `holdshort deliveries retry ID`.",
        }),
        options: vec![("skip".to_owned(), Some("Seen".to_owned()))],
        response_schema: None,
        expires_in_ms: None,
        on_expiry: None,
        assignment: Assignment::default(),
        call: None,
        trial: None,
        usable_ms: None,
        callback: None,
        timing: Timing::default(),
        withhold: Vec::new(),
    };
    let start = StartRun {
        definition,
        session: None,
        config: Config::default(),
        input: json!({"task": title}),
        origin: Origin::ExternalOnce,
        ask: Some(ask),
        key: None,
        front: None,
        trace: None,
    };
    let driver = app.driver.clone();
    detached(async move { driver.start(start, Actor::engine()).await }).await.map(drop)
}
