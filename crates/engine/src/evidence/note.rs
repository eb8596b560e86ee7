//! The text of a checkpoint: the format of C2SP `tlog-checkpoint`, in a signed note of C2SP `signed-note`.
//!
//! Its lines: which journal (`holdshort/` and the beginning of the hash of its first event); the number of events; the root
//! of the tree over them, in base64; `at` and when it was signed; `head` and the same journal as `audit head` tells it. An
//! empty line follows, and the signature: an em dash, the journal's name, and the rest in base64. `docs/reference/receipts.md`
//! shows one.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use data_encoding::BASE64;
use holdshort_core::digest::Digest;
use holdshort_core::head::Head;
use holdshort_core::time::Timestamp;

use super::signer::{Signer, VerifyingKey};

/// What was signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Which journal it is of.
    pub origin: String,
    /// Events that it covers.
    pub size: u64,
    /// Of the tree over them.
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

/// What begins the name of a journal, and with it each note.
const ORIGIN: &str = "holdshort/";

/// What begins the line of a signature: an em dash and a space.
const SIGNATURE: &str = "\u{2014} ";

impl Checkpoint {
    /// The name of a journal: its first event's hash tells it from every other.
    pub fn origin(first: &Digest) -> String {
        format!("{ORIGIN}{}", &first.to_string()[..16])
    }

    /// The signed note.
    pub fn sign(&self, head: &Head, at: Timestamp, signer: &Signer) -> String {
        let Self { origin, size, root } = self;
        let root = BASE64.encode(root.as_bytes());
        let text = format!("{origin}\n{size}\n{root}\nat {at}\nhead {head}\n");
        let signature = BASE64.encode(&signer.key().signature_line(origin, &signer.sign(text.as_bytes())));
        format!("{text}\n{SIGNATURE}{origin} {signature}\n")
    }

    /// Reads a note that one of these keys has signed.
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

/// Appends a note to a file of them, which is made where it is missing. It is on the disk then.
pub fn append(file: &Path, note: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(file)?;
    // Whoever wrote last may have been cut off in the middle of a line.
    file.write_all(format!("\n{note}").as_bytes())?;
    file.sync_data()
}

/// Whether a text holds notes.
pub fn are_notes(text: &str) -> bool {
    text.contains(&format!("\n\n{SIGNATURE}"))
}

/// Where a line of a file of notes stands.
#[derive(Clone, Copy)]
enum Place {
    Outside,
    Text,
    /// Behind the empty line that ends a text.
    Signatures,
}

/// The notes of a file that holds one after another, and the lines outside of them with their numbers. A note whose end was cut
/// off is there as it is.
pub fn notes(text: &str) -> (Vec<String>, Vec<(usize, &str)>) {
    let (mut notes, mut outside) = (Vec::<String>::new(), Vec::new());
    let mut place = Place::Outside;
    for (number, line) in (1..).zip(text.lines()) {
        place = match place {
            _ if line.starts_with(ORIGIN) => {
                notes.push(String::new());
                Place::Text
            }
            Place::Text if line.is_empty() => Place::Signatures,
            Place::Text => Place::Text,
            Place::Signatures if line.starts_with(SIGNATURE) => Place::Signatures,
            Place::Signatures | Place::Outside => Place::Outside,
        };
        match (place, notes.last_mut()) {
            (Place::Text | Place::Signatures, Some(note)) => {
                note.push_str(line);
                note.push('\n');
            }
            _ => outside.push((number, line)),
        }
    }
    (notes, outside)
}
