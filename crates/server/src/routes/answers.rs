//! Stored answers about a subject: list, correct, erase.

use axum::Json;
use holdshort_core::history;
use holdshort_core::id::{InterruptId, StreamId};
use holdshort_core::interrupt::AnswerContent;
use holdshort_core::projection::AnswerRow;
use holdshort_core::run::Input;
use holdshort_protocol::{Code, CorrectAnswer, Interrupt, InterruptStatus, KeptAnswer, Kind, List};
use holdshort_store::{AnswerFilter, Search, Tables};
use holdshort_web::app::{App, detached};
use holdshort_web::auth::Caller;
use holdshort_web::body::Body;
use holdshort_web::interrupt_ref::InterruptRef;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{AnswersQuery, Id, Params, limit};
use holdshort_web::view;

use crate::openapi::{CorrectsAnswer, ErasesAnswer, Lists};

/// List the answers that people gave to questions, newest first.
///
/// An answer is stored if the input of the asking run has a `subject`. Erased answers are listed without their content.
#[utoipa::path(
    get, path = "/v1/answers", tag = "answers", operation_id = "list_answers",
    params(AnswersQuery),
    responses((status = 200, description = "A page of answers", body = List<KeptAnswer>), Lists)
)]
pub(crate) async fn list(
    caller: Caller,
    Params(query): Params<AnswersQuery>,
) -> Answer<Json<List<KeptAnswer>>> {
    let search = query.q.as_deref().filter(|text| !text.trim().is_empty()).map(history::searched);
    if search.as_ref().is_some_and(Vec::is_empty) {
        return Err(Refused::new(
            Code::InvalidQuery,
            "q: contains no word; search for words of the question or the answer",
        ));
    }
    let filter =
        AnswerFilter { subject: query.subject, search: search.map(Search::All), ..AnswerFilter::default() };
    let read = |limit| caller.app.journal().answers(&filter, query.cursor.as_ref(), limit);
    let list =
        view::page::show(limit(query.limit)?, read, async |row| Ok(Some(view::answer::answer(&row)))).await?;
    Ok(Json(list))
}

/// Correct an answer.
///
/// The corrected answer is suggested and reused from now on. The run that asked the question has already used the
/// original answer and does not repeat its work.
#[utoipa::path(
    post, path = "/v1/answers/{interrupt}/correct", tag = "answers", operation_id = "correct_answer",
    params(("interrupt" = String, Path, example = "int_01k6f0000000000000000000cc")),
    request_body = CorrectAnswer,
    responses((status = 200, description = "The current answer", body = KeptAnswer), CorrectsAnswer)
)]
pub(crate) async fn correct(caller: Caller, Id(id): Id<InterruptId>, body: Body) -> Answer<Json<KeptAnswer>> {
    let CorrectAnswer { text, edit } = body.json().await?;
    amend(caller, &id, Input::CorrectAnswer { interrupt: id.clone(), given: AnswerContent { text, edit } })
        .await
}

/// Erase an answer.
///
/// The answer is no longer suggested or reused, and its content is erased from the journal. Erasing the answer again
/// has no further effect.
#[utoipa::path(
    delete, path = "/v1/answers/{interrupt}", tag = "answers", operation_id = "erase_answer",
    params(("interrupt" = String, Path, example = "int_01k6f0000000000000000000cc")),
    responses((status = 200, description = "The erased answer without its content", body = KeptAnswer), ErasesAnswer)
)]
pub(crate) async fn erase(caller: Caller, Id(id): Id<InterruptId>) -> Answer<Json<KeptAnswer>> {
    amend(caller, &id, Input::EraseAnswer { interrupt: id.clone() }).await
}

async fn amend(caller: Caller, id: &InterruptId, input: Input) -> Answer<Json<KeptAnswer>> {
    let Caller { app, actor, .. } = caller;
    let row = find_answer(&app, id).await?;
    let (driver, interrupt) = (app.driver.clone(), id.clone());
    detached(async move { driver.amend_answer(&row.run, &interrupt, input, actor).await }).await?;
    Ok(Json(view::answer::answer(&find_answer(&app, id).await?)))
}

async fn find_answer(app: &App, id: &InterruptId) -> Answer<AnswerRow> {
    app.journal().answer(id).await?.ok_or_else(|| Refused::not_found("answer"))
}

/// Adds to an open question the stored answers about the same subject, as suggestions.
pub(super) async fn suggest(app: &App, asked: &InterruptRef, shown: &mut Interrupt) -> Answer<()> {
    let takes_one = shown.options.iter().any(|offer| offer.effect == "respond");
    if shown.kind != Kind::Question || shown.status != InterruptStatus::Open || !takes_one {
        return Ok(());
    }
    let started = app.event(&StreamId::Run(asked.run.clone()), 1).await?;
    let Some(subject) = history::subject(&started.content.data) else { return Ok(()) };
    let question = shown.payload.get("question").and_then(|question| question.as_str());
    let question = question.unwrap_or(&shown.title);
    let schema = shown.response_schema.as_ref();
    let rows = app.driver.suggestions(subject, question, &asked.interrupt, schema).await?;
    shown.suggestions_from_history = rows.iter().map(view::answer::suggestion).collect();
    Ok(())
}
