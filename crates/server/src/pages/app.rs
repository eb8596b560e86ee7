//! The files of the app. The app has a single page, which is served at each of the app's paths. The page loads the
//! other files.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{LazyLock, OnceLock};

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH,
    REFERRER_POLICY, VARY,
};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use holdshort_core::digest::Digest;
use holdshort_ui::Asset;
use holdshort_web::accept;
use holdshort_web::problem::{Answer, Refused};

/// Paths at which the server serves the page of the app. The app selects the view to show from the path.
pub(super) const PLACES: [&str; 15] = [
    "/",
    "/login",
    "/inbox",
    "/inbox/{id}",
    "/sessions",
    "/sessions/new",
    "/sessions/{id}",
    "/runs",
    "/runs/new",
    "/runs/{id}",
    "/grants",
    "/people",
    "/system",
    "/system/keys",
    "/system/audit",
];

/// Content security policy of the app's page: only script files of the app run, and scripts cannot insert text as HTML.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'; require-trusted-types-for 'script'; \
                      trusted-types svelte-trusted-html holdshort-worker";

const PAGE: &str = "index.html";
/// Directory in the app's build with the files that the page of the app loads.
const ASSETS: &str = "assets/";

/// Files of the app's build, by their paths. Paths below `assets/` contain the id of the build. The content at these
/// paths never changes, and the page of one build never loads a file of another build.
static FILES: LazyLock<BTreeMap<String, File>> = LazyLock::new(|| {
    let all: BTreeMap<Cow<'static, str>, Asset> =
        holdshort_ui::paths().filter_map(|path| Some((path.clone(), holdshort_ui::asset(&path)?))).collect();
    let tags: Vec<&[u8]> =
        all.iter().flat_map(|(path, asset)| [path.as_bytes(), asset.etag.as_bytes()]).collect();
    let build = Digest::of_parts(&tags).to_string();
    let here = format!("{ASSETS}{}/", &build[..BUILD_CHARS]);
    let file = |(path, mut asset): (Cow<'static, str>, Asset)| {
        if path == PAGE {
            let page = String::from_utf8_lossy(&asset.bytes);
            let page = page.replace("\"./assets/", &format!("\"/{here}")).replace("\"./", "\"/");
            asset = Asset { bytes: page.into_bytes().into(), etag: format!("\"{build}\""), ..asset };
        }
        let path = match path.strip_prefix(ASSETS) {
            Some(name) => format!("{here}{name}"),
            None => path.into_owned(),
        };
        (path, File { asset, gzip: OnceLock::new() })
    };
    all.into_iter().map(file).collect()
});

/// Number of characters of the build id in the paths of the app's files.
const BUILD_CHARS: usize = 16;

struct File {
    asset: Asset,
    /// Compressed content of a file of the app, created at the first request. `None` if compressing the file does not
    /// make it smaller.
    gzip: OnceLock<Option<Vec<u8>>>,
}

pub(super) async fn page(headers: HeaderMap) -> Answer<Response> {
    give(PAGE, &headers)
}

/// Serves a file that the page of the app loads.
pub(super) async fn file(uri: Uri, headers: HeaderMap) -> Answer<Response> {
    give(uri.path().trim_start_matches('/'), &headers)
}

fn give(path: &str, headers: &HeaderMap) -> Answer<Response> {
    let file = FILES.get(path).ok_or_else(|| Refused::not_found("file"))?;
    let gzip = file.gzip().filter(|_| accept::takes_gzip(headers));
    // Each encoding needs a separate ETag (RFC 9110, 8.8.3.3).
    let etag = match gzip {
        Some(_) => format!("{}-gzip\"", file.asset.etag.trim_end_matches('"')),
        None => file.asset.etag.clone(),
    };
    let known = is_known(headers, &etag);
    let is_fixed = path.starts_with(ASSETS);
    let always = [
        (CACHE_CONTROL, if is_fixed { "public, max-age=31536000, immutable" } else { "no-cache" }),
        (VARY, "accept-encoding"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (REFERRER_POLICY, "same-origin"),
        (CONTENT_TYPE, &file.asset.content_type),
    ];
    let body = match gzip {
        _ if known => return Ok((StatusCode::NOT_MODIFIED, always, [(ETAG, etag)]).into_response()),
        Some(bytes) => ([(CONTENT_ENCODING, "gzip")], Body::from(bytes)).into_response(),
        None => Body::from(file.asset.bytes.clone()).into_response(),
    };
    Ok((always, [(ETAG, etag)], body).into_response())
}

fn is_known(headers: &HeaderMap, etag: &str) -> bool {
    let lines = headers.get_all(IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
    let mut tags = lines.flat_map(|line| line.split(',')).map(str::trim);
    tags.any(|tag| tag == "*" || tag.trim_start_matches("W/") == etag)
}

impl File {
    fn gzip(&self) -> Option<&[u8]> {
        let bytes = &self.asset.bytes;
        let compressed = || {
            let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
            gzip.write_all(bytes).ok()?;
            gzip.finish().ok().filter(|compressed| compressed.len() < bytes.len())
        };
        self.gzip.get_or_init(compressed).as_deref()
    }
}
