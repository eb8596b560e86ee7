//! Trace and span of the caller, from the header `traceparent` (W3C Trace Context 1). Trace and span only connect an
//! exported run with the caller's trace, and have no influence on decisions.

use serde::{Deserialize, Serialize};

/// Trace and span of the caller, as the header `traceparent` writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TraceParent {
    pub trace: u128,
    pub span: u64,
}

/// Bit in the flags of the header `traceparent`. The bit is set if the caller records its trace.
const SAMPLED: u128 = 1;
/// Length in bytes of a header `traceparent` of version 0. A header of a later version has the same length, or
/// continues with `-`.
const LENGTH: usize = 55;

impl TraceParent {
    /// Parses the header `traceparent`. `None` if the run cannot belong to the trace: the header is malformed, the
    /// trace or span is zero, or the caller does not record its trace.
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

/// Parses exactly `digits` lower-case hexadecimal digits.
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
        Self::read(&text).ok_or("is not a `traceparent`")
    }
}
