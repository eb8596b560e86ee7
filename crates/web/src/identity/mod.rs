//! Identity of callers: a [`Principal`] with roles and groups, whatever credentials were used.
//!
//! Must not know routes, requests or other modules of this crate; the extractors call it. `core/src/rights.rs` has the
//! rights of each role. A secret is held no longer than it takes to compare it.

mod fetch;
pub mod jwt;
pub mod limits;
pub mod oidc;
mod principal;

pub use principal::{AuthMethod, Principal};
