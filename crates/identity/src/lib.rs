//! Who somebody is: a [`Principal`] with roles and groups, whatever they showed to prove it.
//!
//! Knows no route and no request; `web` asks it, and what a role may do stands in `core/src/rights.rs`. Holds no secret
//! longer than it takes to compare it.

mod fetch;
pub mod jwt;
pub mod limits;
pub mod oidc;
mod principal;

pub use principal::{How, Principal};
