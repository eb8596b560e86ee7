//! Fields of an interrupt that are withheld from some roles.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::Role;

/// Request to withhold fields of a payload from some roles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"from": ["reviewer"], "fields": ["/arguments/customer/email", "/arguments/items/*/iban"]}))]
pub struct Withhold {
    /// Only `reviewer` is allowed: every other person may read all runs, and an agent wrote the payload.
    pub from: Vec<Role>,
    /// JSON pointers into the payload; `*` matches any one member or element. `{"withheld": POINTER}` replaces a
    /// withheld value. Anything derived from the value is not shown either.
    pub fields: Vec<String>,
}

/// Returns the sentence that lists the withheld places for the reader, or `None` if there are none.
pub fn withheld_words(places: &[String]) -> Option<String> {
    let named = places.join(", ");
    (!places.is_empty())
        .then(|| format!("Withheld from you: {named}. Values derived from it are not shown either."))
}
