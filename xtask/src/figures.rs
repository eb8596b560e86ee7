//! Durations in documents and in messages of commands, measured on two cores. `verify` also prints the real duration.

/// Duration of `cargo xtask verify` on a fresh clone, without downloads.
pub(crate) const WHOLE: &str = "about 25 minutes on two cores";

/// Duration of an optimised build of a fresh clone, such as `cargo install`.
#[cfg(test)]
const RELEASE: &str = "about seven minutes on two cores";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::root;

    #[test]
    fn the_documents_tell_the_figures() {
        let read = |name: &str| std::fs::read_to_string(root().join(name)).unwrap();
        let readme = read("README.md");
        assert!(readme.contains(&format!("It takes {WHOLE}.")), "README.md: {WHOLE}");
        assert!(readme.contains(&format!("The optimised build takes {RELEASE}.")), "README.md: {RELEASE}");
        let contributing = read("CONTRIBUTING.md");
        assert!(
            contributing.contains(&format!("before you send a change, {WHOLE}")),
            "CONTRIBUTING.md: {WHOLE}"
        );
    }
}
