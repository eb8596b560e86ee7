//! Identity of callers: a [`Principal`] with roles and groups, for all kinds of credentials.
//!
//! Must not use routes, requests or other modules of this crate; the extractors call this module. `core/src/rights.rs`
//! has the permissions of each role. A secret stays in memory only for its comparison.

mod fetch;
pub mod jwt;
pub mod limits;
pub mod oidc;
mod principal;

pub use principal::{AuthMethod, Principal};
