//! Conversion between the types of the core and the columns of tables. An invalid value in a column is reported as
//! damage of the journal. An invalid value is never replaced by a default value.

use std::str::FromStr;

use holdshort_core::digest::Digest;
use holdshort_core::time::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use crate::journal::Error;

/// Converts an unsigned number to a `bigint`, which can store at most 63 bits. A larger number becomes the maximum. Only
/// numbers in requests can be larger; stored numbers never are.
pub(super) fn big(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Converts a limit to the type of a `LIMIT` in SQL.
pub(super) fn at_most(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

pub(super) fn get<'a, T: FromSql<'a>>(row: &'a Row, index: usize) -> Result<T, Error> {
    row.try_get(index).map_err(|error| Error::Corrupt(error.to_string()))
}

pub(super) fn number(row: &Row, index: usize) -> Result<u64, Error> {
    unsigned(get(row, index)?)
}

pub(super) fn maybe_number(row: &Row, index: usize) -> Result<Option<u64>, Error> {
    get::<Option<i64>>(row, index)?.map(unsigned).transpose()
}

pub(super) fn time(row: &Row, index: usize) -> Result<Timestamp, Error> {
    get(row, index).map(Timestamp::from_millis)
}

/// Reads a column with the id of a record or a stream.
pub(super) fn id<I: FromStr<Err: std::fmt::Display>>(row: &Row, index: usize) -> Result<I, Error> {
    get::<&str>(row, index)?.parse().map_err(|error: I::Err| Error::Corrupt(error.to_string()))
}

pub(super) fn digest(row: &Row, index: usize) -> Result<Digest, Error> {
    array(row, index).map(Digest::from_bytes)
}

pub(super) fn array<const N: usize>(row: &Row, index: usize) -> Result<[u8; N], Error> {
    let bytes: &[u8] = get(row, index)?;
    let length = bytes.len();
    bytes.try_into().map_err(|_| Error::Corrupt(format!("a column has length {length} instead of {N}")))
}

fn unsigned(number: i64) -> Result<u64, Error> {
    u64::try_from(number).map_err(|_| Error::Corrupt(format!("a column has the negative value {number}")))
}
