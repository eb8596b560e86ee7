//! Error messages for unions of schemas (`anyOf`, `oneOf`). If the value can only be meant for one schema of the union,
//! reports the error within this schema.
//!
//! A schema is ruled out if the value has another type, or if an enumeration of the schema rejects the value. A schema
//! is also ruled out if a constant in it rejects the value or one of its properties. A discriminator such as
//! `kind: "number"` therefore rules out all other schemas.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;

/// Returns the relevant errors for a value that matches no schema of a union. If all but one schema of the union are
/// ruled out, returns the errors within the remaining schema. If several schemas remain, returns the error of the union
/// itself. Returns any other error unchanged.
pub(super) fn within<'e>(error: &'e ValidationError<'e>) -> Vec<&'e ValidationError<'e>> {
    let (ValidationErrorKind::AnyOf { context: members }
    | ValidationErrorKind::OneOfNotValid { context: members }) = error.kind()
    else {
        return vec![error];
    };
    let depth = depth(error);
    let mut meant = members.iter().filter(|errors| !errors.iter().any(|error| rules_out(error, depth)));
    match (meant.next(), meant.next()) {
        (Some(errors), None) => errors.iter().flat_map(within).collect(),
        _ => vec![error],
    }
}

/// Returns the number of segments in the JSON pointer of the value that the error is about.
fn depth(error: &ValidationError<'_>) -> usize {
    error.instance_path().as_str().matches('/').count()
}

/// Returns true if the error rules out a schema of the union. `union` is the number of segments in the JSON pointer of
/// the value to which the union applies.
fn rules_out(error: &ValidationError<'_>, union: usize) -> bool {
    let kind = error.kind();
    let is_of_the_value = matches!(kind, ValidationErrorKind::Type { .. } | ValidationErrorKind::Enum { .. });
    let is_constant = matches!(kind, ValidationErrorKind::Constant { .. });
    (is_of_the_value && depth(error) == union) || (is_constant && depth(error) <= union + 1)
}
