//! The public address of this server, and the trusted proxies in front of it.
//!
//! Headers in which a proxy reports the client are used only on a connection that comes from a trusted proxy. On all
//! other connections, these headers are ignored.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use ipnet::IpNet;
use url::{Host, Url};

use crate::cors::Cors;
use crate::edge_page::EdgePage;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Settings for how clients reach the server: public address, proxies, TLS and other pages.
#[derive(Clone, Debug, Default)]
pub struct PublicEndpoint {
    pub public_url: Option<PublicUrl>,
    pub proxies: Proxies,
    /// TLS certificate files; `None` if the server itself does not use TLS.
    pub tls: Option<TlsFiles>,
    /// Origins of the web pages that may call an edge from a browser, and the path of this edge.
    pub cors: Cors,
    /// Page of another system that may use its edge with a cookie, or `None` if there is no such page.
    pub page: Option<EdgePage>,
}

/// Files with the certificate chain of the server and its private key, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// URL at which browsers and agents reach the server, with a scheme, a host and an optional port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl(Url);

impl FromStr for PublicUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let url =
            Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let url = url.ok_or_else(|| "is not a URL such as `https://holdshort.example.org`".to_owned())?;
        let is_bare = url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        if !is_bare {
            return Err("must consist of only a scheme, a host and optionally a port".to_owned());
        }
        let url = Self(url);
        if !url.is_https() && !url.is_on_loopback() {
            return Err("must be `https`, because tokens and cookies would otherwise be sent in plain text"
                .to_owned());
        }
        Ok(url)
    }
}

impl std::fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.origin())
    }
}

impl PublicUrl {
    /// Returns the origin of the URL in the form in which browsers write it: without the default port of the scheme and
    /// without a final slash.
    pub fn origin(&self) -> String {
        self.0.origin().ascii_serialization()
    }

    pub fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// Returns true if the URL leads to this machine only.
    pub fn is_on_loopback(&self) -> bool {
        match self.0.host() {
            Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        }
    }

    /// Describes the page at this URL as the page of an edge. `base` is the prefix of the edge's paths on the Holdshort
    /// server. `paths` are the paths whose requests the page's server forwards to the edge.
    pub fn page_of_edge(&self, base: &'static str, paths: [&'static str; 2]) -> EdgePage {
        EdgePage::new(base, paths, (self.origin(), self.hosts()))
    }

    /// Returns the values of the `Host` header that are accepted for this URL. The value with the default port of the
    /// scheme is included, because some clients send it.
    pub(crate) fn hosts(&self) -> Vec<String> {
        let origin = self.origin();
        let written = origin.split_once("://").map_or("", |(_, host)| host).to_owned();
        let host = self.0.host_str().unwrap_or_default();
        let with_port = self.0.port_or_known_default().map(|port| format!("{host}:{port}"));
        let mut hosts = vec![written];
        hosts.extend(with_port.filter(|host| *host != hosts[0]));
        hosts
    }
}

/// Parses a network address range or a single address.
pub fn network(text: &str) -> Result<IpNet, String> {
    let network = text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
    let network =
        network.map_err(|_| "is not an address or network such as `10.0.0.5` or `10.0.0.0/8`".to_owned())?;
    if network.prefix_len() == 0 {
        return Err("covers every address, so any client could pretend to have another address: name only \
            your proxies"
            .to_owned());
    }
    Ok(network)
}

/// Proxies whose forwarding headers are trusted.
#[derive(Clone, Debug, Default)]
pub struct Proxies(Vec<IpNet>);

/// Client, host and scheme of a request, from the connection or from the headers of a trusted proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Forwarded<'a> {
    pub(crate) client: IpAddr,
    /// Host to which the client sent its request, as a trusted proxy reports it. `None` if no proxy reports a host; the
    /// `Host` header then applies.
    pub(crate) host: Option<&'a str>,
    /// Scheme (`http` or `https`) that the client used, as a trusted proxy reports it.
    pub(crate) scheme: Option<&'a str>,
}

impl Proxies {
    pub fn new(networks: Vec<IpNet>) -> Self {
        Self(networks)
    }

    fn names(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }

    pub(crate) fn read<'a>(&self, peer: IpAddr, headers: &'a HeaderMap) -> Forwarded<'a> {
        // A socket for IPv4 and IPv6 reports IPv4 addresses in their IPv6 form.
        let peer = peer.to_canonical();
        if !self.names(peer) {
            return Forwarded { client: peer, host: None, scheme: None };
        }
        // The nearest proxy appends the last value.
        let last = |name| values(headers, &name).pop();
        let scheme = last(FORWARDED_PROTO).map(|scheme| match scheme {
            "wss" => "https",
            "ws" => "http",
            other => other,
        });
        Forwarded { client: self.client(peer, headers), host: last(FORWARDED_HOST), scheme }
    }

    /// Returns the address of the client that sent a request. Each proxy appends the address from which it received the
    /// request, so the client is the last address that is not a trusted proxy. All earlier addresses were sent by the
    /// client and may be forged.
    fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = peer;
        for text in values(headers, &FORWARDED_FOR).into_iter().rev() {
            let Some(address) = address(text) else { break };
            client = address.to_canonical();
            if !self.names(client) {
                break;
            }
        }
        client
    }
}

/// Returns the items of a request header that contains a list. A value that is not readable text becomes an empty item.
fn values<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Vec<&'a str> {
    let lines = headers.get_all(name).iter().map(|value: &HeaderValue| value.to_str().unwrap_or_default());
    lines.flat_map(|line| line.split(',')).map(str::trim).collect()
}

/// Parses the address of a client or proxy. A port after the address is ignored, because some proxies append one.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_url_is_an_origin() {
        let table = [
            ("https://holdshort.example.org", Ok(("https://holdshort.example.org", 2))),
            ("https://Holdshort.Example.org:443/", Ok(("https://holdshort.example.org", 2))),
            ("https://holdshort.example.org:8443", Ok(("https://holdshort.example.org:8443", 1))),
            ("https://[2001:db8::1]", Ok(("https://[2001:db8::1]", 2))),
            ("http://localhost:8080", Ok(("http://localhost:8080", 1))),
            ("http://holdshort.example.org", Err("must be `https`")),
            ("https://example.org/holdshort", Err("consist of only")),
            ("https://example.org/?a", Err("consist of only")),
            ("https://example.org/#a", Err("consist of only")),
            ("https://me@example.org", Err("consist of only")),
            ("ftp://example.org", Err("is not a URL")),
            ("example.org", Err("is not a URL")),
            ("", Err("is not a URL")),
        ];
        for (text, expected) in table {
            match (text.parse::<PublicUrl>(), expected) {
                (Ok(url), Ok((origin, hosts))) => {
                    assert_eq!((&*url.origin(), url.hosts().len()), (origin, hosts), "{text}");
                }
                (Err(said), Err(part)) => assert!(said.contains(part), "{text}: {said}"),
                (found, _) => panic!("{text}: {found:?}"),
            }
        }
    }

    #[test]
    fn a_proxy_is_an_address_or_a_network_and_never_everybody() {
        for good in ["10.0.0.5", "10.0.0.0/8", "::1", "2001:db8::/32"] {
            assert!(network(good).is_ok(), "{good}");
        }
        for wrong in ["", "proxy", "10.0.0.0/33", "0.0.0.0/0", "::/0", "10.0.0.1:80"] {
            assert!(network(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn headers_count_from_proxies_and_the_client_is_the_last_that_is_none() {
        let proxies = Proxies::new(vec![network("10.0.0.0/8").unwrap(), network("127.0.0.1").unwrap()]);
        let table: [(&str, &[&str], &str); 12] = [
            ("203.0.113.1", &["198.51.100.7"], "203.0.113.1"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("10.0.0.1", &["198.51.100.7"], "198.51.100.7"),
            ("::ffff:10.0.0.1", &["198.51.100.7"], "198.51.100.7"),
            ("10.0.0.1", &["127.0.0.1, 198.51.100.7, 10.0.0.2"], "198.51.100.7"),
            ("10.0.0.1", &["192.0.2.1", "198.51.100.7"], "198.51.100.7"),
            ("10.0.0.1", &["192.0.2.1, 198.51.100.7"], "198.51.100.7"),
            ("10.0.0.1", &["198.51.100.7:4711"], "198.51.100.7"),
            ("10.0.0.1", &["[2001:db8::7]:4711"], "2001:db8::7"),
            ("10.0.0.1", &["2001:db8::7"], "2001:db8::7"),
            ("10.0.0.1", &["198.51.100.7, unknown"], "10.0.0.1"),
            ("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
        ];
        for (peer, lines, expected) in table {
            let lines = lines.iter().map(|line| (FORWARDED_FOR, HeaderValue::from_str(line).unwrap()));
            let headers: HeaderMap = lines.collect();
            let client = proxies.read(peer.parse().unwrap(), &headers).client;
            assert_eq!(client, expected.parse::<IpAddr>().unwrap(), "{peer} {headers:?}");
        }
        let headers = HeaderMap::from_iter([
            (FORWARDED_HOST, HeaderValue::from_static("forged.example, holdshort.example")),
            (FORWARDED_PROTO, HeaderValue::from_static("wss")),
        ]);
        let read = |peer: &str| {
            let Forwarded { host, scheme, .. } = proxies.read(peer.parse().unwrap(), &headers);
            (host, scheme)
        };
        assert_eq!(read("10.0.0.1"), (Some("holdshort.example"), Some("https")));
        assert_eq!(read("203.0.113.1"), (None, None));
    }
}
