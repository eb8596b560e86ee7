//! Evidence for outsiders: signed checkpoints of the journal, and receipts of decisions.
//!
//! A checkpoint states the number of events and the root of their Merkle tree (`core/tree`). It is signed with a key of
//! the installation. With a checkpoint, a person can detect that a later journal has lost or changed events that the
//! checkpoint covers. The person can also verify a receipt without the journal.
//!
//! The modules: `issuer` issues checkpoints and receipts, `tree` computes roots, and `receipt` collects the events of
//! an interrupt. `note` has the text of a checkpoint, `signer` its signature, and `mail` finds a checkpoint in a stored
//! mail.

mod issuer;
mod mail;
mod note;
mod receipt;
mod signer;
mod tree;

pub use issuer::{Evidence, Signed};
pub use mail::mail_text;
pub use note::{Checkpoint, Malformed, append, are_notes, notes};
pub use receipt::{EventProof, Receipt};
pub use signer::{BadKey, Signer, VerifyingKey};
pub use tree::{Tree, TreeSnapshot};
