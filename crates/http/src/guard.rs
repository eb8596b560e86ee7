//! The address guard, which checks URLs that agents and authors of webhooks choose. Requests to them must not reach
//! this machine or private networks.
//!
//! A host name is looked up once, and all addresses that the name server returns are checked. The client then connects
//! only to these addresses, so a later, different response of the name server has no effect. The client must never use
//! a proxy, follow a redirect or keep a cookie. The target of a redirect must be checked like any other URL.
//!
//! The public address ranges are an allow-list: an address that is in none of the tables is refused.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use reqwest::redirect::Policy;
use reqwest::{ClientBuilder, Url};

/// Maximum number of addresses that one host of a URL may have. A request to a host with more addresses is rejected
/// with `address_refused`.
pub const ADDRESSES: usize = 64;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("`{range}` is not a range of addresses such as `192.168.1.0/24`: {why}")]
    Range { range: String, why: &'static str },
    #[error("the URL names no host that can be looked up")]
    NoHost,
    #[error("`{host}` cannot be looked up: {source}")]
    NotFound { host: String, source: std::io::Error },
    #[error("the DNS lookup of `{host}` took too long")]
    Slow { host: String },
    #[error("`{host}` has no address, or more than {ADDRESSES} addresses")]
    Addresses { host: String },
    #[error("`{host}` is {address}, {what}, which is not allowed")]
    Refused { host: String, address: IpAddr, what: &'static str },
    #[error("`{host}` is {address}, outside the allowed networks: `http:` may be used only within them")]
    InClear { host: String, address: IpAddr },
}

/// Rules that decide to which IP addresses a request may be sent.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// Ranges of IP addresses that the guard allows even if they are not public.
    allowed: Vec<IpNet>,
    /// True if the guard also refuses public addresses outside the allowed ranges.
    is_closed: bool,
}

/// A URL for which the guard allows all addresses of the host.
#[derive(Clone, Debug)]
pub struct Checked {
    url: Url,
    host: String,
    addresses: Vec<SocketAddr>,
}

/// Parses a range of IP addresses such as `127.0.0.1/32`. Rejects a range in which a bit after the prefix length is
/// set.
pub fn range(text: &str) -> Result<IpNet, Error> {
    let wrong = |why| Error::Range { range: text.to_owned(), why };
    let range: IpNet = text.parse().map_err(|_| wrong("write an address, `/` and a number of bits"))?;
    if range.trunc() != range {
        return Err(wrong("it has bits set beyond its prefix length"));
    }
    Ok(range)
}

impl Guard {
    /// Creates a guard for requests. `allowed` lists the address [ranges](range) to which requests are allowed even if
    /// they are not public.
    pub fn new(allowed: &[String]) -> Result<Self, Error> {
        let allowed = allowed.iter().map(|text| range(text)).collect::<Result<_, _>>()?;
        Ok(Self { allowed, is_closed: false })
    }

    /// Returns a guard that also refuses the public addresses outside the allowed ranges.
    #[must_use]
    pub fn closed(self) -> Self {
        Self { is_closed: true, ..self }
    }

    /// Returns the kind of an address that the guard refuses, such as `a private address`. Returns `None` if the
    /// address is allowed.
    pub fn refuses(&self, address: IpAddr) -> Option<&'static str> {
        // The kernel treats `::ffff:127.0.0.1` as 127.0.0.1.
        if self.allows(address) {
            return None;
        }
        not_public(address.to_canonical()).or(self.is_closed.then_some("a public address"))
    }

    /// Returns true if an allowed range of the guard contains the address.
    pub fn allows(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.allowed.iter().any(|range| range.contains(&address))
    }

    /// Returns an error if the host of a URL is an IP address that the guard refuses. A host name is looked up and
    /// checked later, when the request is sent.
    pub fn check_literal(&self, url: &Url) -> Result<(), Error> {
        let host = url.host_str().ok_or(Error::NoHost)?;
        let refused = literal(url).and_then(|address| Some((address, self.refuses(address)?)));
        match refused {
            Some((address, what)) => Err(Error::Refused { host: host.to_owned(), address, what }),
            None => Ok(()),
        }
    }

    /// Returns an error for an unencrypted URL (`http:`) if one of the `addresses` is outside the guard's allowed
    /// ranges, even if the address is public. Callers that send secrets make this check, because everyone on the
    /// network can read an unencrypted request.
    pub fn check_in_clear(
        &self,
        url: &Url,
        addresses: impl IntoIterator<Item = IpAddr>,
    ) -> Result<(), Error> {
        let unnamed = addresses.into_iter().find(|address| !self.allows(*address));
        match unnamed {
            Some(address) if url.scheme() == "http" => {
                Err(Error::InClear { host: url.host_str().unwrap_or_default().to_owned(), address })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Looks up the host of a URL and checks all its addresses against the rules of the guard.
    pub async fn check(&self, url: &Url, within: Duration) -> Result<Checked, Error> {
        let host = url.host_str().ok_or(Error::NoHost)?.to_owned();
        let port = url.port_or_known_default().ok_or(Error::NoHost)?;
        let name = host.clone();
        let addresses: Vec<SocketAddr> = match literal(url) {
            Some(address) => vec![SocketAddr::new(address, port)],
            None => {
                match tokio::time::timeout(within, tokio::net::lookup_host((name.as_str(), port))).await {
                    Err(_) => return Err(Error::Slow { host }),
                    Ok(Err(source)) => return Err(Error::NotFound { host, source }),
                    Ok(Ok(found)) => found.collect(),
                }
            }
        };
        self.check_all(url, host, addresses)
    }

    /// Checks the addresses of a URL's host, which the caller has looked up, against the rules of the guard.
    pub fn check_all(&self, url: &Url, host: String, addresses: Vec<SocketAddr>) -> Result<Checked, Error> {
        if addresses.is_empty() || addresses.len() > ADDRESSES {
            return Err(Error::Addresses { host });
        }
        let mut refused = addresses.iter().filter_map(|at| Some((at.ip(), self.refuses(at.ip())?)));
        match refused.next() {
            Some((address, what)) => Err(Error::Refused { host, address, what }),
            None => Ok(Checked { url: url.clone(), host, addresses }),
        }
    }
}

/// Returns the IP address if the host of the URL is an IP address, or `None` if the host is a name.
pub fn literal(url: &Url) -> Option<IpAddr> {
    url.host_str()?.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

impl Checked {
    pub fn url(&self) -> &Url {
        &self.url
    }

    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Returns a builder for an HTTP client for only this URL. The client connects only to the checked addresses, and
    /// does not decompress responses.
    pub fn client(&self) -> ClientBuilder {
        crate::client_to(&self.url)
            .resolve_to_addrs(&self.host, &self.addresses)
            .no_proxy()
            .redirect(Policy::none())
            .referer(false)
            .no_gzip()
            .no_brotli()
            .no_deflate()
            .no_zstd()
    }
}

const fn v4(a: u8, b: u8, c: u8, d: u8, bits: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), bits)
}

const fn v6(a: u16, b: u16, c: u16, bits: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), bits)
}

/// Ranges of IPv4 addresses that are not public (IANA's registry of special-purpose addresses). Narrower ranges are
/// listed before wider ones.
const NOT_PUBLIC_V4: [(Ipv4Net, &str); 16] = [
    (v4(0, 0, 0, 0, 8), "an unspecified address"),
    (v4(10, 0, 0, 0, 8), "a private address"),
    (v4(100, 64, 0, 0, 10), "a shared address of a provider's NAT"),
    (v4(127, 0, 0, 0, 8), "this machine"),
    (v4(169, 254, 0, 0, 16), "a link-local address"),
    (v4(172, 16, 0, 0, 12), "a private address"),
    (v4(192, 0, 0, 0, 24), "a reserved address"),
    (v4(192, 0, 2, 0, 24), "an address reserved for documentation"),
    (v4(192, 88, 99, 0, 24), "a reserved address"),
    (v4(192, 168, 0, 0, 16), "a private address"),
    (v4(198, 18, 0, 0, 15), "an address reserved for benchmarks"),
    (v4(198, 51, 100, 0, 24), "an address reserved for documentation"),
    (v4(203, 0, 113, 0, 24), "an address reserved for documentation"),
    (v4(224, 0, 0, 0, 4), "a multicast address"),
    (v4(255, 255, 255, 255, 32), "a broadcast address"),
    (v4(240, 0, 0, 0, 4), "a reserved address"),
];

/// The only range of IPv6 addresses that contains public addresses.
const GLOBAL_V6: Ipv6Net = v6(0x2000, 0, 0, 3);

/// Ranges of IPv6 addresses that are not public. First come the ranges inside [`GLOBAL_V6`], then ranges outside of it,
/// which are listed only for their names.
const NOT_PUBLIC_V6: [(Ipv6Net, &str); 9] = [
    (v6(0x2001, 0xdb8, 0, 32), "an address reserved for documentation"),
    (v6(0x2001, 0, 0, 23), "a reserved address"),
    (v6(0x3fff, 0, 0, 20), "an address reserved for documentation"),
    (v6(0, 0, 0, 128), "an unspecified address"),
    (Ipv6Net::new_assert(Ipv6Addr::LOCALHOST, 128), "this machine"),
    (v6(0xfc00, 0, 0, 7), "a private address"),
    (v6(0xfe80, 0, 0, 10), "a link-local address"),
    (v6(0xfec0, 0, 0, 10), "a private address"),
    (v6(0xff00, 0, 0, 8), "a multicast address"),
];

/// Ranges of IPv6 addresses that contain an IPv4 address, each with the position of the lowest bit of the IPv4 address.
/// A request to such an address reaches the IPv4 address in it.
const HOLDS_V4: [(Ipv6Net, u32); 3] = [
    (v6(0x2002, 0, 0, 16), 80),
    (v6(0x64, 0xff9b, 0, 96), 0),
    // Addresses such as `::127.0.0.1`. This range is not routed.
    (v6(0, 0, 0, 96), 0),
];

fn not_public(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => {
            NOT_PUBLIC_V4.iter().find(|(range, _)| range.contains(&address)).map(|(_, what)| *what)
        }
        IpAddr::V6(address) => {
            let named = || NOT_PUBLIC_V6.iter().find(|(range, _)| range.contains(&address));
            if let Some((_, what)) = named() {
                return Some(what);
            }
            let within = HOLDS_V4.iter().find(|(range, _)| range.contains(&address));
            if let Some((range, bits)) = within {
                #[expect(clippy::cast_possible_truncation, reason = "these 32 bits are the address")]
                let held = Ipv4Addr::from_bits((address.to_bits() >> bits) as u32);
                let is_routed = range.prefix_len() != 96 || range.addr() != Ipv6Addr::UNSPECIFIED;
                return not_public(IpAddr::V4(held)).or((!is_routed).then_some("a reserved address"));
            }
            (!GLOBAL_V6.contains(&address)).then_some("a reserved address")
        }
    }
}
