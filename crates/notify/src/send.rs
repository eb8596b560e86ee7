//! Makes one attempt to deliver a message: looks up and checks the address, opens one connection, and reads the
//! beginning of the response. The attempt follows no redirects and uses no proxy. A single deadline applies to the
//! whole attempt.

use std::net::SocketAddr;
use std::time::Duration;

use data_encoding::HEXLOWER;
use holdshort_core::channel::Via;
use holdshort_core::digest::Digest;
use holdshort_core::notice::CheckpointNotice;
use holdshort_core::time::Timestamp;
use holdshort_http::answers::innermost;
use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};
use tokio::time::{Instant, timeout_at};

use crate::channel::{Channel, Smtp};
use crate::format::{self, Request};
use crate::limits::ANSWER_BYTES;
use crate::mail;
use crate::message::{Message, Several};
use crate::retry_after::retry_after;
use crate::slack::{Bot, Call, SlackMessageRef};

const USER_AGENT: &str = concat!("holdshort/", env!("CARGO_PKG_VERSION"));

/// Result of one attempt to deliver a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Delivered,
    /// A retry of the delivery may succeed. The duration is the delay that the receiver requested, if any.
    Again(Option<Duration>),
    /// The receiver refused the notification, and would also refuse a retry.
    Refused,
    /// The receiver accepts no more notifications from this channel.
    Gone,
    /// This recipient of the channel accepts no more notifications. Other recipients are not affected.
    Left,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub verdict: Verdict,
    pub status: Option<u16>,
    /// Reason why the delivery attempt failed, without any URL.
    pub error: Option<String>,
    /// SHA-256 of the delivery's request body, in hexadecimal.
    pub digest: String,
    /// Beginning of the receiver's response to the delivery attempt.
    pub answer: Option<String>,
}

impl Channel {
    pub async fn send(&self, message: &Message, now: Timestamp) -> Sent {
        if let Some(smtp) = &self.smtp {
            return self.mail(smtp, mail::compose_message(message, &smtp.from)).await;
        }
        if let Some(bot) = &self.slack {
            let conversation = conversation(bot, message);
            return self.bot(format::slack_calls(message, conversation), now).await;
        }
        if self.definition.via == Via::Push {
            return self.push(format::push(message, now), message.reader.as_ref(), now).await;
        }
        self.ask(format::request(self, message, now), now).await
    }

    /// Sends a checkpoint of the journal over the channel. Receivers recognise a repeated delivery by `id`.
    pub async fn send_checkpoint(&self, id: &str, notice: &CheckpointNotice, now: Timestamp) -> Sent {
        if let Some(smtp) = &self.smtp {
            return self.mail(smtp, mail::compose_checkpoint(id, notice, &smtp.from)).await;
        }
        self.ask(format::request_of_checkpoint(self, id, notice, now), now).await
    }

    /// Sends a request of the channel. Without a request, the result is a failure, because channels of this type cannot
    /// send the notice.
    async fn ask(&self, request: Option<Request>, now: Timestamp) -> Sent {
        match request {
            Some(request) => self.request(request, now).await,
            None => Sent {
                verdict: Verdict::Refused,
                status: None,
                error: Some("channels of this type cannot send this notification".to_owned()),
                digest: String::new(),
                answer: None,
            },
        }
    }

    /// Sends several messages to the same recipients of the channel as one. `inbox` is the URL of the inbox page.
    pub async fn send_several(&self, messages: &[Message], inbox: &str, now: Timestamp) -> Sent {
        let several = Several { messages, inbox };
        if let Some(smtp) = &self.smtp {
            return self.mail(smtp, mail::compose_several(several, &smtp.from)).await;
        }
        if let (Some(bot), Some(first)) = (&self.slack, messages.first()) {
            let calls = format::slack_calls_of_several(several, conversation(bot, first));
            let sent = self.bot(calls, now).await;
            // The Slack message lists several interrupts. It must not be updated when one of them ends, so the
            // reference to it is dropped.
            return Sent { answer: None, ..sent };
        }
        if self.definition.via == Via::Push {
            let reader = messages.first().and_then(|message| message.reader.as_ref());
            return self.push(format::push_of_several(several, now), reader, now).await;
        }
        self.ask(format::request_of_several(self, several), now).await
    }

    /// Makes the Slack API calls of a delivery one after another, until one fails. A retry makes all calls again.
    async fn bot(&self, calls: Vec<Call>, now: Timestamp) -> Sent {
        let bodies: Vec<String> = calls.iter().map(|call| call.body.to_string()).collect();
        let digest = HEXLOWER.encode(Digest::of_bytes(bodies.concat().as_bytes()).as_bytes());
        let mut sent = Sent { verdict: Verdict::Delivered, status: None, error: None, digest, answer: None };
        for call in &calls {
            match self.call_slack(call, now).await {
                Ok(answered) => {
                    sent.verdict = answered.verdict;
                    sent.status = Some(answered.status);
                    sent.error = answered.error;
                    sent.answer = answered.posted.as_ref().map(SlackMessageRef::to_json).or(sent.answer);
                }
                Err(why) => (sent.verdict, sent.error) = (Verdict::Again(None), Some(why)),
            }
            if sent.verdict != Verdict::Delivered {
                break;
            }
        }
        sent
    }

    async fn mail(&self, smtp: &Smtp, mail: Result<mail::Mail, mail::Unaddressed>) -> Sent {
        match mail {
            Ok(mail) => mail::send(self, smtp, &mail).await,
            Err(error) => Sent {
                verdict: Verdict::Refused,
                status: None,
                error: Some(error.to_string()),
                digest: String::new(),
                answer: None,
            },
        }
    }

    pub(crate) async fn request(&self, request: Request, now: Timestamp) -> Sent {
        let digest = HEXLOWER.encode(Digest::of_bytes(&request.body).as_bytes());
        let until = Instant::now() + Duration::from_millis(self.definition.timeout_ms);
        let late = || format!("the receiver did not answer within {} ms", self.definition.timeout_ms);
        let answered = match timeout_at(until, self.post(request)).await {
            Ok(answered) => answered,
            Err(_) => Err(late()),
        };
        let mut response = match answered {
            Ok(response) => response,
            Err(error) => {
                let verdict = Verdict::Again(None);
                return Sent { verdict, status: None, error: Some(error), digest, answer: None };
            }
        };
        let status = response.status();
        let verdict = verdict(status, wait_of(&response, now));
        let error = (verdict != Verdict::Delivered).then(|| refused(status));
        // The status decides the result, so a slow or endless body is not an error. It is cut off at the deadline.
        let answer = beginning(&mut response, until).await;
        Sent { verdict, status: Some(status.as_u16()), error, digest, answer }
    }

    async fn post(&self, request: Request) -> Result<Response, String> {
        let Request { url, content_type, body, headers } = request;
        let (client, url) = client(self, &url).await?;
        let mut post = client.post(url).header(CONTENT_TYPE, content_type);
        for (name, value) in headers {
            post = post.header(name, value);
        }
        post.body(body).send().await.map_err(|error| unreached(&error))
    }
}

/// Returns the id of the Slack conversation to which the message is sent: that of its recipient, or else that of the
/// channel.
fn conversation<'m>(bot: &'m Bot, message: &'m Message) -> &'m str {
    message.reader.as_ref().map_or(&bot.conversation, |reader| &reader.address)
}

/// Looks up and checks the addresses of the host to which a channel sends. Returns an HTTP client that can connect only
/// to these addresses.
pub(crate) async fn client(channel: &Channel, url: &Url) -> Result<(Client, Url), String> {
    let within = Duration::from_millis(channel.definition.timeout_ms);
    let checked = channel.guard.check(url, within).await.map_err(|error| error.to_string())?;
    let addresses = checked.addresses().iter().map(SocketAddr::ip);
    channel.guard.check_in_clear(url, addresses).map_err(|error| error.to_string())?;
    let client = checked.client().user_agent(USER_AGENT).pool_max_idle_per_host(0).build();
    let client = client.map_err(|_| "the HTTP client cannot be created".to_owned())?;
    Ok((client, checked.url().clone()))
}

/// Returns the delay in the `Retry-After` header of a receiver's response.
pub(crate) fn wait_of(response: &Response, now: Timestamp) -> Option<Duration> {
    let wait = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok())?;
    retry_after(wait, now)
}

pub(crate) fn verdict(status: StatusCode, wait: Option<Duration>) -> Verdict {
    match status.as_u16() {
        200..=299 => Verdict::Delivered,
        410 => Verdict::Gone,
        408 | 429 => Verdict::Again(wait),
        400..=499 => Verdict::Refused,
        _ => Verdict::Again(wait),
    }
}

fn refused(status: StatusCode) -> String {
    if status.is_redirection() {
        return format!("answered {status}: redirects are not followed");
    }
    format!("answered {status}")
}

/// Describes why a request of a channel got no response, without the URL.
pub(crate) fn unreached(error: &reqwest::Error) -> String {
    innermost(error).chars().filter(|char| !char.is_control()).take(200).collect()
}

async fn beginning(response: &mut Response, until: Instant) -> Option<String> {
    let bytes = whole(response, ANSWER_BYTES, until).await;
    let text: String =
        String::from_utf8_lossy(&bytes).chars().filter(|char| *char == '\n' || !char.is_control()).collect();
    (!text.trim().is_empty()).then_some(text)
}

/// Reads the body of a receiver's response to its end, but at most `most` bytes and not after the time `until`.
pub(crate) async fn whole(response: &mut Response, most: usize, until: Instant) -> Vec<u8> {
    let mut bytes = Vec::new();
    while bytes.len() < most
        && let Ok(Ok(Some(chunk))) = timeout_at(until, response.chunk()).await
    {
        let room = most - bytes.len();
        bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
    }
    bytes
}
