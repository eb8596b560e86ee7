//! Frames that the server and the clients send. A client's frame is parsed here and carried out elsewhere.

use axum::extract::ws::Utf8Bytes;
use holdshort_core::json;
use holdshort_protocol::Code;
use holdshort_web::body::read_strict;
use holdshort_web::problem::{Answer, Refused};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Frame that the server sends to a MARS client. All frames have the members of this type (contract A27).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Frame {
    pub(super) event_type: &'static str,
    /// Time of the event that the frame reports, in RFC 3339 format and UTC.
    pub(super) timestamp: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) run_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session_id: Option<String>,
    /// Position of the frame, after which a client can resume. `None` if the frame reports no event of the journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<FrameId>,
    pub(super) data: Value,
}

impl Frame {
    pub(super) fn text(&self) -> Utf8Bytes {
        serde_json::to_string(self).unwrap_or_default().into()
    }
}

/// Id of a frame: the number of the event in the stream of the run, and the number of the frame among the frames of the
/// same event. The numbers of events and of frames start at 1. For example, `17.2` is the id of the second frame of
/// event 17, and `17` is the id of the last frame of event 17. A client that sends `17` therefore resumes at event 18.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FrameId {
    pub(super) seq: u64,
    pub(super) part: u32,
}

impl FrameId {
    pub(super) fn all_of(seq: u64) -> Self {
        Self { seq, part: u32::MAX }
    }

    /// Returns the number of the last event whose frames all lie before or at the position of this frame.
    pub(super) fn whole(self) -> u64 {
        if self.part == u32::MAX { self.seq } else { self.seq.saturating_sub(1) }
    }

    fn parse(text: &str) -> Option<Self> {
        let Some((seq, part)) = text.split_once('.') else { return Some(Self::all_of(text.parse().ok()?)) };
        Some(Self { seq: seq.parse().ok()?, part: part.parse().ok()? })
    }
}

impl Serialize for FrameId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { seq, part } = self;
        if *part == u32::MAX {
            serializer.collect_str(seq)
        } else {
            serializer.collect_str(&format_args!("{seq}.{part}"))
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Since {
    Frame(FrameId),
    /// Position of a client as a time in milliseconds since 1970 (contract A32). 0 means the beginning of the run.
    Time(u64),
}

impl<'de> Deserialize<'de> for Since {
    /// Reads a client's position. A string is the `id` of a frame, and a number is a time.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let since = match Value::deserialize(deserializer)? {
            Value::Number(ms) => ms.as_u64().map(Self::Time),
            Value::String(text) => FrameId::parse(&text).map(Self::Frame),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        let rule = "is neither the `id` of a frame nor a time in milliseconds since 1970";
        since.ok_or_else(|| serde::de::Error::custom(rule))
    }
}

#[derive(Debug, PartialEq)]
pub(super) enum ClientFrame {
    /// The first frame of a client's connection, which has no member `type`.
    Start(Start),
    Ping,
    Resolve(Resolve),
    Pause,
    Resume,
    Cancel(Option<String>),
    RequestState(Option<Since>),
}

/// First frame of a client's connection, which starts a task or attaches the connection to the task.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Start {
    pub(super) task: String,
    #[serde(default, deserialize_with = "null_is_nothing")]
    pub(super) config: Map<String, Value>,
    /// Position of the last frame of the task that the client has received.
    pub(super) since: Option<Since>,
}

/// Deserializes `null` as if the member of the object were missing.
pub(super) fn null_is_nothing<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Decision of a client, sent as a frame `resolve_approval` or, under another name, `approval_response`.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Resolve {
    pub(super) approval_id: String,
    pub(super) resolution: Option<String>,
    pub(super) approved: Option<bool>,
    pub(super) feedback: Option<String>,
    pub(super) user_feedback: Option<String>,
    #[serde(default)]
    pub(super) modifications: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cancel {
    reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestState {
    since: Option<Since>,
}

const KNOWN: &str =
    "`ping`, `resolve_approval`, `approval_response`, `pause`, `resume`, `cancel`, `request_state`";

/// Frame from a client, with the members that are needed even if the frame is invalid.
#[derive(Debug)]
pub(super) struct ReceivedFrame {
    /// Value of the member `type` of the client's frame.
    pub(super) kind: Option<String>,
    /// Value of the frame's member `run_id`, which is compared later with the run of the connection's task.
    pub(super) run: Option<Value>,
    /// The parsed frame of the client, or the error to send back.
    pub(super) frame: Answer<ClientFrame>,
}

impl ReceivedFrame {
    pub(super) fn refused(code: Code, why: impl Into<String>) -> Self {
        Self { kind: None, run: None, frame: Err(Refused::new(code, why)) }
    }
}

pub(super) fn read(text: &str) -> ReceivedFrame {
    let mut value = match json::parse(text.as_bytes()) {
        Ok(value) => value,
        Err(error) => return ReceivedFrame::refused(Code::MalformedJson, error.to_string()),
    };
    let kind = value.get("type").and_then(Value::as_str).map(str::to_owned);
    // Only typed frames can have a `run_id`. The first frame has no type, because its client does not know the run yet.
    let typed = value.as_object_mut().filter(|fields| fields.contains_key("type"));
    let run = typed.and_then(|fields| fields.remove("run_id")).filter(|run| !run.is_null());
    ReceivedFrame { kind, run, frame: understand(value) }
}

fn understand(mut value: Value) -> Answer<ClientFrame> {
    let Some(fields) = value.as_object_mut() else {
        return Err(Refused::invalid_at("", "the frame is not a JSON object"));
    };
    let Some(kind) = fields.remove("type") else {
        return read_strict(&value).map(ClientFrame::Start);
    };
    match kind.as_str() {
        Some("ping") => read_strict(&value).map(|Nothing {}| ClientFrame::Ping),
        Some("resolve_approval" | "approval_response") => read_strict(&value).map(ClientFrame::Resolve),
        Some("pause") => read_strict(&value).map(|Nothing {}| ClientFrame::Pause),
        Some("resume") => read_strict(&value).map(|Nothing {}| ClientFrame::Resume),
        Some("cancel") => read_strict(&value).map(|Cancel { reason }| ClientFrame::Cancel(reason)),
        Some("request_state") => {
            read_strict(&value).map(|RequestState { since }| ClientFrame::RequestState(since))
        }
        _ => Err(Refused::invalid_at("/type", format!("unknown type {kind}, expected one of {KNOWN}"))),
    }
}

/// Returns the data of an `error_occurred` frame for an error. `of` is the type of the client's frame that was
/// rejected.
pub(super) fn refusal(of: Option<&str>, refused: &Refused) -> Value {
    let problem = &refused.0;
    let mut data = json!({
        "error_type": problem.code,
        "message": problem.detail,
        "in_reply_to": of,
        "errors": problem.errors,
    });
    if let (Some(fields), Some(resolution)) = (data.as_object_mut(), &problem.resolution) {
        fields.insert("resolution".to_owned(), json!(resolution));
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_was_given_out() {
        let place = |value: Value| serde_json::from_value::<Since>(value).ok();
        for given in [FrameId { seq: 17, part: 2 }, FrameId::all_of(17)] {
            assert_eq!(place(json!(given)), Some(Since::Frame(given)));
        }
        assert_eq!(json!(FrameId::all_of(17)), "17");
        assert_eq!([FrameId { seq: 17, part: 2 }.whole(), FrameId::all_of(17).whole()], [16, 17]);
        assert_eq!(place(json!(17)), Some(Since::Time(17)));
        let wrong = [json!(-1), json!(1.5), json!("a"), json!("1."), json!("1.x"), json!("x.1"), json!([1])];
        for wrong in wrong.into_iter().chain([json!(true)]) {
            assert_eq!(place(wrong.clone()), None, "{wrong}");
        }
    }
}
