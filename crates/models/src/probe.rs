//! Checks that a model server responds at a URL, without sending an API key or a model request.

use std::time::Duration;

use holdshort_http::answers::innermost;

use crate::base_url::BaseUrl;

/// Maximum time until the model server begins to respond. A server on this machine or in the local network responds at
/// once.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Requests the list of models from a model server. Any response is a success, even an error status, because most
/// servers reject a request without an API key. Without a response, the error says why.
pub async fn answers(base_url: &str) -> Result<(), String> {
    let base_url = BaseUrl::parse(base_url)?;
    let mut http = holdshort_http::client_to(base_url.url())
        .timeout(TIMEOUT)
        .redirect(reqwest::redirect::Policy::none());
    if base_url.is_loopback() {
        http = http.no_proxy();
    }
    let http = http.build().map_err(|error| error.to_string())?;
    let asked = http.get(format!("{}models", base_url.display_url() + "/")).send().await;
    asked.map(drop).map_err(|error| innermost(&error))
}
