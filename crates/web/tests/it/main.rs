//! Tests of the HTTP kit from outside.

mod identity;
