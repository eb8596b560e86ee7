//! Failures of unions: locates an error within the only member that the value can be meant for.
//!
//! A member is ruled out if the value has another type, or if an enumeration rejects the value. It is also ruled out if
//! a constant rejects the value or one of its members, so a discriminator (`kind: "number"`) leaves a single member.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;

/// Returns the errors as deep as the unions allow: the error itself, or those of the only remaining member.
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

/// Returns the number of segments in the pointer to the checked value.
fn depth(error: &ValidationError<'_>) -> usize {
    error.instance_path().as_str().matches('/').count()
}

/// Returns true if this error rules out the member for a value at a depth of `union` segments.
fn rules_out(error: &ValidationError<'_>, union: usize) -> bool {
    let kind = error.kind();
    let is_of_the_value = matches!(kind, ValidationErrorKind::Type { .. } | ValidationErrorKind::Enum { .. });
    let is_constant = matches!(kind, ValidationErrorKind::Constant { .. });
    (is_of_the_value && depth(error) == union) || (is_constant && depth(error) <= union + 1)
}
