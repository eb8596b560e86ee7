//! Every limit of the tools of a case, by name. `casework/limits.rs` has the limits of its tables.

/// Maximum number of findings that one call returns. Further findings are only counted.
pub const CASE_FINDINGS: usize = 100;
