//! Reads the body of an HTTP response in chunks, and stops at the limit. The limit applies to the compressed and to the
//! decompressed bytes.

use std::io::{self, Write};

use flate2::write::MultiGzDecoder;
use holdshort_core::web::Target;
use reqwest::Response;
use reqwest::header::CONTENT_ENCODING;

use crate::limits;
use crate::refusal::Refusal;

pub(super) struct Body {
    pub(super) bytes: Vec<u8>,
    /// True if the body of the response continues after these bytes.
    pub(super) is_cut: bool,
}

/// Writer for the body of a response that accepts bytes up to a limit, and fails after it.
struct Limited(Body);

impl Write for Limited {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        let room = limits::FETCH_BODY_BYTES - self.0.bytes.len();
        if room == 0 && !more.is_empty() {
            self.0.is_cut = true;
            return Err(io::Error::other("the limit"));
        }
        let taken = more.len().min(room);
        self.0.bytes.extend_from_slice(&more[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum Unpacking {
    Plain(Limited),
    Gzip(Box<MultiGzDecoder<Limited>>),
}

impl Unpacking {
    fn take(&mut self, piece: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(body) => body.write_all(piece),
            Self::Gzip(body) => body.write_all(piece),
        }
    }

    fn body(&self) -> &Body {
        match self {
            Self::Plain(body) => &body.0,
            Self::Gzip(body) => &body.get_ref().0,
        }
    }
}

pub(super) async fn read(target: &Target, mut response: Response) -> Result<Body, Refusal> {
    let origin = target.origin();
    let packed =
        super::header(response.headers(), CONTENT_ENCODING).unwrap_or("identity").to_ascii_lowercase();
    let empty = Limited(Body { bytes: Vec::new(), is_cut: false });
    let mut body = match packed.trim() {
        "identity" | "" => Unpacking::Plain(empty),
        "gzip" | "x-gzip" => Unpacking::Gzip(Box::new(MultiGzDecoder::new(empty))),
        other => {
            let message = format!(
                "`{origin}` compresses its response as `{}`, which is not supported",
                other.escape_debug()
            );
            return Err(Refusal::new("bad_answer", message));
        }
    };
    // The compressed bytes have the same limit as the decompressed bytes.
    let mut left = limits::FETCH_BODY_BYTES;
    loop {
        let piece = response.chunk().await.map_err(|error| super::not_reached(target, &error))?;
        let Some(piece) = piece else { break };
        let within = &piece[..piece.len().min(left)];
        left -= within.len();
        let taken = body.take(within);
        if body.body().is_cut || within.len() < piece.len() {
            return Ok(Body { bytes: body.body().bytes.clone(), is_cut: true });
        }
        taken.map_err(|_| not_unpacked(&origin))?;
    }
    match body {
        Unpacking::Plain(body) => Ok(body.0),
        Unpacking::Gzip(mut body) => {
            let ended = body.try_finish();
            let read = &body.get_ref().0;
            if !read.is_cut {
                ended.map_err(|_| not_unpacked(&origin))?;
            }
            Ok(Body { bytes: read.bytes.clone(), is_cut: read.is_cut })
        }
    }
}

fn not_unpacked(origin: &str) -> Refusal {
    Refusal::new("bad_answer", format!("the response of `{origin}` cannot be decompressed"))
}
