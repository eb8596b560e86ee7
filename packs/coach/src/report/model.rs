//! The report of a coach run as data. Texts of agents, people and tools are not escaped here; `page.rs` escapes them.

use std::collections::BTreeMap;

use jiff::civil::Date;

use crate::report::{Chart, KnownNumbers};

/// The coach's report. Its fields are in the order of the page.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub title: String,
    pub athlete: String,
    pub date: Date,
    /// True if prepared replies replaced the models that write the texts of the report.
    pub is_rehearsal: bool,
    /// Reason why the run of the report is incomplete. `None` if the run has finished.
    pub partial: Option<String>,
    /// Sections of the report, each the text of one agent, in the order of the page.
    pub sections: Vec<Section>,
    pub charts: Vec<Chart>,
    pub computed: Vec<Computed>,
    /// Values that agents received from the training data, each with its place in a file.
    pub given: Vec<TrainingValue>,
    /// Explanations of the caveats about computed numbers, by the name of the caveat.
    pub caveats: BTreeMap<String, String>,
    pub not_computed: Vec<NotComputed>,
    /// Summary of the training data that was not read. `None` if all training data was read.
    pub unread: Option<Unread>,
    pub competitions: Vec<Competition>,
    pub questions: Vec<Question>,
    pub assumptions: Vec<Assumption>,
    /// Numbers from tool results and inputs, which agents may quote in the report. The page also accepts the numbers in
    /// [`Self::computed`], in charts, in competitions and in answers.
    pub known: KnownNumbers,
}

impl Report {
    /// Creates a report without content.
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
            known: KnownNumbers::default(),
        }
    }
}

/// Section of the report with the text of one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Name of the report's section, which becomes part of its HTML id.
    pub id: String,
    pub title: String,
    pub agent: String,
    /// Text of the report's section as Markdown.
    pub text: String,
    /// True if the text of the section is a plan. Its numbers are then proposals of the agent, and are not looked up.
    pub plans: bool,
}

/// Number that a tool computed, with the inputs of the computation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Computed {
    pub id: String,
    pub label: String,
    pub value: String,
    pub unit: String,
    /// Formula with which the tool computed the number.
    pub how: String,
    /// Description of the inputs and the caveats of the computed number, such as `6 activities, 7 days; resting of
    /// days`.
    pub inputs: String,
    /// Names of all inputs of the computed number.
    pub named: Vec<String>,
}

/// Value in the training data that an agent received.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingValue {
    /// Name of the value's measure, with the day or the activity of the measurement.
    pub label: String,
    pub value: f64,
    pub unit: String,
    /// Place of the value: file name and location in the file, such as a line.
    pub place: String,
}

/// Number that no tool could compute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotComputed {
    pub label: String,
    pub why: String,
}

/// Training data that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// Sentence that tells how much training data was not read.
    pub told: String,
    pub rows: Vec<UnreadRow>,
    /// Sentence about further training data that was not read and that `rows` does not list.
    pub more: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadRow {
    /// Name of the file with the unread data, and the first place in the file with the problem.
    pub place: String,
    pub message: String,
    pub code: String,
    pub places: u64,
    pub what_to_do: String,
    /// True if the whole file of training data is ignored.
    pub is_refused: bool,
    /// True if the athlete need not do anything about the unread data, because it would not improve the report.
    pub needs_nothing: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Competition {
    pub name: String,
    /// Date of the competition as the athlete wrote it.
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
    /// One or two words that tell if a person answered the question.
    pub outcome: String,
    pub answer: Option<String>,
    pub by: Option<String>,
    pub at: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumption {
    pub agent: String,
    pub assumption: Option<String>,
    /// Question that the agent would have asked instead of making the assumption.
    pub question: Option<String>,
    pub why: Option<String>,
}
