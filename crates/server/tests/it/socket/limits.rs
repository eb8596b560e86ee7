//! Limits
