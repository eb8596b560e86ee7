//! Renders text of agents as HTML pages: no script, nothing from the network, both themes, printable.
//!
//! PURE. Data in, a string out: no files, clock or randomness; equal texts give equal bytes.
//! The text is a closed set of Markdown (`prose.rs`): nothing else of it becomes an element, so no text leaves its
//! section. [`Document`] is a whole page of one text. A report with parts of its own is built from [`prose`] and
//! [`markup`], under [`POLICY`] and with [`STYLE`].

mod document;
pub mod limits;
pub mod markup;
pub mod prose;

pub use document::Document;

/// Style of every page.
pub const STYLE: &str = include_str!("page.css");
/// Content security policy of every page: no script, nothing from elsewhere. Links lead to places of the page.
pub const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
