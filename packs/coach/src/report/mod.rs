//! Renders the report of a coach run as one HTML page with texts of agents, charts and computed numbers.
//!
//! PURE: takes data and returns a string, without files, clock, randomness or local time zone. Equal reports give equal
//! bytes. `holdshort_presentation` renders the texts of agents. Each number in a text of an agent is looked up among
//! the numbers that tools computed or people gave ([`KnownNumbers`]). A number that is not found is marked. Read next:
//! `model.rs`, `page.rs`, `trace/mod.rs`, `chart/mod.rs`.

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
