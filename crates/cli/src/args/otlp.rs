//! Endpoint for traces. The flag, the environment variable and the key of `holdshort.toml` are read with the same
//! parser.

use reqwest::Url;

/// Parses the endpoint to which traces are sent. Rejects a URL with credentials or a query, because the URL is
/// displayed.
pub(crate) fn otlp_endpoint(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let url = url.ok_or("is not a URL such as `http://localhost:4318`")?;
    let is_bare = url.username().is_empty() && url.password().is_none();
    if !is_bare || url.query().is_some() || url.fragment().is_some() {
        return Err("must not contain a user or a query: put headers for the collector into \
                    OTEL_EXPORTER_OTLP_HEADERS or the file `otlp_headers_file`"
            .to_owned());
    }
    Ok(url)
}
