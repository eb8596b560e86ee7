//! Arguments of `serve` that set its network addresses. Flags and keys of `holdshort.toml` use the same parsers.

use std::net::SocketAddr;
use std::path::PathBuf;

use holdshort_http::guard::range;
use holdshort_server::{CallbackReach, PublicUrl, network};

use super::duration;

#[derive(Debug, Default, clap::Args)]
pub(crate) struct AddressArgs {
    /// Address to listen on, or `localhost:PORT` [default: 127.0.0.1:7349]. An address that other machines can reach
    /// requires `--public-url`, and people, keys or `[[identity.jwt]]`.
    #[arg(long, value_name = "ADDRESS", value_parser = listen)]
    pub listen: Option<SocketAddr>,
    /// The URL at which browsers and agents on other machines reach the server, such as
    /// `https://holdshort.example.org`.
    #[arg(long, value_name = "URL", value_parser = public_url)]
    pub public_url: Option<PublicUrl>,
    /// A proxy whose headers `X-Forwarded-For`, `-Proto` and `-Host` are trusted: an IP address or a network; may be
    /// repeated.
    #[arg(long, value_name = "ADDR_OR_CIDR", value_parser = proxy)]
    pub proxy: Vec<String>,
    /// URL at which browsers open the web UI of MARS, such as `http://localhost:3000`. People sign in there and use the
    /// MARS edge with a cookie [default: the edge accepts no cookie].
    #[arg(long, value_name = "URL", value_parser = public_url)]
    pub edge_origin: Option<PublicUrl>,
    /// Networks to which callbacks to agents of other frameworks may be sent: `public` (any public address), `allowed`
    /// (only the networks of --callback-allow-networks) or `off` [default: public].
    #[arg(long, value_name = "WHERE", value_parser = callback_reach)]
    pub callbacks: Option<CallbackReach>,
    /// Private network to which callbacks to agents of other frameworks may be sent, such as `10.0.0.0/8`; may be
    /// repeated [default: none].
    #[arg(long, value_name = "CIDR", value_parser = callback_network)]
    pub callback_allow_networks: Vec<String>,
    /// File with the TLS certificate and its chain, in PEM. If this file is set, the server accepts only TLS
    /// connections. The server reloads a changed file automatically.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// File with the private key of the certificate, in PEM. Only its owner may have permission to read it.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
}

/// Parses the duration of a node's lease into milliseconds. The lease is the time after which other nodes take over the
/// runs of a node that sends no sign of life. A shorter lease would expire while its node is only busy. A longer lease
/// would delay the takeover of the runs of a stopped node.
pub(crate) fn lease(text: &str) -> Result<u64, String> {
    match duration(text)? {
        ms @ 2_000..=600_000 => Ok(ms),
        _ => Err("must be from `2s` to `10m`".to_owned()),
    }
}

/// Parses the address and port on which a server listens. Reads `localhost` as 127.0.0.1, because browsers try
/// 127.0.0.1 for `localhost` too.
pub(crate) fn listen(text: &str) -> Result<SocketAddr, String> {
    let address = match text.split_once(':') {
        Some(("localhost", port)) => format!("127.0.0.1:{port}"),
        Some(_) | None => text.to_owned(),
    };
    address.parse().map_err(|_| "is not an address such as `127.0.0.1:7349` or `localhost:7349`".to_owned())
}

pub(crate) fn public_url(text: &str) -> Result<PublicUrl, String> {
    text.parse()
}

pub(crate) fn callback_reach(text: &str) -> Result<CallbackReach, String> {
    text.parse()
}

/// Checks that a text is a network address range for callbacks, and returns the text unchanged.
pub(crate) fn callback_network(text: &str) -> Result<String, String> {
    range(text).map(|_| text.to_owned()).map_err(|_| "is not a network such as `10.0.0.0/8`".to_owned())
}

/// Checks that a text is the address of a proxy, and returns the text unchanged, for display.
pub(crate) fn proxy(text: &str) -> Result<String, String> {
    network(text).map(|_| text.to_owned())
}
