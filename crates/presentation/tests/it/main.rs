//! Specification of cards as data, and of pages of text.

mod card;
mod document;
