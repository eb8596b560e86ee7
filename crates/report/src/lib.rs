//! Renders reports of agents, the coach's above all, as one HTML page: no script, nothing from the network, both themes, printable.
//!
//! PURE. Data in, a string out: no files, clock, randomness or zone of the machine; equal reports give equal bytes.
//! What agents wrote is a closed set of Markdown (`prose.rs`): nothing else of a text becomes an element, so no text
//! leaves its section. A number that an agent writes is looked up among those that tools computed and people gave
//! ([`Known`]); the others are marked. Read next: `report.rs`, `page.rs`, `trace/mod.rs`, `chart/mod.rs`.

mod chart;
mod document;
mod gaps;
pub mod limits;
mod markup;
mod number;
mod page;
mod prose;
mod report;
mod trace;

pub use chart::{Band, Bar, Bars, Chart, Lines, Row, Series, Zones};
pub use document::Document;
pub use page::html;
pub use report::{
    Assumption, Competition, Computed, Given, NotComputed, Question, Report, Section, Unread, UnreadRow,
};
pub use trace::{Known, Quantity, untraced};
