//! `audit checkpoint` and `receipt`: proofs that a person can verify without Holdshort.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use holdshort_engine::evidence;
use holdshort_protocol::{SignedCheckpoint, plain};
use serde_json::{Value, json};

use super::Scene;
use crate::args::Receipt;
use crate::client::id_of;
use crate::exit::Exit;
use crate::new_file::NewFile;
use crate::output::{print_json, print_message_lines, print_text};
use crate::plural::count;
use crate::terminal::paint::Paint;

pub(super) async fn checkpoint(scene: &Scene, out: Option<&Path>) -> anyhow::Result<Exit> {
    let signed: SignedCheckpoint = scene.client()?.post("/v1/audit/checkpoints", &json!({})).await?;
    if let Some(path) = out {
        evidence::append(path, &signed.note).with_context(|| path.display().to_string())?;
    }
    if scene.json {
        print_json(&signed)?;
        return Ok(Exit::Ok);
    }
    let told = match out {
        Some(path) => {
            format!("{} in {}", count(signed.size, "event"), plain::line(&path.display().to_string()))
        }
        None => signed.note.trim_end().to_owned(),
    };
    print_text(&told);
    let paint = Paint::stderr();
    print_message_lines(&paint.message(&format!("The signing key is {}", plain::line(&signed.key)), 0));
    Ok(Exit::Ok)
}

pub(super) async fn receipt(scene: &Scene, receipt: &Receipt) -> anyhow::Result<Exit> {
    let id = id_of(&receipt.interrupt, "int")?;
    let client = scene.client()?;
    if receipt.html {
        let page = client.text(&format!("/v1/receipts/{id}/page")).await?;
        match &receipt.out {
            Some(path) => {
                write_new(path, page.as_bytes())?;
                print_text(&format!("A page in {}", plain::line(&path.display().to_string())));
            }
            None => print_text(page.trim_end()),
        }
        return Ok(Exit::Ok);
    }
    let found: Value = client.get(&format!("/v1/receipts/{id}")).await?;
    let Some(path) = &receipt.out else {
        print_json(&found)?;
        return Ok(Exit::Ok);
    };
    write_new(path, &serde_json::to_vec_pretty(&found)?)?;
    let events = found["events"].as_array().map_or(0, Vec::len) as u64;
    print_text(&format!("{} in {}", count(events, "event"), plain::line(&path.display().to_string())));
    Ok(Exit::Ok)
}

/// Writes a new file that only its owner may read, because the file contains the content of events.
fn write_new(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let mut file = NewFile::create(path)?;
    file.write_all(bytes).with_context(|| path.display().to_string())?;
    file.finish()
}
