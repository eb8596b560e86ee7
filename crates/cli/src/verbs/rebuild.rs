//! `rebuild`: computes the lists of runs, sessions, interrupts, grants and answers again from the journal.

use std::sync::Arc;

use anyhow::Context;
use holdshort_engine::{Driver, Idle, SystemClock, rebuild as rows};
use serde_json::json;

use super::Scene;
use super::journal::open;
use crate::args::StoreArgs;
use crate::exit::Exit;
use crate::output::{print_json, print_text};
use crate::plural::count;

pub(super) async fn rebuild(scene: &Scene, at: &StoreArgs) -> anyhow::Result<Exit> {
    let journal = Arc::new(open(scene, at).await?);
    let driver = Driver::new(journal.clone(), SystemClock, Idle);
    let rebuilt = rows::rebuild(&driver).await;
    journal.close().await.context("the journal could not be closed")?;
    let rebuilt = rebuilt.context("nothing was changed")?;
    if scene.json {
        let rows::Rebuilt { runs, sessions, interrupts, grants, answers } = rebuilt;
        print_json(&json!({
            "runs": runs, "sessions": sessions, "interrupts": interrupts, "grants": grants, "answers": answers
        }))?;
    } else {
        let (runs, grants) = (count(rebuilt.runs, "run"), count(rebuilt.grants, "grant"));
        let (sessions, interrupts) =
            (count(rebuilt.sessions, "session"), count(rebuilt.interrupts, "interrupt"));
        let answers = count(rebuilt.answers, "answer");
        print_text(&format!(
            "Rebuilt from the journal: {runs}, {sessions}, {interrupts}, {grants}, {answers}."
        ));
    }
    Ok(Exit::Ok)
}
