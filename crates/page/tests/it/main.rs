//! Pages as a specification: what of a text becomes an element, and that nothing is loaded.

mod document;
