//! Assignment of an interrupt: the people who decide, in one or more consecutive stages. Each stage has its approvers
//! and a number of required votes.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::actor::ResponsiblePeople;
use crate::limits;
use crate::name::{form, is_name, is_same};
use crate::people::{Deciders, People, STARTER, Since};
use crate::schema::Problem;
use crate::time::Timestamp;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assignment {
    /// Stages in the order in which they are decided. An assignment has at least one stage.
    pub stages: Vec<Stage>,
    /// True if each person may vote in only one of the stages.
    pub distinct: bool,
    /// True if the person who started the run and the authors of the work are also allowed to vote for its release.
    pub self_approval: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Ids of people who are allowed to vote. If both `approvers` and `groups` are empty, admins and operators decide.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Number of different people who must agree in this stage.
    pub required: u32,
    #[serde(default, skip_serializing_if = "Represented::is_any")]
    pub roles: Represented,
    /// True if admins and operators are also allowed to vote, because the named approvers did not decide in time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub operators: bool,
}

/// Rule that determines how many of the named approvers must agree in a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Represented {
    /// At least `required` of the named approvers must agree.
    #[default]
    Any,
    /// Every named person, and at least one member of each named group, must agree.
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
        Self {
            name: None,
            approvers: Vec::new(),
            groups: Vec::new(),
            required: 1,
            roles: Represented::Any,
            operators: false,
        }
    }
}

/// Default assignment, which requires the vote of one admin or operator.
impl Default for Assignment {
    fn default() -> Self {
        Self { stages: vec![Stage::default()], distinct: true, self_approval: true }
    }
}

/// Seat of a voter: the stage in which the vote counts, the person whom the voter represents, and the groups for which
/// the vote counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seat {
    /// Index of the stage in which the vote counts, from 0.
    pub stage: usize,
    /// Absent person whom the voter represents as a delegate. `None` if the voter represents nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_place_of: Option<String>,
    /// Groups of the stage to which the voter belongs. If the voter represents an absent person, the groups of that
    /// person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
}

impl Seat {
    /// Returns the absent person whom the voter `by` represents. Returns `by` if the voter represents nobody.
    pub fn principal<'a>(&'a self, by: &'a str) -> &'a str {
        self.in_place_of.as_deref().unwrap_or(by)
    }
}

/// Voter and seat of a vote: the data by which an assignment counts the vote.
#[derive(Clone, Copy, Debug)]
pub struct Ballot<'a> {
    pub by: &'a str,
    pub seat: &'a Seat,
}

/// Reason why an assignment has too few people who could decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApproverShortage {
    pub stage: usize,
    /// Reason why there are too few approvers, as the end of an error message, which begins with the name of the stage.
    pub why: String,
}

impl Stage {
    /// Returns a copy of the stage with new approvers and groups. The number of required votes stays the same.
    pub fn handed_to(&self, approvers: Vec<String>, groups: Vec<String>) -> Self {
        let required = u32::try_from(self.needed()).unwrap_or(u32::MAX);
        Self { approvers, groups, required, operators: false, ..self.clone() }
    }

    /// Returns a stage that requires the vote of one of these approvers.
    pub fn from_approvers(approvers: Vec<String>) -> Self {
        Self { approvers, ..Self::default() }
    }

    /// Returns true if every admin and operator can decide in the stage, because the stage names no people and no
    /// groups, or because `operators` is set.
    pub fn is_open(&self) -> bool {
        self.operators || (self.approvers.is_empty() && self.groups.is_empty())
    }

    /// Returns true if the stage names the person or a group that contains the person.
    pub fn names(&self, id: &str, people: &People) -> bool {
        self.approvers.iter().any(|named| named == id)
            || self.groups.iter().any(|group| people.is_in(id, group))
    }

    /// Returns the groups of the stage that contain the person.
    pub fn groups_of(&self, id: &str, people: &People) -> Vec<String> {
        self.groups.iter().filter(|group| people.is_in(id, group)).cloned().collect()
    }

    /// Returns true if these ballots satisfy the stage.
    pub fn is_met(&self, agreed: &[Ballot<'_>]) -> bool {
        Self::different(agreed) >= self.required.max(1) as usize && self.missing(agreed).is_empty()
    }

    /// Returns the number of different people who cast the ballots. A person counts once, even with several votes (as
    /// voter and as the person whom a voter represents) or with several spellings of the name.
    pub(super) fn different(agreed: &[Ballot<'_>]) -> usize {
        if let [] | [_] = agreed {
            return agreed.len();
        }
        let by: BTreeSet<_> = agreed.iter().map(|ballot| form(ballot.by)).collect();
        let of: BTreeSet<_> = agreed.iter().map(|ballot| form(ballot.seat.principal(ballot.by))).collect();
        by.len().min(of.len())
    }

    /// Returns the people and groups named by the stage that must still agree.
    pub fn missing(&self, agreed: &[Ballot<'_>]) -> Vec<&str> {
        if self.roles == Represented::Any {
            return Vec::new();
        }
        let speaks_for =
            |ballot: &Ballot<'_>, person: &str| is_same(ballot.seat.principal(ballot.by), person);
        let people =
            self.approvers.iter().filter(|&person| !agreed.iter().any(|one| speaks_for(one, person)));
        let groups =
            self.groups.iter().filter(|&group| !agreed.iter().any(|one| one.seat.groups.contains(group)));
        people.chain(groups).map(String::as_str).collect()
    }

    /// Returns true if the person is allowed to decide in the stage. The stage must name the person or one of the
    /// person's groups, or must be open to all admins and operators.
    pub fn is_for(&self, id: &str, people: &People) -> bool {
        (self.is_open() && people.decides_unassigned(id)) || self.names(id, people)
    }

    /// Returns the people who are allowed to decide in the stage. Of several people with the same name, returns only
    /// one.
    fn candidates<'p>(&self, people: &'p People) -> BTreeSet<&'p str> {
        let mut forms = BTreeSet::new();
        people.deciding().filter(|id| self.is_for(id, people) && forms.insert(form(id))).collect()
    }

    /// Returns the people who can give each missing agreement. One set of people is returned for each named person or
    /// group that must still agree.
    fn speakers<'p>(
        &self,
        candidates: &BTreeSet<&'p str>,
        agreed: &[Ballot<'_>],
        people: &'p People,
    ) -> Vec<BTreeSet<&'p str>> {
        let speaks = |id: &str, name: &str| {
            if self.approvers.iter().any(|person| person == name) {
                is_same(id, name)
            } else {
                people.is_in(id, name)
            }
        };
        let of = |name: &str| candidates.iter().copied().filter(|id| speaks(id, name)).collect();
        self.missing(agreed).into_iter().map(of).collect()
    }

    /// Returns the people who can cast each vote that is still required. If every named approver must agree, some votes
    /// can be cast by one person only: the vote of a named person, and the vote of a group with only one possible
    /// voter. The other votes can be cast by every candidate.
    fn places<'p>(
        &self,
        candidates: &BTreeSet<&'p str>,
        agreed: &[Ballot<'_>],
        people: &'p People,
    ) -> Vec<BTreeSet<&'p str>> {
        let mut places: Vec<BTreeSet<&str>> = Vec::new();
        for place in self.speakers(candidates, agreed, people) {
            if place.len() == 1 && !places.contains(&place) {
                places.push(place);
            }
        }
        while places.len() < self.needed().saturating_sub(Self::different(agreed)) {
            places.push(candidates.clone());
        }
        places
    }

    /// Returns the minimum number of different people who must agree in the stage.
    pub(super) fn needed(&self) -> usize {
        let named = if self.roles == Represented::All {
            let approvers: BTreeSet<_> = self.approvers.iter().map(|name| form(name)).collect();
            approvers.len().max(self.groups.len().min(1))
        } else {
            0
        };
        named.max(self.required.max(1) as usize)
    }
}

impl Assignment {
    /// Returns an assignment with a single stage that has these approvers and requires one vote.
    pub fn from_approvers(approvers: Vec<String>) -> Self {
        Self { stages: vec![Stage::from_approvers(approvers)], ..Self::default() }
    }

    /// Returns an assignment with a single stage that has these approvers and requires `required` votes.
    pub fn simple(approvers: Vec<String>, required: u32) -> Self {
        Self { stages: vec![Stage { required, ..Stage::from_approvers(approvers) }], ..Self::default() }
    }

    /// Returns the approvers and the number of required votes, if the assignment has one stage and no further
    /// conditions.
    pub fn as_simple(&self) -> Option<(&[String], u32)> {
        let [stage] = self.stages.as_slice() else { return None };
        let is_simple = stage.name.is_none()
            && stage.groups.is_empty()
            && !stage.operators
            && stage.roles == Represented::Any
            && self.distinct
            && self.self_approval;
        is_simple.then_some((stage.approvers.as_slice(), stage.required))
    }

    /// Returns true if a single vote of any approver decides the interrupt.
    pub fn takes_one(&self) -> bool {
        matches!(self.stages.as_slice(), [stage] if stage.required <= 1 && stage.roles == Represented::Any)
    }

    /// Returns true if the person may decide in at least one stage.
    pub fn is_for(&self, id: &str, people: &People) -> bool {
        self.stages.iter().any(|stage| stage.is_for(id, people))
    }

    /// Returns true if this person alone could decide the interrupt. If so, an earlier decision of the person can be
    /// applied to this interrupt. `starter` is the person who started the run.
    pub fn trusts(&self, id: &str, people: &People, starter: Option<&str>) -> bool {
        self.takes_one() && self.is_for(id, people) && !people.is_barred(id) && !self.is_own(id, starter)
    }

    /// Returns true if a decision that the person made at the time `at` can still be applied to later interrupts. The
    /// decision can no longer be applied when the person, or the creator of the person's login link, has left the list
    /// of people. The decision stays inapplicable if the person returns.
    pub fn still_trusts(
        &self,
        who: ResponsiblePeople<'_>,
        at: Timestamp,
        people: &People,
        starter: Option<ResponsiblePeople<'_>>,
    ) -> bool {
        let is_own = !self.self_approval && starter.is_some_and(|starter| starter.overlaps(who));
        let has_left = |id: &str| people.has_left(id, Since { at, seq: None });
        self.trusts(who.id, people, None) && !is_own && !has_left(who.id) && !has_left(who.hand)
    }

    /// Returns true if the person started the run and must therefore not approve, because self-approval is not allowed.
    /// `starter` is the person who started the run.
    pub(super) fn is_own(&self, id: &str, starter: Option<&str>) -> bool {
        !self.self_approval && starter.is_some_and(|starter| is_same(starter, id))
    }

    /// Returns the reason why the assignment `other` requires less agreement than this assignment. `None` if `other` is
    /// at least as strict.
    pub(super) fn asks_for_more_than(&self, other: &Self) -> Option<String> {
        let votes = |of: &Self| of.stages.iter().map(Stage::needed).sum::<usize>();
        // If `distinct` is false, one person may vote in several stages.
        let people = |of: &Self| {
            if of.distinct { votes(of) } else { of.stages.iter().map(Stage::needed).max().unwrap_or(1) }
        };
        if other.stages.len() < self.stages.len() {
            return Some(format!("has fewer stages than the gate requires: {}", self.stages.len()));
        }
        if votes(other) < votes(self) || people(other) < people(self) {
            return Some(format!("requires fewer people than the gate: {}", people(self)));
        }
        let all = |of: &Self| of.stages.iter().filter(|stage| stage.roles == Represented::All).count();
        (all(other) < all(self))
            .then(|| "does not require every named approver and group, as the gate does".to_owned())
    }

    /// Returns the index of the first stage that still needs votes. `agreed` contains the votes so far.
    pub fn stage(&self, agreed: &[Ballot<'_>]) -> Option<usize> {
        self.stages.iter().enumerate().position(|(i, stage)| {
            let here: Vec<Ballot<'_>> = agreed.iter().filter(|one| one.seat.stage == i).copied().collect();
            !stage.is_met(&here)
        })
    }

    /// Replaces the name [`STARTER`] in the assignment by `starter`, the person who started the run.
    #[must_use]
    pub fn started_by(mut self, starter: &str) -> Self {
        let named = self.stages.iter_mut().flat_map(|stage| &mut stage.approvers);
        for approver in named.filter(|approver| *approver == STARTER) {
            starter.clone_into(approver);
        }
        self
    }

    /// Returns all people and all groups that the stages of the assignment name.
    pub fn people_and_groups(&self) -> (BTreeSet<&str>, BTreeSet<&str>) {
        let people = self.stages.iter().flat_map(|stage| &stage.approvers).map(String::as_str).collect();
        let groups = self.stages.iter().flat_map(|stage| &stage.groups).map(String::as_str).collect();
        (people, groups)
    }

    /// Returns the problems of the assignment, including a problem for each named person or group that is not allowed
    /// to decide. JSON pointers begin with `at`.
    pub fn check(&self, deciders: &Deciders, at: &str) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.stages.is_empty() {
            problems.push(Problem::new(format!("{at}/stages"), "has no stage"));
        }
        if self.stages.len() > limits::STAGES {
            problems.push(Problem::new(
                format!("{at}/stages"),
                format!("has more than {} stages", limits::STAGES),
            ));
        }
        for (i, stage) in self.stages.iter().enumerate() {
            // An assignment with a single stage is written without the key `stages`.
            let at = if self.stages.len() == 1 { at.to_owned() } else { format!("{at}/stages/{i}") };
            for (field, names) in [("approvers", &stage.approvers), ("groups", &stage.groups)] {
                if names.len() > limits::ASSIGNED {
                    let message = format!("has more than {} {field}", limits::ASSIGNED);
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
            if stage.name.as_ref().is_some_and(|name| !is_name(name, limits::NAME_BYTES)) {
                let message = "is empty, too long, or contains invisible characters";
                problems.push(Problem::new(format!("{at}/name"), message));
            }
            if stage.required as usize > limits::ASSIGNED {
                let message = format!("must be at most {}", limits::ASSIGNED);
                problems.push(Problem::new(format!("{at}/quorum/required"), message));
            }
            if stage.required == 0 {
                problems.push(Problem::new(format!("{at}/quorum/required"), "must be at least 1"));
            }
        }
        problems
    }

    /// Returns true if there are still enough people to satisfy the assignment. The people in `barred` are not allowed
    /// to vote.
    pub fn is_in_reach(&self, agreed: &[Ballot<'_>], people: &People, barred: &BTreeSet<&str>) -> bool {
        let mut places = Vec::new();
        for (i, stage) in self.stages.iter().enumerate() {
            let here: Vec<Ballot<'_>> = agreed.iter().filter(|one| one.seat.stage == i).copied().collect();
            let counts = |id: &str| {
                let is_theirs =
                    |one: &&Ballot<'_>| is_same(one.by, id) || is_same(one.seat.principal(one.by), id);
                agreed.iter().filter(is_theirs).any(|one| self.distinct || one.seat.stage == i)
            };
            let free = |id: &&str| !counts(id) && !barred.iter().any(|barred| is_same(barred, id));
            let candidates: BTreeSet<&str> = stage.candidates(people).into_iter().filter(free).collect();
            if stage.speakers(&candidates, &here, people).iter().any(BTreeSet::is_empty) {
                return false;
            }
            let of_stage = stage.places(&candidates, &here, people);
            if find_unfilled_stage(&of_stage.iter().map(|place| (i, place.clone())).collect::<Vec<_>>())
                .is_some()
            {
                return false;
            }
            places.extend(of_stage.into_iter().map(|place| (i, place)));
        }
        !self.distinct || find_unfilled_stage(&places).is_none()
    }

    /// Returns the reason why there are too few people to satisfy the assignment. `None` if there are enough people.
    /// `starter` is the person who started the run.
    pub fn find_shortage(&self, people: &People, starter: Option<&str>) -> Option<ApproverShortage> {
        let starter = starter.filter(|_| !self.self_approval);
        let is_starter = |id: &str| starter.is_some_and(|starter| is_same(starter, id));
        let stages: Vec<BTreeSet<&str>> = self
            .stages
            .iter()
            .map(|stage| stage.candidates(people).into_iter().filter(|id| !is_starter(id)).collect())
            .collect();
        for (i, (stage, candidates)) in self.stages.iter().zip(&stages).enumerate() {
            let (needed, there) = (stage.needed(), candidates.len());
            if there < needed {
                let who = if starter.is_some() { " (without the person who started the run)" } else { "" };
                let approvers = if needed == 1 { "approver" } else { "approvers" };
                let why = format!("needs {needed} {approvers}, but only {there}{who} may decide");
                return Some(ApproverShortage { stage: i, why });
            }
            if stage.roles == Represented::All {
                let is_there = |name: &&String| candidates.iter().any(|id| is_same(id, name));
                let speaks = |group: &&String| candidates.iter().any(|id| people.is_in(id, group));
                let people = stage.approvers.iter().find(|name| !is_there(name));
                if let Some(name) = people.or_else(|| stage.groups.iter().find(|group| !speaks(group))) {
                    return Some(ApproverShortage {
                        stage: i,
                        why: format!("needs `{name}`, but nobody with this name or in this group may decide"),
                    });
                }
            }
        }
        let places = |(i, stage): (usize, &Stage)| {
            stage.places(&stages[i], &[], people).into_iter().map(move |place| (i, place)).collect::<Vec<_>>()
        };
        let places: Vec<_> = self.stages.iter().enumerate().flat_map(places).collect();
        let short = self.distinct.then(|| find_unfilled_stage(&places)).flatten();
        short.map(|stage| ApproverShortage {
            stage,
            why: "needs people who vote in no other stage, and too few people may decide".to_owned(),
        })
    }
}

/// Assigns a different person to each required vote (bipartite matching with augmenting paths). Returns the stage of
/// the first vote for which nobody is left. `None` if every vote has a person.
fn find_unfilled_stage(places: &[(usize, BTreeSet<&str>)]) -> Option<usize> {
    let mut taken: BTreeMap<&str, usize> = BTreeMap::new();
    let free = (0..places.len()).find(|place| !take(*place, places, &mut taken, &mut BTreeSet::new()));
    free.map(|place| places[place].0)
}

/// Finds a person for a required vote. If needed, moves a person from another vote and finds a replacement there.
fn take<'p>(
    place: usize,
    places: &[(usize, BTreeSet<&'p str>)],
    taken: &mut BTreeMap<&'p str, usize>,
    tried: &mut BTreeSet<&'p str>,
) -> bool {
    for person in places[place].1.iter().copied() {
        if !tried.insert(person) {
            continue;
        }
        let is_free = match taken.get(person).copied() {
            None => true,
            Some(other) => take(other, places, taken, tried),
        };
        if is_free {
            taken.insert(person, place);
            return true;
        }
    }
    false
}
