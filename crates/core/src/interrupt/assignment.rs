//! Who may decide on an interrupt, and how many of them have to agree: stages, one after the other, each with its people.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::actor::Whose;
use crate::limits;
use crate::name::{form, is_name, is_same};
use crate::people::{Deciders, People, STARTER, Since};
use crate::schema::Problem;
use crate::time::Timestamp;

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
    /// Admins and operators too: nobody of those who are named decided in time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub operators: bool,
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

impl Seat {
    /// Whose seat it is where somebody votes in it.
    pub fn principal<'a>(&'a self, by: &'a str) -> &'a str {
        self.in_place_of.as_deref().unwrap_or(by)
    }
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
    /// The same of others: as many of them have to agree as before.
    pub fn handed_to(&self, approvers: Vec<String>, groups: Vec<String>) -> Self {
        let required = u32::try_from(self.needed()).unwrap_or(u32::MAX);
        Self { approvers, groups, required, operators: false, ..self.clone() }
    }

    /// These people, one of whom is enough.
    pub fn of(approvers: Vec<String>) -> Self {
        Self { approvers, ..Self::default() }
    }

    /// Whether admins and operators decide: it names nobody, or them too.
    pub fn is_open(&self) -> bool {
        self.operators || (self.approvers.is_empty() && self.groups.is_empty())
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

    /// Whether these, who agree, are enough.
    pub fn is_met(&self, agreed: &[Ballot<'_>]) -> bool {
        Self::different(agreed) >= self.required.max(1) as usize && self.missing(agreed).is_empty()
    }

    /// Number of different people among the ballots. A person counts once, as voter and as principal, however their
    /// name is written.
    pub(super) fn different(agreed: &[Ballot<'_>]) -> usize {
        if let [] | [_] = agreed {
            return agreed.len();
        }
        let by: BTreeSet<_> = agreed.iter().map(|ballot| form(ballot.by)).collect();
        let of: BTreeSet<_> = agreed.iter().map(|ballot| form(ballot.seat.principal(ballot.by))).collect();
        by.len().min(of.len())
    }

    /// Who is named and has to be among those who agree, and is not yet.
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

    /// Whether it is somebody's to decide in it, by name, in a group, or because it names nobody.
    pub fn is_for(&self, id: &str, people: &People) -> bool {
        (self.is_open() && people.decides_unassigned(id)) || self.names(id, people)
    }

    /// People who may decide in the stage. Of several whose names are the same, one.
    fn candidates<'p>(&self, people: &'p People) -> BTreeSet<&'p str> {
        let mut forms = BTreeSet::new();
        people.deciding().filter(|id| self.is_for(id, people) && forms.insert(form(id))).collect()
    }

    /// Who of the candidates could speak for each that is named and has to agree, beside those who have.
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

    /// The places that have to be taken beside those who agree, each with who could: of a stage where each that is named has
    /// to agree, one for each person, and one for each group that is of one person alone.
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

    /// How many different people have to agree at least.
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
            && !stage.operators
            && stage.roles == Represented::Any
            && self.distinct
            && self.self_approval;
        is_simple.then_some((stage.approvers.as_slice(), stage.required))
    }

    /// Whether one vote settles it, whoever of those casts it.
    pub fn takes_one(&self) -> bool {
        matches!(self.stages.as_slice(), [stage] if stage.required <= 1 && stage.roles == Represented::Any)
    }

    /// Whether a stage of it is somebody's to decide.
    pub fn is_for(&self, id: &str, people: &People) -> bool {
        self.stages.iter().any(|stage| stage.is_for(id, people))
    }

    /// Whether what somebody decided alone, elsewhere or before, holds here too: they could decide on this alone. `starter`:
    /// who started the run.
    pub fn trusts(&self, id: &str, people: &People, starter: Option<&str>) -> bool {
        self.takes_one() && self.is_for(id, people) && !people.is_barred(id) && !self.is_own(id, starter)
    }

    /// The same of what they decided at this time: who has left since has nothing left that holds, also where they, or
    /// somebody of that name, came back. Nor has whom they let in.
    pub fn still_trusts(
        &self,
        who: Whose<'_>,
        at: Timestamp,
        people: &People,
        starter: Option<Whose<'_>>,
    ) -> bool {
        let is_own = !self.self_approval && starter.is_some_and(|starter| starter.meets(who));
        let has_left = |id: &str| people.has_left(id, Since { at, seq: None });
        self.trusts(who.id, people, None) && !is_own && !has_left(who.id) && !has_left(who.hand)
    }

    /// Returns true if it is the person's own work, which they may not release. `starter`: who started the run.
    pub(super) fn is_own(&self, id: &str, starter: Option<&str>) -> bool {
        !self.self_approval && starter.is_some_and(|starter| is_same(starter, id))
    }

    /// Why another one asks for less than this; `None` where it does not.
    pub(super) fn asks_for_more_than(&self, other: &Self) -> Option<String> {
        let votes = |of: &Self| of.stages.iter().map(Stage::needed).sum::<usize>();
        // Whoever agrees in several stages is one of them where that is allowed.
        let people = |of: &Self| {
            if of.distinct { votes(of) } else { of.stages.iter().map(Stage::needed).max().unwrap_or(1) }
        };
        if other.stages.len() < self.stages.len() {
            return Some(format!("has fewer stages than its gate asks for: {}", self.stages.len()));
        }
        if votes(other) < votes(self) || people(other) < people(self) {
            return Some(format!("asks for fewer people than its gate does: {}", people(self)));
        }
        let all = |of: &Self| of.stages.iter().filter(|stage| stage.roles == Represented::All).count();
        (all(other) < all(self)).then(|| "does not ask for each that is named, as its gate does".to_owned())
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
        if self.stages.is_empty() {
            problems.push(Problem::new(format!("{at}/stages"), "holds no stage"));
        }
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
            if stage.name.as_ref().is_some_and(|name| !is_name(name, limits::NAME_BYTES)) {
                let message = "is empty, too long, or holds characters that do not show";
                problems.push(Problem::new(format!("{at}/name"), message));
            }
            if stage.required as usize > limits::ASSIGNED {
                let message = format!("is more than {}", limits::ASSIGNED);
                problems.push(Problem::new(format!("{at}/quorum/required"), message));
            }
            if stage.required == 0 {
                problems.push(Problem::new(format!("{at}/quorum/required"), "must be at least 1"));
            }
        }
        problems
    }

    /// Whether those who are known here and have not agreed yet are enough for what lacks. `barred`: whose own work it is.
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
            if short_of(&of_stage.iter().map(|place| (i, place.clone())).collect::<Vec<_>>()).is_some() {
                return false;
            }
            places.extend(of_stage.into_iter().map(|place| (i, place)));
        }
        !self.distinct || short_of(&places).is_none()
    }

    /// Why those who are there can not meet it; `None` where they can. `starter`: whoever started the run.
    pub fn lack(&self, people: &People, starter: Option<&str>) -> Option<Lack> {
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
                let who = if starter.is_some() { " beside whoever started the run" } else { "" };
                let why = format!("needs {needed}, and {there}{who} may decide");
                return Some(Lack { stage: i, why });
            }
            if stage.roles == Represented::All {
                let is_there = |name: &&String| candidates.iter().any(|id| is_same(id, name));
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
        let places = |(i, stage): (usize, &Stage)| {
            stage.places(&stages[i], &[], people).into_iter().map(move |place| (i, place)).collect::<Vec<_>>()
        };
        let places: Vec<_> = self.stages.iter().enumerate().flat_map(places).collect();
        let short = self.distinct.then(|| short_of(&places)).flatten();
        short.map(|stage| Lack {
            stage,
            why: "needs other people than the other stages, and there are too few".to_owned(),
        })
    }
}

/// Seats people so that each takes one place, by augmenting paths; the stage of the first place that stays free.
fn short_of(places: &[(usize, BTreeSet<&str>)]) -> Option<usize> {
    let mut taken: BTreeMap<&str, usize> = BTreeMap::new();
    let free = (0..places.len()).find(|place| !take(*place, places, &mut taken, &mut BTreeSet::new()));
    free.map(|place| places[place].0)
}

/// Finds somebody for a place, perhaps by moving one who has another.
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
