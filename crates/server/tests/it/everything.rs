//! Everything
