//! The test kit's own tests.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod model;
