//! The tables in which both SQL stores keep rows. Each type of row is described once, and macros generate the code that
//! writes and reads such rows.
//!
//! The names of columns are in this file and in the migrations of each store. The type of a column is derived from the
//! field of the row. If a field of a row is missing in its description, the code does not compile. Each store decides
//! how it stores a [`Value`] in a column.

use std::str::FromStr;

use holdshort_core::delivery::{Attempt, ChannelState, Delivery, DeliveryState};
use holdshort_core::id::{DeliveryId, GrantId, Id, InterruptId, RunId, SessionId};
use holdshort_core::interrupt::Kind;
use holdshort_core::notice::Occasion;
use holdshort_core::projection::{AnswerRow, GrantRow, InterruptRow, RunRow, SessionRow, Status};
use holdshort_core::session::State;
use holdshort_core::time::Timestamp;

use crate::tables::Rows;

/// Table for the rows of one type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// Names of the columns of the table. The first column is the key.
    pub(crate) columns: &'static [&'static str],
    /// Names of the columns, separated by commas, for use in SQL.
    pub(crate) list: &'static str,
    pub(crate) conflict: Conflict,
}

/// Rule for writing a row if the table already contains a row with the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conflict {
    Replaced,
    /// The old and the new row of a session are merged with [`SessionRow::with`].
    Merged,
}

impl Table {
    pub(crate) const fn key(&self) -> &'static str {
        self.columns[0]
    }
}

/// A row that can be rebuilt from events. An audit compares the rows in the store with rebuilt ones.
pub trait Row {
    /// Returns the names of the fields in which the two rows differ. Both rows must have the same key.
    fn differing(&self, other: &Self) -> Vec<&'static str>;
}

/// A type of row that is stored in a table of its own.
pub(crate) trait Record: Sized {
    const TABLE: Table;

    /// Returns the values of the row in the order of the table's columns.
    fn values(&self) -> Vec<Value<'_>>;

    fn read<C: Columns>(columns: &mut C) -> Result<Self, C::Error>;

    /// Returns the row to store if a row with the same key, `there`, already exists.
    fn over(self, there: Self) -> Self;
}

/// Describes a type of row: its table, its fields, and those columns whose names differ from the names of the fields.
macro_rules! record {
    ($row:ident in $table:literal, $conflict:ident { $key:ident $(as $named:literal)? $(, $field:ident)* }
        over $this:ident, $there:ident: $over:expr) => {
        impl Row for $row {
            fn differing(&self, other: &Self) -> Vec<&'static str> {
                let mut fields = Vec::new();
                $(if self.$field != other.$field {
                    fields.push(stringify!($field));
                })*
                fields
            }
        }

        impl Record for $row {
            const TABLE: Table = Table {
                name: $table,
                columns: &[column!($key $($named)?) $(, stringify!($field))*],
                list: concat!(column!($key $($named)?) $(, ", ", stringify!($field))*),
                conflict: Conflict::$conflict,
            };

            fn values(&self) -> Vec<Value<'_>> {
                let Self { $key, $($field),* } = self;
                vec![$key.value(), $($field.value()),*]
            }

            fn read<C: Columns>(columns: &mut C) -> Result<Self, C::Error> {
                Ok(Self { $key: required(columns)?, $($field: required(columns)?),* })
            }

            fn over(self, $there: Self) -> Self {
                let $this = self;
                $over
            }
        }
    };
}
macro_rules! column {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $named:literal) => {
        $named
    };
}

record!(RunRow in "runs", Replaced {
    run, session, workflow, status, end_reason, runnable, deadline, seq, ended_seq, requests,
    input_tokens, output_tokens, cost, currency, unpriced, created_at, updated_at
} over this, _there: this);
record!(SessionRow in "sessions", Merged {
    session, workflow, state, seq, created_at, changed_at, idle_ms, front_run, idle_since
} over this, there: there.with(this));
record!(InterruptRow in "interrupts", Replaced {
    interrupt, run, session, kind, open, risk, created_at, expires_at, opened_seq, resolved_seq, claimed_by,
    assigned
} over this, _there: this);
record!(GrantRow in "grants", Replaced {
    grant as "grant_id", session, added_seq, revoked
} over this, _there: this);
record!(AnswerRow in "answers", Replaced {
    interrupt, run, subject, agent, question, answer, is_data, by, at, corrected_at, reused, source, erased, asked, words
} over this, _there: this);

record!(Delivery in "deliveries", Replaced {
    delivery, channel, occasion, run, seq, interrupt, notice, state, created_at, next_at, attempts, node, status, error,
    ended_at
} over this, _there: this);
record!(Attempt in "attempts", Replaced {
    delivery, number, at, took_ms, status, error, digest, answer
} over this, _there: this);
record!(ChannelState in "channels", Replaced {
    channel, failing_since, failed_at, failing_ms, disabled_at, why
} over this, _there: this);

/// Tables of the rows that can be rebuilt from events.
pub(crate) const TABLES: [Table; 5] =
    [RunRow::TABLE, SessionRow::TABLE, InterruptRow::TABLE, GrantRow::TABLE, AnswerRow::TABLE];

/// Tables of the outbox. Their data cannot be rebuilt from events.
pub(crate) const OUTBOX: [Table; 3] = [Delivery::TABLE, Attempt::TABLE, ChannelState::TABLE];

/// Receiver to which rows of all types can be written.
pub(crate) trait Put {
    type Error;

    fn put<R: Record + Clone>(&mut self, row: &R) -> Result<(), Self::Error>;
}

impl Rows {
    /// Writes each row to `put`. If two rows have the same key, the last row is kept.
    pub(crate) fn put_into<P: Put>(&self, put: &mut P) -> Result<(), P::Error> {
        let Self { run, session, interrupts, grants, answers } = self;
        run.iter().try_for_each(|row| put.put(row))?;
        session.iter().try_for_each(|row| put.put(row))?;
        interrupts.iter().try_for_each(|row| put.put(row))?;
        grants.iter().try_for_each(|row| put.put(row))?;
        answers.iter().try_for_each(|row| put.put(row))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Null,
    /// Text of an id, with its prefix.
    Id(&'a str),
    Text(&'a str),
    Number(i64),
    Flag(bool),
}

/// Columns of a stored row, which are read one after another. An invalid value in a column is reported as damage of the
/// journal. An invalid value is never replaced by a default value.
pub(crate) trait Columns {
    type Error;

    fn id<I: Id + FromStr>(&mut self) -> Result<Option<I>, Self::Error>;
    fn text(&mut self) -> Result<Option<&str>, Self::Error>;
    fn number(&mut self) -> Result<Option<i64>, Self::Error>;
    fn flag(&mut self) -> Result<Option<bool>, Self::Error>;
    /// Returns the error for an invalid value in the column that was read last.
    fn damaged(&self) -> Self::Error;
}

/// Type of a field of a row.
pub(crate) trait Field: Sized {
    fn value(&self) -> Value<'_>;

    /// Reads the next column. Returns `None` if the column is null.
    fn read<C: Columns>(columns: &mut C) -> Result<Option<Self>, C::Error>;
}

fn required<F: Field, C: Columns>(columns: &mut C) -> Result<F, C::Error> {
    F::read(columns)?.ok_or_else(|| columns.damaged())
}

impl<F: Field> Field for Option<F> {
    fn value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, F::value)
    }

    fn read<C: Columns>(columns: &mut C) -> Result<Option<Self>, C::Error> {
        F::read(columns).map(Some)
    }
}

macro_rules! ids {
    ($($id:ident),*) => {
        $(impl Field for $id {
            fn value(&self) -> Value<'_> {
                Value::Id(self.as_str())
            }

            fn read<C: Columns>(columns: &mut C) -> Result<Option<Self>, C::Error> {
                columns.id()
            }
        })*
    };
}
ids!(RunId, SessionId, InterruptId, GrantId, DeliveryId);

/// Implements [`Field`] for enums. A column stores the name of the variant.
macro_rules! names {
    ($($name:ident),*) => {
        $(impl Field for $name {
            fn value(&self) -> Value<'_> {
                Value::Text(self.as_str())
            }

            fn read<C: Columns>(columns: &mut C) -> Result<Option<Self>, C::Error> {
                let Some(text) = columns.text()? else { return Ok(None) };
                let name = Self::parse(text);
                if name.is_some() { Ok(name) } else { Err(columns.damaged()) }
            }
        })*
    };
}
names!(Status, State, Kind, Occasion, DeliveryState);

impl Field for String {
    fn value(&self) -> Value<'_> {
        Value::Text(self)
    }

    fn read<C: Columns>(columns: &mut C) -> Result<Option<Self>, C::Error> {
        Ok(columns.text()?.map(str::to_owned))
    }
}

impl Field for bool {
    fn value(&self) -> Value<'_> {
        Value::Flag(*self)
    }

    fn read<C: Columns>(columns: &mut C) -> Result<Option<Self>, C::Error> {
        columns.flag()
    }
}

impl Field for Timestamp {
    fn value(&self) -> Value<'_> {
        Value::Number(self.as_millis())
    }

    fn read<C: Columns>(columns: &mut C) -> Result<Option<Self>, C::Error> {
        Ok(columns.number()?.map(Self::from_millis))
    }
}

/// Implements [`Field`] for unsigned numbers. Databases store at most 63 bits, so a larger number becomes the maximum.
/// Only numbers in requests can be larger; stored numbers never are.
macro_rules! numbers {
    ($($number:ident),*) => {
        $(impl Field for $number {
            fn value(&self) -> Value<'_> {
                Value::Number(i64::try_from(*self).unwrap_or(i64::MAX))
            }

            fn read<C: Columns>(columns: &mut C) -> Result<Option<Self>, C::Error> {
                let Some(number) = columns.number()? else { return Ok(None) };
                let number = Self::try_from(number).map(Some);
                number.map_err(|_| columns.damaged())
            }
        })*
    };
}
numbers!(u64, u8);
