//! Normalizes the base URL of an OpenAI-compatible server.
//!
//! These forms are equivalent: `https://host`, `https://host/v1`, `https://host/v1/` and the full
//! `https://host/v1/chat/completions`. Any other path, such as `https://host/openai`, and any query stay unchanged.

use std::net::IpAddr;

use reqwest::Url;

const ENDPOINT: &str = "/chat/completions";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BaseUrl(Url);

impl BaseUrl {
    /// Parses and normalizes the base URL of a model server. The error describes what is wrong without repeating the
    /// URL, because the URL may contain a secret.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let mut url =
            Url::parse(text.trim()).map_err(|_| "it is not a URL such as http://127.0.0.1:8080/v1")?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err("it must begin with http:// or https://");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("it contains a user name or password; put the key into OPENAI_API_KEY");
        }
        url.set_fragment(None);
        let path = url.path().trim_end_matches('/');
        let base = match path.strip_suffix(ENDPOINT) {
            Some(base) => format!("{base}/"),
            None if path.is_empty() => "/v1/".to_owned(),
            None => format!("{path}/"),
        };
        url.set_path(&base);
        Ok(Self(url))
    }

    pub(crate) fn is_loopback(&self) -> bool {
        let Some(host) = self.0.host_str() else { return false };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost"
            || host.ends_with(".localhost")
            || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
    }

    pub(crate) fn url(&self) -> &Url {
        &self.0
    }

    /// Returns the base URL as text. The text ends with a slash, because the client appends a path to the URL.
    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the base URL in a form for people, without the query and the final slash.
    pub(crate) fn display_url(&self) -> String {
        let mut url = self.0.clone();
        url.set_query(None);
        url.as_str().trim_end_matches('/').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_understood() {
        for (given, base) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/"),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1/"),
            ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1/"),
            (" http://127.0.0.1:8080/v1// ", "http://127.0.0.1:8080/v1/"),
            ("https://a.example/v1/chat/completions", "https://a.example/v1/"),
            ("https://a.example/chat/completions/", "https://a.example/"),
            ("https://a.example/api/openai", "https://a.example/api/openai/"),
            ("https://a.example/x?api-version=1#y", "https://a.example/x/?api-version=1"),
        ] {
            assert_eq!(BaseUrl::parse(given).unwrap().as_str(), base, "{given}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for given in ["", "localhost:8080", "ftp://a.example", "https://me:pw@a.example/v1", "/v1"] {
            assert!(BaseUrl::parse(given).is_err(), "{given}");
        }
    }

    #[test]
    fn people_see_no_query() {
        let url = BaseUrl::parse("https://a.example/x?key=1").unwrap();
        assert_eq!(url.display_url(), "https://a.example/x");
    }

    #[test]
    fn loopback_is_recognised() {
        for (given, loopback) in [
            ("http://localhost:1", true),
            ("http://127.9.9.9", true),
            ("http://[::1]:1/v1", true),
            ("http://localhost.example", false),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(BaseUrl::parse(given).unwrap().is_loopback(), loopback, "{given}");
        }
    }
}
