//! Everything that people see: the card of an interrupt as data, and the texts of agents as HTML pages.
//!
//! PURE. Takes data, and returns data or a string. This crate uses no files, no clock and no randomness. Equal input
//! gives equal output.
//!
//! [`card::Card`] contains the content of an interrupt that every user interface displays. [`Document`] is a complete
//! page with one text. The page has no script, needs no network, has a light and a dark theme, and can be printed. The
//! text is in a restricted Markdown (`prose.rs`). No other syntax in the text becomes an HTML element. Therefore a text
//! cannot influence the rest of the page. A page with several parts, such as the report of a pack, uses [`prose`] and
//! [`markup`], with [`POLICY`] and [`STYLE`].

pub mod card;
mod document;
pub mod limits;
pub mod markup;
pub mod prose;

pub use document::Document;

/// Style sheet that every page contains.
pub const STYLE: &str = include_str!("page.css");
/// Content security policy of every page: it allows no scripts and no external resources. Links can only point to other
/// places on the same page.
pub const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
