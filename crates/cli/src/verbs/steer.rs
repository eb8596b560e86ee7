//! `message`, `interrupt`, `pause`, `resume`, `cancel`: actions with which a person controls a whole run or session.

use holdshort_protocol::{Message, Note};
use serde::Serialize;
use serde_json::{Value, json};

use super::Scene;
use crate::client::id_of;
use crate::exit::{Exit, usage};
use crate::output::{print_json, print_text};

/// Last part of the URL path of an action on a run or session, and the message after its success.
type Act = (&'static str, &'static str);

/// An action on a run, and the corresponding action on a session.
#[derive(Clone, Copy)]
pub(super) struct Steer {
    run: Act,
    session: Act,
}

pub(super) const PAUSE: Steer = Steer {
    run: ("pause", "Paused."),
    session: ("suspend", "Suspended: the session's runs are paused, and no new run starts."),
};
pub(super) const RESUME: Steer = Steer {
    run: ("resume", "Resumed: the run continues."),
    session: ("resume", "Resumed: the session's paused runs continue, and new runs can start."),
};
const CANCEL: Steer = Steer {
    run: ("cancel", "Cancelled."),
    session: ("close", "Closed: the session's runs are cancelled, and no new run can start."),
};

pub(super) async fn message(scene: &Scene, run: &str, text: String) -> anyhow::Result<Exit> {
    let path = format!("/v1/runs/{}/messages", id_of(run, "run")?);
    post(
        scene,
        run,
        &path,
        &Message { text },
        "The agents of the run read the message with their next request.",
    )
    .await
}

pub(super) async fn interrupt(scene: &Scene, run: &str, text: Option<String>) -> anyhow::Result<Exit> {
    let path = format!("/v1/runs/{}/interrupt", id_of(run, "run")?);
    let said = match &text {
        Some(_) => "Interrupted. The run continues with your message.",
        None => {
            "Interrupted. The run waits for you. Send the run a message with `message`, or answer its \
                 request with `decide`."
        }
    };
    post(scene, run, &path, &Note { text }, said).await
}

pub(super) async fn steer(scene: &Scene, id: &str, steer: Steer) -> anyhow::Result<Exit> {
    act(scene, id, steer, &json!({})).await
}

pub(super) async fn cancel(scene: &Scene, id: &str, text: Option<String>) -> anyhow::Result<Exit> {
    match text {
        None => act(scene, id, CANCEL, &json!({})).await,
        Some(_) if is_session(id) => Err(usage(
            "--text is only for runs: leave it out, because a session is closed without a message".to_owned(),
        )),
        text => act(scene, id, CANCEL, &Note { text }).await,
    }
}

fn is_session(id: &str) -> bool {
    id.starts_with("ses_")
}

async fn act(scene: &Scene, id: &str, steer: Steer, body: &impl Serialize) -> anyhow::Result<Exit> {
    let (list, prefix, (verb, said)) =
        if is_session(id) { ("sessions", "ses", steer.session) } else { ("runs", "run", steer.run) };
    post(scene, id, &format!("/v1/{list}/{}/{verb}", id_of(id, prefix)?), body, said).await
}

async fn post(
    scene: &Scene,
    id: &str,
    path: &str,
    body: &impl Serialize,
    said: &str,
) -> anyhow::Result<Exit> {
    let answer: Value = scene.client()?.post(path, body).await?;
    if scene.json {
        print_json(&answer)?;
    } else {
        print_text(&format!("{id}: {said}"));
    }
    Ok(Exit::Ok)
}
