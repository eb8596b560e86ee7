//! A delivery as a message: what is not in its notice is looked up when it is sent, so that nobody is told what was erased
//! meanwhile, or over an address that somebody has no more.

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
use holdshort_notify::{Browser, Button, Channel, Message, Posted, Reader, Way, title};
use holdshort_store::{DeliveryFilter, Journal};
use serde_json::Value;

use super::limits::UPDATED;
use crate::rebuild::event_at;
use crate::{Clock, Driver, Error, Executor};

/// A link of one person, and until when it counts.
pub type PersonalLink<'a> = Pin<Box<dyn Future<Output = Option<(String, Timestamp)>> + Send + 'a>>;

pub type Alert<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

pub type Buttons<'a> = Pin<Box<dyn Future<Output = Vec<Button>> + Send + 'a>>;

pub type BrowserOf<'a> = Pin<Box<dyn Future<Output = Option<Browser>> + Send + 'a>>;

pub type CallbackOf<'a> = Pin<Box<dyn Future<Output = Result<Callback, NoCallback>> + Send + 'a>>;

pub type PlaceOf<'a> = Pin<Box<dyn Future<Output = Result<Option<Place>, NoCallback>> + Send + 'a>>;

/// What an agent shares with others that are told.
pub struct Place {
    /// The host and the port.
    pub host: String,
    /// Who asked.
    pub asker: String,
}

/// Where an agent is told of the resolution of what it asked, and what it is told of it.
pub struct Callback {
    /// The one of all of them, with the URL and the secret of this one.
    pub channel: Channel,
    /// As the agent reads it.
    pub resolution: Value,
}

/// Why an agent is not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoCallback {
    /// Nothing is told there by now; and why.
    Never(&'static str),
    /// Where, or what, can not be read at the moment.
    NotNow,
}

/// The pages that messages lead to.
pub trait Pages: Send + Sync + 'static {
    /// Where everything is that waits.
    fn all(&self) -> String;

    /// Where an interrupt is decided after a sign-in.
    fn inbox(&self, interrupt: &InterruptId) -> String;

    /// The same without scripts, where there is a page of this kind.
    fn plain(&self, interrupt: &InterruptId) -> Option<String>;

    /// Alerts admins, once of all nodes, that nobody is told over a channel any more; and why.
    fn disabled<'a>(&'a self, channel: &'a str, why: String) -> Alert<'a>;

    /// What people press where they are told; nothing where they have to sign in.
    fn buttons<'a>(&'a self, delivery: &'a Delivery) -> Buttons<'a>;

    /// Where a browser is and what encrypts for it; `None`: it is not known here any more.
    fn browser<'a>(&'a self, push: &'a PushId) -> BrowserOf<'a>;

    /// Nothing can be brought to a browser any more.
    fn browser_left<'a>(&'a self, push: &'a PushId) -> Alert<'a>;

    /// Where an agent is told this, and who it is; `None`: nowhere. What it is told is not read.
    fn place<'a>(&'a self, delivery: &'a Delivery) -> PlaceOf<'a>;

    /// Where this is told, and how what it tells of was resolved.
    fn callback<'a>(&'a self, delivery: &'a Delivery) -> CallbackOf<'a>;

    /// It was told there, so nothing more is.
    fn called_back<'a>(&'a self, interrupt: &'a InterruptId) -> Alert<'a>;

    /// Where a person decides without one, by a link that this delivery brings them; `None`: they sign in.
    fn personal<'a>(&'a self, delivery: &'a Delivery, person: &'a str) -> PersonalLink<'a>;
}

pub(super) enum Composed {
    Ready(Box<Message>),
    /// There is nobody to send it to, or nothing to say; and why.
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
        return dropped("its notice can not be read");
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
            // As it is now: another node may have been told of the browser a moment ago.
            let system = driver.system().await?;
            if system.push.get(push).is_none_or(|known| known.is.person != *person) {
                return dropped("the browser is told no more");
            }
            let reader = match reader(&system, person, delivery) {
                Ok(reader) => reader,
                Err(why) => return dropped(why),
            };
            let Some(browser) = pages.browser(push).await else {
                return dropped("where the browser is, is not known here");
            };
            Some(Reader { browser: Some(browser), ..reader })
        }
    };
    let personal = match &notice.to {
        Some(Recipient::Person(id)) if delivery.occasion.asks() => pages.personal(delivery, id).await,
        _ => None,
    };
    let (link, way) = match personal {
        Some((link, until)) => (link, Way::Link(until)),
        None => (pages.inbox(&delivery.interrupt), Way::SignIn),
    };
    let plain = match way {
        Way::SignIn if delivery.occasion.asks() => pages.plain(&delivery.interrupt),
        Way::SignIn | Way::Link(_) => None,
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

/// Somebody who is here; otherwise why they are told nothing. Where they are reached is for the caller to say.
fn reader(system: &System, id: &str, delivery: &Delivery) -> Result<Reader, &'static str> {
    let person = system.people.get(id);
    // Of the operator of this machine no source says anything.
    if person.is_none() && id != LOCAL_OPERATOR {
        return Err("they are not here any more");
    }
    if delivery.occasion.asks() && !system.people.can_decide(id) {
        return Err("they decide nothing any more");
    }
    Ok(person.map_or_else(Reader::default, |person| Reader {
        name: person.name.clone(),
        time_zone: person.time_zone.clone(),
        language: person.language.clone(),
        ..Reader::default()
    }))
}

/// What this channel was told of the interrupt before, to the same readers, as far as it is known where that stands.
async fn posted<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    delivery: &Delivery,
) -> Result<Vec<Posted>, Error> {
    let filter = DeliveryFilter {
        channel: Some(delivery.channel.clone()),
        state: Some(DeliveryState::Delivered),
        interrupt: Some(delivery.interrupt.clone()),
    };
    let to = |delivery: &Delivery| {
        json::from_slice::<Notice>(delivery.notice.as_bytes()).ok().and_then(|notice| notice.to)
    };
    let mut posted: Vec<Posted> = Vec::new();
    for told in driver.journal().deliveries(&filter, None, UPDATED).await?.items {
        if !told.occasion.asks() || to(&told) != to(delivery) {
            continue;
        }
        let attempts = driver.journal().attempts(&told.delivery).await?;
        let found = attempts.iter().rev().find_map(|attempt| Posted::of(attempt.answer.as_deref()?));
        posted.extend(found.filter(|found| !posted.contains(found)));
    }
    Ok(posted)
}

/// Read when it is sent: where it was erased meanwhile, nobody is told it any more. Where something is withheld from
/// reviewers it may hold that, and who reads a message is not known well enough.
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
