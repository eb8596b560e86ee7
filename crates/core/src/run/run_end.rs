//! Exceptions to the table of effects. Some options end the run although their effect normally does not. Other options
//! do not end the run although their effect normally does. Exceptions are recorded when an interrupt is opened, so that
//! clients can warn people before a decision. The modules in `decide/` carry out the decisions.

use super::Run;
use crate::interrupt::{About, Effect, HeldWork};

impl Run {
    /// Returns the exception to the table of effects for an option with the effect `effect`. True: the option ends the
    /// run, although the table says the opposite. False: the option does not end the run, although the table says the
    /// opposite. `None`: the table is right.
    pub(super) fn unusual_end(&self, about: &About, effect: Effect) -> Option<bool> {
        let ends = self.ends_by(about, effect);
        (ends != (effect.work() == HeldWork::Ended)).then_some(ends)
    }

    /// Returns true if a decision with this effect, on an interrupt that is about to be opened, would end the run as
    /// failed or cancelled.
    fn ends_by(&self, about: &About, effect: Effect) -> bool {
        // If a phase fails, the run ends, unless a call began the phase.
        let fails = |phase: &str| !self.called.contains_key(phase);
        let leaves_no_plan = |step: &str| {
            let phase = self.phase_of_step(step);
            let has_plan = self.plans.get(&phase).is_some_and(|plan| plan.settled.is_some());
            self.must_plan(step) && !has_plan && fails(&phase)
        };
        match (about, effect) {
            (About::Phase(phase), Effect::FailRun) => fails(phase),
            (About::Plan(phase), Effect::FailRun) => {
                // After a person rejects a replacement plan, the earlier plan is carried out.
                fails(phase) && self.plans.get(phase).is_none_or(|plan| plan.settled.is_none())
            }
            (About::Plan(phase), Effect::Replan) => {
                let shown = self.plans.get(phase).map_or(0, |plan| plan.iterations);
                !self.may_replan(phase, shown + 1) && fails(phase)
            }
            (About::BeforeStep(step) | About::Failure(step), Effect::Skip)
            | (About::Limit(step) | About::Ending(step), Effect::Finish) => leaves_no_plan(step),
            (_, effect) => effect.work() == HeldWork::Ended,
        }
    }
}
