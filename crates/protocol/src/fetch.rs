//! Describes a web page that an agent wants to fetch, from `payload.fetch`. The terminal and the pages show the same
//! text.

use serde_json::Value;

use crate::plain;

/// Parts of a web request on a card. The host comes first, because it matters most for the decision.
#[derive(Clone, Copy, Debug)]
pub struct FetchCard<'a>(&'a Value);

impl<'a> FetchCard<'a> {
    /// Returns the web request in the payload of a card, or `None` if the payload has none.
    pub fn from_payload(payload: &'a Value) -> Option<Self> {
        payload.get("fetch").filter(|fetch| fetch.is_object()).map(Self)
    }

    fn text(self, key: &str) -> Option<&'a str> {
        self.0.get(key)?.as_str()
    }

    /// Returns true if the connection of the web request is unencrypted. Others on the network can then read and change
    /// its data.
    pub fn is_open(self) -> bool {
        self.text("scheme") != Some("https")
    }

    /// Returns each part of the web request as a label and an escaped text.
    pub fn parts(self) -> Vec<(&'static str, String)> {
        let line = |key| self.text(key).map(|text| plain::line(text).into_owned());
        let port = self.0.get("port").and_then(Value::as_u64).map(|port| format!(", port {port}"));
        let host = line("host").map(|host| format!("{host}{}", port.unwrap_or_default()));
        let by = line("method").zip(line("scheme")).map(|(method, scheme)| {
            let open = if self.is_open() { ": not encrypted" } else { "" };
            format!("{method} over {scheme}{open}")
        });
        [("host", host), ("path", line("path")), ("query", line("query")), ("by", by)]
            .into_iter()
            .filter_map(|(label, text)| Some((label, text?)))
            .collect()
    }
}
