//! Places in lists: the sort key of a row, as an order and as the text of a cursor. Shared by all stores, so
//! that a list has one order. Never holds anything but keys of rows.

use std::cmp::Reverse;

use holdshort_core::id::{GrantId, InterruptId, RunId, SessionId};
use holdshort_core::projection::{GrantRow, InterruptRow, RunRow, SessionRow};

use crate::journal::Error;
use crate::tables::{Cursor, Page};

/// A run's place: newest first. Ids are drawn in order of time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RunPlace(pub(crate) Reverse<RunId>);

/// An interrupt's place: open ones by risk, then oldest first; after them the resolved ones, newest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum InterruptPlace {
    Open(Reverse<u8>, InterruptId),
    Resolved(Reverse<InterruptId>),
}

/// A grant's place: newest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GrantPlace(pub(crate) Reverse<GrantId>);

/// A session's place: newest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SessionPlace(pub(crate) Reverse<SessionId>);

impl RunPlace {
    pub(crate) fn of(row: &RunRow) -> Self {
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

impl InterruptPlace {
    pub(crate) fn of(row: &InterruptRow) -> Self {
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

impl GrantPlace {
    pub(crate) fn of(row: &GrantRow) -> Self {
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

impl SessionPlace {
    pub(crate) fn of(row: &SessionRow) -> Self {
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
    /// A page of rows that were read with one more than `limit`, to see whether anything follows.
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
