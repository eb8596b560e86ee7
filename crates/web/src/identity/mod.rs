//! Identity of callers: a [`Principal`] with roles and groups, for all kinds of credentials.
//!
//! This module must not depend on routes, requests or other modules of this crate; the extractors call it.
//! `core/src/rights.rs` defines the permissions of each role. A secret stays in memory only for the duration of its
//! comparison.

mod fetch;
pub mod jwt;
pub mod limits;
pub mod oidc;
mod principal;

pub use principal::{AuthMethod, Principal};
