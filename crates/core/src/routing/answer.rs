//! Parses the reply of a router agent: one JSON object, alone, in a code fence, or within prose (contract A19).

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Mode, Proposal, Route, Routed};

/// Text that tells a router agent the format of its reply.
pub const FORM: &str = "\
Answer with JSON alone: {\"route_type\": \"direct\" | \"plan\" | \"clarify\" | \"propose\", \"complexity\": 0 to 100, \
\"primary_agent\": \"…\", \"reasoning\": \"one sentence\", \"clarifying_questions\": [\"…\"], \"refined_task\": \"…\" or null, \
\"proposals\": [{\"title\": \"…\", \"description\": \"…\", \"pros\": [\"…\"], \"cons\": [\"…\"]}]}.\n\
Complexity: 0 to 30 is one simple action, 31 to 60 a few steps, 61 to 100 needs several steps and a plan.\n\
Prefer `direct`. `clarify` needs questions; `propose` needs at least two proposals.";

/// Maximum number of questions in a router's reply.
const QUESTIONS: usize = 5;
/// Maximum number of proposals in a router's reply.
const PROPOSALS: usize = 5;
/// Maximum number of advantages, and of disadvantages, of one proposal.
const POINTS: usize = 5;
/// Maximum number of bytes of each text in a router's reply, except the reworded task. Longer texts are cut.
const WORDS_BYTES: usize = 1_000;
/// Maximum number of bytes of the task as the router reworded it. A longer task is cut.
const TASK_BYTES: usize = 8_000;

/// Names of routes, including names from earlier versions of Holdshort (contract E4).
const ROUTES: [(&str, Route); 7] = [
    ("direct", Route::Direct),
    ("one_shot", Route::Direct),
    ("plan", Route::Plan),
    ("planned", Route::Plan),
    ("phase", Route::Plan),
    ("clarify", Route::Clarify),
    ("propose", Route::Propose),
];

#[derive(Deserialize)]
struct Answer {
    route_type: String,
    #[serde(alias = "complexity_score")]
    complexity: Option<f64>,
    primary_agent: Option<String>,
    reasoning: Option<String>,
    clarifying_questions: Option<Vec<String>>,
    refined_task: Option<String>,
    proposals: Option<Vec<Proposal>>,
}

pub fn response_schema() -> Value {
    let text = json!({ "type": "string" });
    let texts = json!({ "type": "array", "items": text });
    json!({
        "type": "object",
        "properties": {
            "route_type": { "enum": ["direct", "plan", "clarify", "propose"] },
            "complexity": { "type": "integer" },
            "primary_agent": text,
            "reasoning": text,
            "clarifying_questions": texts,
            "refined_task": { "type": ["string", "null"] },
            "proposals": { "type": "array", "items": {
                "type": "object",
                "properties": { "title": text, "description": text, "pros": texts, "cons": texts },
                "required": ["title", "description", "pros", "cons"],
                "additionalProperties": false,
            } },
        },
        "required": [
            "route_type", "complexity", "primary_agent", "reasoning", "clarifying_questions", "refined_task", "proposals",
        ],
        "additionalProperties": false,
    })
}

/// Parses the reply of a router. `None` if the reply is malformed. In [`Mode::Minimal`], a route that would ask a
/// person is replaced by [`Route::Direct`].
pub fn read(text: &str, mode: Mode) -> Option<Routed> {
    let object = text.get(text.find('{')?..=text.rfind('}')?)?;
    let value = crate::json::parse(object.as_bytes()).ok()?;
    let answer = Answer::deserialize(&value).ok()?;
    let named = answer.route_type.trim().to_ascii_lowercase();
    let (_, route) = ROUTES.iter().find(|(name, _)| *name == named)?;
    let complexity = match answer.complexity {
        None => None,
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is between 0 and 100"
        )]
        Some(score) if (0.0..=100.0).contains(&score) => Some(score.round() as u8),
        Some(_) => return None,
    };
    let asks = matches!(route, Route::Clarify | Route::Propose);
    let routed = Routed {
        route: if asks && mode == Mode::Minimal { Route::Direct } else { *route },
        complexity,
        agent: answer.primary_agent.filter(|name| !name.trim().is_empty()),
        questions: texts(&answer.clarifying_questions.unwrap_or_default(), QUESTIONS),
        proposals: answer
            .proposals
            .unwrap_or_default()
            .into_iter()
            .filter_map(|each| proposal(&each))
            .take(PROPOSALS)
            .collect(),
        refined: answer.refined_task.map(|task| cut(&task, TASK_BYTES)).filter(|task| !task.is_empty()),
        reasoning: cut(&answer.reasoning.unwrap_or_default(), WORDS_BYTES),
    };
    Some(routed.complete())
}

fn proposal(proposal: &Proposal) -> Option<Proposal> {
    let title = cut(&proposal.title, 200);
    (!title.is_empty()).then(|| Proposal {
        title,
        description: cut(&proposal.description, WORDS_BYTES),
        pros: texts(&proposal.pros, POINTS),
        cons: texts(&proposal.cons, POINTS),
    })
}

fn texts(texts: &[String], most: usize) -> Vec<String> {
    texts.iter().map(|text| cut(text, WORDS_BYTES)).filter(|text| !text.is_empty()).take(most).collect()
}

fn cut(text: &str, bytes: usize) -> String {
    let text = text.trim();
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    text[..end].to_owned()
}
