//! Builds the card of an interrupt for the API, for the pages without scripts and for Slack.

use holdshort_core::event;
use holdshort_core::id::{RunId, StreamId};
use holdshort_core::run::Fact;
use holdshort_engine::real::REHEARSAL;
use holdshort_presentation::card::{Card, FormatTime, Setting};
use holdshort_protocol::{Code, InspectedCall, Interrupt};
use holdshort_web::app::App;
use holdshort_web::problem::{Answer, Refused};
use serde_json::Value;

/// Returns the name of the model with which the run was started. A card labels a run of the rehearsal model as a
/// rehearsal.
pub(crate) async fn model(app: &App, run: &RunId) -> Answer<Option<String>> {
    let started = app.event(&StreamId::Run(run.clone()), 1).await?;
    Ok(match started.fact {
        event::Fact::Run(Fact::RunStarted { config, .. }) => config.model,
        _ => None,
    })
}

/// Builds the card of an interrupt. `model` is the name of the run's model.
pub(crate) fn build<'a>(
    interrupt: &'a Interrupt,
    judged: Option<&'a InspectedCall>,
    model: Option<&str>,
    time: FormatTime<'a>,
) -> Card<'a> {
    Card::from_interrupt(interrupt, Setting { judged, is_rehearsal: model == Some(REHEARSAL), time })
}

/// Returns the card of an interrupt as JSON. Timestamps in its texts are in UTC.
pub(crate) fn json(interrupt: &Interrupt, model: Option<&str>) -> Answer<Value> {
    let judged = InspectedCall::from_interrupt(interrupt);
    serde_json::to_value(build(interrupt, judged.as_ref(), model, &utc))
        .map_err(|_| Refused::from_code(Code::Internal))
}

/// Returns the parts of an interrupt's card as plain text. The flag is true if a part was shortened.
pub(crate) fn text(interrupt: &Interrupt, judged: Option<&InspectedCall>) -> (Vec<String>, bool) {
    build(interrupt, judged, None, &utc).text()
}

/// Formats a timestamp in UTC: `2026-01-31 09:30:00 UTC`.
pub(crate) fn utc(at: &str) -> String {
    let parts = at.split_once('T').and_then(|(day, time)| Some((day, time.strip_suffix('Z')?.get(..8)?)));
    parts.map_or_else(|| at.to_owned(), |(day, time)| format!("{day} {time} UTC"))
}
