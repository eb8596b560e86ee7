//! Checks that a model server answers at an address. Sends no key and no request to a model.

use std::time::Duration;

use holdshort_http::answers::innermost;

use crate::base_url::BaseUrl;

/// Time limit until an answer begins. A server on this machine or in this network begins at once.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Requests the list of models. Every response is a success, because most servers refuse a request without a key.
/// The error says why there was no response.
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
