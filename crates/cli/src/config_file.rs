//! `holdshort.toml`: settings of `serve`. A flag or an environment variable overrides a setting of this file.
//!
//! Unknown keys are rejected with line and column. The file contains no secrets, only the paths of files with secrets.
//! Only the owner of the file may have write permission: a person who can write the file can let anyone sign in with
//! any role. `docs/reference/config.md` describes every key.

mod position;

use std::fs;
use std::io::{ErrorKind, Read};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use holdshort_http::secret_file;
use holdshort_server::jwt::{self, Jwt};
use holdshort_server::oidc::Oidc;
use holdshort_server::{
    AGENT_REQUESTS, CHECKPOINT_EVERY_MS, CallbackReach, Callbacks, Cors, KeepCheckpoints, Otlp, PerMinute,
    Proxies, PublicEndpoint, PublicUrl, TlsFiles, mars_page, network, otlp_headers,
};
use reqwest::Url;
use reqwest::header::HeaderMap;
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::args::{self, ModelArgs, Serve, StoreArgs};
use crate::data_dir::DataDir;
use crate::embed::database_words;
use crate::exit::usage;
use crate::limits::CONFIG_BYTES;
use crate::log::{self, Format};
use position::{describe_error, position_of_value};

pub(crate) const NAME: &str = "holdshort.toml";
const LISTEN: &str = "127.0.0.1:7349";

/// Content of `holdshort.toml` after parsing. Each field is a key of this file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_field_names, reason = "they are the keys of the file")]
struct File {
    #[serde(deserialize_with = "listen")]
    listen: Option<SocketAddr>,
    #[serde(deserialize_with = "public_url")]
    public_url: Option<PublicUrl>,
    #[serde(deserialize_with = "proxies")]
    proxy: Option<Vec<String>>,
    #[serde(deserialize_with = "public_url")]
    edge_origin: Option<PublicUrl>,
    #[serde(deserialize_with = "callback_reach")]
    callbacks: Option<CallbackReach>,
    #[serde(deserialize_with = "callback_networks")]
    callback_allow_networks: Option<Vec<String>>,
    tls_cert: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    workflows: Option<PathBuf>,
    people: Option<PathBuf>,
    rules: Option<PathBuf>,
    channels: Option<PathBuf>,
    #[serde(deserialize_with = "model")]
    model: Option<String>,
    #[serde(deserialize_with = "base_url")]
    base_url: Option<String>,
    #[serde(deserialize_with = "store")]
    store: Option<String>,
    store_file: Option<PathBuf>,
    node: Option<String>,
    #[serde(deserialize_with = "lease")]
    lease: Option<u64>,
    #[serde(deserialize_with = "agent_requests")]
    agent_requests: Option<u32>,
    #[serde(deserialize_with = "rate")]
    sign_in_rate: Option<u32>,
    #[serde(deserialize_with = "rate")]
    decision_rate: Option<u32>,
    checkpoint_file: Option<PathBuf>,
    #[serde(deserialize_with = "checkpoint_every")]
    checkpoint_every: Option<u64>,
    #[serde(deserialize_with = "keep_content")]
    keep_content: Option<u64>,
    log_format: Option<Format>,
    #[serde(deserialize_with = "otlp_endpoint")]
    otlp_endpoint: Option<Url>,
    otlp_headers_file: Option<PathBuf>,
    identity: Identity,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Identity {
    jwt: Vec<Jwt>,
    oidc: Option<Oidc>,
}

/// Settings of a server after flags, environment, configuration file and defaults are combined, and the source of each
/// setting.
#[derive(Debug)]
pub(crate) struct EffectiveSettings {
    pub listen: SocketAddr,
    pub workflows: Option<PathBuf>,
    pub people: Option<PathBuf>,
    pub rules: Option<PathBuf>,
    pub channels: Option<PathBuf>,
    pub model: ModelArgs,
    pub store: StoreArgs,
    pub agent_requests: u32,
    pub per_minute: PerMinute,
    pub issuers: Vec<Jwt>,
    pub provider: Option<Oidc>,
    pub front: PublicEndpoint,
    pub callbacks: Callbacks,
    pub checkpoints: Option<KeepCheckpoints>,
    pub keep_content: Option<Duration>,
    pub log_format: Format,
    pub otlp: Option<Otlp>,
    /// Source of each value, for the report of `doctor`. The password of a database is not included.
    pub told: Vec<EffectiveSetting>,
}

/// A key of the configuration file, its value in effect, and the source of this value.
#[derive(Debug, Serialize)]
pub(crate) struct EffectiveSetting {
    pub key: &'static str,
    /// Value in effect of a key of the configuration file. `null` if the key is not set and has no default.
    pub value: Option<String>,
    /// Source of a configuration value: `flag`, `environment NAME`, `file PATH`, or `default`.
    pub from: String,
}

/// Combines the settings of a server that uses this data folder, from flags, environment, configuration file and
/// defaults.
pub(crate) fn resolve_settings(serve: &Serve, data_dir: &DataDir) -> anyhow::Result<EffectiveSettings> {
    let path = match &serve.config {
        Some(path) => Some(std::path::absolute(path)?),
        None => Some(data_dir.path.join(NAME)).filter(|path| path.exists()),
    };
    let (file, text) = path.as_deref().map_or_else(|| Ok((File::default(), String::new())), read)?;
    let mut telling = SettingResolver { path, text, told: Vec::new() };

    let default: SocketAddr = LISTEN.parse()?;
    let listen =
        telling.pick("listen", None, serve.front.listen, file.listen, Some(default), ToString::to_string);
    let listen = listen.unwrap_or(default);
    let shown = |path: &PathBuf| path.display().to_string();
    let said = &serve.front;
    let front = PublicEndpoint {
        public_url: telling.pick(
            "public_url",
            None,
            said.public_url.clone(),
            file.public_url,
            None,
            ToString::to_string,
        ),
        proxies: {
            let said = (!said.proxy.is_empty()).then(|| said.proxy.clone());
            let named = telling.pick("proxy", None, said, file.proxy, None, |named| named.join(", "));
            // The parser of the flag or of the key has already checked each value, so `filter_map` drops no value here.
            Proxies::new(named.unwrap_or_default().iter().filter_map(|text| network(text).ok()).collect())
        },
        tls: {
            let certificate =
                telling.pick("tls_cert", None, said.tls_cert.clone(), file.tls_cert, None, shown);
            let key = telling.pick("tls_key", None, said.tls_key.clone(), file.tls_key, None, shown);
            match (certificate, key) {
                (Some(certificate), Some(key)) => Some(TlsFiles { certificate, key }),
                (None, None) => None,
                (certificate, _) => {
                    let key = if certificate.is_some() { "tls_cert" } else { "tls_key" };
                    return Err(telling.wrong(key, "`tls_cert` and `tls_key` belong together: set both"));
                }
            }
        },
        cors: Cors::default(),
        page: telling
            .pick("edge_origin", None, said.edge_origin.clone(), file.edge_origin, None, ToString::to_string)
            .map(|url| mars_page(&url)),
    };
    if let (Some(page), Some(own)) = (&front.page, &front.public_url)
        && *page.origin() == *own.origin()
    {
        let why =
            "`edge_origin` must be the URL of the web UI of MARS, but it is the public URL of this server";
        return Err(telling.wrong("edge_origin", why));
    }
    let callbacks = telling.pick(
        "callbacks",
        None,
        said.callbacks,
        file.callbacks,
        Some(CallbackReach::default()),
        |reach| reach.wire_name().to_owned(),
    );
    let said = (!said.callback_allow_networks.is_empty()).then(|| said.callback_allow_networks.clone());
    let callback_allow_networks =
        telling.pick("callback_allow_networks", None, said, file.callback_allow_networks, None, |named| {
            named.join(", ")
        });
    let workflows = telling.pick("workflows", None, serve.workflows.clone(), file.workflows, None, shown);
    let people = telling.pick("people", None, serve.people.clone(), file.people, None, shown);
    let rules = telling.pick("rules", None, serve.rules.clone(), file.rules, None, shown);
    let channels = telling.pick("channels", None, serve.channels.clone(), file.channels, None, shown);
    let model = ModelArgs {
        model: telling.pick(
            "model",
            Some("HOLDSHORT_MODEL"),
            serve.model.model.clone(),
            file.model,
            None,
            Clone::clone,
        ),
        base_url: telling.pick(
            "base_url",
            Some("OPENAI_BASE_URL"),
            serve.model.base_url.clone(),
            file.base_url,
            None,
            Clone::clone,
        ),
    };
    let named = [("people", &people), ("rules", &rules), ("channels", &channels), ("workflows", &workflows)];
    for (key, path) in named.into_iter().filter_map(|(key, path)| Some((key, path.as_ref()?))) {
        fs::metadata(path).map_err(|error| {
            telling.wrong(key, &format!("`{key}` {} cannot be read: {error}", path.display()))
        })?;
    }
    if telling.is_from_file("base_url")
        && telling.find_setting("model").is_none_or(|told| told.value.is_none())
    {
        return Err(
            telling.wrong("base_url", "`base_url` has no effect without a model; name a model with `model`")
        );
    }
    let said = serve.store.store.clone();
    let store = StoreArgs {
        store: telling
            .pick("store", Some("HOLDSHORT_STORE"), said, file.store, None, |url| database_words(url)),
        node: telling.pick("node", None, serve.store.node.clone(), file.node, None, Clone::clone),
        lease: telling.pick("lease", None, serve.store.lease, file.lease, None, |ms| format!("{ms} ms")),
    };
    let node = store.node.clone();
    if store.store.is_none() && (store.node.is_some() || store.lease.is_some()) {
        return Err(telling.wrong(
            if store.node.is_some() { "node" } else { "lease" },
            "`node` and `lease` need a database; name the database with --store, or with `store` or \
             `store_file` in holdshort.toml",
        ));
    }
    let requests = serve.agent_requests;
    let agent_requests = telling.pick(
        "agent_requests",
        None,
        requests,
        file.agent_requests,
        Some(AGENT_REQUESTS),
        ToString::to_string,
    );
    let default = PerMinute::default();
    let mut rate = |key, said, read, default: u32| {
        telling.pick(key, None, said, read, Some(default), ToString::to_string).unwrap_or(default)
    };
    let per_minute = PerMinute {
        sign_ins: rate("sign_in_rate", serve.sign_in_rate, file.sign_in_rate, default.sign_ins),
        decisions: rate("decision_rate", serve.decision_rate, file.decision_rate, default.decisions),
    };
    let said = &serve.checkpoints;
    let kept = telling.pick(
        "checkpoint_file",
        None,
        said.checkpoint_file.clone(),
        file.checkpoint_file,
        None,
        shown,
    );
    let every = telling.pick(
        "checkpoint_every",
        None,
        said.checkpoint_every,
        file.checkpoint_every,
        kept.is_some().then_some(CHECKPOINT_EVERY_MS),
        |ms| format!("{ms} ms"),
    );
    // A channel in the channels file may receive checkpoints. That file is not read yet, so a set path is accepted
    // here.
    if kept.is_none() && channels.is_none() && every.is_some() {
        return Err(usage(
            "`checkpoint_every` needs a file or channels: name a file with --checkpoint-file, or with `checkpoint_file` in \
             holdshort.toml, or channels with --channels",
        ));
    }
    let checkpoints = (kept.is_some() || every.is_some()).then(|| KeepCheckpoints {
        file: kept,
        every: Duration::from_millis(every.unwrap_or(CHECKPOINT_EVERY_MS)),
    });
    let keep_content =
        telling.pick("keep_content", None, serve.keep_content, file.keep_content, None, |ms| {
            format!("{} days", ms / 86_400_000)
        });
    let said = Format::of_environment()?;
    let log_format = telling
        .pick("log_format", Some(log::FORMAT), serve.log_format, file.log_format, Some(Format::Text), |it| {
            it.as_str().to_owned()
        })
        .or(said);
    let otlp = otlp(&mut telling, serve.otlp_endpoint.clone(), file.otlp_endpoint, file.otlp_headers_file)?;
    let issuers = file.identity.jwt;
    let named: Vec<&str> = issuers.iter().map(|jwt| &*jwt.issuer).collect();
    let named = (!named.is_empty()).then(|| named.join(", "));
    telling.pick("identity.jwt", None, None, named, None, Clone::clone);
    let provider =
        telling.pick("identity.oidc", None, None, file.identity.oidc, None, |it| it.issuer.clone());
    Ok(EffectiveSettings {
        listen,
        workflows,
        people,
        rules,
        channels,
        model,
        store,
        agent_requests: agent_requests.unwrap_or(AGENT_REQUESTS),
        per_minute,
        issuers,
        provider,
        front,
        callbacks: Callbacks {
            reach: callbacks.unwrap_or_default(),
            allow: callback_allow_networks.unwrap_or_default(),
        },
        checkpoints,
        keep_content: keep_content.map(Duration::from_millis),
        log_format: log_format.unwrap_or_default(),
        otlp: otlp.map(|(endpoint, headers)| Otlp { endpoint, headers, node }),
        told: telling.told,
    })
}

/// Returns the endpoint to which traces are sent, and the secret HTTP headers of these requests.
fn otlp(
    telling: &mut SettingResolver,
    flag: Option<Url>,
    file: Option<Url>,
    headers_file: Option<PathBuf>,
) -> anyhow::Result<Option<(Url, HeaderMap)>> {
    const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
    const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
    let variable = |name: &str| std::env::var(name).ok().filter(|said| !said.trim().is_empty());
    let said = match (&flag, variable(ENDPOINT)) {
        (None, Some(said)) => {
            let url = args::otlp_endpoint(said.trim());
            Some(url.map_err(|why| usage(format!("{ENDPOINT} {why}")))?)
        }
        _ => None,
    };
    let endpoint =
        telling.pick("otlp_endpoint", Some(ENDPOINT), flag, file, None, ToString::to_string).or(said);
    let named = headers_file.clone();
    telling.pick("otlp_headers_file", None, None, named, None, |path| path.display().to_string());
    let named_in = telling.path.as_deref().unwrap_or(Path::new(NAME)).display().to_string();
    let text = match (variable(HEADERS), headers_file) {
        (Some(said), _) => Some((HEADERS, said)),
        (None, Some(path)) => {
            let secret = secret_of("otlp_headers_file", &path);
            Some((&*named_in, secret.map_err(|error| usage(format!("{named_in}: {error}")))?))
        }
        (None, None) => None,
    };
    let headers =
        text.map(|(from, text)| otlp_headers(&text).map_err(|wrong| usage(format!("{from}: {wrong}"))));
    let headers = headers.transpose()?.unwrap_or_default();
    Ok(endpoint.map(|endpoint| (endpoint, headers)))
}

struct SettingResolver {
    path: Option<PathBuf>,
    /// Text of the configuration file, for the line and column in an error about one of its keys.
    text: String,
    told: Vec<EffectiveSetting>,
}

impl SettingResolver {
    fn find_setting(&self, key: &str) -> Option<&EffectiveSetting> {
        self.told.iter().find(|told| told.key == key)
    }

    fn is_from_file(&self, key: &str) -> bool {
        self.find_setting(key).is_some_and(|told| told.from.starts_with("file "))
    }

    /// Returns the error about a configuration key, with line and column if the key is set in the file.
    fn wrong(&self, key: &str, why: &str) -> anyhow::Error {
        match &self.path {
            Some(path) if self.is_from_file(key) => {
                usage(format!("{}, {}: {why}", path.display(), position_of_value(&self.text, &[key])))
            }
            _ => usage(why),
        }
    }

    /// Chooses the value of a configuration key by precedence: flag, environment, file, default. For a value from the
    /// environment, records only the source and returns `None`, because another module reads the variable.
    fn pick<T>(
        &mut self,
        key: &'static str,
        variable: Option<&str>,
        flag: Option<T>,
        file: Option<T>,
        default: Option<T>,
        show: impl Fn(&T) -> String,
    ) -> Option<T> {
        let named = variable.and_then(|name| {
            let value = std::env::var(name).ok().filter(|value| !value.trim().is_empty())?;
            Some((name, value))
        });
        let (value, from) = match (flag, named, file) {
            // The parser of this flag reads the environment variable too, so the value may come from the environment.
            (Some(flag), Some((name, _)), _) if name == "HOLDSHORT_STORE" && !is_flag_set("--store") => {
                (Some(flag), format!("environment {name}"))
            }
            (Some(flag), ..) => (Some(flag), "flag".to_owned()),
            (None, Some((name, value)), _) => {
                self.told.push(EffectiveSetting {
                    key,
                    value: Some(value),
                    from: format!("environment {name}"),
                });
                return None;
            }
            (None, None, Some(file)) => {
                let path = self.path.as_deref().unwrap_or(Path::new(NAME));
                (Some(file), format!("file {}", path.display()))
            }
            (None, None, None) => (default, "default".to_owned()),
        };
        self.told.push(EffectiveSetting { key, value: value.as_ref().map(show), from });
        value
    }
}

pub(crate) fn is_flag_set(flag: &str) -> bool {
    std::env::args_os().any(|argument| {
        argument.to_str().is_some_and(|text| text == flag || text.starts_with(&format!("{flag}=")))
    })
}

fn read(path: &Path) -> anyhow::Result<(File, String)> {
    let shown = path.display();
    let file = fs::File::open(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => usage(format!("{shown} does not exist")),
        _ => usage(format!("{shown} cannot be read: {error}")),
    })?;
    let mode = file.metadata().with_context(|| format!("{shown}"))?.permissions().mode() & 0o777;
    if mode & 0o022 != 0 {
        return Err(usage(format!(
            "{shown} can be changed by other users (mode {mode:03o}), but the file controls who may sign \
             in; run `chmod go-w`"
        )));
    }
    let mut text = String::new();
    file.take(CONFIG_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(|error| usage(format!("{shown} cannot be read: {error}")))?;
    if text.len() as u64 > CONFIG_BYTES {
        return Err(usage(format!("{shown} has more than {CONFIG_BYTES} bytes")));
    }
    let mut file: File = toml::from_str(&text)
        .map_err(|error| usage(format!("{shown}, {}", describe_error(&text, &error))))?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    let paths = [
        &mut file.workflows,
        &mut file.people,
        &mut file.rules,
        &mut file.channels,
        &mut file.store_file,
        &mut file.tls_cert,
        &mut file.tls_key,
        &mut file.checkpoint_file,
        &mut file.otlp_headers_file,
    ]
    .into_iter();
    let of_issuers = file.identity.jwt.iter_mut().flat_map(|jwt| [&mut jwt.secret_file, &mut jwt.jwks_file]);
    let of_provider = file.identity.oidc.iter_mut().map(|oidc| &mut oidc.client_secret_file);
    for path in paths.chain(of_issuers).chain(of_provider).flatten() {
        *path = folder.join(&path);
    }
    let of_issuer = |wrong: jwt::ConfigError| {
        let steps: Vec<&str> =
            std::iter::once("identity").chain(wrong.steps.iter().map(String::as_str)).collect();
        usage(format!("{shown}, {}: {wrong}", position_of_value(&text, &steps)))
    };
    jwt::check(&file.identity.jwt).map_err(of_issuer)?;
    let provider = file.identity.oidc.as_ref().map_or(Ok(()), |oidc| oidc.check(&file.identity.jwt));
    provider.map_err(of_issuer)?;
    if let Some(secret) = &file.store_file {
        let place = position_of_value(&text, &["store_file"]);
        if file.store.is_some() {
            return Err(usage(format!("{shown}, {place}: set either `store` or `store_file`, not both")));
        }
        let of_file = secret_of("store_file", secret);
        file.store = Some(of_file.map_err(|error| usage(format!("{shown}, {place}: {error}")))?);
    }
    Ok((file, text))
}

/// Reads a secret, such as the URL of a database, from a file that only its owner may be able to read. `key` is the
/// configuration key that names the file.
fn secret_of(key: &str, path: &Path) -> anyhow::Result<String> {
    let shown = path.display();
    secret_file::read_text(path, CONFIG_BYTES).map_err(|error| usage(format!("`{key}` {shown} {error}")))
}

/// Deserializes a value of the configuration file with the same parser as the command-line flag of that name.
fn as_flag<'de, D: Deserializer<'de>, T>(
    from: D,
    such: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, D::Error> {
    let text = String::deserialize(from)
        .map_err(|_| de::Error::custom(format_args!("expected a quoted string, such as `\"{such}\"`")))?;
    read(&text).map(Some).map_err(|why| de::Error::custom(format_args!("`{text}` {why}")))
}

fn listen<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SocketAddr>, D::Error> {
    as_flag(from, "127.0.0.1:7349", args::listen)
}

fn public_url<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PublicUrl>, D::Error> {
    as_flag(from, "https://holdshort.example.org", args::public_url)
}

fn otlp_endpoint<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Url>, D::Error> {
    // The error must not contain the value, because the value may contain a password.
    args::otlp_endpoint(&String::deserialize(from)?).map(Some).map_err(de::Error::custom)
}

/// Deserializes a list in the configuration file with the same parser as the command-line flag of that name.
fn as_flags<'de, D: Deserializer<'de>>(
    from: D,
    such: &str,
    read: impl Fn(&str) -> Result<String, String>,
) -> Result<Option<Vec<String>>, D::Error> {
    let named = Vec::<String>::deserialize(from)
        .map_err(|_| de::Error::custom(format_args!("expected a list of strings, such as `[\"{such}\"]`")))?;
    let read = |text: String| read(&text).map_err(|why| de::Error::custom(format_args!("`{text}` {why}")));
    named.into_iter().map(read).collect::<Result<_, _>>().map(Some)
}

fn proxies<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    as_flags(from, "127.0.0.1", args::proxy)
}

fn callback_reach<'de, D: Deserializer<'de>>(from: D) -> Result<Option<CallbackReach>, D::Error> {
    as_flag(from, "public", args::callback_reach)
}

fn callback_networks<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    as_flags(from, "10.0.0.0/8", args::callback_network)
}

fn lease<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    as_flag(from, "15s", args::lease)
}

fn checkpoint_every<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    as_flag(from, "1h", args::checkpoint_every)
}

fn keep_content<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    as_flag(from, "90d", args::keep_content)
}

fn agent_requests<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    amount(from, "")
}

fn rate<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    amount(from, ", a minute")
}

fn amount<'de, D: Deserializer<'de>>(from: D, each: &str) -> Result<Option<u32>, D::Error> {
    match u32::deserialize(from)? {
        n @ 1..=1_000_000 => Ok(Some(n)),
        _ => Err(de::Error::custom(format_args!("must be from 1 to 1000000{each}"))),
    }
}

fn model<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(from)?;
    let is_empty = text.trim().is_empty();
    if is_empty {
        Err(de::Error::custom("is empty; set `model` to the name of a model, or remove the key"))
    } else {
        Ok(Some(text))
    }
}

/// Deserializes a URL in the configuration file. The error does not contain the URL, which may include a password.
fn base_url<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(from)?;
    let is_url = Url::parse(text.trim()).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    let such = "is not a URL such as `http://127.0.0.1:8080/v1`";
    if is_url { Ok(Some(text)) } else { Err(de::Error::custom(such)) }
}

/// Deserializes the URL of a database in the configuration file. Rejects a URL with a password, because configuration
/// files are often copied and displayed.
fn store<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(from)?;
    let url = Url::parse(&text).ok().filter(|url| matches!(url.scheme(), "postgres" | "postgresql"));
    let url = url.ok_or_else(|| de::Error::custom("is not a URL such as `postgres://host/name`"))?;
    let holds = url.password().is_some() || url.query_pairs().any(|(name, _)| name.contains("password"));
    if holds {
        return Err(de::Error::custom(
            "contains a password: put the address into a file, and set `store_file` to its path",
        ));
    }
    Ok(Some(text))
}
