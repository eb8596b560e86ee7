//! Everything that people see: the card of an interrupt as data, and texts of agents as HTML pages.
//!
//! PURE. Takes data and returns data or a string: no files, clock or randomness; equal input gives equal output.
//!
//! [`card::Card`] holds the content of an interrupt for every surface. [`Document`] is a complete page with one text:
//! no script, no network, a light and a dark theme, printable. The text is a restricted Markdown (`prose.rs`). No other
//! syntax becomes an HTML element, so a text cannot escape from its section. Pages with several parts, such as the
//! report of a pack, use [`prose`] and [`markup`], with [`POLICY`] and [`STYLE`].

pub mod card;
mod document;
pub mod limits;
pub mod markup;
pub mod prose;

pub use document::Document;

/// Style sheet of every page.
pub const STYLE: &str = include_str!("page.css");
/// Content security policy of every page: no script and no external resources. Links lead only to places within the
/// page.
pub const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
