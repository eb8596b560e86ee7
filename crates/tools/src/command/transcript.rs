//! The output of a command: its beginning and its end, as text. The output in memory never exceeds the limits.

use std::collections::VecDeque;

use crate::limits;

#[derive(Debug, Default)]
pub(crate) struct Transcript {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Transcript {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = limits::OUTPUT_HEAD_BYTES - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend(first);
        self.tail.extend(rest);
        let excess = self.tail.len().saturating_sub(limits::OUTPUT_TAIL_BYTES);
        self.tail.drain(..excess);
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    fn left_out(&self) -> u64 {
        self.total - self.head.len() as u64 - self.tail.len() as u64
    }

    pub(super) fn is_truncated(&self) -> bool {
        self.left_out() > 0
    }

    /// Returns the output of a command as text. A line end is added after the last line, so that appended text starts
    /// on a new line.
    pub(super) fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        let mut text = if self.is_truncated() {
            let left_out = format!("\n[… {} bytes left out …]\n", self.left_out());
            [&String::from_utf8_lossy(&self.head), left_out.as_str(), &String::from_utf8_lossy(&tail)]
                .concat()
        } else {
            // The beginning and the end are decoded together, because a character may be split between them.
            String::from_utf8_lossy(&[self.head.as_slice(), &tail].concat()).into_owned()
        };
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text
    }
}

/// Converts chunks of a command's output to text. A character whose bytes are in two chunks stays complete.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    pending: Vec<u8>,
}

impl Decoder {
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        self.pending.extend(bytes);
        let complete = self.pending.len() - incomplete_at_end(&self.pending);
        let text = String::from_utf8_lossy(&self.pending[..complete]).into_owned();
        self.pending.drain(..complete);
        text
    }
}

/// Returns how many bytes at the end of a chunk are the beginning of an incomplete character.
fn incomplete_at_end(bytes: &[u8]) -> usize {
    match bytes.utf8_chunks().last() {
        // A character has at most four bytes, so only the last three bytes can begin an incomplete character. These
        // bytes are decoded again, because a chunk does not report `error_len`.
        Some(chunk) if !chunk.invalid().is_empty() => {
            let invalid = chunk.invalid();
            std::str::from_utf8(invalid)
                .err()
                .map_or(0, |e| if e.error_len().is_none() { invalid.len() } else { 0 })
        }
        _ => 0,
    }
}
