//! Web addresses for rules, grants and cards. Parses URLs, and compares their hosts and paths with patterns. Web
//! requests use the same parser.
//!
//! Different spellings of the same address are equal here. Spellings may differ in the letter case of the host,
//! punycode, a final dot of the host, numeric forms of an IP address, or `..` in the path. Some paths are
//! [ambiguous](Target::path), because servers interpret them differently: encoded slashes, `//`, `;`, nested encodings.
//! A rule that allows matches an ambiguous path only if its pattern matches the whole host. A rule that asks or forbids
//! matches every ambiguous path of its host.

use std::fmt;

use serde::{Deserialize, Serialize};
use url::{Host, Url};

use crate::limits;

/// Built-in tool that fetches a page.
pub const FETCH: &str = "web_fetch";

/// Addresses that the built-in web tool is allowed to fetch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Web {
    /// Address ranges, such as `127.0.0.1/32`, that the built-in web tool is allowed to reach. By default, the tool
    /// refuses such addresses.
    pub allow_addresses: Vec<String>,
}

/// Address of a web request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    url: Url,
    path: Option<String>,
}

impl Target {
    /// Parses a URL. The error is a message for a person.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.chars().count() > limits::URL_CHARS {
            return Err(format!("the URL has more than {} characters", limits::URL_CHARS));
        }
        // The parser would drop these characters or treat `\` as `/`, so a person would read another URL than the
        // server.
        if text.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
            return Err("a URL must not contain spaces, control characters or `\\`".to_owned());
        }
        let url = Url::parse(text).map_err(|error| format!("this is not a URL: {error}"))?;
        Self::from_url(url, text)
    }

    /// Returns the target of a redirect to `location`.
    pub fn join(&self, location: &str) -> Result<Self, String> {
        let url = self.url.join(location).map_err(|error| format!("this is not a URL: {error}"))?;
        Self::parse(url.as_str())
    }

    fn from_url(mut url: Url, text: &str) -> Result<Self, String> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err("only `http` and `https` URLs can be fetched".to_owned());
        }
        let authority = text.split_once("://").map_or("", |(_, rest)| rest);
        let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
        if !url.username().is_empty() || url.password().is_some() || authority.contains('@') {
            return Err("a URL with a user name or a password cannot be fetched".to_owned());
        }
        if url.port() == Some(0) {
            return Err("port 0 is not valid".to_owned());
        }
        let host = match url.host() {
            Some(Host::Domain(name)) => {
                Some(plain_name(name).ok_or("the host name is not valid")?.to_owned())
            }
            Some(Host::Ipv4(_) | Host::Ipv6(_)) => None,
            None => return Err("the URL names no host".to_owned()),
        };
        if let Some(host) = host {
            url.set_host(Some(&host)).map_err(|error| format!("the host name is not valid: {error}"))?;
        }
        url.set_fragment(None);
        let path = decoded(url.path());
        Ok(Self { url, path })
    }

    /// Returns the address that is requested, without its fragment.
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Returns the host of the address in lower case and in ASCII. An IPv6 address is in brackets.
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// Returns the port of the address. `None` if the port is the default port of the scheme.
    pub fn port(&self) -> Option<u16> {
        self.url.port()
    }

    /// Returns the origin: scheme, host and port. Grants for web tools are given for an origin.
    pub fn origin(&self) -> String {
        let port = self.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{}{port}", self.url.scheme(), self.host())
    }

    /// Returns the decoded path of the address. `None` if the path is ambiguous, because servers may interpret the path
    /// differently.
    pub fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// Returns true if a redirect to `other` stays on the same server. `other` must have the same origin, or be the
    /// same host over `https` instead of `http`, both with default ports.
    pub fn leads_home(&self, other: &Self) -> bool {
        let is_safer = self.url.scheme() == "http" && other.url.scheme() == "https";
        self.host() == other.host()
            && (self.origin() == other.origin()
                || (is_safer && self.port().is_none() && other.port().is_none()))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Removes the final dot of a host name. `None` if a label of the name is empty.
fn plain_name(name: &str) -> Option<&str> {
    let name = name.strip_suffix('.').unwrap_or(name);
    name.split('.').all(|part| !part.is_empty()).then_some(name)
}

/// Decodes a path. `None` if the path is ambiguous, because servers may interpret the path differently.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let code = after.get(..2).filter(|code| code.iter().all(u8::is_ascii_hexdigit))?;
        let code = std::str::from_utf8(code).ok()?;
        let byte = u8::from_str_radix(code, 16).ok()?;
        // Some servers decode these characters, and others do not.
        if byte.is_ascii_control() || matches!(byte, b'/' | b'\\' | b'%' | b'.' | b';' | b'?' | b'#') {
            return None;
        }
        bytes.push(byte);
        rest = &after[2..];
    }
    let path = String::from_utf8(bytes).ok()?;
    let is_plain = path.starts_with('/') && !path.contains("//") && !path.contains(['\\', ';']);
    (is_plain && !path.split('/').any(|name| matches!(name, "." | ".."))).then_some(path)
}

/// Pattern for addresses in a rule: `docs.rs/*`, `https://example.org/api/**`, `*.example.org`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Scheme of the addresses that the pattern matches. If `None`, both `http` and `https` match.
    scheme: Option<String>,
    host: HostPattern,
    /// Port of the address. If `None`, a rule that allows matches only the default port of the scheme, and a rule that
    /// asks or forbids matches every port.
    port: Option<u16>,
    /// Glob for the decoded path: `*` matches within a segment, `**` across segments. If `None`, every path matches.
    path: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum HostPattern {
    Exactly(String),
    Below(String),
}

impl Pattern {
    /// Parses a pattern for addresses. The error is a message for a person.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(stray) =
            text.chars().find(|c| c.is_whitespace() || c.is_control() || "@?#\\%".contains(*c))
        {
            return Err(match stray {
                '%' => "paths are compared in decoded form: write the path without `%`".to_owned(),
                '?' | '#' => format!("a pattern names host and path; with `{stray}` it would never match"),
                stray => format!("a pattern with `{}` would never match", stray.escape_debug()),
            });
        }
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme @ ("http" | "https"), rest)) => (Some(scheme.to_owned()), rest),
            Some((scheme, _)) => {
                return Err(format!("only `http` and `https` can be fetched, in lower case, not `{scheme}`"));
            }
            None => (None, text),
        };
        let (authority, path) = match rest.find('/') {
            Some(at) => (&rest[..at], Some(&rest[at..])),
            None => (rest, None),
        };
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => {
                let port = port.parse().ok().filter(|port| *port != 0);
                (host, Some(port.ok_or("the text after `:` is not a port")?))
            }
            _ => (authority, None),
        };
        Ok(Self {
            scheme,
            host: HostPattern::parse(host)?,
            port,
            path: path.map(path_pattern).transpose()?.flatten(),
        })
    }

    /// Returns true if the pattern matches the address, for a rule that allows calls. A pattern without a port matches
    /// only the default port of the scheme. An ambiguous path matches only a pattern without a path.
    pub fn covers(&self, target: &Target) -> bool {
        let is_port = match self.port {
            None => target.port().is_none(),
            Some(port) => target.url.port_or_known_default() == Some(port),
        };
        let is_path = match (&self.path, target.path()) {
            (None, _) => true,
            (Some(pattern), Some(path)) => matches(pattern, path),
            (Some(_), None) => false,
        };
        is_port && is_path && self.is_at(target)
    }

    /// Returns true if the pattern matches the address, for a rule that asks or forbids. A pattern without a port
    /// matches every port. The letter case of the path is ignored, and every ambiguous path matches.
    pub fn may_cover(&self, target: &Target) -> bool {
        let is_port = self.port.is_none_or(|port| target.url.port_or_known_default() == Some(port));
        let may_be_path = |pattern: &str, path: &str| {
            let (pattern, path) = (pattern.to_lowercase(), path.to_lowercase());
            matches(&pattern, &path) || matches(&pattern, &format!("{path}/"))
        };
        let is_path = match (&self.path, target.path()) {
            (None, _) | (Some(_), None) => true,
            (Some(pattern), Some(path)) => may_be_path(pattern, path),
        };
        is_port && is_path && self.is_at(target)
    }

    fn is_at(&self, target: &Target) -> bool {
        let host = target.host();
        let is_host = match &self.host {
            HostPattern::Exactly(name) => name == host,
            HostPattern::Below(name) => {
                host.strip_suffix(name.as_str()).is_some_and(|sub| sub.ends_with('.'))
            }
        };
        is_host && self.scheme.as_ref().is_none_or(|scheme| scheme == target.url.scheme())
    }
}

impl HostPattern {
    fn parse(text: &str) -> Result<Self, String> {
        let (name, is_below) = match text.strip_prefix("*.") {
            Some(name) => (name, true),
            None => (text, false),
        };
        if name.contains('*') || name.is_empty() {
            let message = "a pattern names a host, or the subdomains of one as `*.example.org`; \
                           `tools: [web_fetch]` alone matches every host";
            return Err(message.to_owned());
        }
        match Host::parse(name).map_err(|error| format!("`{name}` is not a host: {error}"))? {
            Host::Domain(domain) => {
                let domain = plain_name(&domain).ok_or_else(|| format!("`{name}` is not a host"))?.to_owned();
                Ok(if is_below { Self::Below(domain) } else { Self::Exactly(domain) })
            }
            Host::Ipv4(_) | Host::Ipv6(_) if is_below => Err("an address has no subdomains".to_owned()),
            Host::Ipv4(address) => Ok(Self::Exactly(address.to_string())),
            Host::Ipv6(address) => Ok(Self::Exactly(format!("[{address}]"))),
        }
    }
}

/// Parses the path of a pattern for addresses. `None` if the pattern matches every path.
fn path_pattern(path: &str) -> Result<Option<String>, String> {
    if path == "/**" {
        return Ok(None);
    }
    if path.contains("//") || path.contains(';') || path.split('/').any(|name| matches!(name, "." | "..")) {
        return Err("a path must not contain `//`, `;`, `.` or `..`: it would never match".to_owned());
    }
    Ok(Some(path.to_owned()))
}

/// Returns true if the whole path matches the pattern: `*` matches anything except `/`, and `**` matches anything.
fn matches(pattern: &str, path: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let path: Vec<char> = path.chars().collect();
    // `may[n]` is true if the first `n` characters of the path match the pattern up to `at`.
    let mut may = vec![false; path.len() + 1];
    may[0] = true;
    let mut at = 0;
    while at < pattern.len() {
        let mut next = vec![false; path.len() + 1];
        if pattern[at] == '*' {
            let is_deep = pattern.get(at + 1) == Some(&'*');
            let mut open = false;
            for end in 0..=path.len() {
                open = may[end] || (open && (is_deep || path[end - 1] != '/'));
                next[end] = open;
            }
            at += if is_deep { 2 } else { 1 };
        } else {
            for end in 1..=path.len() {
                next[end] = may[end - 1] && path[end - 1] == pattern[at];
            }
            at += 1;
        }
        may = next;
    }
    may[path.len()]
}
