//! What is withheld from whom of an interrupt.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::Role;

/// Places of a payload that are withheld from some roles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"from": ["reviewer"], "fields": ["/arguments/customer/email", "/arguments/items/*/iban"]}))]
pub struct Withhold {
    /// `reviewer`: whoever sees all runs sees this too, and an agent wrote it.
    pub from: Vec<Role>,
    /// JSON pointers into the payload; `*` is any one member or element. A value there gives way to
    /// `{"withheld": POINTER}`, and whatever is made of it is not shown.
    pub fields: Vec<String>,
}

/// The sentence for whoever something is withheld from.
pub fn withheld_words(places: &[String]) -> Option<String> {
    let named = places.join(", ");
    (!places.is_empty())
        .then(|| format!("Withheld from you: {named}. What is made of it is not shown either."))
}
