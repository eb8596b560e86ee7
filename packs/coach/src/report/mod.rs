//! Renders a coach's report as one HTML page with texts of agents, charts and computed numbers.
//!
//! PURE. Data in, a string out: no files, clock, randomness or local time zone; equal reports give equal bytes.
//! `holdshort_presentation` renders the texts of agents. Numbers that an agent writes are looked up among the numbers
//! that tools computed and people gave ([`KnownNumbers`]). Numbers that are not found are marked. Read next: `model.rs`,
//! `page.rs`, `trace/mod.rs`, `chart/mod.rs`.

mod chart;
mod gaps;
pub mod limits;
mod model;
mod number;
mod page;
mod trace;

pub use chart::{Band, Bar, Bars, Chart, Lines, Row, Series, Zones};
pub use model::{
    Assumption, Competition, Computed, NotComputed, Question, Report, Section, TrainingValue, Unread,
    UnreadRow,
};
pub use page::html;
pub use trace::{KnownNumbers, Quantity, untraced};
