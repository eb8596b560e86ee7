//! The people who exist when a simulation starts.

use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::actor::{Actor, Role};
use holdshort_core::envelope::{self, Chain, Content};
use holdshort_core::event::{self, Event};
use holdshort_core::id::{Draw, StreamId};
use holdshort_core::people::{PeopleSource, Person};
use holdshort_core::system;
use holdshort_engine::Clock;
use holdshort_store::{Append, StreamAppend};

use super::site::Site;

/// Names of the people who exist when a simulation starts. Each of them is an operator.
pub(super) const NAMES: [&str; 2] = ["alice", "bob"];

/// Returns the append that makes the people in [`NAMES`] members of the installation.
pub(super) fn made(site: &Site) -> Append {
    let person = Person {
        roles: BTreeSet::from([Role::Operator]),
        groups: BTreeSet::new(),
        time_zone: None,
        language: None,
        source: PeopleSource::Api,
        issued_at: None,
        name: None,
        addresses: BTreeMap::new(),
        away: None,
    };
    let (now, seed) = (site.clock.now(), site.clock.seed());
    let (mut chain, mut draw) = (Chain::START, Draw::new(seed, now));
    let events = NAMES.map(|name| {
        let fact = system::Fact::PersonSet { person: name.to_owned(), is: person.clone() };
        let fact = event::Fact::System(fact);
        let actor = Actor::admin("ada", "sim");
        let event = Event { stream: StreamId::System, at: now, actor, fact, content: Content::none() };
        envelope::seal(&event, &mut chain, &mut draw)
    });
    let part = StreamAppend { stream: StreamId::System, expected: 0, events: events.to_vec() };
    Append { streams: vec![part], ..Append::default() }
}
