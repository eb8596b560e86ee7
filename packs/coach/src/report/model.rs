//! A report as data. Texts are as agents, people and tools wrote them: `page.rs` makes them harmless.

use std::collections::BTreeMap;

use jiff::civil::Date;

use crate::report::{Chart, Known};

/// One page, from the top to the foot.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub title: String,
    pub athlete: String,
    pub date: Date,
    /// Scripted models wrote the texts.
    pub is_rehearsal: bool,
    /// Why the run did not finish.
    pub partial: Option<String>,
    /// In the order of the page.
    pub sections: Vec<Section>,
    pub charts: Vec<Chart>,
    pub computed: Vec<Computed>,
    /// Values of the training data, with their places.
    pub given: Vec<Given>,
    /// What the caveats of these numbers mean, by their name.
    pub caveats: BTreeMap<String, String>,
    pub not_computed: Vec<NotComputed>,
    /// None where everything was read.
    pub unread: Option<Unread>,
    pub competitions: Vec<Competition>,
    pub questions: Vec<Question>,
    pub assumptions: Vec<Assumption>,
    /// Numbers of tool results and inputs. Those of [`Self::computed`], the charts, competitions and answers are
    /// known without being here.
    pub known: Known,
}

impl Report {
    /// A report with nothing in it.
    pub fn new(title: impl Into<String>, athlete: impl Into<String>, date: Date) -> Self {
        Self {
            title: title.into(),
            athlete: athlete.into(),
            date,
            is_rehearsal: false,
            partial: None,
            sections: Vec::new(),
            charts: Vec::new(),
            computed: Vec::new(),
            given: Vec::new(),
            caveats: BTreeMap::new(),
            not_computed: Vec::new(),
            unread: None,
            competitions: Vec::new(),
            questions: Vec::new(),
            assumptions: Vec::new(),
            known: Known::default(),
        }
    }
}

/// What one agent wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Part of the anchor.
    pub id: String,
    pub title: String,
    pub agent: String,
    /// Markdown.
    pub text: String,
    /// Its numbers are proposals of the agent: they are not looked up.
    pub plans: bool,
}

/// A number that a tool computed, with what it was computed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Computed {
    pub id: String,
    pub label: String,
    pub value: String,
    pub unit: String,
    /// The formula.
    pub how: String,
    /// Which activities and days, in numbers, and the names of the caveats.
    pub inputs: String,
    /// Each of them by its name.
    pub named: Vec<String>,
}

/// A value as it stands in the training data.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// What was measured, and when.
    pub label: String,
    pub value: f64,
    pub unit: String,
    /// The file, and the line or another place in it.
    pub place: String,
}

/// A number that there is none of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotComputed {
    pub label: String,
    pub why: String,
}

/// What of the training data could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// How much, in a sentence.
    pub told: String,
    pub rows: Vec<UnreadRow>,
    /// What is not among the rows.
    pub more: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadRow {
    /// The file, and the first place in it.
    pub place: String,
    pub message: String,
    pub code: String,
    pub places: u64,
    pub what_to_do: String,
    /// Nothing of the file counts.
    pub is_refused: bool,
    /// The data is as good without it.
    pub needs_nothing: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Competition {
    pub name: String,
    /// As the athlete wrote it.
    pub date: String,
    pub priority: Option<String>,
    pub target: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub agent: String,
    pub question: String,
    pub kind: Option<String>,
    pub context: Option<String>,
    /// What became of it, in a word or two.
    pub outcome: String,
    pub answer: Option<String>,
    pub by: Option<String>,
    pub at: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumption {
    pub agent: String,
    pub assumption: Option<String>,
    /// What the agent would have asked.
    pub question: Option<String>,
    pub why: Option<String>,
}
