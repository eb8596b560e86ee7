//! Who somebody is: a [`Principal`] with roles and groups, whatever they showed to prove it.
//!
//! Knows no route, no request and no other module of this crate; the extractors ask it. `core/src/rights.rs` says what a
//! role may do. Holds no secret longer than it takes to compare it.

mod fetch;
pub mod jwt;
pub mod limits;
pub mod oidc;
mod principal;

pub use principal::{How, Principal};
