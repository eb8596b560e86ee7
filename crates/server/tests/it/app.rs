//! Pages for browsers: the app at its paths, its files, pages without scripts, and the security headers of all of them.

use reqwest::Method;
use reqwest::header::ACCEPT;

use crate::harness::{PageResponse, Served, fetch_page};

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

async fn get(served: &Served, path: &str, headers: &[(&str, &str)]) -> PageResponse {
    let mut request = served.api(None).request(Method::GET, path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    fetch_page(request).await
}

#[tokio::test]
async fn the_app_is_at_its_places_and_nowhere_else() {
    let served = Served::new().await;
    for path in [
        "/",
        "/login",
        "/inbox",
        "/inbox/int_1",
        "/sessions",
        "/sessions/new",
        "/sessions/ses_1",
        "/runs",
        "/runs/new",
        "/runs/run_1",
        "/grants",
        "/people",
        "/system",
        "/system/keys",
        "/system/audit",
    ] {
        let page = get(&served, path, &[]).await;
        assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"), "{path}");
        assert!(page.text.starts_with("<!doctype html>"), "{path}");
        let head = fetch_page(served.api(None).request(Method::HEAD, path)).await;
        assert_eq!((head.status, &*head.text), (200, ""), "{path}");
        assert_eq!(fetch_page(served.api(None).request(Method::POST, path)).await.status, 405, "{path}");
    }
    for path in
        ["/inbox/", "/inbox/a/b", "/index.html", "/nothing", "/assets/nothing.js", "/assets/../index.html"]
    {
        let program = get(&served, path, &[("accept", "*/*")]).await;
        assert_eq!(
            (program.status, program.header("content-type")),
            (404, "application/problem+json"),
            "{path}"
        );
    }
    let browser = get(&served, "/<b>nothing</b>", &[("accept", BROWSER)]).await;
    assert_eq!((browser.status, browser.header("content-type")), (404, "text/html; charset=utf-8"));
    assert!(
        browser.text.contains("Nothing here") && !browser.text.contains("<b>nothing"),
        "{}",
        browser.text
    );
}

#[tokio::test]
async fn a_file_that_a_browser_has_is_not_sent_again() {
    let served = Served::new().await;
    let page = get(&served, "/", &[]).await;
    let paths = std::iter::once("/".to_owned()).chain(
        page.text
            .split('"')
            .filter(|part| part.starts_with("/assets/") || *part == "/favicon.svg")
            .map(str::to_owned),
    );
    let paths: Vec<String> = paths.collect();
    assert!(paths.iter().filter(|path| path.starts_with("/assets/")).count() >= 2, "{}", page.text);
    assert!(!page.text.contains("\"./"), "an address that depends on the place: {}", page.text);
    for path in paths {
        let file = get(&served, &path, &[]).await;
        let etag = file.header("etag");
        // The path contains the id of a build, so the content at the path never changes.
        let cached =
            if path.starts_with("/assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
        assert_eq!(
            (file.status, file.header("cache-control"), file.header("vary")),
            (200, cached, "accept-encoding"),
            "{path}"
        );
        for known in [etag.to_owned(), format!("W/{etag}"), format!("\"a\", {etag}"), "*".to_owned()] {
            let again = get(&served, &path, &[("if-none-match", &known)]).await;
            assert_eq!((again.status, &*again.text, again.header("etag")), (304, "", etag), "{path} {known}");
        }
        assert_eq!(get(&served, &path, &[("if-none-match", "\"other\"")]).await.status, 200, "{path}");
    }
}

/// The service worker of the app is served at the root, because it controls only pages below the directory from which
/// it is served.
#[tokio::test]
async fn the_service_worker_is_at_the_root() {
    let served = Served::new().await;
    let worker = get(&served, "/sw.js", &[]).await;
    assert_eq!((worker.status, worker.header("content-type")), (200, "text/javascript; charset=utf-8"));
    assert!(worker.text.contains("notificationclick"), "{}", worker.text);
}

#[tokio::test]
async fn a_page_of_another_build_loads_nothing_of_this_one() {
    let served = Served::new().await;
    let page = get(&served, "/", &[]).await;
    let entry = page.text.split('"').find(|part| part.ends_with("/index.js")).unwrap();
    let build = entry.trim_start_matches("/assets/").trim_end_matches("/index.js");
    assert!(build.len() == 16 && build.chars().all(|char| char.is_ascii_hexdigit()), "{entry}");
    for other in ["/assets/index.js".to_owned(), entry.replace(build, "0123456789abcdef")] {
        assert_eq!(get(&served, &other, &[]).await.status, 404, "{other}");
    }
}

#[tokio::test]
async fn files_are_compressed_for_those_who_ask() {
    let served = Served::new().await;
    let style = get(&served, "/page.css", &[]).await;
    assert_eq!((style.status, style.header("content-type")), (200, "text/css; charset=utf-8"));
    let plain = get(&served, "/", &[]).await;
    let gzip = served.api(None).request(Method::GET, "/").header("accept-encoding", "gzip, br");
    let gzip = gzip.send().await.unwrap();
    assert_eq!(gzip.headers()["content-encoding"], "gzip");
    assert_ne!(gzip.headers()["etag"], plain.headers["etag"]);
    let etag = gzip.headers()["etag"].to_str().unwrap().to_owned();
    let bytes = gzip.bytes().await.unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&*bytes), &mut text).unwrap();
    assert_eq!(text, plain.text);
    let known = [("accept-encoding", "gzip"), ("if-none-match", &*etag)];
    assert_eq!(get(&served, "/", &known).await.status, 304);
    for refused in ["gzip;q=0", "br", "identity"] {
        assert_eq!(
            get(&served, "/", &[("accept-encoding", refused)]).await.header("content-encoding"),
            "",
            "{refused}"
        );
    }
}

#[tokio::test]
async fn every_answer_is_sealed() {
    let served = Served::new().await;
    let app = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
               font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
               require-trusted-types-for 'script'; trusted-types svelte-trusted-html holdshort-worker";
    let page = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; \
                frame-ancestors 'none'";
    let data = "default-src 'none'; frame-ancestors 'none'";
    for (path, policy, referrer, cache, robots) in [
        ("/", app, "same-origin", "no-cache", ""),
        ("/nothing", page, "same-origin", "no-store", "noindex"),
        ("/d/forged", page, "same-origin", "no-store", "noindex"),
        ("/docs/errors/stale", page, "same-origin", "no-store", "noindex"),
        ("/page.css", data, "no-referrer", "no-store", ""),
        ("/v1/runs", data, "no-referrer", "no-store", ""),
        ("/healthz", data, "no-referrer", "no-store", ""),
    ] {
        let answer = get(&served, path, &[("accept", BROWSER)]).await;
        for (name, value) in [
            ("content-security-policy", policy),
            ("referrer-policy", referrer),
            ("cache-control", cache),
            ("x-robots-tag", robots),
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), value, "{path}: {name}");
        }
    }
}

#[tokio::test]
async fn codes_are_explained_to_programs_and_to_browsers() {
    let served = Served::new().await;
    for path in ["/docs/errors/stale", "/docs/errors/stale.md"] {
        let raw = served.api(None).request(Method::GET, path).send().await.unwrap();
        assert_eq!(raw.headers()["content-type"], "text/markdown; charset=utf-8");
        assert!(raw.text().await.unwrap().starts_with("# stale\n"), "{path}");
    }
    let page = get(&served, "/docs/errors/stale", &[(ACCEPT.as_str(), BROWSER)]).await;
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    for part in ["<h1>stale</h1>", "href=\"/docs/errors/already_resolved\"", "href=\"/docs/errors\"", "<pre>"]
    {
        assert!(page.text.contains(part), "{part}: {}", page.text);
    }
    let index = get(&served, "/docs/errors", &[]).await;
    assert!(index.text.contains("## 409") && index.text.contains("[`stale`](/docs/errors/stale)"));
    let index = get(&served, "/docs/errors", &[("accept", BROWSER)]).await;
    assert!(index.text.contains("<a href=\"/docs/errors/stale\"><code>stale</code></a>"), "{}", index.text);
    assert_eq!(get(&served, "/docs/errors/nonsense", &[]).await.status, 404);
}
