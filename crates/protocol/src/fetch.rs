//! What a card says of a page that an agent wants from the web, from `payload.fetch`. One text for terminal and pages.

use serde_json::Value;

use crate::plain;

/// The parts of a request, the host first: that is what a person decides on.
#[derive(Clone, Copy, Debug)]
pub struct FetchCard<'a>(&'a Value);

impl<'a> FetchCard<'a> {
    /// That of a card's payload.
    pub fn of(payload: &'a Value) -> Option<Self> {
        payload.get("fetch").filter(|fetch| fetch.is_object()).map(Self)
    }

    fn text(self, key: &str) -> Option<&'a str> {
        self.0.get(key)?.as_str()
    }

    /// Whether everybody on the way can read it and change it.
    pub fn is_open(self) -> bool {
        self.text("scheme") != Some("https")
    }

    /// Label and text of each, made plain.
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
