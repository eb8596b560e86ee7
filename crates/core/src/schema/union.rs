//! Failures of unions. If the value can be meant for only one member of the union, reports the error within that
//! member.
//!
//! A member of the union is ruled out if the value has another type, or if an enumeration of the member rejects the
//! value. A member is also ruled out if a constant rejects the value or a property of the value. A discriminator
//! (`kind: "number"`) therefore leaves only one member.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;

/// Returns the innermost errors. If only one member is not ruled out, they are the errors of this member. Otherwise the
/// result is the error itself.
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

/// Returns true if the error rules out a member of the union. `union` is the number of segments in the JSON pointer of
/// the union's value.
fn rules_out(error: &ValidationError<'_>, union: usize) -> bool {
    let kind = error.kind();
    let is_of_the_value = matches!(kind, ValidationErrorKind::Type { .. } | ValidationErrorKind::Enum { .. });
    let is_constant = matches!(kind, ValidationErrorKind::Constant { .. });
    (is_of_the_value && depth(error) == union) || (is_constant && depth(error) <= union + 1)
}
