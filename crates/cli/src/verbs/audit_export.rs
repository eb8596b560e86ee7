//! `audit export`: writes the events of the journal as lines of JSON, or as a table.

use std::io::{self, Write};

use holdshort_protocol::{Event, List, plain};
use serde_json::Value;

use super::Scene;
use crate::args::{AuditExport, AuditFormat};
use crate::client::segment;
use crate::exit::Exit;
use crate::new_file::NewFile;
use crate::output::print_text;
use crate::plural::count;

/// Columns of the table of exported events. The column `data` contains all data of the event.
const COLUMNS: [&str; 11] =
    ["at", "stream", "seq", "type", "actor", "role", "via", "interrupt", "option", "outcome", "data"];

pub(super) async fn export(scene: &Scene, args: &AuditExport) -> anyhow::Result<Exit> {
    let client = scene.client()?;
    let Some(path) = &args.out else {
        return match pages(&client, args, &mut io::stdout().lock()).await {
            // The reader has closed the pipe.
            Err(error) if is_broken_pipe(&error) => Ok(Exit::Ok),
            Err(error) => Err(error),
            Ok(_) => Ok(Exit::Ok),
        };
    };
    let mut file = NewFile::create(path)?;
    let events = pages(&client, args, &mut file).await?;
    file.finish()?;
    print_text(&format!("{} in {}", count(events, "event"), plain::line(&path.display().to_string())));
    Ok(Exit::Ok)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Writes the exported events page by page. Returns the number of events that were written.
async fn pages(
    client: &crate::client::Client,
    args: &AuditExport,
    out: &mut impl Write,
) -> anyhow::Result<u64> {
    let filters = [
        ("stream", &args.stream),
        ("type", &args.kind),
        ("actor", &args.actor),
        ("from", &args.from),
        ("to", &args.to),
    ];
    let filters = filters
        .into_iter()
        .filter_map(|(name, value)| Some(format!("&{name}={}", segment(value.as_deref()?))));
    let filters: String = filters.collect();
    let mut events = 0;
    let mut cursor = String::new();
    if args.format == AuditFormat::Csv {
        write_row(out, COLUMNS.map(str::to_owned).as_slice())?;
    }
    loop {
        let path = format!("/v1/audit/events?limit=200{filters}{cursor}");
        let page: List<Value> = client.get(&path).await?;
        for item in page.items {
            match args.format {
                AuditFormat::Jsonl => writeln!(out, "{item}")?,
                AuditFormat::Csv => write_row(out, &row(&serde_json::from_value(item)?))?,
            }
            events += 1;
        }
        match page.next_cursor {
            Some(next) => cursor = format!("&cursor={}", segment(&next)),
            None => return Ok(events),
        }
    }
}

fn row(event: &Event) -> Vec<String> {
    let said = |name: &str| match event.data.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    };
    let role = serde_json::to_value(&event.actor).ok();
    let of_actor =
        |name: &str| role.as_ref().and_then(|actor| actor[name].as_str()).unwrap_or_default().to_owned();
    vec![
        event.at.clone(),
        event.stream.clone(),
        event.seq.to_string(),
        event.kind.clone(),
        event.actor.id.clone(),
        of_actor("role"),
        of_actor("via"),
        said("interrupt"),
        said("option"),
        said("outcome"),
        event.data.to_string(),
    ]
}

/// Writes a row of a CSV table (RFC 4180). A cell that a spreadsheet would interpret as a formula is prefixed with an
/// apostrophe, as OWASP recommends.
fn write_row(out: &mut impl Write, cells: &[String]) -> io::Result<()> {
    let cells: Vec<String> = cells.iter().map(|cell| written(cell)).collect();
    write!(out, "{}\r\n", cells.join(","))
}

fn written(cell: &str) -> String {
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let guarded = if is_formula { format!("'{cell}") } else { cell.to_owned() };
    if guarded.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", guarded.replace('"', "\"\""))
    } else {
        guarded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_no_formula() {
        for (cell, expected) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"no\"", "\"say \"\"no\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("=1+1", "'=1+1"),
            ("@cmd", "'@cmd"),
            ("-1", "'-1"),
            ("+A1,2", "\"'+A1,2\""),
            ("", ""),
        ] {
            assert_eq!(written(cell), expected, "{cell}");
        }
    }
}
