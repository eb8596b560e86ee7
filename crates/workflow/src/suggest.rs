//! The likely name behind a misspelt one. Suggests; never corrects.

/// The candidate that a typing slip away is, if there is one; the first of equals.
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let name = name.to_lowercase();
    // One slip in three letters: more is another word.
    let allowed = (name.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&name, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
