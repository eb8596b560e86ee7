//! Suggestions for misspelt names. Never corrects a name.

/// Returns the nearest candidate, if it differs only by typing errors. In a tie the first one is returned.
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let name = name.to_lowercase();
    // One error per three letters is allowed. With more errors it is another word.
    let allowed = (name.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&name, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
