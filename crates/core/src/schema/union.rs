//! Where a value fails a union: within the one member that it was meant for, when that can be told.
//!
//! A member of a union is not meant when the value as a whole is of another type, or when a list of values refuses
//! it, or when a constant refuses it or one of its members: so a discriminator (`kind: "number"`) rules out all members
//! of the union but one.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;

/// What is wrong, as deep as the unions on the way allow: the error itself, or those of the one member that was meant.
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

/// Segments of the pointer to the value that was checked.
fn depth(error: &ValidationError<'_>) -> usize {
    error.instance_path().as_str().matches('/').count()
}

/// Whether this error says that a value, `union` segments deep, was not meant for the member of the union.
fn rules_out(error: &ValidationError<'_>, union: usize) -> bool {
    let kind = error.kind();
    let is_of_the_value = matches!(kind, ValidationErrorKind::Type { .. } | ValidationErrorKind::Enum { .. });
    let is_constant = matches!(kind, ValidationErrorKind::Constant { .. });
    (is_of_the_value && depth(error) == union) || (is_constant && depth(error) <= union + 1)
}
