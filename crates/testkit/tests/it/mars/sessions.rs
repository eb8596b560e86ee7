//! Sessions of this edge (contract A30).
