//! `answers`: lists, corrects and erases stored answers of people. Each answer is stored under a subject
//! (`input.subject` of the run that asked).

use holdshort_protocol::{CorrectAnswer, KeptAnswer, labelled_lines, plain};
use serde_json::Value;

use super::Scene;
use super::run::file_or_stdin;
use crate::args::{Answers, AnswersVerb};
use crate::client::id_of;
use crate::exit::{Exit, usage};
use crate::output::{print_json, print_lines, print_message, print_text};
use crate::program_name::holdshort;
use crate::terminal::paint::Paint;
use crate::terminal::time;

pub(super) async fn answers(scene: &Scene, args: Answers) -> anyhow::Result<Exit> {
    match args.verb {
        None => list(scene, args.subject.as_deref(), args.search.as_deref()).await,
        Some(AnswersVerb::Correct { interrupt, text, edit }) => {
            let correction = match (text, edit) {
                (Some(text), _) => CorrectAnswer { text: Some(text), edit: Value::Null },
                (None, Some(path)) => {
                    let given = file_or_stdin(&path)?;
                    let edit = serde_json::from_str(&given)
                        .map_err(|error| usage(format!("the answer is not valid JSON: {error}")))?;
                    CorrectAnswer { text: None, edit }
                }
                (None, None) => {
                    return Err(usage("the new answer is missing: give it with `--text` or `--edit`"));
                }
            };
            let path = format!("/v1/answers/{}/correct", id_of(&interrupt, "int")?);
            print_answer(scene, scene.client()?.post(&path, &correction).await?, "Corrected.")
        }
        Some(AnswersVerb::Erase { interrupt }) => {
            let path = format!("/v1/answers/{}", id_of(&interrupt, "int")?);
            print_answer(scene, scene.client()?.delete(&path).await?, "Erased.")
        }
    }
}

async fn list(scene: &Scene, subject: Option<&str>, search: Option<&str>) -> anyhow::Result<Exit> {
    let client = scene.client()?;
    let query = [("subject", subject), ("q", search)];
    let query: Vec<(&str, &str)> =
        query.into_iter().filter_map(|(key, value)| value.map(|value| (key, value))).collect();
    let items = client.list("/v1/answers", &query).await?;
    if scene.json {
        print_json(&items)?;
        return Ok(Exit::Ok);
    }
    let paint = Paint::stdout();
    if items.is_empty() {
        print_message("No such answer is stored.");
    } else {
        let words = client.server_arguments();
        print_message(&paint.dim(&format!(
            "{0} answers correct ID --text …{words} (for JSON: --edit FILE) · {0} answers erase ID{words}",
            holdshort()
        )));
    }
    for item in items {
        show(&serde_json::from_value(item)?, paint);
    }
    Ok(Exit::Ok)
}

fn print_answer(scene: &Scene, item: Value, done: &str) -> anyhow::Result<Exit> {
    if scene.json {
        print_json(&item)?;
    } else {
        show(&serde_json::from_value(item)?, Paint::stdout());
        print_message(done);
    }
    Ok(Exit::Ok)
}

fn show(kept: &KeptAnswer, paint: Paint) {
    print_text(&format!("{}  {}", paint.bold(&kept.interrupt), paint.yellow(&plain::line(&kept.subject))));
    print_lines(&paint.fold(&format!("    {}", plain::line(&kept.question)), 4));
    let answer = if kept.erased {
        paint.dim("(erased)")
    } else {
        plain::line(&labelled_lines(None, &kept.answer).join(", ")).into_owned()
    };
    print_lines(&paint.fold(&format!("    → {answer}"), 6));
    let corrected =
        kept.corrected_at.as_ref().map(|at| format!(", corrected {}", time::ago(at))).unwrap_or_default();
    let from = kept.from.as_ref().map(|from| {
        let how = if kept.reused { "reused from" } else { "taken from" };
        format!(", {how} {}", plain::line(from))
    });
    print_text(&paint.dim(&format!(
        "    {}, {}{corrected}{}",
        plain::line(&kept.by),
        time::ago(&kept.at),
        from.unwrap_or_default()
    )));
}
