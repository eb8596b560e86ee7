//! The program: the command line of `crates/cli`, with the packs of this build.
//!
//! Only this crate depends on packs. The feature `packs` includes the shipped packs.

use holdshort_cli::pack::Packs;

/// The packs that this build of the program contains.
#[cfg(feature = "packs")]
pub const PACKS: Packs = Packs(&[&holdshort_coach::Coach, &holdshort_compliance::Compliance]);

/// The packs that this build of the program contains: none.
#[cfg(not(feature = "packs"))]
pub const PACKS: Packs = Packs(&[]);
