//! Selects the provider according to the settings and the environment, once when the process starts.
//!
//! | given | reaches |
//! |---|---|
//! | `--base-url` or `OPENAI_BASE_URL` | that server, by the chat-completions API; optional key: `OPENAI_API_KEY` |
//! | a model `gpt…`, `o1…` … | `OpenAI`; key: `OPENAI_API_KEY` |
//! | a model `claude…` | Anthropic; key: `ANTHROPIC_API_KEY` |
//! | a model `gemini…` | Gemini; key: `GEMINI_API_KEY` or `GOOGLE_API_KEY` |
//! | a model `ollama::NAME` | Ollama on this machine; no key |
//!
//! With a base URL, all requests are sent to its server, whatever model they name. Instead of the variable with the
//! key, `OPENAI_API_KEY_FILE` may name a file that contains the key. Each of the other three keys also has a variable
//! with the suffix `_FILE`.
//!
//! `--model` or `HOLDSHORT_MODEL` names the model. If no base URL is set, the name may begin with the provider:
//! `openai::NAME`, `anthropic::NAME`, `gemini::NAME` or `ollama::NAME`. The provider is never guessed: an API key alone
//! selects no model, and the name of an unknown model is an error. [`Source::Missing`] is returned only if no model is
//! named.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use genai::adapter::AdapterKind;
use holdshort_http::secret_file;

use crate::Model;
use crate::base_url::BaseUrl;
use crate::limits::KEY_FILE_BYTES;
use crate::provider::{Provider, Route};

/// Environment variables with API keys of model providers, each with the variable that names a file with the key.
const KEYS: [(&str, &str); 4] = [
    ("OPENAI_API_KEY", "OPENAI_API_KEY_FILE"),
    ("ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY_FILE"),
    ("GEMINI_API_KEY", "GEMINI_API_KEY_FILE"),
    ("GOOGLE_API_KEY", "GOOGLE_API_KEY_FILE"),
];
/// API key that is sent to a compatible server without a configured key, because some servers require one.
const DUMMY_KEY: &str = "none";
/// Default maximum time until the reply of a model is complete. A reasoning model may need minutes for a reply. After
/// this time the request fails.
const TIMEOUT_MS: u64 = 15 * 60 * 1000;
/// Default maximum time for which a model provider may send nothing. After this time the request fails.
const IDLE_TIMEOUT_MS: u64 = 3 * 60 * 1000;

/// Settings of the model from the command line, which override the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub model: Option<String>,
    pub base_url: Option<String>,
    /// Maximum time of a model call, from connecting to the provider to the last byte of the reply. After this time the
    /// call fails.
    pub timeout_ms: u64,
    /// Maximum time for which the model provider may send nothing, before the reply or within it. After this time the
    /// call fails.
    pub idle_timeout_ms: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { model: None, base_url: None, timeout_ms: TIMEOUT_MS, idle_timeout_ms: IDLE_TIMEOUT_MS }
    }
}

/// The selected model provider, or the reason why no provider is configured.
pub enum Source {
    Provider(Arc<dyn Model>),
    Missing(Missing),
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Provider(model) => f.debug_tuple("Provider").field(&model.describe()).finish(),
            Self::Missing(missing) => f.debug_tuple("Missing").field(missing).finish(),
        }
    }
}

/// Reason why no model provider is configured. The message says how to configure one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// No model, no API key and no base URL is set.
    Everything,
    /// The environment variable `variable` is set, but no model is named.
    Name { variable: &'static str },
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everything => f.write_str(
                "no model is configured; set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY and name a model \
                 with --model or HOLDSHORT_MODEL, or point --base-url at an OpenAI-compatible server",
            ),
            Self::Name { variable } => {
                write!(f, "{variable} is set, but no model is named: add --model NAME (or HOLDSHORT_MODEL)")
            }
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the base URL cannot be used: {0}")]
    BaseUrl(&'static str),
    #[error("the model `{model}` needs a key; set {variable}")]
    NoKey { model: String, variable: &'static str },
    #[error("{variable} and {file} are both set: set only one of them")]
    TwoKeys { variable: &'static str, file: &'static str },
    #[error("{file}: {path} {why}")]
    KeyFile { file: &'static str, path: String, why: String },
    #[error("{variable} contains characters that are not allowed in a key; set the key again")]
    Key { variable: &'static str },
    #[error(
        "`{model}` does not name its provider; write `openai::NAME`, `anthropic::NAME`, `gemini::NAME` or \
         `ollama::NAME`, or point --base-url at an OpenAI-compatible server that has this model"
    )]
    Unknown { model: String },
    #[error("the model `{model}` belongs to {provider}, which requires --base-url")]
    Unsupported { model: String, provider: &'static str },
    #[error("the HTTP client cannot start: {0}")]
    Client(String),
}

/// Selects the model provider from settings and environment. `env` returns the value of an environment variable. An
/// empty value is treated as unset.
pub fn from_env(settings: &Settings, env: &dyn Fn(&str) -> Option<String>) -> Result<Source, Error> {
    let set =
        |value: Option<String>| value.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let var = |name: &str| set(env(name));
    let key = |variable: &'static str| {
        let file = KEYS.iter().find(|(key, _)| *key == variable).map(|(_, file)| *file);
        let named = file.and_then(|file| Some((file, var(file)?)));
        let key = match (var(variable), named) {
            (Some(_), Some((file, _))) => return Err(Error::TwoKeys { variable, file }),
            (None, Some((file, path))) => {
                let key = secret_file::read_text(Path::new(&path), KEY_FILE_BYTES);
                Some(key.map_err(|error| Error::KeyFile { file, path, why: error.to_string() })?)
            }
            (key, None) => key,
        };
        match key {
            Some(key) if !key.bytes().all(|byte| byte.is_ascii_graphic()) => Err(Error::Key { variable }),
            key => Ok(key),
        }
    };

    let model = set(settings.model.clone()).or_else(|| var("HOLDSHORT_MODEL"));
    let base_url = set(settings.base_url.clone()).or_else(|| var("OPENAI_BASE_URL"));
    let Some(model) = model else {
        let variable = if settings.base_url.is_some() {
            Some("--base-url")
        } else {
            let keys = KEYS.into_iter().flat_map(|(key, file)| [key, file]);
            std::iter::once("OPENAI_BASE_URL").chain(keys).find(|name| var(name).is_some())
        };
        return Ok(Source::Missing(match variable {
            Some(variable) => Missing::Name { variable },
            None => Missing::Everything,
        }));
    };
    let route = if let Some(base_url) = base_url {
        let key = key("OPENAI_API_KEY")?.unwrap_or_else(|| DUMMY_KEY.to_owned());
        Route::Compatible { base_url: BaseUrl::parse(&base_url).map_err(Error::BaseUrl)?, key }
    } else {
        let needed = |variable| key(variable)?.ok_or(Error::NoKey { model: model.clone(), variable });
        match kind(&model) {
            AdapterKind::OpenAI | AdapterKind::OpenAIResp => Route::OpenAi { key: needed("OPENAI_API_KEY")? },
            AdapterKind::Anthropic => Route::Anthropic { key: needed("ANTHROPIC_API_KEY")? },
            AdapterKind::Gemini => Route::Gemini {
                key: match key("GOOGLE_API_KEY")? {
                    Some(google) => key("GEMINI_API_KEY")?.unwrap_or(google),
                    None => needed("GEMINI_API_KEY")?,
                },
            },
            AdapterKind::Ollama if names_ollama(&model) => Route::Ollama,
            AdapterKind::Ollama => return Err(Error::Unknown { model }),
            other => return Err(Error::Unsupported { model, provider: other.as_str() }),
        }
    };
    Ok(Source::Provider(Arc::new(Provider::new(route, model, settings)?)))
}

/// Returns the provider that the library chooses for a model name without a base URL: Ollama for an unknown name.
pub(crate) fn kind(model: &str) -> AdapterKind {
    AdapterKind::from_model(model).unwrap_or(AdapterKind::Ollama)
}

/// Returns the provider whose models have names like this one: `openai`, `anthropic` or `gemini`. Returns `None` for
/// every other name.
pub fn provider_of(model: &str) -> Option<&'static str> {
    match kind(model) {
        AdapterKind::OpenAI | AdapterKind::OpenAIResp => Some("openai"),
        AdapterKind::Anthropic => Some("anthropic"),
        AdapterKind::Gemini => Some("gemini"),
        _ => None,
    }
}

/// Returns true if the name of a model has the prefix `ollama::`. The library would take any unknown name for a model
/// of Ollama.
fn names_ollama(model: &str) -> bool {
    model.strip_prefix("ollama::").is_some_and(|name| !name.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::Description;

    fn read(settings: &Settings, env: &[(&str, &str)]) -> Result<Source, Error> {
        from_env(settings, &|name| {
            env.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    fn described(settings: &Settings, env: &[(&str, &str)]) -> String {
        match read(settings, env) {
            Ok(Source::Provider(model)) => {
                let Description { name, provider, rehearsal, base_url } = model.describe();
                assert!(!rehearsal);
                format!("{provider} {name} {}", base_url.unwrap_or_default()).trim().to_owned()
            }
            Ok(Source::Missing(missing)) => format!("{missing:?}"),
            Err(error) => format!("{error}"),
        }
    }

    fn unknown(model: &str) -> String {
        format!(
            "`{model}` does not name its provider; write `openai::NAME`, `anthropic::NAME`, `gemini::NAME` \
             or `ollama::NAME`, or point --base-url at an OpenAI-compatible server that has this model"
        )
    }

    #[test]
    fn the_environment_chooses_the_provider() {
        let table: &[(&[(&str, &str)], &str)] = &[
            (&[], "Everything"),
            (&[("OPENAI_API_KEY", " ")], "Everything"),
            (&[("OPENAI_API_KEY", "k")], "Name { variable: \"OPENAI_API_KEY\" }"),
            (&[("OPENAI_API_KEY_FILE", "/k")], "Name { variable: \"OPENAI_API_KEY_FILE\" }"),
            (&[("OPENAI_BASE_URL", "http://h/v1")], "Name { variable: \"OPENAI_BASE_URL\" }"),
            (&[("HOLDSHORT_MODEL", "gpt-4o"), ("OPENAI_API_KEY", "k")], "openai gpt-4o"),
            (&[("HOLDSHORT_MODEL", "gpt-4o")], "the model `gpt-4o` needs a key; set OPENAI_API_KEY"),
            (&[("HOLDSHORT_MODEL", "claude-x"), ("ANTHROPIC_API_KEY", "k")], "anthropic claude-x"),
            (
                &[("HOLDSHORT_MODEL", "claude-x"), ("OPENAI_API_KEY", "k")],
                "the model `claude-x` needs a key; set ANTHROPIC_API_KEY",
            ),
            (&[("HOLDSHORT_MODEL", "gemini-x"), ("GEMINI_API_KEY", "k")], "gemini gemini-x"),
            (&[("HOLDSHORT_MODEL", "gemini-x"), ("GOOGLE_API_KEY", "k")], "gemini gemini-x"),
            (&[("HOLDSHORT_MODEL", "gemini-x")], "the model `gemini-x` needs a key; set GEMINI_API_KEY"),
            (&[("HOLDSHORT_MODEL", "ollama::llama3")], "ollama ollama::llama3 http://localhost:11434"),
            (&[("HOLDSHORT_MODEL", "llama3")], &unknown("llama3")),
            (&[("HOLDSHORT_MODEL", "my-model"), ("OPENAI_API_KEY", "k")], &unknown("my-model")),
            (&[("HOLDSHORT_MODEL", "gpt-oss:20b"), ("OPENAI_API_KEY", "k")], &unknown("gpt-oss:20b")),
            (&[("HOLDSHORT_MODEL", "mine::llama3")], &unknown("mine::llama3")),
            (&[("HOLDSHORT_MODEL", "ollama::")], &unknown("ollama::")),
            (&[("HOLDSHORT_MODEL", "openai::mine"), ("OPENAI_API_KEY", "k")], "openai openai::mine"),
            (
                &[("HOLDSHORT_MODEL", "grok-9")],
                "the model `grok-9` belongs to Xai, which requires --base-url",
            ),
            (
                &[("HOLDSHORT_MODEL", "claude-x"), ("OPENAI_BASE_URL", "http://127.0.0.1:1")],
                "openai-compatible claude-x http://127.0.0.1:1/v1",
            ),
            (
                &[("HOLDSHORT_MODEL", "m"), ("OPENAI_BASE_URL", "127.0.0.1:1")],
                "the base URL cannot be used: it is not a URL such as http://127.0.0.1:8080/v1",
            ),
            (
                &[("HOLDSHORT_MODEL", "gpt-4o"), ("OPENAI_API_KEY", "k"), ("OPENAI_API_KEY_FILE", "/k")],
                "OPENAI_API_KEY and OPENAI_API_KEY_FILE are both set: set only one of them",
            ),
            (
                &[("HOLDSHORT_MODEL", "claude-x"), ("ANTHROPIC_API_KEY_FILE", "/no/such")],
                "ANTHROPIC_API_KEY_FILE: /no/such cannot be read: No such file or directory (os error 2)",
            ),
            (
                &[("HOLDSHORT_MODEL", "gpt-4o"), ("OPENAI_API_KEY", "a\nb")],
                "OPENAI_API_KEY contains characters that are not allowed in a key; set the key again",
            ),
        ];
        for (env, expected) in table {
            assert_eq!(described(&Settings::default(), env), *expected, "{env:?}");
        }
    }

    #[test]
    fn a_file_holds_the_key_and_only_for_its_owner() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        let with = |text: &str, mode: u32| {
            std::fs::write(path, text).unwrap();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
            let told = described(
                &Settings::default(),
                &[("HOLDSHORT_MODEL", "gemini-x"), ("GEMINI_API_KEY_FILE", path)],
            );
            told.replace(path, "FILE")
        };
        let many = "k".repeat(usize::try_from(KEY_FILE_BYTES).unwrap() + 1);
        let table = [
            ("k\n", 0o600, "gemini gemini-x"),
            ("k", 0o400, "gemini gemini-x"),
            ("k", 0o640, "GEMINI_API_KEY_FILE: FILE is readable by others (mode 640): run `chmod 600`"),
            (" \n", 0o600, "GEMINI_API_KEY_FILE: FILE is empty"),
            (
                "a\nb",
                0o600,
                "GEMINI_API_KEY contains characters that are not allowed in a key; set the key again",
            ),
            (&many, 0o600, "GEMINI_API_KEY_FILE: FILE has more than 16384 bytes"),
        ];
        for (text, mode, expected) in table {
            assert_eq!(with(text, mode), expected, "{mode:03o}");
        }
    }

    #[test]
    fn the_command_line_goes_first() {
        let settings = Settings {
            model: Some("a".into()),
            base_url: Some("http://127.0.0.1:2/v1/".into()),
            ..Settings::default()
        };
        let env = [("HOLDSHORT_MODEL", "b"), ("OPENAI_BASE_URL", "http://127.0.0.1:3")];
        assert_eq!(described(&settings, &env), "openai-compatible a http://127.0.0.1:2/v1");
    }
}
