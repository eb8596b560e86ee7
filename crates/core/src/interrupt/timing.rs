//! Reminders and escalation of interrupts that wait for a decision.

use serde::{Deserialize, Serialize};

use super::{Assignment, Represented, Stage};
use crate::hours;
use crate::limits;
use crate::people::{People, STARTER};
use crate::schema::Problem;
use crate::time::Timestamp;

/// Settings of reminders and escalation. The settings come from the gate, or from the agent or service that opens the
/// interrupt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reminders: Option<Reminders>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub escalation: Vec<Escalation>,
    /// True if the times of reminders, escalation and expiry are computed in working hours of the approvers' groups.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub working_time: bool,
}

/// Settings of the reminders that approvers get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reminders {
    /// Delay of the first reminder in milliseconds, counted from the time when the approvers were asked.
    pub after_ms: u64,
    /// Interval between reminders, in milliseconds. If `None`, only one reminder is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_ms: Option<u64>,
    /// Maximum number of reminders. The count starts again each time that approvers are asked.
    pub limit: u32,
}

/// Escalation step: further people become approvers, or replace the approvers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Escalation {
    /// Delay of the escalation step in milliseconds. The delay begins when approvers are asked, or when the previous
    /// step is carried out.
    pub after_ms: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// True if the new approvers replace the current approvers. If false, the current approvers remain approvers, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replace: bool,
}

/// Current state of an interrupt's reminders and escalation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Due {
    pub remind_at: Option<Timestamp>,
    pub escalate_at: Option<Timestamp>,
    /// Number of reminders sent since approvers were last asked.
    pub reminded: u32,
    /// Number of escalation steps so far. Steps that found no person are included.
    pub steps: usize,
    /// Index of the stage whose approvers get the reminders and escalation steps.
    pub stage: usize,
    /// True if the approvers have changed since the times of reminders and escalation were computed. The times must
    /// then be computed again.
    pub is_outdated: bool,
}

/// Reason for a reminder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReminderReason {
    /// The reminder is sent because no decision has been made yet.
    Waiting,
    /// The reminder is sent because the time for which the person snoozed the interrupt has ended.
    Snoozed,
}

impl Timing {
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// Returns true if there are settings for reminders or escalation steps. Reminders and escalation start again when
    /// further approvers are asked.
    pub fn has_follow_ups(&self) -> bool {
        self.reminders.is_some() || !self.escalation.is_empty()
    }

    /// Returns the time at which `ms` have passed since `from`. If `working_time` is set, only the working time of the
    /// stage's approvers is counted.
    pub fn later(&self, from: Timestamp, ms: u64, stage: Option<&Stage>, people: &People) -> Timestamp {
        let groups = stage.map(|stage| stage.groups.as_slice()).unwrap_or_default();
        let hours: Vec<_> = groups.iter().filter_map(|group| people.hours(group)).collect();
        // If none of the approvers' groups has working hours, all hours count.
        if self.working_time && !hours.is_empty() { hours::after(from, ms, &hours) } else { from.plus_ms(ms) }
    }

    /// Returns the time of the first reminder for approvers who are asked now.
    pub fn first_reminder(
        &self,
        now: Timestamp,
        stage: Option<&Stage>,
        people: &People,
    ) -> Option<Timestamp> {
        self.reminders.map(|reminders| self.later(now, reminders.after_ms, stage, people))
    }

    /// Returns the time of the next reminder. `told` is the number of reminders that were already sent.
    pub fn next_reminder(
        &self,
        told: u32,
        now: Timestamp,
        stage: Option<&Stage>,
        people: &People,
    ) -> Option<Timestamp> {
        let Reminders { every_ms, limit, .. } = self.reminders?;
        let every_ms = every_ms.filter(|_| told < limit)?;
        Some(self.later(now, every_ms, stage, people))
    }

    /// Returns the time of an escalation step whose delay starts now.
    pub fn step_at(
        &self,
        step: usize,
        now: Timestamp,
        stage: Option<&Stage>,
        people: &People,
    ) -> Option<Timestamp> {
        Some(self.later(now, self.escalation.get(step)?.after_ms, stage, people))
    }

    /// Returns the problems of the reminder and escalation settings, including a problem for each person or group that
    /// is not allowed to decide on the interrupt. `expires_in_ms` is the time after which the interrupt expires. JSON
    /// pointers begin with `at`.
    pub fn check(
        &self,
        assignment: &Assignment,
        expires_in_ms: Option<u64>,
        people: &People,
        starter: Option<&str>,
        at: &str,
    ) -> Vec<Problem> {
        let mut problems = Vec::new();
        let lasts = |ms: u64| (1..=limits::TIMING_MS).contains(&ms);
        let mut say =
            |pointer: String, message: String| problems.push(Problem::new(format!("{at}{pointer}"), message));
        let length = format!("must be from 1 to {} ms", limits::TIMING_MS);
        if let Some(Reminders { after_ms, every_ms, limit }) = self.reminders {
            if !lasts(after_ms) {
                say("/reminders/after_ms".to_owned(), length.clone());
            }
            if every_ms.is_some_and(|ms| !lasts(ms)) {
                say("/reminders/every_ms".to_owned(), length.clone());
            }
            if !(1..=limits::REMINDERS).contains(&limit) {
                say("/reminders/limit".to_owned(), format!("must be from 1 to {}", limits::REMINDERS));
            }
            if expires_in_ms.is_some_and(|ms| ms <= after_ms) {
                say(
                    "/reminders/after_ms".to_owned(),
                    "the first reminder would come after the interrupt has expired".to_owned(),
                );
            }
        }
        if self.escalation.len() > limits::ESCALATION_STEPS {
            say("/escalation".to_owned(), format!("has more than {} steps", limits::ESCALATION_STEPS));
        }
        let (deciders, mut passed) = (people.deciders(), 0_u64);
        for (i, step) in self.escalation.iter().enumerate() {
            let at = format!("/escalation/{i}");
            if !lasts(step.after_ms) {
                say(format!("{at}/after_ms"), length.clone());
            }
            passed = passed.saturating_add(step.after_ms);
            if expires_in_ms.is_some_and(|ms| ms <= passed) {
                say(
                    format!("{at}/after_ms"),
                    format!("step {} of the escalation would start after the interrupt has expired", i + 1),
                );
            }
            if step.approvers.is_empty() && step.groups.is_empty() {
                say(at.clone(), format!("step {} of the escalation names no approver and no group", i + 1));
            }
            for (field, names) in [("approvers", &step.approvers), ("groups", &step.groups)] {
                if names.len() > limits::ASSIGNED {
                    say(format!("{at}/{field}"), format!("has more than {} {field}", limits::ASSIGNED));
                }
                for (i, name) in names.iter().enumerate() {
                    let unknown = match field {
                        "groups" => deciders.unknown_group(name),
                        _ => deciders.unknown_person(name),
                    };
                    if let Some(why) = unknown {
                        say(format!("{at}/{field}/{i}"), why);
                    }
                }
            }
            for of in &assignment.stages {
                if of.roles == Represented::All && !step.replace {
                    say(
                        at.clone(),
                        format!(
                            "step {} of the escalation adds approvers to a stage where each named approver \
                            must agree: set `replace: true`",
                            i + 1
                        ),
                    );
                    break;
                }
            }
        }
        let has_hours = |group: &String| people.hours(group).is_some();
        let counts = assignment.stages.iter().flat_map(|stage| &stage.groups).any(has_hours);
        if self.working_time && !counts {
            say(
                "/working_time".to_owned(),
                "working time requires an assigned group with working hours, and no assigned group has them"
                    .to_owned(),
            );
        }
        if problems.is_empty() {
            problems.extend(self.lacking(assignment, people, starter, at));
        }
        problems
    }

    /// Returns a problem if an escalation step would replace the approvers by people who are too few for the
    /// assignment.
    fn lacking(
        &self,
        assignment: &Assignment,
        people: &People,
        starter: Option<&str>,
        at: &str,
    ) -> Option<Problem> {
        let steps = self.escalation.iter().enumerate().filter(|(_, step)| step.replace);
        let mut all =
            steps.flat_map(|(i, step)| (0..assignment.stages.len()).map(move |stage| (i, step, stage)));
        all.find_map(|(i, step, stage)| {
            let next = assignment.escalated(stage, step);
            // The person who starts the run is not known when a workflow is loaded.
            if starter.is_none() && next.people_and_groups().0.contains(STARTER) {
                return None;
            }
            let lack = next.find_shortage(people, starter)?;
            let why =
                format!("step {} of the escalation cannot satisfy the assignment: it {}", i + 1, lack.why);
            Some(Problem::new(format!("{at}/escalation/{i}"), why))
        })
    }

    /// Replaces the name `starter` in the escalation steps with the person who started the run.
    #[must_use]
    pub fn started_by(mut self, starter: &str) -> Self {
        let named = self.escalation.iter_mut().flat_map(|step| &mut step.approvers);
        for approver in named.filter(|approver| *approver == STARTER) {
            starter.clone_into(approver);
        }
        self
    }
}

impl Escalation {
    /// Returns true if the escalation step names at least one person of the installation who is allowed to decide. If
    /// self-approval is not allowed, the person who started the run is ignored.
    pub fn reaches(&self, assignment: &Assignment, people: &People, starter: Option<&str>) -> bool {
        let named =
            Stage { approvers: self.approvers.clone(), groups: self.groups.clone(), ..Stage::default() };
        people.deciding().any(|id| named.names(id, people) && !assignment.is_own(id, starter))
    }
}

impl Assignment {
    /// Returns the assignment after an escalation step. The people of the step replace the approvers of one stage, or
    /// become approvers in addition.
    #[must_use]
    pub fn escalated(&self, stage: usize, step: &Escalation) -> Self {
        let mut next = self.clone();
        let Some(of) = next.stages.get_mut(stage) else { return next };
        // If every named approver must agree, no approver can be added. The approvers of the stage are then replaced.
        if step.replace || of.roles == Represented::All {
            let instead = of.handed_to(step.approvers.clone(), step.groups.clone());
            *of = Stage { roles: Represented::Any, ..instead };
        } else {
            of.operators = of.is_open();
            let more = |to: &mut Vec<String>, names: &[String]| {
                let news: Vec<String> = names.iter().filter(|name| !to.contains(name)).cloned().collect();
                to.extend(news);
            };
            more(&mut of.approvers, &step.approvers);
            more(&mut of.groups, &step.groups);
        }
        next
    }

    /// Returns the assignment after admins and operators became approvers of one stage, too.
    #[must_use]
    pub fn of_operators(&self, stage: usize) -> Self {
        let mut next = self.clone();
        if let Some(of) = next.stages.get_mut(stage).filter(|of| !of.is_open()) {
            of.operators = true;
            // The agreement of the approvers who did not agree in time is no longer required. The number of required
            // votes stays the same.
            of.required = u32::try_from(of.needed()).unwrap_or(u32::MAX);
            of.roles = Represented::Any;
        }
        next
    }
}
