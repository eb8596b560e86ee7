//! Every limit of the tools of a case, by name. `casework/limits.rs` has the limits of its tables.

/// Maximum findings that one call returns. Further findings appear only as a number.
pub const CASE_FINDINGS: usize = 100;
