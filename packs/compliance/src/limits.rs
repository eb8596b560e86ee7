//! Named limits of the compliance tools. `casework/limits.rs` has the limits of a case.

/// Maximum number of findings that one call of a compliance tool returns. Further findings are only counted.
pub const CASE_FINDINGS: usize = 100;
