//! The trace that a caller of ours is in, and its place there, as the header `traceparent` has it (W3C Trace Context 1).
//! Nothing is decided by it: a run that has one is told as a part of that trace.

use serde::{Deserialize, Serialize};

/// In the journal it is written as the header is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TraceParent {
    pub trace: u128,
    pub span: u64,
}

/// The bit of the flags that says that the caller's part is recorded.
const SAMPLED: u128 = 1;
/// Of version 0, and where that of a later version has to end or to go on with `-`.
const LENGTH: usize = 55;

impl TraceParent {
    /// `None` where it is not one that can be joined: it does not fit, names nothing, or is of a trace that its caller
    /// does not record.
    pub fn read(header: &str) -> Option<Self> {
        let (own, rest) = header.split_at_checked(LENGTH)?;
        let mut parts = own.split('-');
        let mut next = |digits| parts.next().and_then(|text| hex(text, digits));
        let (version, trace) = (next(2)?, next(32)?);
        let (span, flags) = (u64::try_from(next(16)?).ok()?, next(2)?);
        let fits = match version {
            0 => rest.is_empty(),
            0xff => false,
            _ => rest.is_empty() || rest.starts_with('-'),
        };
        let is_named = trace != 0 && span != 0;
        (fits && is_named && flags & SAMPLED == SAMPLED).then_some(Self { trace, span })
    }
}

/// So many digits, in lower case.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let is_hex = text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_hex.then(|| u128::from_str_radix(text, 16).ok()).flatten()
}

impl From<TraceParent> for String {
    fn from(TraceParent { trace, span }: TraceParent) -> Self {
        format!("00-{trace:032x}-{span:016x}-01")
    }
}

impl TryFrom<String> for TraceParent {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::read(&text).ok_or("is no `traceparent`")
    }
}
