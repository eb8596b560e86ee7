//! The text of a checkpoint: the format of C2SP `tlog-checkpoint`, in a signed note of C2SP `signed-note`.
//!
//! The lines of a note are:
//! - the name of the journal: `holdshort/` and the beginning of the hash of the first event
//! - the number of events
//! - the root of the Merkle tree over the events, in base64
//! - `at` and the time of the signature
//! - `head` and the journal's head as `audit head` prints it
//! - an empty line
//! - the signature: an em dash, the name of the journal, and the signature bytes in base64
//!
//! `docs/reference/receipts.md` shows an example.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use data_encoding::BASE64;
use holdshort_core::digest::Digest;
use holdshort_core::head::Head;
use holdshort_core::time::Timestamp;

use super::signer::{Signer, VerifyingKey};

/// Statement about the journal that a signed note contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Name of the journal.
    pub origin: String,
    /// Number of events that the checkpoint covers.
    pub size: u64,
    /// Root of the Merkle tree over the events that the checkpoint covers.
    pub root: Digest,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    #[error(
        "not a checkpoint: its lines are an origin, a number of events, a root in base64, an empty line, and signatures"
    )]
    Text,
    #[error("the checkpoint is not signed with this key")]
    Signature,
}

/// Prefix that the names of all journals have. Each note begins with the name of its journal.
const ORIGIN: &str = "holdshort/";

/// Prefix of a signature line in a signed note: an em dash and a space.
const SIGNATURE: &str = "\u{2014} ";

impl Checkpoint {
    /// Returns the name of a journal. The name is derived from the hash of the first event, which is different in each
    /// journal.
    pub fn origin(first: &Digest) -> String {
        format!("{ORIGIN}{}", &first.to_string()[..16])
    }

    /// Signs the checkpoint, and returns the signed note with the checkpoint's text.
    pub fn sign(&self, head: &Head, at: Timestamp, signer: &Signer) -> String {
        let Self { origin, size, root } = self;
        let root = BASE64.encode(root.as_bytes());
        let text = format!("{origin}\n{size}\n{root}\nat {at}\nhead {head}\n");
        let signature = BASE64.encode(&signer.key().signature_line(origin, &signer.sign(text.as_bytes())));
        format!("{text}\n{SIGNATURE}{origin} {signature}\n")
    }

    /// Reads the checkpoint in a signed note, and verifies that one of `keys` has signed the note.
    pub fn open(note: &str, keys: &[VerifyingKey]) -> Result<Self, Malformed> {
        let (text, signatures) = note.split_once("\n\n").ok_or(Malformed::Text)?;
        let text = format!("{text}\n");
        let checkpoint = Self::read(&text).ok_or(Malformed::Text)?;
        let is_signed = signatures
            .lines()
            .filter_map(|line| line.strip_prefix(SIGNATURE)?.split_once(' '))
            .any(|(name, signature)| {
                let signature = BASE64.decode(signature.as_bytes()).unwrap_or_default();
                name == checkpoint.origin
                    && keys.iter().any(|key| key.has_signed(name, text.as_bytes(), &signature))
            });
        if is_signed { Ok(checkpoint) } else { Err(Malformed::Signature) }
    }

    fn read(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let (origin, size, root) = (lines.next()?, lines.next()?, lines.next()?);
        let is_number = !size.is_empty() && size.bytes().all(|byte| byte.is_ascii_digit());
        let root: [u8; 32] = BASE64.decode(root.as_bytes()).ok()?.try_into().ok()?;
        let size = size.parse().ok().filter(|_| is_number)?;
        Some(Self { origin: origin.to_owned(), size, root: Digest::from_bytes(root) })
    }
}

/// Appends the signed note of a checkpoint to a file and flushes the file to disk. Creates the file if it does not
/// exist.
pub fn append(file: &Path, note: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(file)?;
    // Starts a new line, because an earlier write may have been cut off in the middle of a line.
    file.write_all(format!("\n{note}").as_bytes())?;
    file.sync_data()
}

/// Returns true if a text contains at least one signed note of a checkpoint.
pub fn are_notes(text: &str) -> bool {
    text.contains(&format!("\n\n{SIGNATURE}"))
}

/// Section of a signed note to which a line belongs.
#[derive(Clone, Copy)]
enum NoteSection {
    Outside,
    Text,
    /// Signature lines, which follow the empty line after the text of the note.
    Signatures,
}

/// Returns the signed notes in a file, and the lines outside the notes with their line numbers. If a note is truncated,
/// the part that exists is returned.
pub fn notes(text: &str) -> (Vec<String>, Vec<(usize, &str)>) {
    let (mut notes, mut outside) = (Vec::<String>::new(), Vec::new());
    let mut place = NoteSection::Outside;
    for (number, line) in (1..).zip(text.lines()) {
        place = match place {
            _ if line.starts_with(ORIGIN) => {
                notes.push(String::new());
                NoteSection::Text
            }
            NoteSection::Text if line.is_empty() => NoteSection::Signatures,
            NoteSection::Text => NoteSection::Text,
            NoteSection::Signatures if line.starts_with(SIGNATURE) => NoteSection::Signatures,
            NoteSection::Signatures | NoteSection::Outside => NoteSection::Outside,
        };
        match (place, notes.last_mut()) {
            (NoteSection::Text | NoteSection::Signatures, Some(note)) => {
                note.push_str(line);
                note.push('\n');
            }
            _ => outside.push((number, line)),
        }
    }
    (notes, outside)
}
