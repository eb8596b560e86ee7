//! State of the web UI without a browser, according to the UI's reducer (contract A32). The UI has one panel, which
//! shows a request. The panel is cleared when the person sends a decision, and on every `approval_received` frame.

use serde_json::{Value, json};

#[derive(Default)]
pub(crate) struct Panel {
    /// Request that the panel shows.
    pub(crate) asked: Option<Value>,
    pub(crate) console: Vec<String>,
    pub(crate) bubbles: Vec<String>,
    pub(crate) status: String,
    pub(crate) nodes: Vec<(String, String)>,
    pub(crate) tokens: u64,
    /// Session in which the next task will run.
    pub(crate) session: Option<String>,
    pub(crate) is_running: bool,
}

impl Panel {
    pub(crate) fn apply_frame(&mut self, frame: &Value) {
        let data = &frame["data"];
        let text = |key: &str| data[key].as_str().unwrap_or_default().to_owned();
        match frame["event_type"].as_str().unwrap() {
            "workflow_started" => {
                self.status = String::from("executing");
                self.tokens = 0;
                self.is_running = true;
                self.console.push(format!("started: {}", text("task_description")));
            }
            "workflow_state_changed" => self.status = text("status"),
            "workflow_paused" => self.status = String::from("paused"),
            "workflow_resumed" => self.status = String::from("executing"),
            "workflow_completed" => self.end("completed", "completed".to_owned()),
            "workflow_failed" => self.end("failed", text("error")),
            "workflow_cancelled" => self.end("failed", text("message")),
            "dag_created" | "dag_updated" => {
                let nodes = data["nodes"].as_array().unwrap().iter();
                let word = |node: &Value, key: &str| node[key].as_str().unwrap().to_owned();
                self.nodes = nodes.map(|node| (word(node, "id"), word(node, "status"))).collect();
            }
            "dag_node_status_changed" => {
                for (_, status) in self.nodes.iter_mut().filter(|(id, _)| *id == text("node_id")) {
                    *status = text("new_status");
                }
            }
            "agent_message" => {
                self.console.push(format!("[{}] {}", text("agent"), text("message")));
                self.bubbles.push(text("message"));
            }
            "agent_tool_call" => {
                self.console.push(format!("[{}] calls {}", text("agent"), text("tool_name")));
            }
            "tool_call" => {
                self.console.push(format!("[{}] {}: {}", text("agent"), text("tool_name"), text("result")));
            }
            "code_execution" => {
                self.console.push(format!("[{}] {}: {}", text("agent"), text("code"), text("result")));
            }
            "approval_requested" => self.asked = Some(data.clone()),
            "approval_received" => self.asked = None,
            "cost_update" => self.tokens += data["tokens"].as_u64().unwrap(),
            "error_occurred" => self.console.push(format!("error: {}", text("message"))),
            "output" => self.console.push(text("data")),
            "status" => self.console.push(format!("status: {}", text("message"))),
            "result" => self.session = Some(text("session_id")).filter(|session| !session.is_empty()),
            _ => {}
        }
    }

    fn end(&mut self, status: &str, line: String) {
        status.clone_into(&mut self.status);
        self.is_running = false;
        self.console.push(line);
    }

    /// Selects an option of the panel, as a person does. Panics if the panel does not show this option.
    pub(crate) fn choose(&mut self, option: &str, words: &str, modifications: &str) -> Value {
        let asked = self.asked.take().expect("a panel");
        let offered: Vec<&str> =
            asked["options"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        // A panel that requires a text shows a text field and two buttons instead of options.
        let is_a_box = asked["context"]["requires_text_input"] == true;
        let has = if is_a_box { ["submit", "exit"].contains(&option) } else { offered.contains(&option) };
        assert!(has, "{option} is not drawn: {asked:#}");
        json!({
            "type": "resolve_approval", "approval_id": asked["approval_id"], "resolution": option,
            "feedback": words, "modifications": modifications,
        })
    }
}
