//! Who may decide on an interrupt, and how many of them have to agree: stages, one after the other, each with its people.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::limits;
use crate::schema::Problem;
use crate::system::people::{Deciders, People, STARTER};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assignment {
    /// At least one, in the order in which they agree.
    pub stages: Vec<Stage>,
    /// Whoever counts in one stage counts in no other.
    pub distinct: bool,
    /// Whether whoever started the run, or wrote what is released, may be one of those who release it.
    pub self_approval: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// By id. Where neither a person nor a group is named, admins and operators decide.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// How many different people have to agree.
    pub required: u32,
    #[serde(default, skip_serializing_if = "Represented::is_any")]
    pub roles: Represented,
}

/// Which of those that a stage names have to be among the ones that agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Represented {
    /// As many as are required, whoever they are.
    #[default]
    Any,
    /// Each person that is named, and somebody of each group.
    All,
}

impl Represented {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    fn is_any(&self) -> bool {
        *self == Self::Any
    }
}

impl Default for Stage {
    fn default() -> Self {
        Self { name: None, approvers: Vec::new(), groups: Vec::new(), required: 1, roles: Represented::Any }
    }
}

/// Any one admin or operator.
impl Default for Assignment {
    fn default() -> Self {
        Self { stages: vec![Stage::default()], distinct: true, self_approval: true }
    }
}

/// Where somebody sits who may decide now: what their vote counts as.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seat {
    /// From 0.
    pub stage: usize,
    /// Whom they decide in the place of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_place_of: Option<String>,
    /// The groups of the stage that they, or whom they decide in the place of, are in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
}

/// A vote, as far as an assignment looks at it.
#[derive(Clone, Copy, Debug)]
pub struct Ballot<'a> {
    pub by: &'a str,
    pub seat: &'a Seat,
}

/// Why an assignment can not be met by those who are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    pub stage: usize,
    /// The rest of a sentence that begins with the stage.
    pub why: String,
}

impl Stage {
    /// These people, one of whom is enough.
    pub fn of(approvers: Vec<String>) -> Self {
        Self { approvers, ..Self::default() }
    }

    /// Whether it names nobody: then admins and operators decide.
    pub fn is_open(&self) -> bool {
        self.approvers.is_empty() && self.groups.is_empty()
    }

    /// Whether it names a person, or a group that they are in.
    pub fn names(&self, id: &str, people: &People) -> bool {
        self.approvers.iter().any(|named| named == id)
            || self.groups.iter().any(|group| people.is_in(id, group))
    }

    /// Those of its groups that a person is in.
    pub fn groups_of(&self, id: &str, people: &People) -> Vec<String> {
        self.groups.iter().filter(|group| people.is_in(id, group)).cloned().collect()
    }

    /// Whether these, who agree, are enough. A person counts once.
    pub fn is_met(&self, agreed: &[Ballot<'_>]) -> bool {
        let different: BTreeSet<&str> = agreed.iter().map(|ballot| ballot.by).collect();
        different.len() >= self.required.max(1) as usize && self.missing(agreed).is_empty()
    }

    /// Who is named and has to be among those who agree, and is not yet.
    pub fn missing(&self, agreed: &[Ballot<'_>]) -> Vec<&str> {
        if self.roles == Represented::Any {
            return Vec::new();
        }
        let speaks_for = |ballot: &Ballot<'_>, person: &str| {
            ballot.by == person || ballot.seat.in_place_of.as_deref() == Some(person)
        };
        let people =
            self.approvers.iter().filter(|&person| !agreed.iter().any(|one| speaks_for(one, person)));
        let groups =
            self.groups.iter().filter(|&group| !agreed.iter().any(|one| one.seat.groups.contains(group)));
        people.chain(groups).map(String::as_str).collect()
    }

    /// Those who are there and may decide in it.
    fn candidates<'p>(&self, people: &'p People) -> BTreeSet<&'p str> {
        let decides =
            |id: &&str| if self.is_open() { people.decides_unassigned(id) } else { self.names(id, people) };
        people.deciding().filter(decides).collect()
    }

    fn needed(&self) -> usize {
        let named = if self.roles == Represented::All {
            self.approvers.len().max(self.groups.len().min(1))
        } else {
            0
        };
        named.max(self.required.max(1) as usize)
    }
}

impl Assignment {
    /// One stage of these people.
    pub fn of(approvers: Vec<String>) -> Self {
        Self { stages: vec![Stage::of(approvers)], ..Self::default() }
    }

    /// One stage of people, of whom so many agree.
    pub fn simple(approvers: Vec<String>, required: u32) -> Self {
        Self { stages: vec![Stage { required, ..Stage::of(approvers) }], ..Self::default() }
    }

    /// The same as `(approvers, required)`, where it says no more than that.
    pub fn as_simple(&self) -> Option<(&[String], u32)> {
        let [stage] = self.stages.as_slice() else { return None };
        let is_simple = stage.name.is_none()
            && stage.groups.is_empty()
            && stage.roles == Represented::Any
            && self.distinct
            && self.self_approval;
        is_simple.then_some((stage.approvers.as_slice(), stage.required))
    }

    /// Whether one vote settles it, whoever of those casts it.
    pub fn takes_one(&self) -> bool {
        matches!(self.stages.as_slice(), [stage] if stage.required <= 1 && stage.roles == Represented::Any)
    }

    /// Whether it is nobody's in particular: admins and operators decide.
    pub fn is_open(&self) -> bool {
        self.stages.iter().all(Stage::is_open)
    }

    /// Whether a stage of it names a person, or a group that they are in.
    pub fn names(&self, id: &str, people: &People) -> bool {
        self.stages.iter().any(|stage| stage.names(id, people))
    }

    /// Whether a stage of it names a person, or nobody.
    pub fn is_for(&self, id: &str, people: &People) -> bool {
        self.stages.iter().any(|stage| stage.is_open() || stage.names(id, people))
    }

    /// The first stage that these, who agree, have not met.
    pub fn stage(&self, agreed: &[Ballot<'_>]) -> Option<usize> {
        self.stages.iter().enumerate().position(|(i, stage)| {
            let here: Vec<Ballot<'_>> = agreed.iter().filter(|one| one.seat.stage == i).copied().collect();
            !stage.is_met(&here)
        })
    }

    /// The same with whoever started the run in the place of [`STARTER`].
    #[must_use]
    pub fn started_by(mut self, starter: &str) -> Self {
        let named = self.stages.iter_mut().flat_map(|stage| &mut stage.approvers);
        for approver in named.filter(|approver| *approver == STARTER) {
            starter.clone_into(approver);
        }
        self
    }

    /// Everybody and every group that it names.
    pub fn named(&self) -> (BTreeSet<&str>, BTreeSet<&str>) {
        let people = self.stages.iter().flat_map(|stage| &stage.approvers).map(String::as_str).collect();
        let groups = self.stages.iter().flat_map(|stage| &stage.groups).map(String::as_str).collect();
        (people, groups)
    }

    /// What is wrong with its form, and whom it names that may not decide here. Pointers are below `at`.
    pub fn check(&self, deciders: &Deciders, at: &str) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.stages.len() > limits::STAGES {
            problems
                .push(Problem::new(format!("{at}/stages"), format!("holds more than {}", limits::STAGES)));
        }
        for (i, stage) in self.stages.iter().enumerate() {
            // A single stage is written without `stages`.
            let at = if self.stages.len() == 1 { at.to_owned() } else { format!("{at}/stages/{i}") };
            for (field, names) in [("approvers", &stage.approvers), ("groups", &stage.groups)] {
                if names.len() > limits::ASSIGNED {
                    let message = format!("holds more than {}", limits::ASSIGNED);
                    problems.push(Problem::new(format!("{at}/{field}"), message));
                }
                for (i, name) in names.iter().enumerate() {
                    let unknown = match field {
                        "groups" => deciders.unknown_group(name),
                        _ => deciders.unknown_person(name),
                    };
                    problems.extend(unknown.map(|why| Problem::new(format!("{at}/{field}/{i}"), why)));
                }
            }
            if stage.required == 0 {
                problems.push(Problem::new(format!("{at}/quorum/required"), "must be at least 1"));
            }
        }
        problems
    }

    /// Why those who are there can not meet it; `None` where they can. `starter`: whoever started the run.
    pub fn lack(&self, people: &People, starter: Option<&str>) -> Option<Lack> {
        let starter = starter.filter(|_| !self.self_approval);
        let stages: Vec<BTreeSet<&str>> = self
            .stages
            .iter()
            .map(|stage| stage.candidates(people).into_iter().filter(|id| Some(*id) != starter).collect())
            .collect();
        for (i, (stage, candidates)) in self.stages.iter().zip(&stages).enumerate() {
            let (needed, there) = (stage.needed(), candidates.len());
            if there < needed {
                let who = if starter.is_some() { " beside whoever started the run" } else { "" };
                let why = format!("needs {needed}, and {there}{who} may decide");
                return Some(Lack { stage: i, why });
            }
            if stage.roles == Represented::All {
                let is_there = |name: &&String| candidates.contains(name.as_str());
                let speaks = |group: &&String| candidates.iter().any(|id| people.is_in(id, group));
                let people = stage.approvers.iter().find(|name| !is_there(name));
                if let Some(name) = people.or_else(|| stage.groups.iter().find(|group| !speaks(group))) {
                    return Some(Lack {
                        stage: i,
                        why: format!("needs `{name}`, and nobody decides as such"),
                    });
                }
            }
        }
        let demand: Vec<usize> = self.stages.iter().map(Stage::needed).collect();
        let short = self.distinct.then(|| short_of(&demand, &stages)).flatten();
        short.map(|stage| Lack {
            stage,
            why: "needs other people than the other stages, and there are too few".to_owned(),
        })
    }
}

/// Seats people so that each sits in one stage, by augmenting paths; the first stage that stays short of people.
fn short_of(demand: &[usize], candidates: &[BTreeSet<&str>]) -> Option<usize> {
    let mut seated: BTreeMap<&str, usize> = BTreeMap::new();
    for (stage, needed) in demand.iter().enumerate() {
        for _ in 0..*needed {
            if !seat(stage, candidates, &mut seated, &mut BTreeSet::new()) {
                return Some(stage);
            }
        }
    }
    None
}

/// Finds one more person for a stage, perhaps by moving one who sits elsewhere.
fn seat<'p>(
    stage: usize,
    candidates: &[BTreeSet<&'p str>],
    seated: &mut BTreeMap<&'p str, usize>,
    tried: &mut BTreeSet<&'p str>,
) -> bool {
    for person in candidates[stage].iter().copied() {
        if seated.get(person) == Some(&stage) || !tried.insert(person) {
            continue;
        }
        let free = match seated.get(person).copied() {
            None => true,
            Some(other) => seat(other, candidates, seated, tried),
        };
        if free {
            seated.insert(person, stage);
            return true;
        }
    }
    false
}
