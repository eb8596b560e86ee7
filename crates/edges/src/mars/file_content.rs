//! Contents of the files that runs changed (contract A33). The web UI names a file only by its path. The returned
//! content is that of the newest run which changed the file, among the runs whose working directory contains the path.
//! The content of a file is read from the journal, never from the disk, so a client can read only files that a run has
//! changed. These routes delete nothing.

use axum::Json;
use axum::body::Bytes;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use holdshort_core::changeset::Entry;
use holdshort_protocol::{Code, plain};
use holdshort_store::{Bodies, Log, RunFilter, Tables};
use holdshort_web::app::App;
use holdshort_web::limits::PAGE_BYTES;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::Params;
use serde::Deserialize;
use serde_json::{Value, json};

use super::caller::person;
use super::files;
use super::projector::work_dir;
use super::start::is_visible;
use crate::credentials::AuthenticatedCaller;
use crate::limits::{MARS_FILE_RUNS, MARS_PROMPT_CHARS};
use crate::run_list::RunListReader;

/// Media types of images, by the ending of the file name. Only images are sent with their own media type.
const IMAGES: [(&str, &str); 9] = [
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("bmp", "image/bmp"),
    ("svg", "image/svg+xml"),
    ("webp", "image/webp"),
    ("tiff", "image/tiff"),
    ("tif", "image/tiff"),
];
const BINARY: &str = "application/octet-stream";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PathQuery {
    #[expect(dead_code, reason = "read during authentication")]
    token: Option<String>,
    path: String,
}

/// `GET /api/files/content?path=`: returns the content of a file as JSON.
pub(super) async fn content(
    guest: AuthenticatedCaller,
    Params(query): Params<PathQuery>,
) -> Answer<Json<Value>> {
    let app = person(guest)?.app;
    let bytes = read(&app, &query.path).await?;
    let size = bytes.len();
    let shown = match String::from_utf8(bytes) {
        Ok(text) => json!({ "content": text, "type": "text", "mime_type": "text/plain" }),
        Err(_) => json!({
            "content": null, "type": "binary", "mime_type": image_type(&query.path).unwrap_or(BINARY),
            "message": "This file is not text: download it.",
        }),
    };
    let mut answer = json!({ "path": query.path, "size": size });
    super::steps::merge(&mut answer, &shown);
    Ok(Json(answer))
}

/// `GET /api/files/download?path=`: returns the content of a file as a download.
pub(super) async fn download(
    guest: AuthenticatedCaller,
    Params(query): Params<PathQuery>,
) -> Answer<Response> {
    let app = person(guest)?.app;
    let bytes = Bytes::from(read(&app, &query.path).await?);
    let name: String = file_name(&query.path).chars().filter(|c| is_plain(*c)).collect();
    let attachment = format!("attachment; filename=\"{name}\"");
    Ok(([(CONTENT_TYPE, BINARY.to_owned()), (CONTENT_DISPOSITION, attachment)], bytes).into_response())
}

/// `GET /api/files/serve-image?path=`: returns an image that a run has written, with the media type of the image.
pub(super) async fn image(guest: AuthenticatedCaller, Params(query): Params<PathQuery>) -> Answer<Response> {
    let app = person(guest)?.app;
    let Some(media_type) = image_type(&query.path) else {
        return Err(Refused::new(Code::InvalidQuery, "path: is not the path of an image"));
    };
    let bytes = Bytes::from(read(&app, &query.path).await?);
    Ok(([(CONTENT_TYPE, media_type)], bytes).into_response())
}

/// `DELETE /api/files/clear-directory?path=`: always rejects the request, because a deletion could not be undone. The
/// web UI shows the message of the error.
pub(super) async fn clear(
    guest: AuthenticatedCaller,
    Params(query): Params<PathQuery>,
) -> Answer<Json<Value>> {
    person(guest)?;
    let path = plain::excerpt(&query.path, MARS_PROMPT_CHARS);
    let why = format!("this server deletes no folder for a page: delete the files in {path} yourself");
    Err(Refused::new(Code::NotFound, why))
}

/// Returns the content of a file after the last change that a run made to it. While the journal is searched for this
/// file, the HTTP request occupies one of the streams whose number the server limits. It reads at most as many events
/// as a list of runs.
async fn read(app: &App, path: &str) -> Answer<Vec<u8>> {
    let mut runs = RunListReader::new(app)?;
    let Entry::File { digest, bytes, .. } = find(app, &mut runs, path).await? else {
        return Err(Refused::new(Code::NotFound, format!("{path} is a link: open it in the task's folder")));
    };
    if bytes > PAGE_BYTES as u64 {
        let why = format!("{path} has {bytes} bytes, more than the {PAGE_BYTES} that one response may have");
        return Err(Refused::new(Code::LimitReached, format!("{why}: open it in the task's folder")));
    }
    let stored = match app.journal().body(&digest).await? {
        Some(body) => Some(body),
        // An earlier version stored file contents as blobs.
        None => app.journal().blob(&digest).await?,
    };
    let gone = || Refused::new(Code::NotFound, format!("the journal no longer has the content of {path}"));
    stored.ok_or_else(gone)
}

/// Returns the entry for a file in the changes of the newest run that changed this file. This run may be one that
/// undoes another run. Only runs whose working directory contains the path are searched.
async fn find(app: &App, runs: &mut RunListReader, path: &str) -> Answer<Entry> {
    for row in app.journal().runs(&RunFilter::default(), None, MARS_FILE_RUNS).await?.items {
        if !is_visible(app, &row).await? {
            continue;
        }
        let begun = app.driver.load_at(&row.run, 1).await?;
        let Some(inner) = below(path, work_dir(&begun)) else { continue };
        let Some(run) = runs.any_run(app, &row).await? else {
            let why = format!(
                "the newest runs in the folder of {path} did not change it, and the older ones have too many events \
                 to search: open it in the task's folder"
            );
            return Err(Refused::new(Code::LimitReached, why));
        };
        if let Some(change) = files::last_change(&run, inner) {
            let why = || format!("the run {} deleted the file {path}", row.run);
            let entry = change.after.clone().filter(files::is_file);
            return entry.ok_or_else(|| Refused::new(Code::NotFound, why()));
        }
    }
    let why = format!(
        "no run of the last {MARS_FILE_RUNS} changed the file {path}: name a file that /api/runs/ID/files lists"
    );
    Err(Refused::new(Code::NotFound, why))
}

/// Returns the part of a path that follows the path of a folder. Returns `None` if the path is not below the folder.
fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    let inner = path.strip_prefix(folder)?.strip_prefix('/')?;
    (!folder.is_empty() && !inner.is_empty()).then_some(inner)
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn image_type(path: &str) -> Option<&'static str> {
    let (_, end) = file_name(path).rsplit_once('.')?;
    IMAGES.iter().find(|(name, _)| end.eq_ignore_ascii_case(name)).map(|(_, media_type)| *media_type)
}

/// Returns true if a character may stand unescaped in the quoted file name of an HTTP header.
fn is_plain(c: char) -> bool {
    (c.is_ascii_graphic() || c == ' ') && !matches!(c, '"' | '\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_below_its_folder_and_no_other() {
        let table = [
            ("/work/a.txt", "/work", Some("a.txt")),
            ("/work/b/a.txt", "/work", Some("b/a.txt")),
            ("/workshop/a.txt", "/work", None),
            ("/work/", "/work", None),
            ("/work", "/work", None),
            ("a.txt", "", None),
            ("/a.txt", "", None),
        ];
        for (path, folder, inner) in table {
            assert_eq!(below(path, folder), inner, "{path} in {folder}");
        }
    }

    #[test]
    fn an_image_is_known_by_its_name_and_a_name_fits_a_header() {
        let found = ["/w/a.PNG", "/w/b.svg", "/w/c.png.txt", "/w.png/d", "png"].map(image_type);
        assert_eq!(found, [Some("image/png"), Some("image/svg+xml"), None, None, None]);
        let name: String = file_name("/w/a\"b\\c\r\né d.txt").chars().filter(|c| is_plain(*c)).collect();
        assert_eq!(name, "abc d.txt");
    }
}
