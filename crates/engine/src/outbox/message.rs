//! Builds the message of a delivery. The address of the recipient and the title of the interrupt are read only when the
//! message is sent. Therefore a message never contains erased content and never goes to an outdated address.

use std::future::Future;
use std::pin::Pin;

use holdshort_core::actor::LOCAL_OPERATOR;
use holdshort_core::delivery::{Delivery, DeliveryState};
use holdshort_core::envelope;
use holdshort_core::event::Fact;
use holdshort_core::id::{InterruptId, PushId, StreamId};
use holdshort_core::json;
use holdshort_core::notice::{Notice, Recipient};
use holdshort_core::run;
use holdshort_core::system::System;
use holdshort_core::time::Timestamp;
use holdshort_notify::{
    Browser, Button, Channel, LinkAccess, Message, Reader, SlackMessageRef, summary, title,
};
use holdshort_store::{DeliveryFilter, Journal};
use serde_json::Value;

use super::limits::UPDATED;
use crate::rebuild::event_at;
use crate::{Clock, Driver, Error, Executor};

/// Future of a link for one person, with the time at which the link expires.
pub type PersonalLink<'a> = Pin<Box<dyn Future<Output = Option<(String, Timestamp)>> + Send + 'a>>;

pub type Alert<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

pub type Buttons<'a> = Pin<Box<dyn Future<Output = Vec<Button>> + Send + 'a>>;

pub type BrowserFuture<'a> = Pin<Box<dyn Future<Output = Option<Browser>> + Send + 'a>>;

pub type CallbackFuture<'a> = Pin<Box<dyn Future<Output = Result<Callback, NoCallback>> + Send + 'a>>;

pub type CallbackTargetFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Option<CallbackTarget>, NoCallback>> + Send + 'a>>;

/// Agent and address to which a callback is sent. Callbacks with the same agent and address share one limit.
pub struct CallbackTarget {
    /// Host and port of the callback.
    pub host: String,
    /// Id of the caller that opened the interrupt.
    pub asker: String,
}

/// Callback to an agent: the address, and the resolution to send.
pub struct Callback {
    /// Channel for callbacks, with the URL and the secret that this agent gave.
    pub channel: Channel,
    /// The resolution of the interrupt in the format that the agent expects.
    pub resolution: Value,
    /// Approval that the agent can use. `None` if the interrupt was not approved, or if an earlier approval
    /// covers it.
    pub approval: Option<Value>,
}

/// Reason why no callback is sent to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoCallback {
    /// The callback is dropped permanently. The text states the reason.
    Never(&'static str),
    /// The address or the content of the callback cannot be read at present. A retry may succeed.
    NotNow,
}

/// Provides the addresses of pages to which messages link, and other data for messages.
pub trait Pages: Send + Sync + 'static {
    /// Returns the address of the page with all open interrupts.
    fn all(&self) -> String;

    /// Returns the address of the page on which a signed-in person decides on an interrupt.
    fn inbox(&self, interrupt: &InterruptId) -> String;

    /// Returns the address of the page for an interrupt that works without JavaScript, if the
    /// server has such a page.
    fn plain(&self, interrupt: &InterruptId) -> Option<String>;

    /// Alerts admins that a channel was disabled, and tells them the reason. If several nodes call this function, only
    /// one of them sends the alert.
    fn disabled<'a>(&'a self, channel: &'a str, why: String) -> Alert<'a>;

    /// Returns the buttons that a message contains. Returns no buttons if people must sign in before they decide.
    fn buttons<'a>(&'a self, delivery: &'a Delivery) -> Buttons<'a>;

    /// Returns the address and the encryption keys of a browser's push subscription. Returns `None` if they are no
    /// longer stored.
    fn browser<'a>(&'a self, push: &'a PushId) -> BrowserFuture<'a>;

    /// Deletes the push subscription of a browser that can no longer be reached.
    fn browser_left<'a>(&'a self, push: &'a PushId) -> Alert<'a>;

    /// Returns the agent and the address of a callback, without reading its content. Returns `None` if the agent gave
    /// no address.
    fn callback_target<'a>(&'a self, delivery: &'a Delivery) -> CallbackTargetFuture<'a>;

    /// Returns the address of the callback, and the resolution that the callback reports.
    fn callback<'a>(&'a self, delivery: &'a Delivery) -> CallbackFuture<'a>;

    /// Deletes the address of a callback after the callback was delivered.
    fn called_back<'a>(&'a self, interrupt: &'a InterruptId) -> Alert<'a>;

    /// Returns a link with which one person can decide without signing in. The link belongs to this delivery. Returns
    /// `None` if the person must sign in.
    fn personal<'a>(&'a self, delivery: &'a Delivery, person: &'a str) -> PersonalLink<'a>;
}

pub(super) enum Composed {
    Ready(Box<Message>),
    /// The message is not sent, because it has no recipient or no content. The text says why.
    Dropped(String),
}

pub(super) async fn compose<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    channel: &Channel,
    pages: &dyn Pages,
    delivery: &Delivery,
) -> Result<Composed, Error> {
    let dropped = |why: &str| Ok(Composed::Dropped(why.to_owned()));
    let Ok(notice) = json::from_slice::<Notice>(delivery.notice.as_bytes()) else {
        return dropped("the stored notification cannot be read");
    };
    let at = |address: &str| Reader { address: address.to_owned(), ..Reader::default() };
    let reader = match &notice.to {
        None => channel.mailbox().map(at),
        Some(Recipient::Address(address)) => Some(at(address)),
        Some(Recipient::Person(id)) => {
            let system = driver.glance_system().await?;
            let reader = match reader(&system, id, delivery) {
                Ok(reader) => reader,
                Err(why) => return dropped(why),
            };
            let of = channel.definition().via.as_str();
            let Some(address) = system.people.get(id).and_then(|person| person.addresses.get(of)) else {
                return Ok(Composed::Dropped(format!("person `{id}` has no address for `{of}`")));
            };
            Some(Reader { address: address.clone(), ..reader })
        }
        Some(Recipient::Browser { person, push }) => {
            // The system is read again now, because another node may have changed the push subscription of the browser
            // since the claim.
            let system = driver.system().await?;
            if system.push.get(push).is_none_or(|known| known.is.person != *person) {
                return dropped("the browser of the recipient is no longer subscribed to notifications");
            }
            let reader = match reader(&system, person, delivery) {
                Ok(reader) => reader,
                Err(why) => return dropped(why),
            };
            let Some(browser) = pages.browser(push).await else {
                return dropped("the push endpoint of the recipient's browser is not stored on this server");
            };
            Some(Reader { browser: Some(browser), ..reader })
        }
    };
    let personal = match &notice.to {
        Some(Recipient::Person(id)) if delivery.occasion.asks() => pages.personal(delivery, id).await,
        _ => None,
    };
    let (link, way) = match personal {
        Some((link, until)) => (link, LinkAccess::Link(until)),
        None => (pages.inbox(&delivery.interrupt), LinkAccess::SignIn),
    };
    let plain = match way {
        LinkAccess::SignIn if delivery.occasion.asks() => pages.plain(&delivery.interrupt),
        LinkAccess::SignIn | LinkAccess::Link(_) => None,
    };
    let title = if channel.definition().summary {
        review_summary(driver, &delivery.interrupt).await?
    } else if channel.definition().title {
        title_of(driver, delivery).await?
    } else {
        None
    };
    let id = delivery.delivery.to_string();
    let has_buttons = channel.has_buttons();
    let asks = delivery.occasion.asks();
    let buttons = if has_buttons && asks { pages.buttons(delivery).await } else { Vec::new() };
    let posted = if has_buttons && !asks { posted(driver, delivery).await? } else { Vec::new() };
    let resolution = None;
    Ok(Composed::Ready(Box::new(Message {
        id,
        notice,
        title,
        link,
        plain,
        way,
        reader,
        buttons,
        posted,
        resolution,
        approval: None,
    })))
}

/// Returns the name, time zone and language of the recipient of a message. Returns the reason if this person is not
/// notified.
fn reader(system: &System, id: &str, delivery: &Delivery) -> Result<Reader, &'static str> {
    let person = system.people.get(id);
    // The local operator is not listed in any source of people.
    if person.is_none() && id != LOCAL_OPERATOR {
        return Err("the recipient has been removed");
    }
    if delivery.occasion.asks() && !system.people.can_decide(id) {
        return Err("the recipient may no longer decide on the interrupt");
    }
    Ok(person.map_or_else(Reader::default, |person| Reader {
        name: person.name.clone(),
        time_zone: person.time_zone.clone(),
        language: person.language.clone(),
        ..Reader::default()
    }))
}

/// Returns the messages about the interrupt that this channel sent earlier to the same recipient. Skips a message if no
/// stored response contains the id of the message in Slack.
async fn posted<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    delivery: &Delivery,
) -> Result<Vec<SlackMessageRef>, Error> {
    let filter = DeliveryFilter {
        channel: Some(delivery.channel.clone()),
        state: Some(DeliveryState::Delivered),
        interrupt: Some(delivery.interrupt.clone()),
    };
    let to = |delivery: &Delivery| {
        json::from_slice::<Notice>(delivery.notice.as_bytes()).ok().and_then(|notice| notice.to)
    };
    let mut posted: Vec<SlackMessageRef> = Vec::new();
    for told in driver.journal().deliveries(&filter, None, UPDATED).await?.items {
        if !told.occasion.asks() || to(&told) != to(delivery) {
            continue;
        }
        let attempts = driver.journal().attempts(&told.delivery).await?;
        let found =
            attempts.iter().rev().find_map(|attempt| SlackMessageRef::parse(attempt.answer.as_deref()?));
        posted.extend(found.filter(|found| !posted.contains(found)));
    }
    Ok(posted)
}

/// Reads the title of the interrupt when the message is sent, so that an erased title is not sent. If content is
/// withheld from reviewers, returns no title: the title may contain this content, and anyone may read the message.
async fn title_of<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    delivery: &Delivery,
) -> Result<Option<String>, Error> {
    let Some(data) = open_content(driver, &delivery.interrupt).await? else { return Ok(None) };
    Ok(data.get("title").and_then(|title| title.as_str()).and_then(title))
}

/// Returns the summary of a review. Returns `None` for other interrupts, and if the content of the interrupt was erased
/// or contains parts that are withheld from reviewers.
///
/// # Errors
/// Returns an error if the journal cannot be read.
pub async fn review_summary<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    interrupt: &InterruptId,
) -> Result<Option<String>, Error> {
    let Some(data) = open_content(driver, interrupt).await? else { return Ok(None) };
    let is_review = data.get("payload").is_some_and(|payload| payload.get("findings").is_some());
    Ok(data.get("payload").filter(|_| is_review).and_then(summary))
}

/// Returns the content with which an interrupt was opened. Returns `None` if the content was erased or contains parts
/// that are withheld from reviewers.
async fn open_content<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    interrupt: &InterruptId,
) -> Result<Option<Value>, Error> {
    let Some(row) = driver.journal().interrupt(interrupt).await? else { return Ok(None) };
    let stream = StreamId::Run(row.run);
    let Some(event) = event_at(&**driver.journal(), &stream, row.opened_seq).await? else { return Ok(None) };
    let is_it = matches!(&event.fact, Fact::Run(run::Fact::InterruptOpened(opened))
        if opened.interrupt == *interrupt && opened.withhold.is_empty());
    let envelope::Content { data, .. } = event.content;
    Ok(is_it.then_some(data))
}
