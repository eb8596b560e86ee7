//! What people are shown as a specification: cards as data, and pages of text.

mod card;
mod document;
