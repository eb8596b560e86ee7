//! The address guard: a request to a URL that an agent, or whoever configures a webhook, has named goes to no address of
//! this machine or of the networks around it.
//!
//! A name is looked up once. Every address that it stands for is checked, and the client connects to one of these and
//! to no other, so that a second answer of the name server changes nothing. Never asks a proxy, follows a redirect or
//! keeps a cookie: where a redirect leads is another URL, which is looked up and checked by itself.
//!
//! What is public is listed, and the rest refused: a range that nobody thought of is refused too.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use reqwest::redirect::Policy;
use reqwest::{ClientBuilder, Url};

/// Addresses that one name may stand for; one with more is refused.
pub const ADDRESSES: usize = 64;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("`{range}` is no range of addresses such as `192.168.1.0/24`: {why}")]
    Range { range: String, why: &'static str },
    #[error("the URL names no host that can be looked up")]
    NoHost,
    #[error("`{host}` can not be looked up: {source}")]
    NotFound { host: String, source: std::io::Error },
    #[error("looking `{host}` up took too long")]
    Slow { host: String },
    #[error("`{host}` stands for no address, or for more than {ADDRESSES}")]
    Addresses { host: String },
    #[error("`{host}` is {address}, {what}, which nobody has allowed")]
    Refused { host: String, address: IpAddr, what: &'static str },
    #[error("`{host}` is {address}, in no network that somebody has named: `http:` goes to these alone")]
    InClear { host: String, address: IpAddr },
}

/// Which addresses a request may go to.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// Of those that are refused otherwise.
    allowed: Vec<IpNet>,
    /// Public ones are refused, too.
    is_closed: bool,
}

/// A URL whose addresses were checked.
#[derive(Clone, Debug)]
pub struct Checked {
    url: Url,
    host: String,
    addresses: Vec<SocketAddr>,
}

/// A range such as `127.0.0.1/32`, without bits beyond its length.
pub fn range(text: &str) -> Result<IpNet, Error> {
    let wrong = |why| Error::Range { range: text.to_owned(), why };
    let range: IpNet = text.parse().map_err(|_| wrong("an address, `/` and a number of bits"))?;
    if range.trunc() != range {
        return Err(wrong("it has bits beyond its length"));
    }
    Ok(range)
}

impl Guard {
    /// `allowed`: [ranges](range) of addresses that are not public and may be reached all the same.
    pub fn new(allowed: &[String]) -> Result<Self, Error> {
        let allowed = allowed.iter().map(|text| range(text)).collect::<Result<_, _>>()?;
        Ok(Self { allowed, is_closed: false })
    }

    /// The same, and public addresses only where they are in one of these ranges.
    #[must_use]
    pub fn closed(self) -> Self {
        Self { is_closed: true, ..self }
    }

    /// What kind of address it is, where a request may not go there.
    pub fn refuses(&self, address: IpAddr) -> Option<&'static str> {
        // `::ffff:127.0.0.1` is 127.0.0.1 to the kernel.
        if self.allows(address) {
            return None;
        }
        not_public(address.to_canonical()).or(self.is_closed.then_some("a public address"))
    }

    /// Whether an address is in a range that is allowed by name.
    pub fn allows(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.allowed.iter().any(|range| range.contains(&address))
    }

    /// Refuses a URL that says its address itself, where nothing may go there. A name is looked up when something is sent.
    pub fn check_literal(&self, url: &Url) -> Result<(), Error> {
        let host = url.host_str().ok_or(Error::NoHost)?;
        let refused = literal(url).and_then(|address| Some((address, self.refuses(address)?)));
        match refused {
            Some((address, what)) => Err(Error::Refused { host: host.to_owned(), address, what }),
            None => Ok(()),
        }
    }

    /// Refuses to send in the clear (`http:`) to one of these addresses that no range names, public or not: what is read on
    /// the way there is read by others. For whoever sends secrets.
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

    /// Looks the host of a URL up and checks every address.
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

    /// The same of addresses that are known.
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

/// The address that the host of a URL is; `None`: it is a name.
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

    /// A client for this URL alone: it connects to the checked addresses, and decodes nothing.
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

/// What is not public (IANA's registry of special-purpose addresses), the narrower ranges first.
const NOT_PUBLIC_V4: [(Ipv4Net, &str); 16] = [
    (v4(0, 0, 0, 0, 8), "an unspecified address"),
    (v4(10, 0, 0, 0, 8), "a private address"),
    (v4(100, 64, 0, 0, 10), "an address behind a provider's translation"),
    (v4(127, 0, 0, 0, 8), "this machine"),
    (v4(169, 254, 0, 0, 16), "a link-local address"),
    (v4(172, 16, 0, 0, 12), "a private address"),
    (v4(192, 0, 0, 0, 24), "a reserved address"),
    (v4(192, 0, 2, 0, 24), "an address of documents"),
    (v4(192, 88, 99, 0, 24), "a reserved address"),
    (v4(192, 168, 0, 0, 16), "a private address"),
    (v4(198, 18, 0, 0, 15), "an address of tests"),
    (v4(198, 51, 100, 0, 24), "an address of documents"),
    (v4(203, 0, 113, 0, 24), "an address of documents"),
    (v4(224, 0, 0, 0, 4), "a multicast address"),
    (v4(255, 255, 255, 255, 32), "a broadcast address"),
    (v4(240, 0, 0, 0, 4), "a reserved address"),
];

/// The only range of IPv6 that is public …
const GLOBAL_V6: Ipv6Net = v6(0x2000, 0, 0, 3);

/// … and what in it is not; then names for what is outside.
const NOT_PUBLIC_V6: [(Ipv6Net, &str); 9] = [
    (v6(0x2001, 0xdb8, 0, 32), "an address of documents"),
    (v6(0x2001, 0, 0, 23), "a reserved address"),
    (v6(0x3fff, 0, 0, 20), "an address of documents"),
    (v6(0, 0, 0, 128), "an unspecified address"),
    (Ipv6Net::new_assert(Ipv6Addr::LOCALHOST, 128), "this machine"),
    (v6(0xfc00, 0, 0, 7), "a private address"),
    (v6(0xfe80, 0, 0, 10), "a link-local address"),
    (v6(0xfec0, 0, 0, 10), "a private address"),
    (v6(0xff00, 0, 0, 8), "a multicast address"),
];

/// Where an address of IPv6 says in which bits it holds one of IPv4: what is sent there goes to that one.
const HOLDS_V4: [(Ipv6Net, u32); 3] = [
    (v6(0x2002, 0, 0, 16), 80),
    (v6(0x64, 0xff9b, 0, 96), 0),
    // Written as `::127.0.0.1`; nobody routes it.
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
