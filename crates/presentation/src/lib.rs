//! Everything that people are shown: the card of an interrupt as data, and texts of agents as HTML pages.
//!
//! PURE. Data in, data or a string out: no files, clock or randomness; equal input gives equal output.
//!
//! [`card::Card`] holds the content of an interrupt for a surface. [`Document`] is a whole page of one text: no
//! script, no network, both themes, printable. Its text is a closed set of Markdown (`prose.rs`). No other syntax
//! becomes an element, so no text leaves its section. A report with parts of its own is built from [`prose`] and
//! [`markup`], with [`POLICY`] and [`STYLE`].

pub mod card;
mod document;
pub mod limits;
pub mod markup;
pub mod prose;

pub use document::Document;

/// Style of every page.
pub const STYLE: &str = include_str!("page.css");
/// Content security policy of every page: no script and no external resources. Links lead only to places within the
/// page.
pub const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
