//! `examples/mars`, as it stands in the repository.
