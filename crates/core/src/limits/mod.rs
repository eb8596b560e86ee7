//! Named limits of the core. Reaching a limit causes an event or a typed error, never a silent cut.
//!
//! `docs/reference/limits.md` is generated from the comments of the constants.

mod content;
mod keys;
mod people;
mod runs;

pub use self::content::*;
pub use self::keys::*;
pub use self::people::*;
pub use self::runs::*;
