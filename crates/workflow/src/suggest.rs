//! Suggestions for misspelt names. Never replaces a name.

/// Returns the most similar candidate, if it differs only by typing errors. Of equally similar candidates the first is
/// returned.
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let name = name.to_lowercase();
    // One typing error per three letters is allowed. With more errors, it is probably not a misspelling.
    let allowed = (name.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&name, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
