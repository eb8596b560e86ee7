//! Builds the spans of a trace from the events of a run.
//!
//! Spans contain only recorded facts. Spans contain no text that a model or an external agent wrote. A span contains
//! digests instead of ids. A span contains the name of a tool only if the runtime has a tool with that name. The id of
//! a span is derived from the run and from the sequence number of the event that starts the span. Therefore a span has
//! the same id if it is exported again.

use std::collections::BTreeMap;

use holdshort_core::digest::Digest;
use holdshort_core::event::{self, Event};
use holdshort_core::id::{InterruptId, RunId};
use holdshort_core::interrupt::{About, Opened};
use holdshort_core::run::Fact;
use holdshort_core::time::Timestamp;
use holdshort_core::trace_parent::TraceParent;
use holdshort_core::variant_name::variant_name;
use serde::Serialize;

use super::limits::{TRACE_NAME_CHARS, TRACE_SPANS};

pub(crate) type TraceId = [u8; 16];
pub(crate) type SpanId = [u8; 8];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub id: SpanId,
    pub parent: Option<SpanId>,
    pub name: String,
    /// True if the span is a call to another service.
    pub is_client: bool,
    pub start: Timestamp,
    pub end: Timestamp,
    pub attributes: Vec<(&'static str, Value)>,
    pub failed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    Number(i64),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.chars().take(TRACE_NAME_CHARS).collect())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

/// The trace of a run that has ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Trace {
    pub id: TraceId,
    pub spans: Vec<Span>,
}

/// Key of a span that is still open: the id with which events of the run refer to the span.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Phase(String),
    Step(String),
    /// Pending model request of the step with this id.
    Model(String),
    Call(String),
    Interrupt(InterruptId),
}

#[derive(Debug)]
pub(crate) struct Builder {
    run: RunId,
    spans: Vec<Span>,
    open: BTreeMap<Key, usize>,
    /// Running calls, each with its start time.
    at_work: BTreeMap<String, Timestamp>,
    /// Names of tools as a model wrote them, by the id of the call. An entry is removed when the runtime has found the
    /// tool.
    unnamed: BTreeMap<String, String>,
    /// Calls that started a phase, by the id of this phase.
    called: BTreeMap<String, String>,
    /// Number of spans of the trace that were omitted because of the limit.
    left_out: u64,
    taken_over: u64,
    has_ended: bool,
    /// Trace context that the caller sent when it started the run.
    joined: Option<TraceParent>,
}

impl Builder {
    pub(crate) fn new(run: &RunId) -> Self {
        Self {
            run: run.clone(),
            spans: Vec::new(),
            open: BTreeMap::new(),
            at_work: BTreeMap::new(),
            unnamed: BTreeMap::new(),
            called: BTreeMap::new(),
            left_out: 0,
            taken_over: 0,
            has_ended: false,
            joined: None,
        }
    }

    /// Applies the next event of the run. `seq` is its sequence number in the run. Events after the end of the run
    /// change nothing.
    pub(crate) fn apply(&mut self, seq: u64, event: &Event) {
        let event::Fact::Run(fact) = &event.fact else { return };
        if self.has_ended {
            return;
        }
        let at = event.at;
        match fact {
            Fact::RunStarted { session, workflow, trace, .. } => {
                self.joined = *trace;
                let name = format!("run {workflow}");
                let of_run = [
                    ("holdshort.run.id", self.run.as_str().into()),
                    ("holdshort.workflow", (&**workflow).into()),
                    ("gen_ai.conversation.id", session.as_str().into()),
                ];
                self.begin(seq, at, None, &name, None, of_run.into());
            }
            Fact::RunCompleted { reason } => self.finish(at, "completed", reason),
            Fact::RunFailed { reason } => self.finish(at, "failed", reason),
            Fact::RunCancelled { reason } => self.finish(at, "cancelled", reason),
            Fact::Adopted { .. } => self.taken_over += 1,

            Fact::PhaseStarted { phase } => {
                let call = self.called.remove(phase);
                // A model chose the id of the call, and the phase is named after that id. Therefore the span has a
                // general name.
                let name =
                    if call.is_some() { "phase of a call".to_owned() } else { format!("phase {phase}") };
                let parent = call.map(Key::Call);
                self.begin(seq, at, Some(Key::Phase(phase.clone())), &name, parent, Vec::new());
            }
            Fact::PhaseEnded { phase, end } => {
                self.end(&Key::Phase(phase.clone()), at, &[("holdshort.end", end_of(end))]);
            }
            Fact::StepStarted { step, phase, agent, role, .. } => {
                let of_step = vec![
                    ("gen_ai.operation.name", "invoke_agent".into()),
                    ("gen_ai.agent.name", (&**agent).into()),
                    ("holdshort.step.role", end_of(role)),
                ];
                let (key, parent) = (Key::Step(step.clone()), Key::Phase(phase.clone()));
                self.begin(seq, at, Some(key), &format!("invoke_agent {agent}"), Some(parent), of_step);
            }
            Fact::StepEnded { step, end } => {
                let span = self.end(&Key::Step(step.clone()), at, &[("holdshort.end", end_of(end))]);
                mark(span, variant_name(end) == "failed");
            }
            Fact::StepWithdrawn { step } => {
                self.end(&Key::Step(step.clone()), at, &[("holdshort.end", "withdrawn".into())]);
            }

            Fact::ModelStarted { step, turn, attempt, .. } => {
                let of_call = vec![
                    ("gen_ai.operation.name", "chat".into()),
                    ("holdshort.turn", u64::from(*turn).into()),
                    ("holdshort.attempt", u64::from(*attempt).into()),
                ];
                let (key, parent) = (Key::Model(step.clone()), Key::Step(step.clone()));
                if let Some(span) = self.begin(seq, at, Some(key), "chat", Some(parent), of_call) {
                    span.is_client = true;
                }
            }
            Fact::ModelReplied { step, model, usage, calls, stop, .. } => {
                let reply = [
                    ("gen_ai.request.model", (&**model).into()),
                    ("gen_ai.usage.input_tokens", usage.input_tokens.into()),
                    ("gen_ai.usage.output_tokens", usage.output_tokens.into()),
                    ("holdshort.stop", end_of(stop)),
                ];
                if let Some(span) = self.end(&Key::Model(step.clone()), at, &reply) {
                    span.name = format!("chat {model}");
                }
                for listed in calls {
                    self.call(seq, at, step, &listed.call, &listed.tool);
                }
            }
            Fact::ModelFailed { step, kind, .. } => {
                mark(self.end(&Key::Model(step.clone()), at, &[("error.type", end_of(kind))]), true);
            }
            Fact::ModelLost { step, .. } => {
                mark(self.end(&Key::Model(step.clone()), at, &[("error.type", "lost".into())]), true);
            }
            Fact::ModelStopped { step, .. } => {
                self.end(&Key::Model(step.clone()), at, &[("holdshort.stop", "stopped".into())]);
            }

            Fact::CallMade { step, call, tool } => {
                self.call(seq, at, step, call, tool);
                self.name(call);
            }
            Fact::ToolInspected { call, .. }
            | Fact::ResultHeld { call, .. }
            | Fact::ToolAuthorised { call, .. }
            | Fact::TrialStarted { call, .. }
            | Fact::HandedOver { call, .. }
            | Fact::PlanProposed { call, .. } => self.name(call),
            Fact::PhaseCalled { call, phase, .. } => {
                self.name(call);
                self.called.insert(phase.id.clone(), call.clone());
            }
            Fact::ToolStarted { call, .. } => {
                self.name(call);
                self.at_work.insert(call.clone(), at);
            }
            Fact::ToolFinished { call, end, .. } => {
                let ran = self.at_work.remove(call).map(|since| between(since, at));
                let mut ended = vec![("holdshort.end", end_of(end))];
                ended.extend(ran.map(|ran| ("holdshort.ran_ms", ran.into())));
                let failed = matches!(variant_name(end).as_str(), "failed" | "unknown");
                if failed {
                    ended.push(("error.type", end_of(end)));
                }
                mark(self.end(&Key::Call(call.clone()), at, &ended), failed);
            }
            Fact::ToolReturned { call, .. } | Fact::ToolLost { call } | Fact::ToolDoubted { call } => {
                self.at_work.remove(call);
            }

            Fact::InterruptOpened(opened) => self.interrupt(seq, at, opened),
            Fact::InterruptResolved { interrupt, outcome, cause, .. } => {
                let key = Key::Interrupt(interrupt.clone());
                let waited = self.open.get(&key).and_then(|n| self.spans.get(*n));
                let waited = waited.map_or(0, |span| between(span.start, at));
                let resolved = [
                    ("holdshort.waited_ms", waited.into()),
                    ("holdshort.interrupt.outcome", end_of(outcome)),
                    ("holdshort.interrupt.cause", end_of(cause)),
                ];
                self.end(&key, at, &resolved);
            }
            // These events are neither a span nor an attribute of a span.
            Fact::RunPaused
            | Fact::RunResumed
            | Fact::RunInterrupted
            | Fact::RunSuspended
            | Fact::InterruptViewed { .. }
            | Fact::RunUnsuspended
            | Fact::StepClosed { .. }
            | Fact::StepRedone { .. }
            | Fact::StepRetried { .. }
            | Fact::StepInputReplaced { .. }
            | Fact::LimitReached { .. }
            | Fact::LimitLifted { .. }
            | Fact::EndRefused { .. }
            | Fact::WindowNarrowed { .. }
            | Fact::HistorySummarised { .. }
            | Fact::HistoryElided { .. }
            | Fact::ReplyResumed { .. }
            | Fact::TrialLost { .. }
            | Fact::ToolTried { .. }
            | Fact::ChangesProposed { .. }
            | Fact::ChangesKept { .. }
            | Fact::TrialImpossible { .. }
            | Fact::CallJudged { .. }
            | Fact::JudgementUnusable { .. }
            | Fact::ToolDeferred { .. }
            | Fact::ToolStopped { .. }
            | Fact::PlanDrafted { .. }
            | Fact::PlanUnusable { .. }
            | Fact::PlanSettled { .. }
            | Fact::PlanDropped { .. }
            | Fact::TaskRouted { .. }
            | Fact::TaskExtended { .. }
            | Fact::RoundWanted { .. }
            | Fact::RoundsOver { .. }
            | Fact::StepJudged { .. }
            | Fact::OutputReleased { .. }
            | Fact::DecisionMade { .. }
            | Fact::VoteWithdrawn { .. }
            | Fact::InterruptReassigned { .. }
            | Fact::InterruptDelegated { .. }
            | Fact::ApprovalUsed { .. }
            | Fact::ExecReported { .. }
            | Fact::InterruptClaimed { .. }
            | Fact::InterruptTimed { .. }
            | Fact::InterruptReminded { .. }
            | Fact::InterruptEscalated { .. }
            | Fact::InterruptSnoozed { .. }
            | Fact::InterruptReleased { .. }
            | Fact::CommentAdded { .. }
            | Fact::AnswerCorrected { .. }
            | Fact::AnswerErased { .. }
            | Fact::ContentErased { .. }
            | Fact::LegalHoldPlaced
            | Fact::LegalHoldLifted
            | Fact::MessageAdded
            | Fact::ChangesUndone { .. }
            | Fact::NoteAdded { .. } => {}
        }
    }

    /// Returns the trace of the run. Returns `None` if the run has not ended.
    pub(crate) fn trace(mut self) -> Option<Trace> {
        if !self.has_ended {
            return None;
        }
        let root = self.spans.first_mut()?;
        if self.left_out > 0 {
            root.attributes.push(("holdshort.spans_left_out", self.left_out.into()));
        }
        if self.taken_over > 0 {
            root.attributes.push(("holdshort.taken_over", self.taken_over.into()));
        }
        let id = self.joined.map_or_else(|| trace_id(&self.run), |joined| joined.trace.to_be_bytes());
        Some(Trace { id, spans: self.spans })
    }

    fn call(&mut self, seq: u64, at: Timestamp, step: &str, call: &str, tool: &str) {
        let of_call = vec![("gen_ai.operation.name", "execute_tool".into())];
        let (key, parent) = (Key::Call(call.to_owned()), Key::Step(step.to_owned()));
        self.begin(seq, at, Some(key), "execute_tool", Some(parent), of_call);
        self.unnamed.insert(call.to_owned(), tool.to_owned());
    }

    /// Adds the tool's name to the span of a call. Called when the runtime has found the tool. Before that, the name is
    /// only a text that a model wrote.
    fn name(&mut self, call: &str) {
        let Some(tool) = self.unnamed.remove(call) else { return };
        let span = self.open.get(&Key::Call(call.to_owned())).and_then(|n| self.spans.get_mut(*n));
        if let Some(span) = span {
            span.attributes.push(("gen_ai.tool.name", (&*tool).into()));
            span.name = short(&format!("execute_tool {tool}"));
        }
    }

    fn interrupt(&mut self, seq: u64, at: Timestamp, opened: &Opened) {
        let parent = match &opened.about {
            About::Call(call) => {
                self.name(call);
                Some(Key::Call(call.clone()))
            }
            About::BeforeStep(step)
            | About::AfterStep(step)
            | About::Failure(step)
            | About::Limit(step)
            | About::Printed(step)
            | About::Ending(step) => Some(Key::Step(step.clone())),
            About::Phase(phase) | About::Plan(phase) | About::Round(phase) => Some(Key::Phase(phase.clone())),
            About::Interruption | About::Hold | About::External => None,
        };
        let kind = opened.kind.as_str();
        let of_interrupt = vec![
            ("holdshort.interrupt.id", opened.interrupt.as_str().into()),
            ("holdshort.interrupt.kind", kind.into()),
        ];
        let key = Key::Interrupt(opened.interrupt.clone());
        self.begin(seq, at, Some(key), &format!("interrupt {kind}"), parent, of_interrupt);
    }

    /// Starts a span as a child of the span of `parent`. If that span is not open, the new span is a child of the span
    /// of the whole run.
    fn begin(
        &mut self,
        seq: u64,
        at: Timestamp,
        key: Option<Key>,
        name: &str,
        parent: Option<Key>,
        attributes: Vec<(&'static str, Value)>,
    ) -> Option<&mut Span> {
        if self.spans.len() >= TRACE_SPANS {
            self.left_out += 1;
            return None;
        }
        let above = parent.and_then(|parent| self.open.get(&parent)).and_then(|n| self.spans.get(*n));
        let callers = || self.joined.map(|joined| joined.span.to_be_bytes());
        let parent = above.or(self.spans.first()).map(|span| span.id).or_else(callers);
        // One event may start several spans, for example the calls of one reply. Therefore the index of the span is
        // part of its id.
        let n = self.spans.len();
        let span = Span {
            id: span_id(&self.run, seq, n),
            parent,
            name: short(name),
            is_client: false,
            start: at,
            end: at,
            attributes,
            failed: false,
        };
        self.spans.push(span);
        if let Some(key) = key {
            self.open.insert(key, n);
        }
        self.spans.last_mut()
    }

    fn end(&mut self, key: &Key, at: Timestamp, attributes: &[(&'static str, Value)]) -> Option<&mut Span> {
        let span = self.spans.get_mut(self.open.remove(key)?)?;
        span.end = at;
        span.attributes.extend_from_slice(attributes);
        Some(span)
    }

    fn finish(&mut self, at: Timestamp, status: &str, reason: &str) {
        self.has_ended = true;
        for n in std::mem::take(&mut self.open).into_values() {
            if let Some(span) = self.spans.get_mut(n) {
                span.end = at;
                // `status` is the status of the run, not the status of the span.
                span.attributes.push(("holdshort.cut_off", status.into()));
            }
        }
        if let Some(root) = self.spans.first_mut() {
            root.end = at;
            root.attributes.push(("holdshort.status", status.into()));
            root.attributes.push(("holdshort.end_reason", reason.into()));
            if status == "failed" {
                root.failed = true;
                root.attributes.push(("error.type", reason.into()));
            }
        }
    }
}

fn mark(span: Option<&mut Span>, failed: bool) {
    if let Some(span) = span {
        span.failed |= failed;
    }
}

fn end_of<T: Serialize>(of: &T) -> Value {
    Value::from(&*variant_name(of))
}

fn short(name: &str) -> String {
    name.chars().take(TRACE_NAME_CHARS).collect()
}

fn between(from: Timestamp, to: Timestamp) -> i64 {
    to.as_millis().saturating_sub(from.as_millis())
}

pub(crate) fn trace_id(run: &RunId) -> TraceId {
    first(&Digest::of_parts(&[b"holdshort trace ", run.as_str().as_bytes()]))
}

fn span_id(run: &RunId, seq: u64, n: usize) -> SpanId {
    first(&Digest::of_parts(&[b"holdshort span ", format!("{run} {seq} {n}").as_bytes()]))
}

/// Returns the first bytes of a digest, for use as an id. Only an id of all zeros is invalid, and it is practically
/// impossible that a digest begins with so many zeros.
fn first<const N: usize>(digest: &Digest) -> [u8; N] {
    std::array::from_fn(|n| digest.as_bytes()[n])
}

#[cfg(test)]
mod tests {
    use holdshort_core::actor::Actor;
    use holdshort_core::envelope::Content;
    use holdshort_core::id::StreamId;
    use holdshort_core::message::{FailureKind, Stop, Usage};
    use holdshort_core::run::CallEnd;
    use serde_json::json;

    use super::*;

    fn run() -> RunId {
        format!("run_{:026}", 1).parse().unwrap()
    }

    /// Builds a trace in which the facts are one second apart.
    fn built(facts: Vec<Fact>) -> Builder {
        let mut builder = Builder::new(&run());
        for (seq, fact) in (1_u64..).zip(facts) {
            let event = Event {
                stream: StreamId::Run(run()),
                at: Timestamp::from_millis(seq.cast_signed() * 1_000),
                actor: Actor::engine(),
                fact: event::Fact::Run(fact),
                content: Content::none(),
            };
            builder.apply(seq, &event);
        }
        builder
    }

    fn started() -> Fact {
        let facts = json!({
            "session": format!("ses_{:026}", 1), "workflow": "solo", "definition": Digest::ZERO, "config": {},
            "origin": "native",
        });
        serde_json::from_value(json!({ "type": "run_started", "facts": facts })).unwrap()
    }

    fn model_started(turn: u32) -> Fact {
        Fact::ModelStarted { step: "s".to_owned(), turn, attempt: 1, epoch: 1, shortened: false }
    }

    fn listed(call: &str, tool: &str) -> Fact {
        let calls = json!([{ "call": call, "tool": tool, "digest": Digest::ZERO }]);
        Fact::ModelReplied {
            step: "s".to_owned(),
            turn: 1,
            model: "m".to_owned(),
            usage: Usage { input_tokens: 3, output_tokens: 2 },
            calls: serde_json::from_value(calls).unwrap(),
            stop: Stop::Whole,
        }
    }

    fn completed() -> Fact {
        Fact::RunCompleted { reason: "done".to_owned() }
    }

    #[test]
    fn a_run_that_lives_is_no_trace() {
        assert_eq!(built(vec![started(), model_started(1)]).trace(), None);
        assert_eq!(built(vec![]).trace(), None);
    }

    #[test]
    fn it_is_the_same_whenever_it_is_told_and_what_comes_after_the_end_changes_nothing() {
        let facts = || vec![started(), model_started(1), listed("c", "read_file"), completed()];
        let late = [facts(), vec![model_started(2), completed()]].concat();
        let trace = built(facts()).trace().unwrap();
        assert_eq!(built(late).trace().unwrap(), trace);
        let names: Vec<&str> = trace.spans.iter().map(|span| &*span.name).collect();
        assert_eq!(names, ["run solo", "chat m", "execute_tool"], "no event names the tool");
        let cut = &trace.spans[2];
        assert_eq!((cut.end.as_millis(), cut.attributes.last().unwrap().0), (4_000, "holdshort.cut_off"));
    }

    #[test]
    fn what_failed_says_so() {
        let failed =
            |kind| Fact::ModelFailed { step: "s".to_owned(), turn: 1, attempt: 1, kind, retry_at: None };
        let finished = Fact::ToolFinished { call: "c".to_owned(), end: CallEnd::Unknown, code: None };
        let facts = vec![
            started(),
            model_started(1),
            failed(FailureKind::RateLimited),
            model_started(1),
            listed("c", "t"),
            finished,
            Fact::RunFailed { reason: "model_failed".to_owned() },
        ];
        let trace = built(facts).trace().unwrap();
        let types: Vec<_> = trace
            .spans
            .iter()
            .map(|span| (span.failed, span.attributes.iter().rfind(|(key, _)| *key == "error.type")))
            .map(|(failed, kind)| (failed, kind.map(|(_, value)| value.clone())))
            .collect();
        let text = |text: &str| Some(Value::from(text));
        assert_eq!(
            types,
            [
                (true, text("model_failed")),
                (true, text("rate_limited")),
                (false, None),
                (true, text("unknown")),
            ]
        );
    }

    #[test]
    fn a_run_that_is_too_long_says_how_much_is_left_out() {
        let asks = (0..u32::try_from(TRACE_SPANS).unwrap() + 9).map(model_started);
        let facts = [started()].into_iter().chain(asks).chain([completed()]).collect();
        let trace = built(facts).trace().unwrap();
        let said = trace.spans[0].attributes.iter().find(|(key, _)| *key == "holdshort.spans_left_out");
        assert_eq!((trace.spans.len(), &said.unwrap().1), (TRACE_SPANS, &Value::Number(10)));
    }
}
