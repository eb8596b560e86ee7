//! npm package with the binary, whose installation downloads nothing and runs no script.

use anyhow::Result;
use serde_json::json;

use super::{Entry, Release, SUMMARY, archive};

pub(super) fn package(release: &Release) -> Result<(String, Vec<u8>)> {
    let Release { version, target, program, documents, .. } = release;
    let manifest = json!({
        "name": "holdshort",
        "version": version,
        "description": SUMMARY,
        "license": "Apache-2.0",
        "bin": {"holdshort": "bin/holdshort"},
        "files": ["bin"],
        "os": ["linux"],
        "cpu": [target.npm],
        "libc": ["glibc"],
    });
    let mut entries = vec![
        Entry::text("package/package.json", serde_json::to_string_pretty(&manifest)? + "\n"),
        Entry::program("package/bin/holdshort", program),
    ];
    entries
        .extend(documents.iter().map(|(name, text)| Entry::text(format!("package/{name}"), text.as_str())));
    Ok((format!("holdshort-{version}-npm-linux-{}.tgz", target.npm), archive::tar_gz(entries)?))
}
