//! Renders a coach's report as one HTML page: texts of agents, charts, computed numbers; marks numbers that no tool computed.
//!
//! PURE. Data in, a string out: no files, clock, randomness or zone of the machine; equal reports give equal bytes.
//! Texts of agents are rendered by `holdshort_presentation`. A number that an agent writes is looked up among those that tools computed and people gave
//! ([`Known`]); the others are marked. Read next: `model.rs`, `page.rs`, `trace/mod.rs`, `chart/mod.rs`.

mod chart;
mod gaps;
pub mod limits;
mod model;
mod number;
mod page;
mod trace;

pub use chart::{Band, Bar, Bars, Chart, Lines, Row, Series, Zones};
pub use model::{
    Assumption, Competition, Computed, Given, NotComputed, Question, Report, Section, Unread, UnreadRow,
};
pub use page::html;
pub use trace::{Known, Quantity, untraced};
