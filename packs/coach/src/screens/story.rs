//! The data of a coach run for its result files, read from the journal: texts of agents, computed numbers, questions
//! and assumptions. The data is incomplete until the run has ended.

use std::collections::BTreeMap;

use holdshort_cli::kit::Client;
use holdshort_protocol::{Event, Run, RunResult, Status};
use serde_json::Value;

/// Data of a coach run. The fields are in the order of the report.
#[derive(Debug, Default)]
pub(super) struct Story {
    /// Text of each completed step of the run, by step id.
    pub texts: BTreeMap<String, String>,
    pub agents: BTreeMap<String, String>,
    /// Results of `compute_metric`, each with the name of the agent that called the tool.
    pub computed: Vec<(String, Value)>,
    /// Series that agents requested with `plot_series`.
    pub plots: Vec<Value>,
    /// Weeks of each `plan_weeks` call, with the completed weeks before the plan.
    pub weeks: Vec<Value>,
    /// Metrics that no tool could compute, each with the reason.
    pub refused: Vec<Value>,
    /// Values of the training data that analysts received. An agent may quote these numbers.
    pub given: Vec<Value>,
    /// Parts of data files that analysts received. An agent may quote the numbers in them.
    pub parts: Vec<Value>,
    /// Training data that could not be read, as the last analyst learned. Null until an analyst has read data.
    pub not_read: Value,
    pub questions: Vec<Value>,
    /// JSON Schemas of the answers to questions, by interrupt id.
    pub schemas: BTreeMap<String, Value>,
    pub assumptions: Vec<Value>,
}

pub(super) async fn read(client: &Client, run: &Run) -> anyhow::Result<Story> {
    let mut reader = Reader::default();
    client.each_event(&run.id, |event| reader.event(event)).await?;
    let mut story = reader.story;
    // The result of an ended run contains the final lists of questions and assumptions, even if the run failed or was
    // cancelled.
    if let Some(ended) = ended(client, run).await? {
        for (key, list) in [("questions", &mut story.questions), ("assumptions", &mut story.assumptions)] {
            if let Some(told) = ended.get(key).and_then(Value::as_array) {
                list.clone_from(told);
            }
        }
    }
    Ok(story)
}

async fn ended(client: &Client, run: &Run) -> anyhow::Result<Option<Value>> {
    match run.status {
        Status::Completed => Ok(Some(run.result.clone())),
        Status::Failed | Status::Cancelled => {
            let told: RunResult = client.get(&format!("/v1/runs/{}/result", run.id)).await?;
            Ok(Some(told.result))
        }
        Status::Queued | Status::Running | Status::Waiting | Status::Paused => Ok(None),
    }
}

#[derive(Default)]
struct Reader {
    story: Story,
    /// Agent, tool and arguments of each tool call, by call id.
    calls: BTreeMap<String, (String, String, Value)>,
    /// Index of each question in `questions`, by interrupt id.
    asked: BTreeMap<String, usize>,
}

impl Reader {
    fn event(&mut self, event: &Event) {
        let data = &event.data;
        let text = |key: &str| data[key].as_str().unwrap_or_default().to_owned();
        match &*event.kind {
            "step_started" => {
                self.story.agents.insert(text("step"), text("agent"));
            }
            "model_replied" => self.record_calls(data),
            "tool_finished" => self.record_result(data),
            "step_ended" if data["end"] == "completed" => {
                if let Some(said) = data["content"]["text"].as_str().filter(|said| !said.trim().is_empty()) {
                    self.story.texts.insert(text("step"), said.to_owned());
                }
            }
            "interrupt_opened" if data["kind"] == "question" => self.record_question(data),
            "interrupt_resolved" => {
                if let Some(at) = self.asked.get(&text("interrupt")) {
                    self.story.questions[*at]["outcome"] = data["outcome"].clone();
                    self.story.questions[*at]["option"] = data["option"].clone();
                }
            }
            "decision_made" => {
                if let Some(at) = self.asked.get(&text("interrupt")) {
                    let question = &mut self.story.questions[*at];
                    let content = &data["content"];
                    if content["data"].is_null() {
                        question["answer"] = content["text"].clone();
                    } else {
                        question["answer"] = content["data"].clone();
                        question["text"] = content["text"].clone();
                    }
                    question["by"] = event.actor.id.clone().into();
                    question["at"] = event.at.clone().into();
                }
            }
            _ => {}
        }
    }

    fn record_calls(&mut self, data: &Value) {
        let agent =
            data["step"].as_str().and_then(|step| self.story.agents.get(step)).cloned().unwrap_or_default();
        let arguments = &data["content"]["data"]["arguments"];
        for (at, call) in data["calls"].as_array().into_iter().flatten().enumerate() {
            let part = |key: &str| call[key].as_str().unwrap_or_default().to_owned();
            self.calls.insert(part("call"), (agent.clone(), part("tool"), arguments[at].clone()));
        }
    }

    fn record_result(&mut self, data: &Value) {
        let call = data["call"].as_str().unwrap_or_default();
        let Some((agent, tool, arguments)) = self.calls.get(call) else { return };
        if data["end"] != "done" {
            return;
        }
        let brought = &data["content"]["data"];
        match &**tool {
            "compute_metric" if brought["computed"].is_object() => {
                self.story.computed.push((agent.clone(), brought["computed"].clone()));
            }
            "compute_metric" if brought["refused"].is_object() => {
                let refused =
                    serde_json::json!({ "metric": brought["metric"], "refused": brought["refused"] });
                self.story.refused.push(refused);
            }
            "plan_weeks" => self.story.weeks.push(brought["weeks"].clone()),
            "plot_series" => self.story.plots.push(brought["plot"].clone()),
            "read_load_data" | "read_activity_data" | "read_physiology_data" => {
                self.story.given.push(brought["given"].clone());
                self.story.parts.push(brought["parts"].clone());
                self.story.not_read = brought["not_read"].clone();
            }
            "record_assumption" => {
                let mut assumption = arguments.clone();
                assumption["agent"] = agent.clone().into();
                self.story.assumptions.push(assumption);
            }
            _ => {}
        }
    }

    fn record_question(&mut self, data: &Value) {
        let content = &data["content"]["data"];
        let interrupt = data["interrupt"].as_str().unwrap_or_default().to_owned();
        let mut question = serde_json::json!({
            "interrupt": interrupt, "agent": data["agent"], "question": content["payload"]["question"], "outcome": null,
        });
        for key in ["context", "kind"] {
            if !content["payload"][key].is_null() {
                question[key] = content["payload"][key].clone();
            }
        }
        if let Some(schema) = content.get("response_schema") {
            self.story.schemas.insert(interrupt.clone(), schema.clone());
        }
        self.asked.insert(interrupt, self.story.questions.len());
        self.story.questions.push(question);
    }
}
