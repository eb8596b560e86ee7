//! A delivery as a message. Data outside its notice is read when it is sent. Erased content is therefore not sent, and
//! old addresses are not used.

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
use holdshort_notify::{Browser, Button, Channel, LinkAccess, Message, Reader, SlackMessageRef, title};
use holdshort_store::{DeliveryFilter, Journal};
use serde_json::Value;

use super::limits::UPDATED;
use crate::rebuild::event_at;
use crate::{Clock, Driver, Error, Executor};

/// A link of one person, and the time at which it expires.
pub type PersonalLink<'a> = Pin<Box<dyn Future<Output = Option<(String, Timestamp)>> + Send + 'a>>;

pub type Alert<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

pub type Buttons<'a> = Pin<Box<dyn Future<Output = Vec<Button>> + Send + 'a>>;

pub type BrowserFuture<'a> = Pin<Box<dyn Future<Output = Option<Browser>> + Send + 'a>>;

pub type CallbackFuture<'a> = Pin<Box<dyn Future<Output = Result<Callback, NoCallback>> + Send + 'a>>;

pub type CallbackTargetFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Option<CallbackTarget>, NoCallback>> + Send + 'a>>;

/// Resources that an agent's callback shares with other callbacks.
pub struct CallbackTarget {
    /// Host and port of the callback.
    pub host: String,
    /// The caller that opened the interrupt.
    pub asker: String,
}

/// Callback of an agent: its address, and the resolution to send.
pub struct Callback {
    /// The common channel of callbacks, with this agent's URL and secret.
    pub channel: Channel,
    /// The resolution as the agent reads it.
    pub resolution: Value,
}

/// Reason why an agent is not called back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoCallback {
    /// The callback is permanently dropped, for this reason.
    Never(&'static str),
    /// Its address or its content cannot be read at the moment.
    NotNow,
}

/// The pages that messages link to.
pub trait Pages: Send + Sync + 'static {
    /// Returns the page with all open interrupts.
    fn all(&self) -> String;

    /// Returns the page on which an interrupt is decided after a sign-in.
    fn inbox(&self, interrupt: &InterruptId) -> String;

    /// Returns the page without scripts, if the server has one.
    fn plain(&self, interrupt: &InterruptId) -> Option<String>;

    /// Alerts admins, once for all nodes, that a channel is disabled, with the reason.
    fn disabled<'a>(&'a self, channel: &'a str, why: String) -> Alert<'a>;

    /// Returns the buttons of a message; none if people must sign in.
    fn buttons<'a>(&'a self, delivery: &'a Delivery) -> Buttons<'a>;

    /// Returns the address and the encryption keys of a browser; `None` if they are not known any more.
    fn browser<'a>(&'a self, push: &'a PushId) -> BrowserFuture<'a>;

    /// Forgets a browser that cannot be reached any more.
    fn browser_left<'a>(&'a self, push: &'a PushId) -> Alert<'a>;

    /// Returns the place of an agent's callback; `None` if it has no address. Does not read the content.
    fn callback_target<'a>(&'a self, delivery: &'a Delivery) -> CallbackTargetFuture<'a>;

    /// Returns the callback's address, and the resolution that it reports.
    fn callback<'a>(&'a self, delivery: &'a Delivery) -> CallbackFuture<'a>;

    /// Forgets the address of a callback that was delivered.
    fn called_back<'a>(&'a self, interrupt: &'a InterruptId) -> Alert<'a>;

    /// Returns a link for one person to decide without a sign-in, for this delivery; `None` if they must sign in.
    fn personal<'a>(&'a self, delivery: &'a Delivery, person: &'a str) -> PersonalLink<'a>;
}

pub(super) enum Composed {
    Ready(Box<Message>),
    /// The message has no recipient or no content; with the reason.
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
        return dropped("its notification cannot be read");
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
                return Ok(Composed::Dropped(format!("`{id}` has no address for `{of}`")));
            };
            Some(Reader { address: address.clone(), ..reader })
        }
        Some(Recipient::Browser { person, push }) => {
            // Read now: another node may have changed the subscription of the browser a moment ago.
            let system = driver.system().await?;
            if system.push.get(push).is_none_or(|known| known.is.person != *person) {
                return dropped("the browser no longer receives notifications");
            }
            let reader = match reader(&system, person, delivery) {
                Ok(reader) => reader,
                Err(why) => return dropped(why),
            };
            let Some(browser) = pages.browser(push).await else {
                return dropped("this server does not know the browser's push endpoint");
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
    let title = if channel.definition().title { title_of(driver, delivery).await? } else { None };
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
    })))
}

/// Returns the recipient, or the reason why they are not notified. The caller adds their address.
fn reader(system: &System, id: &str, delivery: &Delivery) -> Result<Reader, &'static str> {
    let person = system.people.get(id);
    // The local operator is in no source of people.
    if person.is_none() && id != LOCAL_OPERATOR {
        return Err("the recipient has been removed");
    }
    if delivery.occasion.asks() && !system.people.can_decide(id) {
        return Err("the recipient may no longer decide");
    }
    Ok(person.map_or_else(Reader::default, |person| Reader {
        name: person.name.clone(),
        time_zone: person.time_zone.clone(),
        language: person.language.clone(),
        ..Reader::default()
    }))
}

/// Returns the earlier messages of this channel about the interrupt to the same recipient, as far as their places are
/// known.
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

/// Returns the title, read at the time of sending: an erased title is not sent. It is omitted if content is withheld
/// from reviewers: it may contain that content, and the reader of a message is not authenticated.
async fn title_of<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    delivery: &Delivery,
) -> Result<Option<String>, Error> {
    let Some(row) = driver.journal().interrupt(&delivery.interrupt).await? else { return Ok(None) };
    let stream = StreamId::Run(row.run);
    let Some(event) = event_at(&**driver.journal(), &stream, row.opened_seq).await? else { return Ok(None) };
    let is_it = matches!(&event.fact, Fact::Run(run::Fact::InterruptOpened(opened))
        if opened.interrupt == delivery.interrupt && opened.withhold.is_empty());
    let envelope::Content { data, .. } = event.content;
    Ok(data.get("title").and_then(|title| title.as_str()).filter(|_| is_it).and_then(title))
}
