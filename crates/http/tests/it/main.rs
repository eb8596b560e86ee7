//! Tests of the address guard.

mod guard;
