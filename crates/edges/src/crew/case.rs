//! The case of a task: a folder directly inside the folder `CREW_CASES`. A domain pack (an extension for one domain)
//! reads the files of the case, and replaces the names of people in the task's inputs with numbers.

use std::fs;
use std::path::{Component, Path};

use holdshort_protocol::Code;
use holdshort_web::problem::{Answer, Refused};
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;

use super::Settings;

/// Member of a task's inputs that names the task's case: the folder with the files of the task.
pub const CASE: &str = "case";
/// Member of a task's inputs with the date as of which the task's case is read.
pub const AS_OF: &str = "as_of";

/// Function of a domain pack that reads a case (the folder with the files of a task). The arguments are the folder of
/// the case, the case's name in the task's inputs, and all inputs. Returns the inputs with which the task starts.
pub type ReadCase = fn(&Path, &str, Map<String, Value>) -> Result<Map<String, Value>, CaseError>;

/// Error for a case (a folder with the files of a task) that cannot be used.
#[derive(Debug)]
pub struct CaseError {
    /// Member of the task's inputs that is wrong.
    pub member: &'static str,
    pub message: String,
}

/// Folder with the files of a task (its case), and the inputs with which the task starts.
pub(super) struct Case {
    pub(super) folder: String,
    pub(super) inputs: Map<String, Value>,
}

/// Reads the case that the `inputs` of a task name. The whole case is read, so that every error in its files is
/// reported before the task starts.
pub(super) async fn open(
    settings: &Settings,
    read_case: Option<ReadCase>,
    mut inputs: Map<String, Value>,
) -> Answer<Case> {
    let Some(read) = read_case else {
        return Err(wrong(
            CASE,
            "cannot be read: this build of Holdshort has no pack that reads cases; start a build that has \
             one",
        ));
    };
    let Some(cases) = &settings.cases else {
        let rule = "cannot be used: this crew works in a case folder, so start the server with CREW_CASES, \
                    the folder of the cases";
        return Err(wrong(CASE, rule));
    };
    let Some(named) = inputs.remove(CASE) else {
        return Err(wrong(CASE, "is missing: this crew works in a case folder; name a folder in CREW_CASES"));
    };
    let Some(name) = named.as_str().filter(|name| is_plain(name)).map(str::to_owned) else {
        return Err(wrong(CASE, "is not the plain name of a folder in CREW_CASES"));
    };
    let folder = format!("{cases}/{name}");
    let (path, called) = (folder.clone(), name.clone());
    let reading = spawn_blocking(move || {
        // A symbolic link is not followed, because its target could be outside `CREW_CASES`.
        let is_folder = fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir());
        is_folder.then(|| read(Path::new(&path), &called, inputs))
    });
    let read = reading.await.map_err(|error| {
        tracing::error!(%error, "a case could not be read completely");
        Refused::from_code(Code::Internal)
    })?;
    match read {
        // The journal keeps the name of the folder permanently. If the pack has replaced the name in the inputs, the
        // name contains personal data.
        Some(Ok(inputs)) if inputs.get(CASE).and_then(Value::as_str) != Some(&*name) => {
            let rule = "contains a name, an id, an account or a birth date of a person in the case, which \
                        would be recorded permanently: rename the folder to a number of your own";
            Err(wrong(CASE, rule))
        }
        Some(Ok(inputs)) => Ok(Case { folder, inputs }),
        Some(Err(CaseError { member, message })) => Err(wrong(member, &message)),
        None => Err(wrong(CASE, "is not a folder in CREW_CASES; symbolic links are not followed")),
    }
}

/// Returns an error about a member of a task's inputs.
fn wrong(member: &str, rule: &str) -> Refused {
    Refused::invalid_at(&format!("/inputs/{member}"), rule)
}

/// Returns true if a name is a single path component, so that it cannot leave the parent folder.
fn is_plain(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_plain_or_none() {
        for name in ["T123", "T 123", "Ümlaut.2026", "...", ".hidden"] {
            assert!(is_plain(name), "{name}");
        }
        for name in
            ["", ".", "..", "/", "/T123", "T123/", "./T123", "../T123", "T123/..", "a/b", "a//b", "a/."]
        {
            assert!(!is_plain(name), "{name}");
        }
    }
}
