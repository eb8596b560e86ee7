//! Conversion between the types of the core and the columns of tables. There is one newtype for each type. An invalid
//! value in a column is reported as damage of the journal. An invalid value is never replaced by a default value.

use holdshort_core::digest::Digest;
use holdshort_core::id::{Id, StreamId};
use holdshort_core::time::Timestamp;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Result, Row};

use super::packed;

/// An unsigned number. SQLite can store at most 63 bits of it, so a larger number becomes the maximum. Only numbers in
/// requests can be larger; stored numbers never are.
pub(super) struct Number(pub(super) u64);

pub(super) struct Time(pub(super) Timestamp);

pub(super) struct Hash(pub(super) Digest);

/// An id that is packed into bytes when it is written.
pub(super) struct Key<'a>(pub(super) &'a str);

/// An id that is unpacked from bytes when it is read.
pub(super) struct Read<I>(pub(super) I);

/// The id of a stream that is packed into bytes when it is written.
pub(super) struct Stream<'a>(pub(super) &'a StreamId);

/// The id of a stream that is unpacked from bytes when it is read.
pub(super) struct ReadStream(pub(super) StreamId);

pub(super) fn number(row: &Row<'_>, index: usize) -> Result<u64> {
    row.get::<_, Number>(index).map(|Number(number)| number)
}

pub(super) fn id<I: Id>(row: &Row<'_>, index: usize) -> Result<I> {
    row.get::<_, Read<I>>(index).map(|Read(id)| id)
}

impl ToSql for Number {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(i64::try_from(self.0).unwrap_or(i64::MAX).into())
    }
}

impl FromSql for Number {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let number = value.as_i64()?;
        u64::try_from(number).map(Self).map_err(|_| FromSqlError::OutOfRange(number))
    }
}

impl ToSql for Time {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(self.0.as_millis().into())
    }
}

impl ToSql for Hash {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(self.0.as_bytes().as_slice().into())
    }
}

impl FromSql for Hash {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        <[u8; 32]>::column_result(value).map(Digest::from_bytes).map(Self)
    }
}

impl ToSql for Key<'_> {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(packed::pack(self.0).to_vec().into())
    }
}

impl<I: Id> FromSql for Read<I> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        packed::unpack(value.as_blob()?).map(Self).ok_or(FromSqlError::InvalidType)
    }
}

impl ToSql for Stream<'_> {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(packed::pack_stream(self.0).into())
    }
}

impl FromSql for ReadStream {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        packed::unpack_stream(value.as_blob()?).map(Self).ok_or(FromSqlError::InvalidType)
    }
}
