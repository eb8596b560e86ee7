//! `export` and `import`: copy the journal or some runs from one store to another. No server may use the stores during
//! the copy.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use holdshort_engine::transfer::{self, Error, TransferCounts};
use holdshort_engine::{Driver, Idle, SystemClock, rebuild};
use holdshort_store::Store;
use serde_json::json;

use super::Scene;
use super::journal::{self, open, open_or_make};
use crate::args::{Export, Import};
use crate::client::id_of;
use crate::exit::{Exit, usage};
use crate::new_file::NewFile;
use crate::output::{print_json, print_message, print_text};
use crate::plural::count;

const STDOUT: &str = "-";
const UNFINISHED: &str = "only a part of the file was imported: repeat the command to import the rest";

pub(super) async fn export(scene: &Scene, export: Export) -> anyhow::Result<Exit> {
    let runs =
        export.run.iter().map(|run| Ok(id_of(run, "run")?.parse()?)).collect::<anyhow::Result<Vec<_>>>()?;
    let journal = open(scene, &export.store).await?;
    let written = write(&journal, &runs, &export.file).await;
    journal.close().await.context("the journal could not be closed")?;
    let (moved, from) = (written?, journal::describe_location(scene, &export.store)?);
    let words = format!("Exported {} from {from}.", describe_counts(&moved));
    match (export.file.as_os_str() == STDOUT, scene.json) {
        // Standard output contains the exported journal, so messages go to standard error.
        (true, _) => print_message(&words),
        (false, true) => print_json(&json!({ "from": from, "moved": moved }))?,
        (false, false) => print_text(&words),
    }
    Ok(Exit::Ok)
}

async fn write(
    journal: &Store,
    runs: &[holdshort_core::id::RunId],
    file: &Path,
) -> anyhow::Result<TransferCounts> {
    if file.as_os_str() == STDOUT {
        return Ok(transfer::export(journal, runs, &mut BufWriter::new(io::stdout())).await?);
    }
    // The exported file gets the same permissions as the journal: only its owner may read it.
    let mut out = NewFile::create(file)?;
    let moved = transfer::export(journal, runs, &mut out).await.context("nothing was exported")?;
    out.finish()?;
    Ok(moved)
}

pub(super) async fn import(scene: &Scene, import: Import) -> anyhow::Result<Exit> {
    let file = File::open(&import.file);
    let mut file =
        file.map_err(|error| usage(format!("{} cannot be read: {error}", import.file.display())))?;
    transfer::check(BufReader::new(&file))
        .map_err(|error| usage(format!("{}: {error}; nothing was written", import.file.display())))?;
    file.rewind()?;
    let journal = Arc::new(open_or_make(scene, &import.store).await?);
    let done = async {
        let moved = match transfer::import(&*journal, BufReader::new(&file)).await {
            // No event was written, and a retry would not help.
            Err(error @ (Error::Differs { .. } | Error::KeyDiffers { .. })) => return Err(error.into()),
            imported => imported.context(UNFINISHED)?,
        };
        let driver = Driver::new(journal.clone(), SystemClock, Idle);
        rebuild::rebuild(&driver).await.context(UNFINISHED)?;
        anyhow::Ok(moved)
    };
    let done = done.await;
    journal.close().await.context("the journal could not be closed")?;
    let moved = done?;
    let into = journal::describe_location(scene, &import.store)?;
    if scene.json {
        print_json(&json!({ "into": into, "moved": moved }))?;
    } else {
        print_text(&format!(
            "Imported {} into {into}; existing entries are unchanged.",
            describe_counts(&moved)
        ));
    }
    Ok(Exit::Ok)
}

fn describe_counts(moved: &TransferCounts) -> String {
    let TransferCounts { streams, events, keys, blobs } = *moved;
    format!(
        "{} of {}, {}, {}",
        count(events, "event"),
        count(streams, "stream"),
        count(keys, "key"),
        count(blobs, "workflow")
    )
}
