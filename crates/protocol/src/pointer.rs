//! JSON pointers (RFC 6901).

/// Escapes a member name for use in a JSON pointer.
pub fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Returns true if the JSON pointer `pointer` equals the pointer `place`, or points to a value inside the value at
/// `place`.
pub fn is_within(pointer: &str, place: &str) -> bool {
    pointer.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
