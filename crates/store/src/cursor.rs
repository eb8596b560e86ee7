//! Sort keys of the rows in lists (runs, interrupts, sessions), and the cursors made from these keys. All stores share
//! these keys. Therefore a list has the same order in all stores. A cursor contains nothing but the sort key of a row.

use std::cmp::Reverse;

use holdshort_core::delivery::Delivery;
use holdshort_core::id::{DeliveryId, GrantId, InterruptId, RunId, SessionId};
use holdshort_core::projection::{AnswerRow, GrantRow, InterruptRow, RunRow, SessionRow};

use crate::journal::Error;
use crate::tables::{Cursor, Page};

/// Sort key of runs: newest first. Ids sort by their creation time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RunSortKey(pub(crate) Reverse<RunId>);

/// Sort key of interrupts. Open interrupts come first, by descending risk and then oldest first. Resolved interrupts
/// follow, newest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum InterruptSortKey {
    Open(Reverse<u8>, InterruptId),
    Resolved(Reverse<InterruptId>),
}

/// Sort key of grants: newest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GrantSortKey(pub(crate) Reverse<GrantId>);

/// Sort key of answers: newest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AnswerSortKey(pub(crate) Reverse<InterruptId>);

/// Sort key of deliveries: newest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DeliverySortKey(pub(crate) Reverse<DeliveryId>);

/// Sort key of sessions: newest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SessionSortKey(pub(crate) Reverse<SessionId>);

/// Returns a cursor with which the list continues after this run. The cursor stays valid when rows before it change.
pub fn behind_run(row: &RunRow) -> Cursor {
    RunSortKey::from_row(row).encode()
}

/// Returns a cursor with which the list continues after this interrupt. `row` must not have changed since the list
/// returned it.
pub fn behind_interrupt(row: &InterruptRow) -> Cursor {
    InterruptSortKey::from_row(row).encode()
}

impl RunSortKey {
    pub(crate) fn from_row(row: &RunRow) -> Self {
        Self(Reverse(row.run.clone()))
    }

    pub(crate) fn encode(&self) -> Cursor {
        format!("r.{}", self.0.0)
    }

    pub(crate) fn decode(cursor: &str) -> Result<Self, Error> {
        match parts(cursor)[..] {
            ["r", run] => Ok(Self(Reverse(parse(run)?))),
            _ => Err(Error::BadCursor),
        }
    }
}

impl InterruptSortKey {
    pub(crate) fn from_row(row: &InterruptRow) -> Self {
        if row.open {
            Self::Open(Reverse(row.risk), row.interrupt.clone())
        } else {
            Self::Resolved(Reverse(row.interrupt.clone()))
        }
    }

    pub(crate) fn encode(&self) -> Cursor {
        match self {
            Self::Open(Reverse(risk), id) => format!("o.{risk}.{id}"),
            Self::Resolved(Reverse(id)) => format!("d.{id}"),
        }
    }

    pub(crate) fn decode(cursor: &str) -> Result<Self, Error> {
        match parts(cursor)[..] {
            ["o", risk, id] => Ok(Self::Open(Reverse(parse(risk)?), parse(id)?)),
            ["d", id] => Ok(Self::Resolved(Reverse(parse(id)?))),
            _ => Err(Error::BadCursor),
        }
    }
}

impl GrantSortKey {
    pub(crate) fn from_row(row: &GrantRow) -> Self {
        Self(Reverse(row.grant.clone()))
    }

    pub(crate) fn encode(&self) -> Cursor {
        format!("g.{}", self.0.0)
    }

    pub(crate) fn decode(cursor: &str) -> Result<Self, Error> {
        match parts(cursor)[..] {
            ["g", grant] => Ok(Self(Reverse(parse(grant)?))),
            _ => Err(Error::BadCursor),
        }
    }
}

impl AnswerSortKey {
    pub(crate) fn from_row(row: &AnswerRow) -> Self {
        Self(Reverse(row.interrupt.clone()))
    }

    pub(crate) fn encode(&self) -> Cursor {
        format!("a.{}", self.0.0)
    }

    pub(crate) fn decode(cursor: &str) -> Result<Self, Error> {
        match parts(cursor)[..] {
            ["a", interrupt] => Ok(Self(Reverse(parse(interrupt)?))),
            _ => Err(Error::BadCursor),
        }
    }
}

impl DeliverySortKey {
    pub(crate) fn from_row(row: &Delivery) -> Self {
        Self(Reverse(row.delivery.clone()))
    }

    pub(crate) fn encode(&self) -> Cursor {
        format!("t.{}", self.0.0)
    }

    pub(crate) fn decode(cursor: &str) -> Result<Self, Error> {
        match parts(cursor)[..] {
            ["t", delivery] => Ok(Self(Reverse(parse(delivery)?))),
            _ => Err(Error::BadCursor),
        }
    }
}

impl SessionSortKey {
    pub(crate) fn from_row(row: &SessionRow) -> Self {
        Self(Reverse(row.session.clone()))
    }

    pub(crate) fn encode(&self) -> Cursor {
        format!("s.{}", self.0.0)
    }

    pub(crate) fn decode(cursor: &str) -> Result<Self, Error> {
        match parts(cursor)[..] {
            ["s", session] => Ok(Self(Reverse(parse(session)?))),
            _ => Err(Error::BadCursor),
        }
    }
}

impl<T> Page<T> {
    /// Creates a page of a list with at most `limit` rows. The caller must have tried to read `limit + 1` rows: with an
    /// additional row, the page gets a cursor for the next page.
    pub(crate) fn cut(mut items: Vec<T>, limit: usize, cursor: impl Fn(&T) -> Cursor) -> Self {
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| more).map(cursor);
        Self { items, next }
    }
}

fn parts(cursor: &str) -> Vec<&str> {
    cursor.split('.').collect()
}

fn parse<T: std::str::FromStr>(text: &str) -> Result<T, Error> {
    text.parse().map_err(|_| Error::BadCursor)
}
