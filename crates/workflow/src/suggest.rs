//! Suggestions for misspelt names. A suggestion is only shown, and never replaces the name.

/// Returns the first of the candidates that are most similar to a misspelt name. Returns `None` if no candidate differs
/// only by typing errors.
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let name = name.to_lowercase();
    // One typing error per three letters is allowed. With more errors, the name is probably not a misspelling.
    let allowed = (name.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&name, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
