//! `audit verify` and `audit head`: verify that the journal is unchanged, and print its head so that a person can write
//! it down.
//!
//! If a server uses the journal, this server verifies it. If no server uses the journal, this process reads the journal
//! without ever writing to it.

use std::path::Path;

use anyhow::Context;
use holdshort_core::head::HeadNote;
use holdshort_engine::audit;
use holdshort_engine::evidence::{Checkpoint, Malformed, VerifyingKey, are_notes, mail_text, notes};
use holdshort_protocol::{JournalHead, MAX_HEADS, Verification, plain};
use holdshort_server::{journal_head, verification};
use holdshort_store::{self as store, Log, Store, postgres};
use serde::Deserialize;
use serde_json::Value;

use super::Scene;
use super::journal;
use crate::args::{StoreArgs, Verify};
use crate::client::Client;
use crate::data_dir::DataDir;
use crate::exit::{Exit, damage, is_no_server, usage};
use crate::output::{print_json, print_text};
use crate::plural::count;
use crate::program_name::with_program_name;
use crate::terminal::paint::Paint;

pub(super) async fn head(scene: &Scene, at: &StoreArgs) -> anyhow::Result<Exit> {
    let head: JournalHead = match source(scene, at).await? {
        Source::Server(client) => client.get("/v1/audit/head").await?,
        Source::Here(journal) => {
            let head = journal.head().await;
            journal.close().await.context("the journal could not be closed")?;
            journal_head(head.map_err(not_read)?)
        }
    };
    if scene.json {
        print_json(&head)?;
    } else {
        print_text(&head.head);
    }
    Ok(Exit::Ok)
}

pub(super) async fn verify(scene: &Scene, verify: &Verify) -> anyhow::Result<Exit> {
    let Verify { against, key, store } = verify;
    let kept = against.as_ref().map(|against| heads(against, key)).transpose()?.unwrap_or_default();
    let HeadsToCompare { noted, left_out } = kept;
    let mut found: Value = match source(scene, store).await? {
        Source::Server(client) => {
            let mut path = "/v1/audit/verify".to_owned();
            if !noted.is_empty() {
                let heads: Vec<String> = noted.iter().map(HeadNote::to_string).collect();
                path = format!("{path}?against={}", heads.join(","));
            }
            client.get(&path).await?
        }
        Source::Here(journal) => {
            let report = audit::verify_against(&*journal, &noted).await;
            journal.close().await.context("the journal could not be closed")?;
            serde_json::to_value(verification(report.map_err(not_read)?))?
        }
    };
    let report: Verification = serde_json::from_value(found.clone())?;
    if scene.json {
        if !left_out.is_empty() {
            found["left_out"] = left_out.into();
        }
        print_json(&found)?;
    } else {
        print_report(&report);
        for why in &left_out {
            print_text(&format!("  {}", plain::line(why)));
        }
    }
    Ok(if report.intact { Exit::Ok } else { Exit::Failed })
}

/// Component that reads the journal for an audit: a running server, or this process.
enum Source {
    Server(Client),
    Here(Box<Store>),
}

async fn source(scene: &Scene, at: &StoreArgs) -> anyhow::Result<Source> {
    let no_server = match scene.client() {
        Ok(client) => return Ok(Source::Server(client)),
        Err(error) if scene.reach.server.is_none() && is_no_server(&error) => error,
        Err(error) => return Err(error),
    };
    let data_dir = DataDir::resolve(scene.reach.data.as_deref())?;
    if at.store.is_none() && !data_dir.holds_journal() {
        return Err(data_dir.lost_journal().map_or(no_server, damage));
    }
    let words = journal::describe_location(scene, at)?;
    match Store::open_to_read(&data_dir.path, journal::location(at)).await {
        Ok(store) => Ok(Source::Here(Box::new(store))),
        Err(store::Error::InUse) => {
            Err(usage(format!("a server uses {words} and does not answer: try again")))
        }
        Err(error @ (store::Error::Outdated { .. } | store::Error::FromTheFuture { .. })) => {
            Err(usage(format!("{words}: {error}")))
        }
        Err(store::Error::Io(source)) if source.is::<postgres::Unsupported>() => {
            Err(usage(format!("{words}: {source}")))
        }
        Err(error) => Err(not_read(error)).with_context(|| words),
    }
}

/// Converts an error from reading the journal. A journal that is too damaged to be read has its own error code.
fn not_read(error: store::Error) -> anyhow::Error {
    match error {
        error @ store::Error::Corrupt(_) => damage(error.to_string()),
        error => error.into(),
    }
}

/// Heads to compare with the journal, and messages about incomplete checkpoints that are not compared.
#[derive(Default)]
struct HeadsToCompare {
    noted: Vec<HeadNote>,
    left_out: Vec<String>,
}

impl From<Vec<HeadNote>> for HeadsToCompare {
    fn from(noted: Vec<HeadNote>) -> Self {
        Self { noted, left_out: Vec::new() }
    }
}

/// Reads the heads to compare with the journal. `against` is a head itself, a file with one head per line, a file of
/// checkpoints, or a mail with one checkpoint.
fn heads(against: &str, keys: &[String]) -> anyhow::Result<HeadsToCompare> {
    let malformed = match against.parse::<HeadNote>() {
        Ok(noted) => return Ok(vec![noted].into()),
        Err(malformed) => malformed,
    };
    if !Path::new(against).is_file() {
        return Err(usage(format!(
            "--against {against}: {malformed}; a file with one head per line is accepted too"
        )));
    }
    let text = std::fs::read_to_string(against).map_err(|error| usage(format!("{against}: {error}")))?;
    // A saved mail has CRLF line ends.
    let text = text.replace("\r\n", "\n");
    let text = mail_text(&text).unwrap_or(text);
    if are_notes(&text) {
        return checkpoints(against, &text, keys);
    }
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let noted = lines.map(|(number, line)| {
        parse_head(line).ok_or_else(|| usage(format!("{against}, line {number}: {malformed}")))
    });
    let noted = noted.collect::<anyhow::Result<Vec<_>>>()?;
    at_most(against, &noted)?;
    if noted.is_empty() { Err(usage(format!("{against} contains no head"))) } else { Ok(noted.into()) }
}

fn at_most(file: &str, heads: &[HeadNote]) -> anyhow::Result<()> {
    match heads.len() {
        ..=MAX_HEADS => Ok(()),
        many => Err(usage(format!("{file} contains {many} heads; at most {MAX_HEADS} are compared at once"))),
    }
}

/// Reads the newest checkpoints in a file, and the heads (event count and hash) between them. The person must name the
/// accepted keys, because an attacker who can write the journal can sign checkpoints with a new key.
fn checkpoints(file: &str, text: &str, keys: &[String]) -> anyhow::Result<HeadsToCompare> {
    if keys.is_empty() {
        let told = "`audit checkpoint` printed the key with the checkpoint, and the event \
                    `checkpoint_key_set` in the journal contains the key";
        return Err(usage(format!(
            "{file} contains checkpoints; use --key to name the key that signed these checkpoints. {told}"
        )));
    }
    let keys = keys
        .iter()
        .map(|key| key.parse::<VerifyingKey>().map_err(|error| usage(format!("--key {key}: {error}"))));
    let keys = keys.collect::<anyhow::Result<Vec<_>>>()?;
    let (all, outside) = notes(text);
    let outside = outside.into_iter().filter_map(|(number, line)| {
        parse_head_outside_checkpoints(&format!("{file}, line {number}"), line).transpose()
    });
    let mut kept = HeadsToCompare::from(outside.collect::<anyhow::Result<Vec<_>>>()?);
    let heads = kept.noted.len();
    let room = MAX_HEADS.saturating_sub(heads);
    if room == 0 {
        return Err(usage(format!(
            "{file} contains {heads} heads and its checkpoints; the maximum for both together is {MAX_HEADS}"
        )));
    }
    let mut is_whole = false;
    for (number, note) in (1..).zip(&all).skip(all.len().saturating_sub(room)) {
        let place = format!("{file}, checkpoint {number}");
        match Checkpoint::open(note, &keys) {
            Ok(checkpoint) => {
                is_whole = true;
                kept.noted.push(HeadNote::root(checkpoint.size, &checkpoint.root));
            }
            // A crash interrupted the writing of this checkpoint. All other checkpoints are valid.
            Err(error @ Malformed::Text) => {
                // In this file, a head may follow the incomplete checkpoint directly. The `head` line inside the
                // checkpoint is skipped, because it is not signed.
                for line in note.lines().filter(|line| !line.starts_with("head ")) {
                    kept.noted.extend(parse_head_outside_checkpoints(&place, line)?);
                }
                kept.left_out.push(format!("{place} is ignored: {error}"));
            }
            Err(error @ Malformed::Signature) => return Err(usage(format!("{place}: {error}"))),
        }
    }
    at_most(file, &kept.noted)?;
    if is_whole { Ok(kept) } else { Err(usage(format!("{file} contains no complete checkpoint"))) }
}

/// Returns the head (event count and hash) at the end of a line outside the checkpoints, or `None` if the line contains
/// none. Rejects an incomplete head, which would otherwise be ignored as text.
fn parse_head_outside_checkpoints(place: &str, line: &str) -> anyhow::Result<Option<HeadNote>> {
    let is_like_one = |word: &str| {
        word.split_once(':').is_some_and(|(events, digits)| {
            let is_number = !events.is_empty() && events.bytes().all(|byte| byte.is_ascii_digit());
            // A time of day would have only two digits after the colon.
            is_number && digits.len() > 2 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
    };
    match parse_head(line) {
        Some(noted) => Ok(Some(noted)),
        None if line.split_whitespace().next_back().is_some_and(is_like_one) => {
            let malformed = holdshort_core::head::Malformed;
            Err(usage(format!("{place}: {malformed}")))
        }
        None => Ok(None),
    }
}

/// Returns the head (event count and hash) at the end of a line, which may begin with a date. Also reads the output of
/// `audit head --json`.
fn parse_head(line: &str) -> Option<HeadNote> {
    #[derive(Deserialize)]
    struct Printed {
        events: u64,
        hash: String,
    }
    if let Ok(Printed { events, hash }) = serde_json::from_str(line) {
        return format!("{events}:{hash}").parse().ok();
    }
    line.split_whitespace().next_back()?.parse().ok()
}

fn print_report(report: &Verification) {
    let paint = Paint::stdout();
    let size = format!("{} in {}", count(report.events, "event"), count(report.streams, "stream"));
    if report.intact {
        print_text(&format!("{} {size} verified. No change was detected.", paint.green("✓")));
        for compared in &report.against {
            print_text(&format!(
                "  The journal continues from the head {}: all earlier events are unchanged.",
                plain::line(&compared.head)
            ));
        }
        if report.unsealed > 0 {
            print_text(&format!(
                "  {} not in the hash chain yet. A server adds new events within a second; verify again.",
                is_or_are(report.unsealed)
            ));
        }
        print_text(&format!("  Its head is {}", plain::line(&report.head)));
        return;
    }
    print_text(&format!("{} the journal was damaged or changed ({size}):", paint.red("✗")));
    for damage in &report.damages {
        print_text(&format!(
            "  {}: {}",
            plain::line(&damage.stream),
            with_program_name(&plain::line(&damage.message))
        ));
    }
    print_text(
        "  Restore the data folder from a backup, or restore the database if the journal is in a database.",
    );
    print_text("  Runs that are not named here are not affected.");
}

fn is_or_are(events: u64) -> String {
    format!("{} {}", count(events, "event"), if events == 1 { "is" } else { "are" })
}
