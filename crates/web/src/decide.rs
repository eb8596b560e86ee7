//! Decides on interrupts, for the API, the pages and the edges. The first check that applies decides the response:
//!
//! - The interrupt is unknown (404).
//! - The caller's role is not allowed to decide (403).
//! - The same decision was already made (200).
//! - The interrupt has expired (410).
//! - The interrupt is already resolved (409).
//! - The version is stale (409).
//! - The option or the edit is invalid (422).

use holdshort_core::actor::Actor;
use holdshort_core::id::InterruptId;
use holdshort_core::interrupt;
use holdshort_core::run::Input;
use holdshort_engine::IdempotencyKey;
use holdshort_protocol::{Code, Decision, Interrupt};

use crate::app::App;
use crate::interrupt_ref::InterruptRef;
use crate::problem::{Answer, Refused};
use crate::view;
use crate::view::assignment::Reader;

/// Records a decision on an interrupt, and returns the interrupt with its resolution as soon as the resolution is
/// stored durably. If the interrupt was already resolved, the error contains the existing resolution.
pub async fn decide(app: &App, asked: &InterruptRef, actor: Actor, decision: Decision) -> Answer<Interrupt> {
    carry_out(app, asked, actor, read(decision)?, None).await
}

/// Records a decision on an interrupt that a client makes on behalf of a person. The person is recorded with the
/// decision. The server does not verify that the person agrees, and the person's permissions are not used.
pub async fn decide_on_behalf(
    app: &App,
    asked: &InterruptRef,
    actor: Actor,
    decision: Decision,
    on_behalf_of: Option<String>,
) -> Answer<Interrupt> {
    let decision = interrupt::Decision { on_behalf_of, ..read(decision)? };
    carry_out(app, asked, actor, decision, None).await
}

/// Records a decision on an interrupt that was sent with the form of a page. With an idempotency key, a repeated
/// request has no effect and returns the current interrupt.
pub async fn decide_on_page(
    app: &App,
    asked: &InterruptRef,
    actor: Actor,
    decision: Decision,
    key: Option<IdempotencyKey>,
) -> Answer<Interrupt> {
    // The version in the form identifies the content that the person saw. Without a version, this content is unknown.
    let from_page = decision.version.is_some();
    let decision = interrupt::Decision { from_page, ..read(decision)? };
    carry_out(app, asked, actor, decision, key).await
}

fn read(decision: Decision) -> Answer<interrupt::Decision> {
    let Decision { option, text, edit, version, from, viewed_ms, also, also_shown } = decision;
    let from = from.map(|id| id.parse()).transpose();
    let from = from.map_err(|_| Refused::invalid_at("/from", "is not the id of an interrupt"))?;
    let (also, also_shown) = (ids("/also", &also)?, ids("/also_shown", &also_shown)?);
    let (on_behalf_of, from_page) = (None, false);
    Ok(interrupt::Decision {
        option,
        text,
        edit,
        version,
        from,
        viewed_ms,
        on_behalf_of,
        also,
        also_shown,
        from_page,
    })
}

fn ids(pointer: &str, written: &[String]) -> Answer<Vec<InterruptId>> {
    let read = |(at, id): (usize, &String)| {
        id.parse()
            .map_err(|_| Refused::invalid_at(&format!("{pointer}/{at}"), "is not the id of an interrupt"))
    };
    written.iter().enumerate().map(read).collect()
}

async fn carry_out(
    app: &App,
    asked: &InterruptRef,
    actor: Actor,
    decision: interrupt::Decision,
    key: Option<IdempotencyKey>,
) -> Answer<Interrupt> {
    let reader = Reader::for_actor(app, &actor).await?;
    let input = Input::Decide { interrupt: asked.interrupt.clone(), decision, holder: None };
    let sent = match key {
        None => app.send(&asked.run, input, actor).await.map(Some),
        Some(key) => app.send_once(&asked.run, input, key, actor).await.map(|()| None),
    };
    match sent.map_err(Refused::from) {
        Ok(Some(run)) => {
            let shown = view::interrupt::from_run(&run, &asked.interrupt, &reader);
            shown.ok_or_else(|| Refused::not_found("interrupt"))
        }
        Ok(None) => view::now::interrupt(app, asked, &reader).await,
        Err(refused) if matches!(refused.code(), Code::AlreadyResolved | Code::Expired) => {
            Err(add_resolution(app, asked, &reader, refused).await?)
        }
        Err(refused) if matches!(refused.code(), Code::InvalidRequest | Code::Withheld) => {
            let row = app.interrupt_row(&asked.interrupt).await?;
            Err(view::interrupt::covered_refusal(app, &row, &reader, refused).await?)
        }
        Err(refused) => Err(refused),
    }
}

/// Adds the existing resolution of an interrupt to the error about a decision that came too late.
pub async fn add_resolution(
    app: &App,
    asked: &InterruptRef,
    reader: &Reader,
    mut refused: Refused,
) -> Answer<Refused> {
    let row = app.interrupt_row(&asked.interrupt).await?;
    refused.0.resolution = view::interrupt::resolution_for_reader(app, &row, reader).await?;
    Ok(refused)
}
