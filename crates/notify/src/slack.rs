//! A Slack app: the API calls of its bot, Slack's responses, and the verification of requests that Slack has signed.
//!
//! `format/slack.rs` builds the blocks of messages. The crate `server` reacts to pressed buttons.

use std::time::Duration;

use data_encoding::HEXLOWER_PERMISSIVE;
use holdshort_core::time::Timestamp;
use reqwest::Url;
use ring::hmac::{HMAC_SHA256, Key, verify};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use crate::channel::Channel;
use crate::limits::{SLACK_ANSWER_BYTES, SLACK_SKEW};
use crate::send::{Verdict, client, whole};

/// The bot of a Slack app, and the key with which Slack signs its requests to the app.
pub(crate) struct Bot {
    /// Id of the Slack conversation to which the bot posts. Empty if each recipient gets a separate message.
    pub(crate) conversation: String,
    token: String,
    signing: Key,
}

/// Reference to a message in a Slack conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlackMessageRef {
    pub conversation: String,
    pub ts: String,
}

/// Error codes of Slack after which a retry may succeed.
const TRANSIENT: [&str; 6] = [
    "fatal_error",
    "internal_error",
    "ratelimited",
    "rate_limited",
    "request_timeout",
    "service_unavailable",
];
/// Error codes of Slack for a message that no longer exists and need not be updated.
const GONE: [&str; 2] = ["message_not_found", "thread_not_found"];

impl Bot {
    pub(crate) fn new(conversation: String, token: String, signing_secret: &str) -> Self {
        Self { conversation, token, signing: Key::new(HMAC_SHA256, signing_secret.as_bytes()) }
    }
}

pub(crate) struct Call {
    pub(crate) method: &'static str,
    pub(crate) body: Value,
}

pub(crate) struct Answered {
    pub(crate) verdict: Verdict,
    pub(crate) status: u16,
    pub(crate) error: Option<String>,
    pub(crate) posted: Option<SlackMessageRef>,
}

impl SlackMessageRef {
    /// Returns the reference to a Slack message as JSON, which is stored with the delivery attempt.
    pub(crate) fn to_json(&self) -> String {
        json!({"channel": self.conversation, "ts": self.ts}).to_string()
    }

    /// Reads the reference to a Slack message from the JSON that is stored with a delivery attempt.
    pub fn parse(answer: &str) -> Option<Self> {
        let answer: Value = serde_json::from_str(answer).ok()?;
        Self::from_json(&answer)
    }

    fn from_json(answer: &Value) -> Option<Self> {
        let text = |key: &str| answer.get(key).and_then(Value::as_str).map(str::to_owned);
        Some(Self { conversation: text("channel")?, ts: text("ts")? })
    }
}

impl Channel {
    /// Returns true if the channel sends through a Slack bot, whose messages have buttons and can be updated.
    pub fn has_buttons(&self) -> bool {
        self.slack.is_some()
    }

    /// Returns true if Slack signed this request for the app of the channel, at most a few minutes ago. The comparison
    /// of signatures takes constant time.
    pub fn is_signed_by_slack(&self, timestamp: &str, signature: &str, body: &[u8], now: Timestamp) -> bool {
        let Some(bot) = &self.slack else { return false };
        let Ok(seconds) = timestamp.parse::<i64>() else { return false };
        let ms = seconds.saturating_mul(1_000).saturating_sub(now.as_millis()).unsigned_abs();
        if u128::from(ms) > SLACK_SKEW.as_millis() {
            return false;
        }
        let Some(signature) = signature.strip_prefix("v0=") else { return false };
        let Ok(signature) = HEXLOWER_PERMISSIVE.decode(signature.as_bytes()) else { return false };
        let mut signed = format!("v0:{timestamp}:").into_bytes();
        signed.extend_from_slice(body);
        verify(&bot.signing, &signed, &signature).is_ok()
    }

    /// Opens a form in Slack for the person who pressed a button. Returns an error with the reason if Slack does not
    /// open the form.
    pub async fn open_form(&self, trigger: &str, view: &Value, now: Timestamp) -> Result<(), String> {
        let call = Call { method: "views.open", body: json!({"trigger_id": trigger, "view": view}) };
        let answered = self.call_slack(&call, now).await?;
        match answered.error {
            None => Ok(()),
            Some(error) => Err(error),
        }
    }

    /// Shows a Slack message only to the person who pressed a button.
    pub async fn whisper(&self, response_url: &str, text: &str) -> Result<(), String> {
        let url =
            Url::parse(response_url).map_err(|_| "the response URL from Slack is invalid".to_owned())?;
        if url.scheme() != "https" && self.definition.allow.is_empty() {
            return Err("the response URL from Slack is not `https:`".to_owned());
        }
        let body = json!({
            "response_type": "ephemeral",
            "replace_original": false,
            "text": crate::format::slack_text(text),
        });
        let until = Instant::now() + Duration::from_millis(self.definition.timeout_ms);
        let post = async {
            let (client, url) = client(self, &url).await?;
            let post = client.post(url).header("content-type", "application/json").body(body.to_string());
            post.send().await.map_err(|error| crate::send::unreached(&error))
        };
        let answer = timeout_at(until, post).await.map_err(|_| "Slack did not answer".to_owned())??;
        if answer.status().is_success() { Ok(()) } else { Err(format!("answered {}", answer.status())) }
    }

    pub(crate) async fn call_slack(&self, call: &Call, now: Timestamp) -> Result<Answered, String> {
        let bot = self.slack.as_ref().ok_or("the channel has no bot")?;
        let url = self
            .url
            .join(call.method)
            .map_err(|_| "the URL cannot be combined with a method name".to_owned())?;
        let ms = self.definition.timeout_ms;
        let until = Instant::now() + Duration::from_millis(ms);
        let late = || format!("Slack did not answer within {ms} ms");
        let post = async {
            let (client, url) = client(self, &url).await?;
            let post = client
                .post(url)
                .header("content-type", "application/json; charset=utf-8")
                .header("authorization", format!("Bearer {}", bot.token))
                .body(call.body.to_string());
            post.send().await.map_err(|error| crate::send::unreached(&error))
        };
        let mut answer = timeout_at(until, post).await.map_err(|_| late())??;
        let status = answer.status();
        let wait = crate::send::wait_of(&answer, now);
        if !status.is_success() {
            let verdict = crate::send::verdict(status, wait);
            return Ok(Answered {
                verdict,
                status: status.as_u16(),
                error: Some(format!("answered {status}")),
                posted: None,
            });
        }
        let body = whole(&mut answer, SLACK_ANSWER_BYTES, until).await;
        Ok(read(&body, status.as_u16(), wait))
    }
}

/// Reads the result of a Slack API call from the body of the response. The HTTP status does not tell the result,
/// because it is nearly always 200.
fn read(body: &[u8], status: u16, wait: Option<Duration>) -> Answered {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let of = |verdict, error, posted| Answered { verdict, status, error, posted };
    if body.get("ok") == Some(&Value::Bool(true)) {
        return of(Verdict::Delivered, None, SlackMessageRef::from_json(&body));
    }
    let Some(error) = body.get("error").and_then(Value::as_str) else {
        return of(Verdict::Again(wait), Some("Slack's answer cannot be read".to_owned()), None);
    };
    if GONE.contains(&error) {
        return of(Verdict::Delivered, None, None);
    }
    let verdict = if TRANSIENT.contains(&error) { Verdict::Again(wait) } else { Verdict::Refused };
    let error: String = error.chars().filter(|char| !char.is_control()).take(100).collect();
    of(verdict, Some(format!("Slack says `{error}`")), None)
}
