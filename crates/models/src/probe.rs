//! Checks that a model server responds at a URL. Sends neither a key nor a request to a model.

use std::time::Duration;

use holdshort_http::answers::innermost;

use crate::base_url::BaseUrl;

/// Maximum time until the response begins. A server on this machine or in the local network responds immediately.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Requests the list of models from the server. Any response is a success, even an error status, because most servers
/// refuse a request without a key. If there is no response, the error describes why.
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
