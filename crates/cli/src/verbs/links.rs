//! Links to open in a browser: a login link, or a link with which a person decides on one interrupt.
//!
//! Only the link goes to standard output, so that it can be copied or piped. Explanations go to standard error.

use holdshort_protocol::{Link, LinkRequest, LoginLinkRequest, plain};

use super::Scene;
use crate::client::id_of;
use crate::embed::Embedded;
use crate::exit::Exit;
use crate::output::{print_json, print_message_lines, print_text};
use crate::program_name::holdshort;
use crate::terminal::paint::Paint;
use crate::terminal::time;

/// Implements `login` without a sign-in at an identity provider: prints a new login link.
pub(super) async fn login(scene: &Scene, person: Option<String>) -> anyhow::Result<Exit> {
    let who = person.as_deref().map_or_else(|| "you".to_owned(), |who| format!("`{}`", plain::line(who)));
    let link: Link = scene.client()?.post("/v1/login-links", &LoginLinkRequest { person }).await?;
    show(scene, &link, &format!("The link signs one browser in as {who}, once"))
}

/// Implements `link`: prints a link with which a person decides on one interrupt.
pub(super) async fn decision(
    scene: &Scene,
    interrupt: &str,
    expires_in_ms: Option<u64>,
) -> anyhow::Result<Exit> {
    let interrupt = id_of(interrupt, "int")?;
    let path = format!("/v1/interrupts/{interrupt}/links");
    let link: Link = scene.client()?.post(&path, &LinkRequest { expires_in_ms }).await?;
    let is_local = ["http://127.0.0.1:", "http://localhost:", "http://[::1]:"];
    let here = if is_local.iter().any(|start| link.url.starts_with(start)) { " on this machine" } else { "" };
    show(
        scene,
        &link,
        &format!("Anyone who opens the link{here} acts on this interrupt as you, with your permissions"),
    )
}

fn show(scene: &Scene, link: &Link, what: &str) -> anyhow::Result<Exit> {
    if scene.json {
        print_json(link)?;
    } else {
        print_text(&link.url);
        let paint = Paint::stderr();
        let note =
            paint.message(&format!("{what}. The link is valid until {}.", time::at(&link.expires_at)), 0);
        print_message_lines(&note.iter().map(|line| paint.dim(line)).collect::<Vec<_>>());
    }
    Ok(Exit::Ok)
}

/// Returns a login link for the browser, at the server in this process. If the output is not a terminal, returns a hint
/// instead, so that no link is written into a file.
pub(super) fn invitation(embedded: &Embedded, words: &str, paint: Paint) -> anyhow::Result<String> {
    if !paint.is_terminal {
        return Ok(format!("`{} login{words}` prints a link", holdshort()));
    }
    Ok(format!("{}  (works once, and signs the browser in)", embedded.server.login_link()?))
}
