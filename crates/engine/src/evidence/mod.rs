//! Evidence for outsiders: signed checkpoints of the journal, and receipts of decisions.
//!
//! A checkpoint states how many events the journal has, and the root of the Merkle tree over them (`core/tree`). A
//! checkpoint is signed with a key of the installation. With a checkpoint, a person can detect that a later journal
//! lacks events that the checkpoint covers, or that such events were changed. The person can also verify a receipt
//! without access to the journal.
//!
//! The modules: `issuer` issues checkpoints and receipts, `tree` computes roots, and `receipt` collects the events of
//! an interrupt. `note` formats the text of a checkpoint, `signer` signs it, and `mail` finds a checkpoint in a saved
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
