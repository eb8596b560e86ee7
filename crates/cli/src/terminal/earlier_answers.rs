//! Earlier answers to questions about the same subject. A card lists them below its question, and the key `h` selects
//! one.

use holdshort_presentation::card::readable;
use holdshort_protocol::{Decision, Interrupt, Suggestion, plain};
use serde_json::Value;

use super::paint::Paint;
use super::time;

/// Maximum number of characters that the list of earlier answers shows of each answer. The complete answer is shown
/// before it is sent.
const SHOWN: usize = 300;

/// Lists the earlier answers to a question, each with the key that selects it.
pub(crate) fn lines(interrupt: &Interrupt, paint: Paint) -> Vec<String> {
    let key = |number: usize| if number == 1 { "h".to_owned() } else { format!("h{number}") };
    list_answers(interrupt, |number, _| format!("{:>2}", key(number)), paint)
}

/// Lists the earlier answers to a question, each with the value of `--from` that selects it.
pub(crate) fn sources(interrupt: &Interrupt, paint: Paint) -> Vec<String> {
    list_answers(interrupt, |_, suggestion| format!("--from {}", plain::line(&suggestion.interrupt)), paint)
}

fn list_answers(
    interrupt: &Interrupt,
    mark: impl Fn(usize, &Suggestion) -> String,
    paint: Paint,
) -> Vec<String> {
    let earlier = &interrupt.suggestions_from_history;
    if earlier.is_empty() {
        return Vec::new();
    }
    let mut out = vec![paint.dim("  answered before:")];
    for (number, suggestion) in (1..).zip(earlier) {
        let answer: String = readable(&suggestion.answer).chars().take(SHOWN).collect();
        let line = format!("  {} {}", paint.bold(&mark(number, suggestion)), plain::line(&answer));
        out.extend(paint.fold(&line, 5));
        let source = format!(
            "     {}, {}, to “{}”",
            plain::line(&suggestion.by),
            time::at(&suggestion.at),
            plain::line(&suggestion.question)
        );
        out.extend(paint.fold(&source, 5).into_iter().map(|line| paint.dim(&line)));
    }
    out.push(String::new());
    out
}

/// Returns the number of the earlier answer that a typed line selects: `h` selects the first answer, `h2` the second.
/// Returns `None` for a line that selects no earlier answer.
pub(crate) fn parse_answer_number(interrupt: &Interrupt, line: &str) -> Option<usize> {
    let number = line.strip_prefix('h').filter(|_| !interrupt.suggestions_from_history.is_empty())?;
    if number.is_empty() { Some(1) } else { number.parse().ok().filter(|_| number.len() == 1) }
}

/// Returns the decision that sends an earlier answer to a question. Returns `None` if no option of the question takes
/// an answer.
pub(crate) fn decision(interrupt: &Interrupt, suggestion: &Suggestion) -> Option<Decision> {
    let offer = interrupt.options.iter().find(|offer| offer.effect == "respond")?;
    let taken = Decision {
        option: offer.id.clone(),
        version: Some(interrupt.version),
        from: Some(suggestion.interrupt.clone()),
        ..Decision::default()
    };
    Some(match (offer.needs_edit, &suggestion.answer) {
        (true, answer) => Decision { edit: answer.clone(), ..taken },
        (false, Value::String(text)) => Decision { text: Some(text.clone()), ..taken },
        (false, data) => Decision { text: Some(data.to_string()), ..taken },
    })
}
