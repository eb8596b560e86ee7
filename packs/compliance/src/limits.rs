//! Every limit of the tools of a case, by name and with its reason. `casework/limits.rs` has the limits of its tables.

/// Findings of a compliance case that one call returns. Further findings are only counted.
pub const CASE_FINDINGS: usize = 100;
