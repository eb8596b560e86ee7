//! The training files of a folder, and their content. If a folder is read twice in a row, and no name, size or
//! modification time of a file has changed, the second read returns the cached content.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirEntry};
use holdshort_core::digest::Digest;
use serde_json::{Map, Value};

use crate::limits;
use crate::training::{self, Analyst, Code, File, Format, Options, Reading, UnreadData, parts};

#[derive(Debug)]
pub(super) struct Loaded {
    pub reading: Reading,
    /// Parts of the data files in the folder, by analyst. `None` if these parts are too large for the analyst.
    pub parts: BTreeMap<&'static str, Option<Map<String, Value>>>,
}

/// Returns a summary of the unreadable training data in a folder.
///
/// # Errors
/// Returns an error if the folder itself cannot be read.
pub(super) fn not_read(folder: &Path, options: &Options) -> io::Result<UnreadData> {
    let dir = Dir::open_ambient_dir(folder, ambient_authority())?;
    let named = folder.to_string_lossy();
    Ok(load(&named, &dir, options)?.reading.not_read(limits::TRAINING_TOLD))
}

/// Reads the training data of a folder, or returns the cached result. The cache contains only the last folder, so two
/// runs with different folders read their folders for each call.
pub(super) fn load(named: &str, dir: &Dir, options: &Options) -> io::Result<Arc<Loaded>> {
    static LAST: Mutex<Option<(Digest, Arc<Loaded>)>> = Mutex::new(None);
    let mut found = FolderScan::default();
    found.walk(dir, "", 0)?;
    found.choose();
    let read_as = format!("{options:?}");
    let stamps: Vec<_> =
        found.files.iter().map(|file| (&file.path, file.bytes, file.changed.to_string())).collect();
    let key = Digest::of_json(&(named, read_as, stamps, &found.left));
    // The lock is held during the read. Therefore concurrent callers wait and do not read the same folder twice.
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = last.as_ref().filter(|(known, _)| *known == key) {
        return Ok(known.clone());
    }
    // The previous result is dropped first. Otherwise two large results would be in memory at the same time.
    *last = None;
    let read = Arc::new(found.read(dir, options)?);
    *last = Some((key, read.clone()));
    Ok(read)
}

/// Names of files that people and operating systems usually leave next to training data. They are skipped without a
/// notice.
const IGNORED_NAMES: [&str; 10] = [
    "coach.yaml",
    "coach.yml",
    "desktop.ini",
    "license",
    "license.md",
    "license.txt",
    "readme",
    "readme.md",
    "readme.txt",
    "thumbs.db",
];

fn is_ignored_name(name: &str) -> bool {
    name.starts_with('.') || IGNORED_NAMES.contains(&&*name.to_lowercase())
}

#[derive(Default)]
struct FolderScan {
    files: Vec<Stamp>,
    /// Paths of files in the training folder that are not opened, each with a problem code and a reason.
    left: Vec<(String, &'static str, String)>,
}

struct Stamp {
    path: String,
    bytes: u64,
    /// Modification time of a training file in nanoseconds since 1970, negative before 1970.
    changed: i128,
}

impl FolderScan {
    fn walk(&mut self, dir: &Dir, at: &str, depth: usize) -> io::Result<()> {
        for entry in dir.entries()? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind = entry.file_type()?;
            if is_ignored_name(&name) {
                continue;
            }
            let path = if at.is_empty() { name.clone() } else { format!("{at}/{name}") };
            if kind.is_symlink() {
                self.left.push((path, Code::Link.name(), "a symbolic link".to_owned()));
            } else if kind.is_dir() && depth < limits::TRAINING_DEPTH {
                self.walk(&entry.open_dir()?, &path, depth + 1)?;
            } else if kind.is_dir() {
                let told =
                    format!("files in folders deeper than {} levels are not read", limits::TRAINING_DEPTH);
                self.left.push((path, Code::TooDeep.name(), told));
            } else if !kind.is_file() {
                self.left.push((path, Code::UnknownFormat.name(), "not a regular file".to_owned()));
            } else if Format::from_file_name(&name).is_some() {
                self.files.push(stamp(&entry, path)?);
            } else {
                let told = match name.rsplit_once('.') {
                    Some((_, ending)) => format!("`.{ending}` is not a format of training data"),
                    None => "the file name has no extension".to_owned(),
                };
                self.left.push((path, Code::UnknownFormat.name(), told));
            }
        }
        Ok(())
    }

    /// Selects the newest training files up to the limits, and reports all other files as not opened.
    fn choose(&mut self) {
        self.files.sort_by(|one, other| (other.changed, &other.path).cmp(&(one.changed, &one.path)));
        let (mut bytes, mut files) = (0_u64, 0_usize);
        let all = std::mem::take(&mut self.files);
        let count = all.len();
        for file in all {
            let with = bytes.saturating_add(file.bytes);
            if with <= limits::TRAINING_FILES_BYTES && files < training::limits::FILES {
                (bytes, files) = (with, files + 1);
                self.files.push(file);
            } else {
                let most = limits::TRAINING_FILES_BYTES >> 20;
                let at_most = training::limits::FILES;
                let told = format!(
                    "the folder has {count} files; only the newest are read: at most {at_most} files and {most} MiB"
                );
                self.left.push((file.path, Code::LeftOut.name(), told));
            }
        }
        self.files.sort_by(|one, other| one.path.cmp(&other.path));
        self.left.sort();
    }

    fn read(&self, dir: &Dir, options: &Options) -> io::Result<Loaded> {
        let mut files = Vec::with_capacity(self.files.len());
        for file in &self.files {
            let mut bytes = Vec::new();
            // The file may have grown since its size was read, so the read is limited.
            dir.open(&file.path)?.take(file.bytes).read_to_end(&mut bytes)?;
            files.push((file.path.as_str(), bytes));
        }
        let borrowed: Vec<File<'_>> = files.iter().map(|(name, bytes)| File { name, bytes }).collect();
        let mut reading = training::read(&borrowed, options);
        for (path, code, told) in &self.left {
            if let Some(code) = Code::from_name(code) {
                reading.not_opened(path, code, told);
            }
        }
        let own = |analyst: &Analyst| (analyst.name(), own_parts(&borrowed, *analyst));
        let parts = Analyst::ALL.iter().map(own).collect();
        Ok(Loaded { reading, parts })
    }
}

fn stamp(entry: &DirEntry, path: String) -> io::Result<Stamp> {
    let metadata = entry.metadata()?;
    let changed = jiff::Timestamp::try_from(metadata.modified()?.into_std()).map_err(io::Error::other)?;
    Ok(Stamp { path, bytes: metadata.len(), changed: changed.as_nanosecond() })
}

fn own_parts(files: &[File<'_>], analyst: Analyst) -> Option<Map<String, Value>> {
    let mut own = Map::new();
    let is_data = |name: &str| matches!(Format::from_file_name(name), Some(Format::Json | Format::Yaml));
    for file in files.iter().filter(|file| is_data(file.name)) {
        // If the file was refused, the problems of the season already contain it.
        let Ok(parts) = parts(file) else { continue };
        let of_analyst = parts.into_iter().filter(|(part, _)| analyst.parts().contains(part));
        own.extend(of_analyst.map(|(part, value)| (part.to_owned(), value)));
    }
    (Value::from(own.clone()).to_string().len() <= limits::TRAINING_BYTES).then_some(own)
}
