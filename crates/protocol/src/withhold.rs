//! Fields of an interrupt that are withheld from some roles.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::Role;

/// Request to withhold fields of a payload from some roles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"from": ["reviewer"], "fields": ["/arguments/customer/email", "/arguments/items/*/iban"]}))]
pub struct Withhold {
    /// Roles from which the fields are withheld. Only `reviewer` is allowed, because all other roles may read the whole
    /// run, and the agent wrote the payload itself.
    pub from: Vec<Role>,
    /// JSON pointers into the payload. `*` matches any one member or element. The reader receives the object
    /// `{"withheld": POINTER}` in place of each value. Data that is derived from a withheld value is withheld too.
    pub fields: Vec<String>,
}

/// Returns a sentence that lists the fields withheld from the reader of an interrupt, or `None` if there are none.
pub fn withheld_words(places: &[String]) -> Option<String> {
    let named = places.join(", ");
    (!places.is_empty()).then(|| {
        format!(
            "Withheld from you: {named}. Values that are derived from withheld values are not shown either."
        )
    })
}
