//! Evidence for outsiders: signed checkpoints of the journal, and receipts of decisions.
//!
//! A checkpoint states the number of events and the root of their Merkle tree (`core/tree`). A
//! checkpoint is signed with a key of the installation. A person who has a checkpoint can detect if
//! a later journal has lost or changed the events of the checkpoint. The person can also verify a
//! receipt without the journal. `issuer` issues checkpoints and receipts. `tree` computes roots,
//! and `receipt` collects the events of an interrupt. `note` is the text of a checkpoint, `signer`
//! is its signature, and `mail` finds a checkpoint in a stored mail.

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
