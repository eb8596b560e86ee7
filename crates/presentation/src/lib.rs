//! Everything that people see: the card of an interrupt as data, and the texts of agents as HTML pages.
//!
//! PURE. Takes data and returns data or a string, without files, clock or randomness. Equal input gives equal output.
//!
//! [`card::Card`] contains the content of an interrupt for every user interface. [`Document`] is a complete page with
//! one text: no script, no network, a light and a dark theme, printable. The text is a restricted Markdown
//! (`prose.rs`). No other syntax becomes an HTML element, so a text cannot leave its section. A page with several
//! parts, such as the report of a pack, uses [`prose`] and [`markup`], with [`POLICY`] and [`STYLE`].

pub mod card;
mod document;
pub mod limits;
pub mod markup;
pub mod prose;

pub use document::Document;

/// Style sheet of every page.
pub const STYLE: &str = include_str!("page.css");
/// Content security policy of every page: no script and no external resources. Links lead only to places in the same
/// page.
pub const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
