//! Environment variables of the source document (contract D5), read once when the server starts. If a variable is
//! called `KEY`, the variable `KEY_FILE` can name a file that contains the value, because Docker and Kubernetes mount
//! secrets as files.

use std::fs::{self, File};
use std::io::Read;
use std::time::Duration;

use axum::http::HeaderValue;
use holdshort_notify::Encoding;
use holdshort_web::webhooks::Sending;
use holdshort_workflow::range::is_range;

use crate::limits::{
    CREW_ATTEMPTS, CREW_EXPIRY_MINUTES, CREW_ORIGINS, CREW_RESUMES, CREW_RETRY_SECONDS, CREW_RUNS,
    CREW_SETTING_BYTES, CREW_TIMEOUT_SECONDS,
};

/// Settings of the crew edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// If false, every review is approved without a person, and the review reports this as `bypassed` (contract E20).
    pub hitl_enabled: bool,
    pub webhook_timeout: Duration,
    /// Maximum number of attempts for one delivery of a notification.
    pub attempts: u64,
    /// Delay between the first and the second attempt of a delivery.
    pub retry_delay: Duration,
    /// Default time until a review expires. A workflow can set a different time.
    pub review_expiry: Duration,
    /// Maximum number of runs that each principal may start per minute through the crew edge. `resumes` is the maximum
    /// number of decisions.
    pub runs: u32,
    pub resumes: u32,
    /// Ranges of private addresses to which webhooks of the crew edge may be sent.
    pub allow: Vec<String>,
    /// True if notifications about reviews include the redacted summary of the findings.
    pub summaries: bool,
    /// Encoding of the signature in the webhook header that receivers of the original system check.
    pub signature: Encoding,
    /// Origins whose web pages may call the crew edge from a browser.
    pub origins: Vec<HeaderValue>,
    /// Folder whose subfolders are the cases (the files of a task). If a crew has file tools, each task works in one of
    /// these subfolders.
    pub cases: Option<String>,
    /// Warnings about environment variables that have no effect, and about the setting that lets tasks skip reviews.
    /// The server logs these warnings at the start, and `holdshort doctor` prints them.
    pub notices: Vec<&'static str>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            hitl_enabled: true,
            webhook_timeout: Duration::from_secs(10),
            attempts: 3,
            retry_delay: Duration::from_secs(5),
            review_expiry: Duration::from_hours(1),
            runs: CREW_RUNS,
            resumes: CREW_RESUMES,
            allow: Vec::new(),
            summaries: true,
            signature: Encoding::Hex,
            origins: Vec::new(),
            cases: None,
            notices: Vec::new(),
        }
    }
}

/// Error for an environment variable with an invalid value. The server does not start, because the default must not
/// silently replace a misspelt value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    #[error("{name}: `{value}` is {rule}")]
    Value { name: &'static str, value: String, rule: String },
    #[error("{name}_FILE: {why}")]
    File { name: &'static str, why: String },
    #[error("{name} and {name}_FILE are both set: set only one of them")]
    Both { name: &'static str },
}

const NEO4J: &str = "REQUIRE_NEO4J has no effect: Holdshort needs no Neo4j";
const UNREVIEWED: &str =
    "HITL_ENABLED is false: tasks of the crew edge continue without a review, whatever their findings";

impl Settings {
    /// Reads the settings of the crew edge. `variable` is a function that returns the value of an environment variable.
    pub fn from_variables(variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let read = |name| read(name, variable);
        let mut settings = Self::default();
        if let Some(value) = read("HITL_ENABLED")? {
            settings.hitl_enabled = flag("HITL_ENABLED", &value)?;
            settings.notices.extend((!settings.hitl_enabled).then_some(UNREVIEWED));
        }
        if let Some(value) = read("REQUIRE_NEO4J")? {
            flag("REQUIRE_NEO4J", &value)?;
            settings.notices.push(NEO4J);
        }
        let number = |name, most: u64, set: &mut dyn FnMut(u64)| -> Result<(), SettingsError> {
            if let Some(value) = read(name)? {
                set(count(name, &value, most)?);
            }
            Ok(())
        };
        number("WEBHOOK_TIMEOUT_SECONDS", CREW_TIMEOUT_SECONDS, &mut |n| {
            settings.webhook_timeout = Duration::from_secs(n);
        })?;
        number("MAX_RETRY_ATTEMPTS", CREW_ATTEMPTS, &mut |n| settings.attempts = n)?;
        number("RETRY_DELAY_SECONDS", CREW_RETRY_SECONDS, &mut |n| {
            settings.retry_delay = Duration::from_secs(n);
        })?;
        number("DEFAULT_REVIEW_EXPIRY_MINUTES", CREW_EXPIRY_MINUTES, &mut |n| {
            settings.review_expiry = Duration::from_secs(n * 60);
        })?;
        let per_minute = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        number("CREW_RUNS_PER_MINUTE", u32::MAX.into(), &mut |n| settings.runs = per_minute(n))?;
        number("CREW_RESUMES_PER_MINUTE", u32::MAX.into(), &mut |n| settings.resumes = per_minute(n))?;
        if let Some(value) = read("WEBHOOK_ALLOW_NETWORKS")? {
            settings.allow = networks("WEBHOOK_ALLOW_NETWORKS", &value)?;
        }
        if let Some(value) = read("WEBHOOK_SUMMARY")? {
            settings.summaries = flag("WEBHOOK_SUMMARY", &value)?;
        }
        if let Some(value) = read("WEBHOOK_SIGNATURE_ENCODING")? {
            settings.signature = match value.to_ascii_lowercase().as_str() {
                "hex" => Encoding::Hex,
                "base64" => Encoding::Base64,
                _ => {
                    let (name, rule) = ("WEBHOOK_SIGNATURE_ENCODING", "not `hex` or `base64`".to_owned());
                    return Err(SettingsError::Value { name, value, rule });
                }
            };
        }
        if let Some(value) = read("CORS_ALLOWED_ORIGINS")? {
            settings.origins = origins("CORS_ALLOWED_ORIGINS", &value)?;
        }
        if let Some(value) = read("CREW_CASES")? {
            settings.cases = Some(folder("CREW_CASES", &value)?);
        }
        Ok(settings)
    }
}

impl Settings {
    pub fn sending(&self) -> Sending {
        Sending {
            timeout: self.webhook_timeout,
            attempts: self.attempts,
            retry_delay: self.retry_delay,
            allow: self.allow.clone(),
            encoding: self.signature,
            has_summaries: self.summaries,
        }
    }
}

/// Returns the value of the environment variable `NAME` or, if the variable `NAME_FILE` is set, the content of the file
/// that it names. An empty variable is treated as unset.
fn read(
    name: &'static str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<String>, SettingsError> {
    let said =
        |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    let (plain, file) = (said(name), said(&format!("{name}_FILE")));
    match (plain, file) {
        (Some(_), Some(_)) => Err(SettingsError::Both { name }),
        (plain, None) => Ok(plain),
        (None, Some(path)) => {
            let wrong = |why: String| SettingsError::File { name, why: format!("{path} {why}") };
            let file = File::open(&path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
            let mut text = String::new();
            let mut file = file.take(CREW_SETTING_BYTES + 1);
            file.read_to_string(&mut text).map_err(|error| wrong(format!("cannot be read: {error}")))?;
            if text.len() as u64 > CREW_SETTING_BYTES {
                return Err(wrong(format!("has more than {CREW_SETTING_BYTES} bytes")));
            }
            let text = text.trim();
            if text.is_empty() { Err(wrong("is empty".to_owned())) } else { Ok(Some(text.to_owned())) }
        }
    }
}

fn flag(name: &'static str, value: &str) -> Result<bool, SettingsError> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        _ => Err(SettingsError::Value {
            name,
            value: value.to_owned(),
            rule: "not `true` or `false`".to_owned(),
        }),
    }
}

fn count(name: &'static str, value: &str, most: u64) -> Result<u64, SettingsError> {
    let rule = || SettingsError::Value {
        name,
        value: value.to_owned(),
        rule: format!("not a whole number from 1 to {most}"),
    };
    value.parse().ok().filter(|n| (1..=most).contains(n)).ok_or_else(rule)
}

/// Returns the canonical path of a folder that an environment variable names. Rejects a path that is not an existing
/// folder.
fn folder(name: &'static str, value: &str) -> Result<String, SettingsError> {
    let found = fs::canonicalize(value).ok().filter(|path| path.is_dir());
    let named = found.and_then(|path| path.into_os_string().into_string().ok());
    let rule = || SettingsError::Value {
        name,
        value: value.to_owned(),
        rule: "not an existing folder, or its path is not UTF-8".to_owned(),
    };
    named.ok_or_else(rule)
}

/// Parses a comma-separated list of IP address ranges.
fn networks(name: &'static str, value: &str) -> Result<Vec<String>, SettingsError> {
    let mut networks = Vec::new();
    for text in value.split(',').map(str::trim).filter(|text| !text.is_empty()) {
        if !is_range(text) {
            let rule = "not a range of addresses such as `192.168.1.0/24`".to_owned();
            return Err(SettingsError::Value { name, value: text.to_owned(), rule });
        }
        networks.push(text.to_owned());
    }
    Ok(networks)
}

/// Parses a comma-separated list of origins: a scheme, a host and an optional port. Rejects `*`, because any web page
/// could then send requests with the permissions of the person who visits the page.
fn origins(name: &'static str, value: &str) -> Result<Vec<HeaderValue>, SettingsError> {
    let wrong = |value: &str, rule: &str| SettingsError::Value {
        name,
        value: value.to_owned(),
        rule: rule.to_owned(),
    };
    let mut origins = Vec::new();
    for text in value.split(',').map(str::trim).filter(|text| !text.is_empty()) {
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let is_one = rest.is_some_and(|rest| {
            !rest.is_empty()
                && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte))
        });
        let origin = HeaderValue::from_str(&text.to_ascii_lowercase()).ok().filter(|_| is_one);
        origins
            .push(origin.ok_or_else(|| wrong(text, "not an origin such as `https://reviews.example.org`"))?);
    }
    if origins.len() > CREW_ORIGINS {
        return Err(wrong(value, "a list of too many origins"));
    }
    Ok(origins)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_settings(variables: &[(&str, &str)]) -> Result<Settings, SettingsError> {
        Settings::from_variables(&|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_keys_of_the_document_have_its_defaults() {
        assert_eq!(read_settings(&[]).unwrap(), Settings::default());
        let cases = tempfile::tempdir().unwrap();
        let set = read_settings(&[
            ("HITL_ENABLED", "False"),
            ("WEBHOOK_TIMEOUT_SECONDS", "3"),
            ("MAX_RETRY_ATTEMPTS", "5"),
            ("RETRY_DELAY_SECONDS", "1"),
            ("DEFAULT_REVIEW_EXPIRY_MINUTES", "15"),
            ("REQUIRE_NEO4J", "true"),
            ("WEBHOOK_ALLOW_NETWORKS", "127.0.0.0/8"),
            ("WEBHOOK_SUMMARY", "off"),
            ("WEBHOOK_SIGNATURE_ENCODING", "base64"),
            ("CREW_RUNS_PER_MINUTE", "100"),
            ("CREW_RESUMES_PER_MINUTE", "200"),
            ("CORS_ALLOWED_ORIGINS", "https://a.example, http://localhost:3000"),
            ("CREW_CASES", cases.path().to_str().unwrap()),
        ]);
        let origins = ["https://a.example", "http://localhost:3000"].map(HeaderValue::from_static);
        let expected = Settings {
            hitl_enabled: false,
            webhook_timeout: Duration::from_secs(3),
            attempts: 5,
            retry_delay: Duration::from_secs(1),
            review_expiry: Duration::from_mins(15),
            runs: 100,
            resumes: 200,
            allow: vec!["127.0.0.0/8".to_owned()],
            summaries: false,
            signature: Encoding::Base64,
            origins: origins.to_vec(),
            cases: Some(cases.path().canonicalize().unwrap().to_str().unwrap().to_owned()),
            notices: vec![UNREVIEWED, NEO4J],
        };
        assert_eq!(set.unwrap(), expected);
    }

    #[test]
    fn what_says_nothing_usable_is_refused_by_name() {
        let table = [
            ("HITL_ENABLED", "maybe"),
            ("HITL_ENABLED", "flase"),
            ("REQUIRE_NEO4J", "2"),
            ("WEBHOOK_TIMEOUT_SECONDS", "0"),
            ("WEBHOOK_TIMEOUT_SECONDS", "10s"),
            ("MAX_RETRY_ATTEMPTS", "-1"),
            ("RETRY_DELAY_SECONDS", "99999999"),
            ("DEFAULT_REVIEW_EXPIRY_MINUTES", "1.5"),
            ("WEBHOOK_ALLOW_NETWORKS", "127.0.0.1/8"),
            ("WEBHOOK_SUMMARY", "short"),
            ("WEBHOOK_SIGNATURE_ENCODING", "rot13"),
            ("CORS_ALLOWED_ORIGINS", "*"),
            ("CORS_ALLOWED_ORIGINS", "https://a.example/path"),
            ("CORS_ALLOWED_ORIGINS", "a.example"),
            ("CREW_CASES", "/nowhere/at/all"),
            ("CREW_CASES", "/dev/null"),
        ];
        for (name, value) in table {
            let wrong = read_settings(&[(name, value)]).unwrap_err().to_string();
            assert!(wrong.starts_with(name), "{wrong}");
        }
    }

    #[test]
    fn a_key_may_be_in_a_file_instead() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("attempts");
        std::fs::write(&path, "7\n").unwrap();
        let named = path.display().to_string();
        assert_eq!(read_settings(&[("MAX_RETRY_ATTEMPTS_FILE", &named)]).unwrap().attempts, 7);
        let both = read_settings(&[("MAX_RETRY_ATTEMPTS_FILE", &named), ("MAX_RETRY_ATTEMPTS", "7")]);
        assert_eq!(both, Err(SettingsError::Both { name: "MAX_RETRY_ATTEMPTS" }));
        for text in ["", "x"] {
            std::fs::write(&path, text).unwrap();
            assert!(read_settings(&[("MAX_RETRY_ATTEMPTS_FILE", &named)]).is_err(), "{text}");
        }
        assert!(read_settings(&[("MAX_RETRY_ATTEMPTS_FILE", "/nowhere/at/all")]).is_err());
    }
}
