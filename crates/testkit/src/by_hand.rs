//! Changes a journal in the way in which an attacker who knows the storage format would change it. The module copies
//! the events of the table `appends` into a table `events` with one row per event, runs SQL on this table, and writes
//! the events back.
//!
//! The storage format is implemented here a second time, so that the store is not tested with its own code.
//! `crates/store/src/packed_append.rs` describes the columns.

use holdshort_core::digest::Digest;
use holdshort_core::head::Head;
use rusqlite::{Connection, Row, ToSql, params};

/// Columns of the table `events`. The column `append` is null if SQL has inserted the event. PostgreSQL has no column
/// `chained`.
const EVENTS: &str = "position, stream, seq, append, hash, chained, salt, large, head, content";
/// SQL condition for those rows of `appends` in which the column `hashes` has a valid length.
const WHOLE: &str = "length(hashes) % 32 = 0";

/// Runs `change` on a SQLite database that, during this call, has a table `events`. Then makes the content of `events`
/// the journal. Events that were in one row of `appends` stay in one row, if they still follow each other. A row whose
/// hashes are damaged stays as it is.
///
/// # Panics
///
/// Panics if the database cannot be read or written.
pub fn with_events<R>(file: &Connection, change: impl FnOnce(&Connection) -> R) -> R {
    unpack(file).expect("appends are unpacked");
    let changed = change(file);
    pack(file).expect("events are packed");
    changed
}

/// Changes events with one SQL statement and returns the number of changed events.
///
/// # Panics
///
/// Panics if the database cannot be read or written.
pub fn change_events(file: &Connection, sql: &str, values: &[&dyn ToSql]) -> usize {
    with_events(file, |file| file.execute(sql, values).expect("events are changed"))
}

fn unpack(file: &Connection) -> rusqlite::Result<()> {
    file.execute_batch(&format!("BEGIN IMMEDIATE; CREATE TEMP TABLE events ({EVENTS})"))?;
    let sql = format!("INSERT INTO events ({EVENTS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)");
    let mut insert = file.prepare(&sql)?;
    for event in unpacked(file)? {
        insert.execute(event.values().as_slice())?;
    }
    Ok(())
}

fn pack(file: &Connection) -> rusqlite::Result<()> {
    file.execute(&format!("DELETE FROM appends WHERE {WHOLE}"), [])?;
    let sql = "INSERT INTO appends (position, stream, seq, chained, hashes, heads, contents)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    for events in rows(file)? {
        let Some(Event { position, stream, seq, chained, .. }) = events.last() else { continue };
        let joined = |part: fn(&Event) -> Vec<u8>| events.iter().flat_map(part).collect::<Vec<u8>>();
        let (hashes, heads) = (joined(|event| event.hash.clone()), joined(|event| sized(&event.head)));
        let has_content = events.iter().any(|event| event.salt.is_some());
        let contents = has_content.then(|| joined(Event::packed_content));
        file.execute(sql, params![position, stream, seq, chained, hashes, heads, contents])?;
    }
    file.execute_batch("DROP TABLE temp.events; COMMIT")
}

#[derive(Clone, Debug)]
struct Event {
    position: i64,
    stream: Vec<u8>,
    seq: i64,
    append: Option<i64>,
    hash: Vec<u8>,
    chained: Vec<u8>,
    salt: Option<Vec<u8>>,
    large: Option<Vec<u8>>,
    head: Vec<u8>,
    content: Option<Vec<u8>>,
}

impl Event {
    fn values(&self) -> [&dyn ToSql; 10] {
        let Self { position, stream, seq, append, hash, chained, salt, large, head, content } = self;
        [position, stream, seq, append, hash, chained, salt, large, head, content]
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            position: row.get(0)?,
            stream: row.get(1)?,
            seq: row.get(2)?,
            append: row.get(3)?,
            hash: row.get(4)?,
            chained: row.get(5)?,
            salt: row.get(6)?,
            large: row.get(7)?,
            head: row.get(8)?,
            content: row.get(9)?,
        })
    }

    fn packed_content(&self) -> Vec<u8> {
        match (&self.salt, &self.large, &self.content) {
            (None, _, _) => vec![0],
            (Some(salt), Some(digest), _) => [&[2], &salt[..], digest].concat(),
            (Some(salt), None, Some(content)) => [&[1], &salt[..], &sized(content)].concat(),
            (Some(salt), None, None) => [&[1], &salt[..]].concat(),
        }
    }

    /// Returns true if this event was directly after `other` in the same row of the table `appends`.
    fn follows(&self, other: &Self) -> bool {
        let place = |event: &Self, n| (event.append, event.stream.clone(), event.seq + n, event.position + n);
        self.append.is_some() && place(self, 0) == place(other, 1)
    }
}

/// Returns all events of the journal. In each event, `chained` is the head of the journal after this event.
fn unpacked(file: &Connection) -> rusqlite::Result<Vec<Event>> {
    let columns = "position, stream, seq, chained, hashes, heads, contents";
    let mut statement =
        file.prepare(&format!("SELECT {columns} FROM appends WHERE {WHOLE} ORDER BY position"))?;
    let mut rows = statement.query([])?;
    let (mut events, mut head) = (Vec::new(), Head::START);
    while let Some(row) = rows.next()? {
        let (last, last_seq): (i64, i64) = (row.get(0)?, row.get(2)?);
        let (hashes, heads): (Vec<u8>, Vec<u8>) = (row.get(4)?, row.get(5)?);
        let contents: Option<Vec<u8>> = row.get(6)?;
        let (hashes, _) = hashes.as_chunks::<32>();
        let (mut heads, mut contents) = (&heads[..], contents.as_deref());
        for (left, hash) in (0..).zip(hashes.iter().rev()).collect::<Vec<(i64, _)>>().into_iter().rev() {
            head = head.then(&Digest::from_bytes(*hash));
            let mut event = Event {
                position: last - left,
                stream: row.get(1)?,
                seq: last_seq - left,
                append: Some(last),
                hash: hash.to_vec(),
                chained: if left == 0 { row.get(3)? } else { head.hash.as_bytes().to_vec() },
                salt: None,
                large: None,
                head: take_sized(&mut heads),
                content: None,
            };
            if let Some(contents) = &mut contents {
                let kind = take(contents, 1)[0];
                event.salt = (kind > 0).then(|| take(contents, 16));
                event.content = (kind == 1).then(|| take_sized(contents));
                event.large = (kind == 2).then(|| take(contents, 32));
            }
            events.push(event);
        }
    }
    Ok(events)
}

/// Returns the events of the table `events`, in groups that each become one row of the table `appends`.
fn rows(file: &Connection) -> rusqlite::Result<Vec<Vec<Event>>> {
    let mut statement = file.prepare(&format!("SELECT {EVENTS} FROM events ORDER BY position"))?;
    let mut rows: Vec<Vec<Event>> = Vec::new();
    for event in statement.query_map([], Event::read)? {
        let event = event?;
        match rows.last_mut() {
            Some(row) if row.last().is_some_and(|last| event.follows(last)) => row.push(event),
            Some(_) | None => rows.push(vec![event]),
        }
    }
    Ok(rows)
}

fn sized(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).expect("it is short");
    [&length.to_be_bytes(), bytes].concat()
}

fn take(from: &mut &[u8], length: usize) -> Vec<u8> {
    let (taken, rest) = from.split_at(length);
    *from = rest;
    taken.to_vec()
}

fn take_sized(from: &mut &[u8]) -> Vec<u8> {
    let length = take(from, 4).into_iter().fold(0, |length, byte| length << 8 | usize::from(byte));
    take(from, length)
}

/// Returns SQL for PostgreSQL that copies the journal into the table `events`, runs `statements`, and writes the events
/// back.
pub fn with_events_in_postgres(statements: &str) -> String {
    format!("{UNPACK} {statements}; {PACK}")
}

const UNPACK: &str = "
CREATE FUNCTION pg_temp.length_at(bytes bytea, at int) RETURNS int LANGUAGE sql AS
    $$ SELECT ('x' || encode(substring(bytes FROM at FOR 4), 'hex'))::bit(32)::int $$;
CREATE TEMP TABLE events (
    position bigint, stream text COLLATE \"C\", seq bigint, append bigint, hash bytea, salt bytea, large bytea,
    head bytea, content bytea
);
DO $$
DECLARE
    a record;
    e events;
    count int;
    kind int;
    h int;
    c int;
BEGIN
    FOR a IN SELECT * FROM appends LOOP
        count := octet_length(a.hashes) / 32;
        h := 1;
        c := 1;
        FOR i IN 1 .. count LOOP
            e := (a.position - count + i, a.stream, a.seq - count + i, a.position,
                  substring(a.hashes FROM 32 * i - 31 FOR 32), NULL, NULL,
                  substring(a.heads FROM h + 4 FOR pg_temp.length_at(a.heads, h)), NULL);
            h := h + 4 + octet_length(e.head);
            IF a.contents IS NOT NULL THEN
                kind := get_byte(a.contents, c - 1);
                c := c + 1;
                IF kind > 0 THEN
                    e.salt := substring(a.contents FROM c FOR 16);
                    c := c + 16;
                END IF;
                IF kind = 1 THEN
                    e.content := substring(a.contents FROM c + 4 FOR pg_temp.length_at(a.contents, c));
                    c := c + 4 + octet_length(e.content);
                ELSIF kind = 2 THEN
                    e.large := substring(a.contents FROM c FOR 32);
                    c := c + 32;
                END IF;
            END IF;
            INSERT INTO events VALUES (e.*);
        END LOOP;
    END LOOP;
END
$$;";

const PACK: &str = "
DELETE FROM appends;
INSERT INTO appends (stream, seq, position, hashes, heads, contents)
SELECT stream, max(seq), max(position), string_agg(hash, '' ORDER BY position),
       string_agg(int4send(octet_length(head)) || head, '' ORDER BY position),
       CASE WHEN bool_or(salt IS NOT NULL) THEN string_agg(
           CASE WHEN salt IS NULL THEN '\\x00'
                WHEN large IS NOT NULL THEN '\\x02'::bytea || salt || large
                ELSE '\\x01'::bytea || salt || int4send(octet_length(content)) || content END,
           '' ORDER BY position) END
FROM (
    SELECT *, count(*) FILTER (WHERE begins) OVER (ORDER BY position) AS place FROM (
        SELECT *, ((lag(append) OVER w, lag(stream) OVER w, lag(seq) OVER w + 1, lag(position) OVER w + 1)
                   = (append, stream, seq, position)) IS NOT TRUE AS begins
        FROM events WINDOW w AS (ORDER BY position)
    ) each
) placed GROUP BY stream, place;";
