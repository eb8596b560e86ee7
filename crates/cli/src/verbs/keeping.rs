//! `hold` and `erase`: a legal hold that prevents the erasure of a run's content, and the erasure itself.

use holdshort_protocol::{Erase, Erasure, Hold, Keeping, PlaceHold, plain};

use super::Scene;
use crate::client::id_of;
use crate::exit::Exit;
use crate::output::{print_json, print_message, print_text};
use crate::terminal::time;

pub(super) async fn hold(
    scene: &Scene,
    run: &str,
    reason: Option<String>,
    lift: bool,
) -> anyhow::Result<Exit> {
    let path = format!("/v1/runs/{}/hold", id_of(run, "run")?);
    let client = scene.client()?;
    let mut lifted = None;
    let kept: Keeping = match reason {
        Some(reason) => client.post(&path, &PlaceHold { reason }).await?,
        None if lift => {
            lifted = client.get::<Keeping>(&path).await?.hold;
            serde_json::from_value(client.delete(&path).await?)?
        }
        None => client.get(&path).await?,
    };
    if scene.json {
        print_json(&kept)?;
        return Ok(Exit::Ok);
    }
    let by_whom = match (&kept.hold, &lifted) {
        (Some(hold), _) => format!("The run is under a legal hold by {}.", whose(hold)),
        (None, Some(hold)) => {
            format!("The run has no legal hold now. Lifted: the legal hold by {}.", whose(hold))
        }
        (None, None) => "The run has no legal hold.".to_owned(),
    };
    let keeps = match (&kept.hold, &kept.erased, kept.erased_to) {
        (None, ..) => "",
        (Some(_), Some(_), _) => " The hold came too late: the content of the run was already erased.",
        (Some(_), None, 0) => " None of the run's content is erased.",
        (Some(_), None, _) => " No more of the run's content is erased.",
    };
    print_text(&format!("{by_whom}{keeps}"));
    if let Some(erased) = &kept.erased {
        let why = erased.why();
        print_text(&format!(
            "All content of the run was erased {} ({}).",
            time::ago(&erased.at),
            plain::line(&why)
        ));
    } else if kept.erased_to > 0 {
        print_text(&format!("The content of the run's events up to number {} is erased.", kept.erased_to));
    }
    Ok(Exit::Ok)
}

/// Describes a legal hold as the end of a sentence: the person, the time and the reason.
fn whose(hold: &Hold) -> String {
    let why = hold.reason.as_deref().map(|why| format!(": {}", plain::line(why).trim_end_matches('.')));
    format!("{}, {}{}", plain::line(&hold.by), time::ago(&hold.at), why.unwrap_or_default())
}

pub(super) async fn erase(
    scene: &Scene,
    run: Option<String>,
    subject: Option<String>,
) -> anyhow::Result<Exit> {
    let run = run.map(|run| id_of(&run, "run").map(ToString::to_string)).transpose()?;
    let done: Erasure = scene.client()?.post("/v1/erasures", &Erase { run, subject }).await?;
    if scene.json {
        print_json(&done)?;
    } else {
        for run in &done.erased {
            print_text(&format!("{run}  erased"));
        }
        for run in &done.not_ended {
            print_text(&format!("{run}  has not ended, so nothing is erased. Retry after the run has ended"));
        }
        for run in &done.held {
            print_text(&format!(
                "{run}  is under a legal hold, so nothing is erased. `hold {run}` shows who placed the hold \
                 and why"
            ));
        }
        for run in &done.failed {
            print_text(&format!("{run}  cannot be read or changed; the reason is in the server's log"));
        }
        if is_nothing(&done) {
            print_message("Nothing was erased: no run has this subject.");
        }
    }
    // The command succeeds only if all content was erased.
    let is_done = [&done.not_ended, &done.held, &done.failed].iter().all(|left| left.is_empty());
    Ok(if is_done { Exit::Ok } else { Exit::Failed })
}

fn is_nothing(done: &Erasure) -> bool {
    [&done.erased, &done.not_ended, &done.held, &done.failed].iter().all(|runs| runs.is_empty())
}
