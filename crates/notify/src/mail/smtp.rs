//! Makes one attempt to send a mail by SMTP, after a check of the server's address. The connection uses TLS, if the
//! channel does not disable it.

use std::time::Duration;

use data_encoding::HEXLOWER;
use holdshort_core::channel::Security;
use holdshort_core::digest::Digest;
use lettre::transport::smtp::Error as SmtpError;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{AsyncSmtpConnection, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::transport::smtp::response::Response;
use tokio::time::{Instant, timeout, timeout_at};

use super::{Mail, wire};
use crate::channel::{Channel, Smtp};
use crate::limits::ANSWER_BYTES;
use crate::send::{Sent, Verdict};

/// Time limit for the end of the SMTP session, after the mail was accepted.
const FAREWELL: Duration = Duration::from_secs(1);

/// Maximum number of characters of a connection error that are stored. Such an error may contain a long certificate.
const WHY_CHARS: usize = 200;

/// Failure of an attempt to send a mail, by the stage at which the attempt failed.
enum Failed {
    /// The attempt failed before the mail server received the mail. A retry can succeed, for example after the password
    /// was corrected.
    Smtp(SmtpError),
    /// The mail server rejected the mail itself.
    Mail(SmtpError),
    /// The attempt reached no mail server.
    Unreached(String),
}

impl From<SmtpError> for Failed {
    fn from(error: SmtpError) -> Self {
        Self::Smtp(error)
    }
}

pub(crate) async fn send(channel: &Channel, smtp: &Smtp, mail: &Mail) -> Sent {
    let ms = channel.definition.timeout_ms;
    let until = Instant::now() + Duration::from_millis(ms);
    let digest = HEXLOWER.encode(Digest::of_bytes(&mail.bytes).as_bytes());
    let of = |verdict, status, error, answer| Sent { verdict, status, error, digest: digest.clone(), answer };
    let handed = timeout_at(until, hand_over(channel, smtp, mail)).await;
    match handed {
        Err(_) => {
            of(Verdict::Again(None), None, Some(format!("the server did not answer within {ms} ms")), None)
        }
        Ok(Err(Failed::Unreached(why))) => {
            of(Verdict::Again(None), None, Some(printable_excerpt(&why, WHY_CHARS)), None)
        }
        Ok(Err(Failed::Smtp(error))) => {
            let FailureTexts { status, error, answer } = FailureTexts::from_error(&error);
            of(Verdict::Again(None), status, Some(error), answer)
        }
        Ok(Err(Failed::Mail(error))) => {
            let FailureTexts { status, error, answer } = FailureTexts::from_error(&error);
            let verdict = match status {
                Some(500..) => Verdict::Refused,
                _ => Verdict::Again(None),
            };
            of(verdict, status, Some(error), answer)
        }
        Ok(Ok((response, mut server))) => {
            // The server has accepted the mail. An error at the end of the session is ignored.
            let _ = timeout(FAREWELL, server.abort()).await;
            let said = printable_excerpt(&response.message().collect::<Vec<_>>().join("\n"), ANSWER_BYTES);
            of(Verdict::Delivered, Some(response.code().into()), None, Some(said))
        }
    }
}

async fn hand_over(
    channel: &Channel,
    smtp: &Smtp,
    mail: &Mail,
) -> Result<(Response, AsyncSmtpConnection), Failed> {
    let within = Duration::from_millis(channel.definition.timeout_ms);
    let unreached = |error: holdshort_http::guard::Error| Failed::Unreached(error.to_string());
    let checked = channel.guard.check(&channel.url, within).await.map_err(unreached)?;
    if smtp.security == Security::None && !checked.addresses().iter().all(|at| channel.guard.allows(at.ip()))
    {
        let why = "`security: none` is only allowed for addresses in `allow`, but the server's address is \
                   not in `allow`";
        return Err(Failed::Unreached(why.to_owned()));
    }
    let hello = ClientId::Domain(smtp.from.email.domain().to_owned());
    let at_once = (smtp.security == Security::Tls).then_some(&*smtp.host);
    let connected = wire::connect(checked.addresses(), at_once).await;
    let stream =
        connected.map_err(|error| Failed::Unreached(format!("the server cannot be reached: {error}")))?;
    let mut server = AsyncSmtpConnection::connect_with_transport(stream, &hello).await?;
    if smtp.security == Security::Starttls {
        server.starttls(TlsParameters::new(smtp.host.clone())?, &hello).await?;
    }
    if let Some((user, password)) = &smtp.credentials {
        let credentials = Credentials::new(user.clone(), password.clone());
        server.auth(DEFAULT_MECHANISMS, &credentials).await?;
    }
    let response = server.send(&mail.envelope, &mail.bytes).await.map_err(Failed::Mail)?;
    Ok((response, server))
}

/// Texts about a mail that could not be sent. The text of the mail server is stored as the response of the receiver and
/// not as the error, because the text may contain the recipient's address, and responses are deleted earlier than
/// errors.
struct FailureTexts {
    status: Option<u16>,
    error: String,
    answer: Option<String>,
}

impl FailureTexts {
    fn from_error(error: &SmtpError) -> Self {
        let status = error.status().map(u16::from);
        let theirs = || {
            std::error::Error::source(error).map(|said| printable_excerpt(&said.to_string(), ANSWER_BYTES))
        };
        match status {
            Some(code) => Self { status, error: format!("answered {code}"), answer: theirs() },
            None if error.is_response() => {
                let error = "the server closed the connection, or its answer cannot be read".to_owned();
                Self { status, error, answer: theirs() }
            }
            None => Self { status, error: why(error), answer: None },
        }
    }
}

/// Describes the error of a connection to a mail server.
fn why(error: &SmtpError) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        source = error.source();
    }
    printable_excerpt(&text, WHY_CHARS)
}

fn printable_excerpt(text: &str, most: usize) -> String {
    text.chars().filter(|char| *char == '\n' || !char.is_control()).take(most).collect()
}
