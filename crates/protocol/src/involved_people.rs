//! Lines of a card about people: who sent the request, who may decide, the votes so far, and the missing votes. The
//! terminal, the pages and the browser show the same lines.

use crate::interrupt::{Interrupt, InterruptStatus, Offer, Origin, Resolution};
use crate::plain;
use crate::{Assignment, Quorum, Represented, Stage, Vote, You};

/// Actor id with which the server itself opens interrupts.
const SERVER: &str = "engine";

/// Subject of a line about people on a card. Each user interface has its own label for each subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeopleLine {
    /// The people who may decide on the interrupt.
    Asked,
    /// One of several approval stages of the interrupt, with its approvers.
    Stage,
    /// A delegate who may decide on the interrupt, and the person whom the delegate represents.
    StandsIn,
    /// A vote that a person cast on the interrupt.
    Voted,
    /// The number of missing votes on the interrupt, and the people who can cast them.
    Missing,
    /// The reason why the reader of the card may not decide, or the person whom the reader represents.
    You,
}

impl PeopleLine {
    pub const fn label(self) -> &'static str {
        match self {
            Self::Asked => "Approvers",
            Self::Stage => "Stage",
            Self::StandsIn => "Delegated",
            Self::Voted => "Vote",
            Self::Missing => "Missing",
            Self::You => "You",
        }
    }
}

/// Data from which the lines about people on an interrupt's card are made.
#[derive(Clone, Copy, Debug)]
pub struct InvolvedPeople<'a> {
    pub assignment: &'a Assignment,
    pub votes: &'a [Vote],
    pub options: &'a [Offer],
    pub is_open: bool,
    pub you: Option<&'a You>,
}

impl<'a> From<&'a Interrupt> for InvolvedPeople<'a> {
    fn from(interrupt: &'a Interrupt) -> Self {
        Self {
            assignment: &interrupt.assignment,
            votes: &interrupt.votes,
            options: &interrupt.options,
            is_open: interrupt.status == InterruptStatus::Open,
            you: interrupt.you.as_ref(),
        }
    }
}

impl InvolvedPeople<'_> {
    /// Returns the lines about people for the card of an interrupt. `time` formats a timestamp for display. With the
    /// default assignment (any one admin or operator decides), there are no lines for a reader who may decide.
    pub fn lines(&self, time: impl Fn(&str) -> String) -> Vec<(PeopleLine, String)> {
        let assigned = self.assignment;
        let mut out = Vec::new();
        out.extend(describe_approvers(assigned).map(|who| (PeopleLine::Asked, who)));
        let stages = assigned.stages.iter().enumerate();
        out.extend(stages.map(|stage| (PeopleLine::Stage, numbered(stage, assigned.stage))));
        for delegation in &assigned.delegations {
            let until = delegation.until.as_deref().map(|at| format!(", until {}", time(at)));
            let (to, from) = (plain::line(&delegation.to), plain::line(&delegation.from));
            out.push((PeopleLine::StandsIn, format!("{to} for {from}{}", until.unwrap_or_default())));
        }
        out.extend(self.votes.iter().map(|vote| (PeopleLine::Voted, self.voted(vote))));
        if !self.is_open {
            return out;
        }
        if let Some(needed) = assigned.needed.filter(|needed| *needed > 0) {
            let people = if needed == 1 { "one more person" } else { "more people" };
            let count = if needed == 1 { String::new() } else { format!("{needed} ") };
            let skips = if self.one_skips_for_all() {
                "; one person can skip the question for all of them"
            } else {
                ""
            };
            out.push((
                PeopleLine::Missing,
                format!("{count}{people}{}{skips}", list_missing(&assigned.missing)),
            ));
        }
        if let Some(why) = self.you.filter(|you| !you.may_decide).and_then(|you| you.why.as_deref()) {
            out.push((PeopleLine::You, format!("may not decide: {}", plain::line(why))));
        }
        if let Some(other) = self.you.and_then(|you| you.in_place_of.as_deref()) {
            out.push((PeopleLine::You, format!("decide as the delegate of {}", plain::line(other))));
        }
        out
    }

    /// Returns true for a question that several people must answer, although any one of them can skip it for all.
    fn one_skips_for_all(&self) -> bool {
        let offers = |id: &str| self.options.iter().any(|option| option.id == id);
        let Assignment { quorum, stages, .. } = self.assignment;
        let are_several = quorum.required > 1 || quorum.roles == Represented::All || !stages.is_empty();
        are_several && offers("answer") && offers("skip")
    }

    fn voted(&self, vote: &Vote) -> String {
        let label = self.options.iter().find(|option| option.id == vote.option);
        let label = label.map_or(vote.option.as_str(), |option| option.label.as_str());
        let other =
            vote.in_place_of.as_deref().map(|who| format!(" for {}", plain::line(who))).unwrap_or_default();
        let named = vote.on_behalf_of.as_deref().map(on_behalf_of).unwrap_or_default();
        let let_in = vote.let_in_by.as_deref().map(let_in_by).unwrap_or_default();
        let text = vote.text.as_deref().filter(|text| !text.is_empty());
        let text = text.map(|text| format!(": “{}”", plain::line(text))).unwrap_or_default();
        format!("{}{other}{named}{let_in}: {}{text}", plain::line(&vote.by), plain::line(label))
    }
}

/// Returns the phrase `(on behalf of …)` that follows the name of a person who decided. The client of the deciding
/// person reports the name, and the server does not verify it.
fn on_behalf_of(name: &str) -> String {
    format!(" (on behalf of {}, according to their client)", plain::line(name))
}

/// Returns the phrase `(signed in with a link of …)` that follows the name of a person who used another person's login
/// link.
fn let_in_by(name: &str) -> String {
    format!(" (signed in with a link of {})", plain::line(name))
}

impl Interrupt {
    /// Names the sender of an interrupt (an agent, the workflow or the server), and the step of the sender.
    pub fn asker(&self) -> String {
        let who = match (&self.agent, self.origin) {
            (Some(agent), Origin::Native) => format!("agent {}", plain::line(agent)),
            (Some(agent), Origin::External) if agent == SERVER => "the server".to_owned(),
            (Some(agent), Origin::External) => {
                format!("{}, an agent that runs elsewhere", plain::line(agent))
            }
            (None, _) => "the workflow".to_owned(),
        };
        match &self.step {
            Some(step) => format!("{who}, step {}", plain::line(step)),
            None => who,
        }
    }
}

impl Resolution {
    /// Returns a sentence with the number of other open calls that were approved by the grant of this decision. Returns
    /// `None` if there are none.
    pub fn also_words(&self) -> Option<String> {
        match self.also.len() {
            0 => None,
            1 => Some("1 other open call was approved with this decision".to_owned()),
            count => Some(format!("{count} other open calls were approved with this decision")),
        }
    }

    /// Names the people who decided on the interrupt, each with the person whom they represented and the creator of
    /// their login link. If no person decided, returns the cause of the resolution.
    pub fn describe_deciders(&self) -> String {
        if self.by.is_empty() {
            return self.cause.replace('_', " ");
        }
        let who = |by: &String| {
            let named = self.on_behalf_of.get(by).map(|name| on_behalf_of(name)).unwrap_or_default();
            let let_in = self.let_in_by.get(by).map(|name| let_in_by(name)).unwrap_or_default();
            format!("{}{named}{let_in}", plain::line(by))
        };
        self.by.iter().map(who).collect::<Vec<_>>().join(", ")
    }
}

impl Assignment {
    /// Returns true if the interrupt has the default assignment: any one admin or operator decides.
    pub fn is_usual(&self) -> bool {
        self.approvers.is_empty()
            && self.groups.is_empty()
            && !self.operators
            && self.quorum == Quorum::default()
            && self.self_approval
            && self.stages.is_empty()
    }
}

fn describe_approvers(assigned: &Assignment) -> Option<String> {
    if assigned.is_usual() {
        return None;
    }
    let own =
        if assigned.self_approval { "" } else { ", except the people who started the run or wrote the edit" };
    if !assigned.stages.is_empty() {
        let again = if assigned.distinct { "" } else { ", and one person may agree in several stages" };
        return Some(format!("{} stages{again}{own}", assigned.stages.len()));
    }
    let too = if assigned.operators { ", and also admins and operators" } else { "" };
    Some(format!("{}{too}{own}", describe_people(&assigned.approvers, &assigned.groups, &assigned.quorum)))
}

fn numbered((at, stage): (usize, &Stage), now: Option<usize>) -> String {
    let name = stage.name.as_deref().map(|name| format!("{}: ", plain::line(name))).unwrap_or_default();
    let mark = match now {
        Some(now) if at < now => "✓",
        Some(now) if at == now => "▸",
        _ => " ",
    };
    format!("{mark} {} {name}{}", at + 1, describe_people(&stage.approvers, &stage.groups, &stage.quorum))
}

/// Describes the people who may decide on an interrupt: `2 of anna, the group legal`.
pub fn describe_people(approvers: &[String], groups: &[String], quorum: &Quorum) -> String {
    let names = approvers.iter().map(|name| plain::line(name).into_owned());
    let groups = groups.iter().map(|group| format!("the group {}", plain::line(group)));
    let mut all: Vec<String> = names.chain(groups).collect();
    if all.is_empty() {
        all.push("admins and operators".to_owned());
    }
    let joined = all.join(", ");
    match (quorum.roles, quorum.required) {
        (Represented::All, _) => format!("each of {joined}"),
        (Represented::Any, 0 | 1) => joined,
        (Represented::Any, required) => format!("{required} of {joined}"),
    }
}

fn list_missing(missing: &[String]) -> String {
    if missing.is_empty() { String::new() } else { format!(": {}", plain::line(&missing.join(", "))) }
}
