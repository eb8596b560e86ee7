//! Requests of people in the calm, the last part of a simulation. In this part, people decide, and resume runs, in such
//! a way that every run ends successfully.

use holdshort_core::actor::Actor;
use holdshort_core::interrupt::{Decision, Interrupt, Kind};
use holdshort_core::run::{Input, Run};
use holdshort_core::session;
use holdshort_engine::Clock;
use serde_json::{Value, json};

use super::copilots;
use super::people::{SimRequest, of_client, someone};
use super::site::Site;

/// Returns the next request by which a simulated person helps the run to end successfully. Returns `None` if the run
/// can go on without a person.
pub(super) fn settle(run: &Run, site: &Site) -> Option<SimRequest> {
    let send = |input, actor| SimRequest::Send { run: run.id.clone(), input: Box::new(input), actor };
    let session = run.session()?;
    match site.witness.state(session) {
        // The session was resumed, but this run was not.
        session::State::Open if run.suspended => {
            return Some(SimRequest::ResumeSession { session: session.clone() });
        }
        session::State::Open if run.paused => return Some(send(Input::Resume, someone("alice"))),
        session::State::Open => {}
        session::State::Suspended => return Some(SimRequest::ResumeSession { session: session.clone() }),
        // The session was closed, but this run was not cancelled yet.
        session::State::Closed(_) => return Some(send(Input::Cancel { text: None }, someone("alice"))),
    }
    // An interrupt that can expire is left to expire. The exception is a person's turn, because its expiry may begin
    // another round.
    let now = site.clock.now();
    let may_wait = |each: &Interrupt| match each.opened.expires_at {
        Some(at) => !copilots::is_of_a_round(each) || at <= now,
        None => false,
    };
    let open = run.open_interrupts().map(|(_, each)| each).find(|each| !may_wait(each));
    if let Some(interrupt) = open {
        let decision = yes(run, interrupt, site);
        // If one vote is not enough, the second person votes for the same option.
        let agrees = |name: &str| {
            interrupt
                .votes
                .iter()
                .any(|vote| vote.by == name && vote.option == decision.option && vote.edit == decision.edit)
        };
        let who = if !interrupt.assignment.takes_one() && agrees("alice") { "bob" } else { "alice" };
        let input = Input::Decide { interrupt: interrupt.opened.interrupt.clone(), decision, holder: None };
        return Some(send(input, someone(who)));
    }
    (run.definition.is_external() && run.open_interrupts().next().is_none())
        .then(|| send(Input::Finish { result: json!("finished") }, Actor::agent("agent", "sim")))
}

fn yes(run: &Run, interrupt: &Interrupt, site: &Site) -> Decision {
    let call = interrupt.content.pointer("/payload/call_id").and_then(Value::as_str).unwrap_or_default();
    let wanted = match interrupt.opened.kind {
        Kind::Checkpoint if interrupt.offers("continue").is_some() => "continue",
        Kind::ToolApproval | Kind::PlanApproval | Kind::Review | Kind::Checkpoint => "approve",
        Kind::Question => "answer",
        Kind::Error => "retry",
        Kind::Continuation => "finish",
        Kind::UnknownOutcome if site.witness.took_effect(&run.id, call) => "happened",
        // A call at a client is skipped and not retried, because the client may never respond.
        Kind::UnknownOutcome if run.calls.get(call).is_some_and(|call| of_client(&call.tool)) => "skip",
        Kind::UnknownOutcome => "rerun",
        Kind::Turn if copilots::is_of_a_round(interrupt) => copilots::turn(run, interrupt),
        Kind::Choice | Kind::Turn | Kind::Escalation | Kind::ClientCall => "",
    };
    let option = interrupt.offers(wanted).or_else(|| interrupt.opened.options.first());
    let option = option.map_or_else(|| wanted.to_owned(), |choice| choice.id.clone());
    Decision { option, text: Some("go on".to_owned()), ..Decision::default() }
}
