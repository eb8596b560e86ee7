//! `sessions`, `grants`, `revoke`: lists conversations and their grants, and revokes grants.

use holdshort_protocol::{Grant, GrantScope, Interrupt, Refusal, Session, SessionState, plain};

use super::Scene;
use crate::client::{Client, id_of};
use crate::exit::Exit;
use crate::output::{print_json, print_lines, print_message, print_text};
use crate::program_name::holdshort;
use crate::terminal::paint::Paint;
use crate::terminal::time;

pub(super) async fn sessions(scene: &Scene, state: Option<&str>) -> anyhow::Result<Exit> {
    let client = scene.client()?;
    let query: Vec<(&str, &str)> = state.map(|state| ("state", state)).into_iter().collect();
    let items = client.list("/v1/sessions", &query).await?;
    if scene.json {
        print_json(&items)?;
        return Ok(Exit::Ok);
    }
    let paint = Paint::stdout();
    if items.is_empty() {
        print_message("There is no such session.");
    }
    for item in items {
        let session: Session = serde_json::from_value(item)?;
        let state = match session.state {
            SessionState::Open => paint.green("open"),
            SessionState::Suspended => paint.yellow("suspended"),
            SessionState::Closed => paint
                .dim(&format!("closed ({})", plain::line(session.end_reason.as_deref().unwrap_or_default()))),
        };
        print_text(&format!("{}  {state}", paint.bold(&session.id)));
        for words in [&session.name, &session.workflow].into_iter().flatten() {
            print_lines(&paint.fold(&format!("    {}", plain::line(words)), 4));
        }
        for run in &session.runs {
            print_text(&format!("    {run}"));
        }
        print_text(&paint.dim(&format!(
            "    opened {}, last changed {}",
            time::ago(&session.created_at),
            time::ago(&session.updated_at)
        )));
    }
    Ok(Exit::Ok)
}

pub(super) async fn grants(scene: &Scene, session: Option<&str>) -> anyhow::Result<Exit> {
    let client = scene.client()?;
    let path = match session {
        Some(session) => format!("/v1/sessions/{}/grants", id_of(session, "ses")?),
        None => "/v1/grants".to_owned(),
    };
    let items = client.list(&path, &[]).await?;
    if scene.json {
        print_json(&items)?;
        return Ok(Exit::Ok);
    }
    let paint = Paint::stdout();
    if items.is_empty() {
        print_message(if session.is_some() {
            "This session has no grants."
        } else {
            "No session has grants."
        });
    } else {
        print_message(&paint.dim(&format!("{} revoke ID{}", holdshort(), client.server_arguments())));
    }
    for item in items {
        let covered = GrantScope::from_value(&item).map(|covered| covered.describe()).unwrap_or_default();
        let grant: Grant = serde_json::from_value(item)?;
        let state = match (&grant.revoked_at, &grant.expires_at) {
            (Some(at), _) => format!("  revoked {}", time::ago(at)),
            (None, Some(at)) if time::is_to_come(Some(at)) => format!("  until {}", time::at(at)),
            (None, Some(at)) => format!("  expired {}", time::ago(at)),
            (None, None) => String::new(),
        };
        print_text(&format!("{}{}", paint.bold(&grant.id), paint.yellow(&plain::line(&state))));
        print_lines(&paint.fold(&format!("    {covered}"), 6));
        print_text(&paint.dim(&format!("    workspace {}", plain::line(&grant.workspace))));
        print_text(&paint.dim(&format!(
            "    given by {} {} ({})",
            plain::line(&grant.owner),
            time::ago(&grant.added_at),
            grant.interrupt
        )));
    }
    if let Some(session) = session {
        list_refusals(&client, session, paint).await?;
    }
    Ok(Exit::Ok)
}

/// Lists the refusals of a session. A refused call needs a new decision each time, until the refusal is revoked.
async fn list_refusals(client: &Client, session: &str, paint: Paint) -> anyhow::Result<()> {
    for item in client.list(&format!("/v1/sessions/{session}/refusals"), &[]).await? {
        let refusal: Refusal = serde_json::from_value(item)?;
        let state = refusal.revoked_at.as_deref().map(|at| format!("  revoked {}", time::ago(at)));
        let state = state.unwrap_or_default();
        print_text(&format!("{}  refused{}", paint.bold(&refusal.interrupt), paint.yellow(&state)));
        print_lines(&paint.fold(&format!("    {}", plain::line(&refusal.words)), 6));
        let by = format!("    refused by {} {}", plain::line(&refusal.by), time::ago(&refusal.refused_at));
        print_text(&paint.dim(&by));
    }
    Ok(())
}

pub(super) async fn revoke(scene: &Scene, grant: &str) -> anyhow::Result<Exit> {
    let client = scene.client()?;
    let is_refusal = grant.starts_with("int_");
    let path = if is_refusal {
        let interrupt = id_of(grant, "int")?;
        let asked: Interrupt = client.get(&format!("/v1/interrupts/{interrupt}")).await?;
        format!("/v1/sessions/{}/refusals/{interrupt}", asked.session)
    } else {
        format!("/v1/grants/{}", id_of(grant, "gra")?)
    };
    let revoked = client.delete(&path).await?;
    if scene.json {
        print_json(&revoked)?;
    } else if is_refusal {
        print_text(&format!(
            "The refusal {grant} is revoked. From now on, the refused call needs approval only if no grant \
            or rule allows it."
        ));
    } else {
        print_text(&format!("The grant {grant} is revoked. The calls that it allowed need approval again."));
    }
    Ok(Exit::Ok)
}
