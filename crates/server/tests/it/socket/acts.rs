//! Acts
