//! Tests of the address guard, of who may read secrets, and of what answers say.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod answers;
mod guard;
mod secret_file;
