//! The judge's own model of people and of an interrupt. The model counts votes with code of its own, and uses no
//! function of the core.

use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::actor::Role;
use holdshort_core::interrupt::{Assignment, Delegation, Represented, Stage, Timing};
use holdshort_core::time::Timestamp;

/// State of the people as the judge (the checker of a simulation) keeps it, to check decisions of the core.
#[derive(Clone, Debug)]
pub(super) struct PeopleModel {
    pub(super) people: BTreeMap<String, (BTreeSet<Role>, BTreeSet<String>)>,
    pub(super) away: BTreeMap<String, (Option<Timestamp>, Option<String>)>,
    pub(super) frozen: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Ballot {
    pub(super) by: String,
    pub(super) of: String,
    pub(super) stage: usize,
    pub(super) option: String,
    pub(super) groups: Vec<String>,
    /// Position, in the whole simulated journal, of the event that contains the vote.
    pub(super) n: u64,
}

/// State of an interrupt as the judge (the checker of a simulation) keeps it, to check decisions of the core.
#[derive(Clone, Debug)]
pub(super) struct InterruptModel {
    /// For each stage of the interrupt, the number of people who must agree. The number is determined when the
    /// interrupt opens. If too few approvers are left and the interrupt is reassigned, it is determined again.
    pub(super) needs: Vec<usize>,
    pub(super) assignment: Assignment,
    pub(super) timing: Timing,
    pub(super) expires_at: Option<Timestamp>,
    pub(super) remind_at: Option<Timestamp>,
    pub(super) escalate_at: Option<Timestamp>,
    pub(super) told: u32,
    pub(super) steps: usize,
    pub(super) ballots: Vec<Ballot>,
    pub(super) delegations: Vec<Delegation>,
    pub(super) snoozed: BTreeMap<String, Timestamp>,
    pub(super) is_over: bool,
    /// Votes that the append being checked must withdraw. The first element is the stage of the votes, or `None` for
    /// all stages. The second element is the position of an event in the simulated journal: only votes before this
    /// event are withdrawn.
    pub(super) void: Option<(Option<usize>, u64)>,
}

/// By default, the only person is the local operator, who exists in every installation.
impl Default for PeopleModel {
    fn default() -> Self {
        let roles = BTreeSet::from([Role::Admin, Role::Operator]);
        let people = BTreeMap::from([("operator".to_owned(), (roles, BTreeSet::new()))]);
        Self { people, away: BTreeMap::new(), frozen: false }
    }
}

pub(super) const STARTER: &str = "olga";

impl PeopleModel {
    pub(super) fn decides(&self, who: &str) -> bool {
        self.people.get(who).is_some_and(|(roles, _)| {
            roles.iter().any(|role| matches!(role, Role::Admin | Role::Operator | Role::Reviewer))
        })
    }

    fn runs_things(&self, who: &str) -> bool {
        let operates =
            |roles: &BTreeSet<Role>| roles.contains(&Role::Admin) || roles.contains(&Role::Operator);
        self.people.get(who).is_some_and(|(roles, _)| operates(roles))
    }

    fn is_admin(&self, who: &str) -> bool {
        self.people.get(who).is_some_and(|(roles, _)| roles.contains(&Role::Admin))
    }

    fn is_in(&self, who: &str, group: &str) -> bool {
        self.people.get(who).is_some_and(|(_, groups)| groups.contains(group))
    }

    /// Returns true if this person may vote in the stage: because the stage names the person or one of their groups, or
    /// because it is open to operators and the person is one.
    pub(super) fn is_asked(&self, stage: &Stage, who: &str) -> bool {
        let nobody = stage.approvers.is_empty() && stage.groups.is_empty();
        let named = stage.approvers.iter().any(|name| name == who)
            || stage.groups.iter().any(|group| self.is_in(who, group));
        self.decides(who) && (named || ((nobody || stage.operators) && self.runs_things(who)))
    }

    pub(super) fn names(&self, approvers: &[String], groups: &[String]) -> bool {
        self.people.keys().any(|who| {
            let named = approvers.contains(who) || groups.iter().any(|group| self.is_in(who, group));
            named && self.decides(who)
        })
    }

    fn delegate(&self, who: &str, now: Timestamp) -> Option<&String> {
        let (until, delegate) = self.away.get(who)?;
        if until.is_none_or(|until| until > now) { delegate.as_ref() } else { None }
    }

    /// Returns true if `by` may decide the interrupt on behalf of `of`, directly as a delegate or through several
    /// delegations.
    pub(super) fn stands_in(&self, matter: &InterruptModel, by: &str, of: &str, now: Timestamp) -> bool {
        let (mut reached, mut news) = (BTreeSet::from([of.to_owned()]), vec![of.to_owned()]);
        while let Some(from) = news.pop() {
            let own = self.delegate(&from, now).into_iter().cloned();
            let given = matter.delegations.iter().filter(|each| each.from == from);
            let given = given.filter(|each| each.until.is_none_or(|until| until > now));
            for to in own.chain(given.map(|each| each.to.clone())).collect::<Vec<_>>() {
                if reached.insert(to.clone()) {
                    news.push(to);
                }
            }
        }
        by != of && reached.contains(by) && self.decides(of)
    }

    /// Returns true if `by` may cast a vote in a stage of the interrupt on behalf of `of`. If `by` and `of` are equal,
    /// returns true if this person may vote for themselves.
    pub(super) fn may_sit(
        &self,
        matter: &InterruptModel,
        stage: usize,
        by: &str,
        of: &str,
        now: Timestamp,
    ) -> bool {
        let Some(stage) = matter.assignment.stages.get(stage) else { return false };
        let sits =
            if by == of { self.is_admin(by) || self.is_asked(stage, by) } else { self.is_asked(stage, of) };
        self.decides(by) && sits && (by == of || self.stands_in(matter, by, of, now))
    }
}

/// Returns the minimum number of different people who must agree in a stage.
pub(super) fn need(stage: &Stage) -> usize {
    let required = stage.required.max(1) as usize;
    let named = stage.approvers.len().max(usize::from(!stage.groups.is_empty()));
    if stage.roles == Represented::All { required.max(named) } else { required }
}

impl InterruptModel {
    /// Returns the reason why the votes for an option are not enough to resolve the interrupt. Returns `None` if they
    /// are enough.
    pub(super) fn lacks(&self, town: &PeopleModel, option: &str) -> Option<String> {
        let agreed: Vec<&Ballot> = self.ballots.iter().filter(|ballot| ballot.option == option).collect();
        for (i, stage) in self.assignment.stages.iter().enumerate() {
            let here: Vec<&&Ballot> = agreed.iter().filter(|ballot| ballot.stage == i).collect();
            let by: BTreeSet<&String> = here.iter().map(|ballot| &ballot.by).collect();
            let of: BTreeSet<&String> = here.iter().map(|ballot| &ballot.of).collect();
            let (found, needed) = (by.len().min(of.len()), self.needs[i]);
            // If every approver and every group must agree, the vote of one person may represent several groups.
            let least = if stage.roles == Represented::All { stage.required.max(1) as usize } else { needed };
            if found < least {
                return Some(format!("{found} of {least} agreed in stage {i}"));
            }
            for ballot in &here {
                let left = !town.decides(&ballot.by) || !town.decides(&ballot.of);
                if left || (!town.is_asked(stage, &ballot.of) && !town.is_admin(&ballot.of)) {
                    return Some(format!(
                        "an invalid vote of {} on behalf of {} was counted in stage {i}",
                        ballot.by, ballot.of
                    ));
                }
                if !self.assignment.self_approval && (ballot.by == STARTER || ballot.of == STARTER) {
                    return Some("the person who started the run resolved the interrupt".to_owned());
                }
            }
            if stage.roles == Represented::All {
                let speaks = |name: &String| of.contains(name);
                let of_group = |group: &String| {
                    here.iter().any(|ballot| ballot.groups.contains(group) && town.is_in(&ballot.of, group))
                };
                if !stage.approvers.iter().all(speaks) || !stage.groups.iter().all(of_group) {
                    return Some(format!("an approver is missing in stage {i}"));
                }
            }
        }
        if self.assignment.distinct {
            for (i, one) in agreed.iter().enumerate() {
                let same = |two: &&&Ballot| {
                    two.stage != one.stage
                        && [&two.by, &two.of].iter().any(|who| [&one.by, &one.of].contains(who))
                };
                if agreed[i + 1..].iter().any(|two| same(&two)) {
                    return Some(format!("votes of {} were counted in two stages", one.by));
                }
            }
        }
        None
    }

    /// Returns the index of the first stage of the interrupt that the votes for this option do not complete.
    pub(super) fn stage(&self, option: &str) -> usize {
        let stages = self.assignment.stages.iter().enumerate();
        let met = |(i, stage): &(usize, &Stage)| {
            let here = || self.ballots.iter().filter(|ballot| ballot.option == option && ballot.stage == *i);
            let by: BTreeSet<&String> = here().map(|ballot| &ballot.by).collect();
            let of: BTreeSet<&String> = here().map(|ballot| &ballot.of).collect();
            let all = stage.roles == Represented::Any
                || (stage.approvers.iter().all(|name| of.contains(name))
                    && stage.groups.iter().all(|group| here().any(|ballot| ballot.groups.contains(group))));
            by.len().min(of.len()) >= stage.required.max(1) as usize && all
        };
        let last = self.assignment.stages.len() - 1;
        stages.take_while(met).count().min(last)
    }

    /// Returns the index of the interrupt's current stage. This is the first stage that is incomplete if only votes for
    /// the option of the newest vote are counted.
    pub(super) fn now_at(&self) -> usize {
        self.ballots.iter().max_by_key(|ballot| ballot.n).map_or(0, |newest| self.stage(&newest.option))
    }
}
