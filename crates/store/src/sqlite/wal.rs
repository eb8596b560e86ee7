//! Checks the write-ahead log that a killed process left, before SQLite recovers it. Reads only.
//!
//! SQLite reads a log up to the first invalid frame, and ignores the rest without reporting an error. Ignoring the rest
//! is correct if the log ends with an incomplete commit, because such a commit was never acknowledged. But if the log
//! is damaged in the middle, acknowledged commits after the damage would be lost. The checksum of a frame depends on
//! the checksum of the frame before it. Therefore this module can recognise valid frames after the damage. The format
//! of the log: <https://www.sqlite.org/fileformat2.html#walformat>.

use std::io::{self, BufRead, BufReader, Read};

use super::error::from_io;
use super::files::Unopened;
use crate::journal::Error;

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// Number with which the header of a write-ahead log begins. The last bit of the number gives the byte order of the
/// checksums.
const MAGIC: u32 = 0x377f_0682;

/// Checksum over all frames of a write-ahead log up to a certain frame.
type Sum = (u32, u32);

/// Returns an error if the write-ahead log is damaged before its end. Accepts a missing log, and one with an incomplete
/// end, because `SQLite` recovers both.
pub(super) fn check(unopened: Unopened<'_>) -> Result<(), Error> {
    let Some(file) = unopened.open_log().map_err(from_io)? else { return Ok(()) };
    match damage(BufReader::with_capacity(1 << 16, file)).map_err(from_io)? {
        None => Ok(()),
        Some(at) => Err(Error::Corrupt(format!(
            "{} is damaged at byte {at}, and acknowledged commits follow the damage: restore a backup. If \
            you remove this file, the rest of the journal can be read, but these commits are lost",
            unopened.log().display()
        ))),
    }
}

/// Returns the offset of a damaged frame in the write-ahead log, if complete commits follow the frame. Returns 0 if the
/// header is damaged and data follows it. Returns `None` if there is no such damage.
fn damage(mut log: impl BufRead) -> io::Result<Option<u64>> {
    let mut header = [0; HEADER];
    if !fill(&mut log, &mut header)? {
        return Ok(None);
    }
    let Some(reader) = Reader::from_header(&header) else {
        // SQLite writes the header to disk before the first frame. If frames exist without a valid header, the header
        // was damaged.
        return Ok(log.bytes().find(|byte| !matches!(byte, Ok(0))).transpose()?.map(|_| 0));
    };
    let mut frame = vec![0; FRAME_HEADER + reader.page_size];
    let mut at = HEADER as u64;
    let mut sum = (read_u32(&header, 24), read_u32(&header, 28));
    while fill(&mut log, &mut frame)? {
        let next = reader.sum(sum, &frame);
        if !reader.belongs(&frame) || next != stored(&frame) {
            return Ok(reader.commits_follow(log, frame, next)?.then_some(at));
        }
        sum = next;
        at += frame.len() as u64;
    }
    Ok(None)
}

/// Reads the frames of one write-ahead log.
struct Reader {
    page_size: usize,
    salts: [u8; 8],
    word: fn([u8; 4]) -> u32,
}

impl Reader {
    /// Returns the reader for a write-ahead log with this header, or `None` if SQLite would not accept the header.
    fn from_header(header: &[u8; HEADER]) -> Option<Self> {
        let word_of = match read_u32(header, 0).checked_sub(MAGIC)? {
            0 => u32::from_le_bytes,
            1 => u32::from_be_bytes,
            _ => return None,
        };
        let page_size = read_u32(header, 8);
        if !(512..=65_536).contains(&page_size) || !page_size.is_power_of_two() {
            return None;
        }
        let mut salts = [0; 8];
        salts.copy_from_slice(&header[16..24]);
        let reader = Self { page_size: usize::try_from(page_size).ok()?, salts, word: word_of };
        let sum = (read_u32(header, 24), read_u32(header, 28));
        (reader.add((0, 0), &header[..24]) == sum).then_some(reader)
    }

    /// Returns true if the frame belongs to the current write-ahead log. The file may still contain frames of an
    /// earlier log.
    fn belongs(&self, frame: &[u8]) -> bool {
        frame[8..16] == self.salts && read_u32(frame, 0) != 0
    }

    fn sum(&self, before: Sum, frame: &[u8]) -> Sum {
        self.add(self.add(before, &frame[..8]), &frame[FRAME_HEADER..])
    }

    fn add(&self, (mut a, mut b): Sum, bytes: &[u8]) -> Sum {
        for pair in bytes.chunks_exact(8) {
            let [first, second] =
                [0, 4].map(|at| (self.word)([pair[at], pair[at + 1], pair[at + 2], pair[at + 3]]));
            a = a.wrapping_add(first).wrapping_add(b);
            b = b.wrapping_add(second).wrapping_add(a);
        }
        (a, b)
    }

    /// Returns true if a commit ends at this broken frame or later, and a second commit follows. An acknowledged commit
    /// is then damaged, because the second commit began after the first was acknowledged. `sum` is the checksum that
    /// the broken frame should contain.
    fn commits_follow(&self, mut log: impl Read, mut frame: Vec<u8>, sum: Sum) -> io::Result<bool> {
        let mut sums = vec![sum, stored(&frame)];
        loop {
            let ended = read_u32(&frame, 4) != 0;
            if !fill(&mut log, &mut frame)? {
                return Ok(false);
            }
            let linked = sums.iter().any(|sum| self.sum(*sum, &frame) == stored(&frame));
            if ended && linked && self.belongs(&frame) {
                return Ok(true);
            }
            sums = vec![stored(&frame)];
        }
    }
}

fn stored(frame: &[u8]) -> Sum {
    (read_u32(frame, 16), read_u32(frame, 20))
}

/// Reads a big-endian number from four bytes at the offset `at`.
fn read_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Fills the buffer from the write-ahead log. Returns false if the log ends before the buffer is full.
fn fill(log: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match log.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
