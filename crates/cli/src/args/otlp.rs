//! Where traces go, as the flag, the variable and the key of `holdshort.toml` say it.

use reqwest::Url;

/// Never with a user or a query: what lets somebody in is no part of an address that is shown.
pub(crate) fn otlp_endpoint(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let url = url.ok_or("is no URL such as `http://localhost:4318`")?;
    let is_bare = url.username().is_empty() && url.password().is_none();
    if !is_bare || url.query().is_some() || url.fragment().is_some() {
        return Err("must hold neither a user nor a query: headers that the collector wants go into \
                    OTEL_EXPORTER_OTLP_HEADERS or the file `otlp_headers_file`"
            .to_owned());
    }
    Ok(url)
}
