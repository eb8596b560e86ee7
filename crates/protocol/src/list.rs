//! One page of a list, and the cursor of the next page.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One page of a list, and the cursor of the next page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct List<T> {
    pub items: Vec<T>,
    /// Opaque cursor of the next page: repeat the same request with this cursor. Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
