//! Draft of the events that follow from an input. Each emitted event is applied to the next state at once, so later
//! decisions in the same draft see the effect of the event.

use serde_json::{Value, json};

use super::input::{Context, Rejection};
use super::{Fact, Run, changed_files};
use crate::actor::Actor;
use crate::definition::{KindGate, Phase};
use crate::envelope::Content;
use crate::event::{self, Event};
use crate::gate::Reason;
use crate::id::{Draw, Id, InterruptId, StreamId};
use crate::interrupt::{
    About, Cause, Effect, Interrupt, Kind, Offer, Opened, Outcome, Risk, Row, offered, on_expiry,
};
use crate::json;
use crate::level::Level;
use crate::limits;
use crate::risk;
use crate::session::{self, Session};
use crate::text::clip;

/// Events that an input to a run caused, and the states of the run and of the session after these events.
#[derive(Clone, Debug)]
pub struct HandledInput {
    /// Events of the run and of its session, in the order of emission.
    pub events: Vec<Event>,
    pub run: Run,
    pub session: Session,
}

impl HandledInput {
    /// Appends the events of a second input, which was handled after the first input, and adopts the states after the
    /// second input.
    pub fn then(&mut self, next: Self) {
        self.events.extend(next.events);
        self.run = next.run;
        self.session = next.session;
    }
}

pub(super) struct Draft<'a> {
    pub(super) cx: &'a Context<'a>,
    pub(super) run: Run,
    pub(super) session: Session,
    events: Vec<Event>,
    draw: Draw,
}

/// Parameters of a new interrupt. All other properties of the interrupt come from the table of its kind and from the
/// settings of the workflow.
pub(super) struct Opening {
    pub(super) kind: Kind,
    pub(super) about: About,
    pub(super) step: Option<String>,
    /// Agent that asks with the new interrupt. `None` means the agent of the step.
    pub(super) agent: Option<String>,
    pub(super) title: String,
    pub(super) message: String,
    pub(super) payload: Value,
    /// Options of a `choice` interrupt, in addition to the options of the kind.
    pub(super) own: Vec<Offer>,
    /// Ids of the kind's options that the new interrupt offers. If the list is empty, the interrupt offers all options
    /// of the kind.
    pub(super) only: &'static [&'static str],
    /// Ids of the kind's options that the new interrupt does not offer.
    pub(super) without: Vec<&'static str>,
    pub(super) risk: Level,
    pub(super) reasons: Vec<Reason>,
    pub(super) action_digest: Option<crate::digest::Digest>,
    pub(super) supersedes: Option<InterruptId>,
    pub(super) response_schema: Option<Value>,
    /// Effect of the option `reject` of the new interrupt, unless the workflow sets a different effect.
    pub(super) reject: Option<Effect>,
    /// Effect of the option `reject` of the new interrupt. Overrides the effect that the workflow sets.
    pub(super) always_rejects: Option<Effect>,
    /// Option that takes effect when the new interrupt expires. Overrides the option that the workflow sets.
    pub(super) on_expiry: Option<&'static str>,
    /// Time until the new interrupt expires, in milliseconds. Overrides the time that the workflow sets.
    pub(super) expires_in_ms: Option<u64>,
    /// Labels of the new interrupt's options, unless the workflow sets different labels.
    pub(super) labels: &'static [(&'static str, &'static str)],
}

impl Opening {
    pub(super) fn new(kind: Kind, about: About, title: impl Into<String>) -> Self {
        Self {
            kind,
            about,
            step: None,
            agent: None,
            title: title.into(),
            message: String::new(),
            payload: Value::Null,
            own: Vec::new(),
            only: &[],
            without: Vec::new(),
            risk: Level::Low,
            reasons: Vec::new(),
            action_digest: None,
            supersedes: None,
            response_schema: None,
            reject: None,
            always_rejects: None,
            on_expiry: None,
            expires_in_ms: None,
            labels: &[],
        }
    }
}

impl<'a> Draft<'a> {
    pub(super) fn new(run: &Run, cx: &'a Context<'a>) -> Self {
        let draw = Draw::new(cx.seed, cx.now.max(run.last_at));
        Self { cx, run: run.clone(), session: cx.session.clone(), events: Vec::new(), draw }
    }

    pub(super) fn finish(self) -> HandledInput {
        HandledInput { events: self.events, run: self.run, session: self.session }
    }

    /// Returns a new id. Ids of one run sort in the order of their creation, even within a millisecond. Lists of
    /// interrupts are therefore in the order in which the interrupts were opened.
    pub(super) fn id<I: Id>(&mut self) -> I {
        // The id holds only 16 bits of the sequence number. After an overflow of the 16 bits, two ids of the same
        // millisecond may be in reverse order.
        let [.., high, low] = self.run.seq.to_be_bytes();
        self.draw.id_at(u16::from_be_bytes([high, low]))
    }

    /// Returns the timestamp of the events that the draft emits, with which deadlines are also compared. The timestamp
    /// is never earlier than the last event of the run, of its session, or of the installation.
    pub(super) fn now(&self) -> crate::time::Timestamp {
        let installation = self.cx.system.last_at().unwrap_or(self.cx.now);
        self.cx.now.max(self.run.last_at).max(self.session.last_at).max(installation)
    }

    pub(super) fn emit(&mut self, fact: Fact, content: Content) {
        self.emit_by(self.cx.actor.clone(), fact, content);
    }

    pub(super) fn emit_by(&mut self, actor: Actor, fact: Fact, mut content: Content) {
        // Data from a tool or a model may contain values that JSON cannot store. Stored events must stay readable.
        content.data = json::made_safe(content.data);
        let event = Event {
            stream: StreamId::Run(self.run.id.clone()),
            at: self.now(),
            actor,
            fact: event::Fact::Run(fact),
            content,
        };
        self.run.apply(&event);
        let noted = match &event.fact {
            event::Fact::Run(fact) => {
                let said =
                    self.run.conversation_fact(fact, &event.content).map(|said| (said, Content::none()));
                said.or_else(|| self.run.took_back(fact))
            }
            event::Fact::Session(_) | event::Fact::System(_) => None,
        };
        let by = event.actor.clone();
        self.events.push(event);
        if let Some((fact, content)) = noted {
            self.emit_session_by(&by, fact, content);
        }
        if let Some(of) = self.session.undone_by(&self.run.id).filter(|_| self.is_over()).cloned() {
            let fact = session::Fact::UndoEnded { run: of, by: self.run.id.clone() };
            self.emit_session_by(&by, fact, Content::none());
        }
    }

    pub(super) fn emit_session(&mut self, fact: session::Fact) {
        self.emit_session_with(fact, Content::none());
    }

    pub(super) fn emit_session_with(&mut self, fact: session::Fact, content: Content) {
        self.emit_session_by(&self.cx.actor.clone(), fact, content);
    }

    fn emit_session_by(&mut self, actor: &Actor, fact: session::Fact, content: Content) {
        let event = Event { content, ..self.session.event(self.now(), actor, fact) };
        self.session.apply(&event);
        self.events.push(event);
    }

    /// Opens an interrupt. The phase and the workflow set the options, labels, expiry and approvers for each kind of
    /// interrupt.
    pub(super) fn open(&mut self, mut opening: Opening) -> InterruptId {
        if opening.kind == Kind::Checkpoint
            && let Some(files) = self.run.changed_files()
        {
            opening.payload[changed_files::MEMBER] = files;
        }
        let mut gate = self.run.definition.gate(self.phase_of(&opening), opening.kind);
        if opening.about == About::Hold {
            // The options that the workflow sets are for outputs that agents submit for review. A hold has no output
            // that a person could edit.
            gate.options = Vec::new();
            gate.on_expiry = None;
        }
        if opening.about == About::Interruption {
            // The options and labels that the workflow sets are for turns after a copilot's round. A turn after an
            // interruption needs all three options.
            gate = KindGate {
                options: Vec::new(),
                labels: std::collections::BTreeMap::new(),
                on_expiry: None,
                ..gate
            };
        }
        gate.reject = opening.always_rejects.or(gate.reject).or(opening.reject);
        let of_kind = opening
            .kind
            .row()
            .options
            .iter()
            .filter(|row| opening.only.is_empty() || opening.only.contains(&row.id))
            .filter(|row| !opening.without.contains(&row.id))
            .map(|row| adapted(row, &gate, opening.labels));
        let own = opening.own.into_iter().chain(of_kind);
        let own: Vec<Offer> =
            own.map(|offer| offer.answered_by(opening.kind, opening.response_schema.as_ref())).collect();
        let offered: Vec<Offer> = offered(own, &gate.options)
            .into_iter()
            .map(|offer| Offer { ends_run: self.run.unusual_end(&opening.about, offer.effect), ..offer })
            .collect();
        let on_expiry = on_expiry(opening.kind, opening.on_expiry.or(gate.on_expiry.as_deref()), &offered);
        let timeout = self.run.definition.asking.timeout_ms.filter(|_| opening.kind == Kind::Question);
        let expires_in_ms = opening.expires_in_ms.or(gate.expires_in_ms).or(timeout);
        let assignment = gate.assigned().started_by(self.run.starter().unwrap_or_default());
        // Approvers of the gate may have left after the run started.
        let assignment = self.if_emptied(&assignment).unwrap_or(assignment);
        let timing = gate.timing().started_by(self.run.starter().unwrap_or_default());
        let (now, people, stage) = (self.now(), &self.cx.system.people, assignment.stages.first());
        let opened = Opened {
            interrupt: self.id(),
            kind: opening.kind,
            about: opening.about,
            agent: opening.agent.or_else(|| {
                opening.step.as_ref().and_then(|id| self.run.steps.get(id)).map(|step| step.agent.clone())
            }),
            step: opening.step,
            options: offered,
            risk: Risk { level: opening.risk, reasons: opening.reasons },
            action_digest: opening.action_digest,
            policy_version: self.cx.system.policy_version,
            expires_at: expires_in_ms.map(|ms| timing.later(now, ms, stage, people)),
            on_expiry,
            remind_at: timing.first_reminder(now, stage, people),
            escalate_at: timing.step_at(0, now, stage, people),
            timing,
            assignment,
            supersedes: opening.supersedes,
            usable_ms: None,
            withhold: self.run.definition.gates.withhold.clone(),
            callback: false,
        };
        let mut content = json!({
            "title": clip(&opening.title, limits::TITLE_BYTES),
            "message": opening.message,
            "payload": opening.payload,
        });
        if let Some(schema) = opening.response_schema {
            content["response_schema"] = schema;
        }
        self.opened(opened, content)
    }

    /// Returns the phase for which a new interrupt is opened: the phase that the interrupt is about, or else the phase
    /// of the interrupt's step.
    fn phase_of(&self, opening: &Opening) -> Option<&Phase> {
        let step = || Some(self.run.steps.get(opening.step.as_ref()?)?.phase.as_str());
        let phase = opening.about.phase().or_else(step);
        self.run.phase(phase?)
    }

    pub(super) fn opened(&mut self, mut opened: Opened, content: Value) -> InterruptId {
        let said = risk::of_interrupt(&opened, &content);
        opened.risk = risk::raised(opened.risk, &said);
        let id = opened.interrupt.clone();
        self.emit(Fact::InterruptOpened(Box::new(opened)), Content::data(content));
        id
    }

    pub(super) fn resolve(
        &mut self,
        interrupt: &InterruptId,
        outcome: Outcome,
        offer: Option<&Offer>,
        cause: Cause,
    ) {
        self.resolve_by(interrupt, outcome, offer, cause, None);
    }

    /// Resolves an interrupt. `decision` is the sequence number of the event with the decisive vote.
    pub(super) fn resolve_by(
        &mut self,
        interrupt: &InterruptId,
        outcome: Outcome,
        offer: Option<&Offer>,
        cause: Cause,
        decision: Option<u64>,
    ) {
        // The sender of the input did not make the decision, so the event names the engine as its actor.
        let by = if matches!(cause, Cause::Unasked | Cause::Reused(_)) {
            Actor::engine()
        } else {
            self.cx.actor.clone()
        };
        self.emit_by(
            by,
            Fact::InterruptResolved {
                interrupt: interrupt.clone(),
                outcome,
                option: offer.map(|offer| offer.id.clone()),
                effect: offer.map(|offer| offer.effect),
                cause,
                decision,
            },
            Content::none(),
        );
    }

    pub(super) fn interrupt(&self, id: &InterruptId) -> Result<Interrupt, Rejection> {
        self.run.interrupts.get(id).map(|each| (**each).clone()).ok_or(Rejection::UnknownInterrupt)
    }

    pub(super) fn written(&self) -> usize {
        self.events.len()
    }

    pub(super) fn is_over(&self) -> bool {
        self.run.ended.is_some()
    }
}

/// Returns an option of the option table with the label that the workflow sets. `reject` and `respond` also get the
/// effect that the workflow sets, if the table allows that effect for the option. A workflow therefore cannot turn a
/// refusal into an approval.
fn adapted(row: &Row, gate: &KindGate, usual: &[(&str, &str)]) -> Offer {
    let mut offer = Offer::from_row(row);
    if let Some((_, label)) = usual.iter().find(|(id, _)| *id == row.id) {
        (*label).clone_into(&mut offer.label);
    }
    if let Some(label) = gate.labels.get(row.id) {
        offer.label.clone_from(label);
    }
    let chosen = match row.id {
        "reject" => gate.reject,
        "respond" => gate.respond,
        _ => None,
    };
    if let Some(effect) = chosen.filter(|effect| row.effects.contains(effect)) {
        offer.effect = effect;
    }
    offer
}
