//! Evidence for people outside: signed checkpoints of the journal, and receipts of what was decided.
//!
//! A checkpoint says how many events there are and what the root of their Merkle tree is (`core/tree`), signed with a key of
//! the installation. Whoever keeps one can tell any later journal that is not its continuation, and can check a receipt
//! without the journal. `issuer` gives both; `tree` computes roots, `note` is the text of a checkpoint, `mail`
//! finds it in a mail that was kept, `signer` is its signature, `receipt` what is said of an interrupt.

mod issuer;
mod mail;
mod note;
mod receipt;
mod signer;
mod tree;

pub use issuer::{Evidence, Signed};
pub use mail::mail_text;
pub use note::{Checkpoint, Malformed, append, are_notes, notes};
pub use receipt::{Proved, Receipt};
pub use signer::{BadKey, Signer, VerifyingKey};
pub use tree::{Standing, Tree};
