//! Model calls of a step: starts, replies and failures. Only this module decides to retry a model call.

use serde_json::{Value, json};

use super::draft::Draft;
use super::fact::Listed;
use super::input::Rejection;
use super::{CallEnd, Fact, ModelCall, StepRole};
use crate::digest::Digest;
use crate::envelope::Content;
use crate::json;
use crate::limits;
use crate::message::{Arguments, Failure, FailureKind, Reply, RequestedCall, Stop, Usage};
use crate::plan;
use crate::schema;
use crate::text::clip;
use crate::tool::{Opens, Receiver, Runs};

impl Draft<'_> {
    pub(super) fn begin_model(&mut self, id: &str, turn: u32) {
        if !self.run.wants_model(id) {
            return;
        }
        let Some(step) = self.run.steps.get(id) else { return };
        // A model call that still waits for its retry time does not start.
        if step.turn != turn || step.retry_at.is_some_and(|at| at > self.now()) {
            return;
        }
        let attempt = step.failures + step.crashes + 1;
        let epoch = self.cx.epoch;
        let shortened = self.run.is_shortened(id);
        self.emit(
            Fact::ModelStarted { step: id.to_owned(), turn, attempt, epoch, shortened },
            Content::none(),
        );
    }

    /// Returns the number of the attempt of the model call that is in progress in the step's turn `turn`. Returns an
    /// error if no model call is in progress in this turn.
    pub(super) fn awaited(&self, step: &str, turn: u32) -> Result<u32, Rejection> {
        match self.run.steps.get(step) {
            Some(step) if step.turn == turn => match step.model {
                ModelCall::Running { attempt, .. } => Ok(attempt),
                ModelCall::Idle => Err(Rejection::Outdated),
            },
            Some(_) | None => Err(Rejection::Outdated),
        }
    }

    pub(super) fn replied(&mut self, step: &str, turn: u32, mut reply: Reply) -> Result<(), Rejection> {
        self.awaited(step, turn)?;
        let is_stopped = self.run.steps.get(step).is_some_and(|step| step.stopped);
        if reply.says_nothing() {
            let message = "the model returned neither text nor a call".to_owned();
            return self.failed(
                step,
                turn,
                Failure { kind: FailureKind::Unusable, retry_after_ms: None, message },
            );
        }
        let are_returned = self.run.as_calls(step, &mut reply);
        let first = self.run.proposed;
        let calls: Vec<(String, RequestedCall)> =
            (first + 1..).map(|n| format!("call_{n}")).zip(reply.calls).collect();
        let listed = calls
            .iter()
            .map(|(id, call)| Listed {
                call: id.clone(),
                tool: clip(&call.tool, 200),
                digest: Digest::of_json(&json!({"tool": call.tool, "arguments": value(&call.arguments)})),
            })
            .collect();
        let arguments: Vec<Value> = calls.iter().map(|(_, call)| value(&call.arguments)).collect();
        let data = if arguments.is_empty() { Value::Null } else { json!({ "arguments": arguments }) };
        self.emit(
            Fact::ModelReplied {
                step: step.to_owned(),
                turn,
                model: reply.model,
                usage: Usage {
                    input_tokens: reply.usage.input_tokens.min(json::MAX_INTEGER),
                    output_tokens: reply.usage.output_tokens.min(json::MAX_INTEGER),
                },
                calls: listed,
                stop: reply.stop,
            },
            Content { text: Some(reply.text), data },
        );
        let mut problems: Vec<Option<(&str, String)>> = calls
            .iter()
            .enumerate()
            .map(|(n, (_, call))| {
                if are_returned {
                    return self.run.asked_before(step, &value(&call.arguments));
                }
                self.unusable(step, n, call).or_else(|| self.cut_end(call, reply.stop))
            })
            .collect();
        self.more_than_one_handoff(&calls, &mut problems);
        // The reply was complete before the stop of the model call took effect. The tool calls of the reply do not
        // start.
        let calls = calls.iter().map(|(id, _)| id);
        if is_stopped {
            for id in calls {
                self.skip_interrupted(id);
            }
            return Ok(());
        }
        // A repeated question that is skipped is not a failure of the work.
        let end = if are_returned { CallEnd::Skipped } else { CallEnd::Failed };
        for (id, problem) in calls.zip(problems) {
            if let Some((code, text)) = problem {
                let code = Some(code.to_owned());
                self.emit(Fact::ToolFinished { call: id.clone(), end, code }, Content::text(text));
            }
        }
        Ok(())
    }

    /// Returns the reason why a tool call in a reply cannot be executed at all: a code, and a text for the model.
    /// `None` if the call can be executed.
    fn unusable(&self, step: &str, n: usize, call: &RequestedCall) -> Option<(&'static str, String)> {
        if n >= limits::CALLS_PER_REPLY {
            let text = format!("not run: a reply may hold at most {} calls", limits::CALLS_PER_REPLY);
            return Some(("too_many_calls", text));
        }
        let tools = self.run.tools_of(step);
        let Some(spec) = self.run.spec(&call.tool).filter(|_| tools.contains(&call.tool.as_str())) else {
            let name: String = call.tool.chars().take(200).collect();
            let there = if tools.is_empty() { "none".to_owned() } else { tools.join(", ") };
            return Some((
                "unknown_tool",
                format!("the tool `{name}` is not available; your tools: {there}"),
            ));
        };
        // The tool accepts plans in more forms than its schema describes (contract A8).
        if matches!(spec.runs, Runs::Opens(Opens::Plan)) && plan::sent(&value(&call.arguments)).is_some() {
            return None;
        }
        match &call.arguments {
            Arguments::Malformed(_) => Some((
                "malformed_arguments",
                "the arguments are not a JSON object; send them again".to_owned(),
            )),
            Arguments::Json(arguments) if !arguments.is_object() => Some((
                "malformed_arguments",
                "the arguments are not a JSON object; send them again".to_owned(),
            )),
            Arguments::Json(arguments) => {
                if let Some(problem) = json::unsafe_part(arguments) {
                    return Some(("malformed_arguments", format!("the arguments contain {problem}")));
                }
                let mut problems = schema::check(&spec.parameters, arguments, "");
                if problems.is_empty() && spec.runs == Runs::Opens(Opens::Question) {
                    problems = super::asking::check(arguments);
                }
                if problems.is_empty() && super::ending::is_blank(&call.tool, arguments) {
                    problems.push(schema::Problem::new("/summary", "is blank: say what you did"));
                }
                (!problems.is_empty()).then(|| ("invalid_arguments", describe_problems(&problems)))
            }
        }
    }

    /// Rejects all hand-offs of a reply except the first. If one of the hand-offs ends the work, rejects all of them.
    /// Rejecting only some of them would lose texts, such as items that are not done.
    fn more_than_one_handoff(
        &self,
        calls: &[(String, RequestedCall)],
        problems: &mut [Option<(&'static str, String)>],
    ) {
        let receives: Vec<(usize, &Receiver)> = calls
            .iter()
            .enumerate()
            .filter(|(at, _)| problems[*at].is_none())
            .filter_map(|(at, (_, call))| Some((at, self.run.receiver(&call.tool)?)))
            .collect();
        let ends = receives.iter().any(|(_, receiver)| **receiver == Receiver::Terminator);
        for (nth, (at, _)) in receives.iter().enumerate().filter(|_| receives.len() > 1) {
            if ends {
                let text = "not finished: a reply may end the work only once, and not together with a \
                    handover, so none of these calls took effect. Make a single call that contains \
                    everything";
                problems[*at] = Some(("second_handoff", text.to_owned()));
            } else if nth > 0 {
                let text = "not done: a reply may hand over only once, and only its first handover takes \
                    effect";
                problems[*at] = Some(("second_handoff", text.to_owned()));
            }
        }
    }

    /// Returns a problem if a tool call ends the work in a reply that is incomplete. The missing part of the reply
    /// could have contained more work.
    fn cut_end(&self, call: &RequestedCall, stop: Stop) -> Option<(&'static str, String)> {
        let flaw = stop.flaw()?;
        let text = format!("not finished: your reply {}. Continue, or repeat it", flaw.says());
        (self.run.receiver(&call.tool) == Some(&Receiver::Terminator)).then_some(("reply_not_whole", text))
    }

    pub(super) fn failed(&mut self, id: &str, turn: u32, failure: Failure) -> Result<(), Rejection> {
        let attempt = self.awaited(id, turn)?;
        let Some(step) = self.run.steps.get(id) else { return Err(Rejection::Outdated) };
        if step.stopped {
            return self.model_stopped(id, turn, "");
        }
        let limit = self.run.limits(id).attempts;
        // Some providers reject the response schema of a judgement, so the request is sent once more without the
        // schema.
        let form_refused = matches!(step.role, StepRole::Overseer | StepRole::Router)
            && failure.kind == FailureKind::Rejected
            && step.last_failure.is_none();
        // The model's window is smaller than the configured size, so a shorter request is sent.
        let narrower = if failure.kind == FailureKind::TooLong && step.failures == 0 {
            self.run.narrower(id)
        } else {
            None
        };
        let again =
            (failure.kind.is_retryable() || form_refused) && step.failures + 1 < limit || narrower.is_some();
        let wait = failure
            .retry_after_ms
            .unwrap_or(0)
            .max(limits::BACKOFF_FIRST_MS << step.failures.min(8))
            .min(limits::BACKOFF_MAX_MS);
        let wait = if form_refused || narrower.is_some() { 0 } else { wait };
        let retry_at = again.then(|| self.now().plus_ms(wait));
        self.emit(
            Fact::ModelFailed { step: id.to_owned(), turn, attempt, kind: failure.kind, retry_at },
            Content::text(failure.message),
        );
        if let Some(window) = narrower {
            self.emit(Fact::WindowNarrowed { step: id.to_owned(), window }, Content::none());
        }
        if !again {
            self.step_failed(id);
        }
        Ok(())
    }
}

fn value(arguments: &Arguments) -> Value {
    match arguments {
        Arguments::Json(value) => value.clone(),
        Arguments::Malformed(text) => Value::String(clip(text, limits::TEXT_BYTES)),
    }
}

pub(super) fn describe_problems(problems: &[schema::Problem]) -> String {
    let lines = problems.iter().map(|problem| {
        let at = if problem.pointer.is_empty() { "the arguments" } else { &problem.pointer };
        format!("{at}: {}", problem.message)
    });
    format!("the arguments do not fit the tool: {}", lines.collect::<Vec<_>>().join("; "))
}
