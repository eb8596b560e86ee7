//! A command from its start to the end of the last process that it started: output, time, stopping.
//!
//! Runs on after its caller is gone, until nothing is left. Never decides what an end means to the model.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::process::Child;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::transcript::{Decoder, Transcript};
use crate::limits;
use crate::sandbox::{Launched, Report};

const CHUNK_BYTES: usize = 16 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum How {
    Exited(i32),
    Signalled(i32),
    TimedOut,
    TooManyProcesses,
    TooMuchOutput,
    TooManyBytes,
    /// The caller is gone.
    Abandoned,
    Failed(String),
}

#[derive(Debug)]
pub(super) struct Ended {
    pub how: How,
    pub transcript: Transcript,
    /// What the command had made of guarded names, and was renamed.
    pub held_back: Vec<String>,
    /// Why nobody could look for that.
    pub unguarded: Option<String>,
}

/// Follows a command to its end. `preview` gets what it prints; when its other end is gone the command is
/// stopped.
pub(super) async fn drive(
    launched: Launched<Child>,
    time: Duration,
    preview: mpsc::Sender<String>,
) -> io::Result<Ended> {
    let Launched { mut child, line, output, scratch } = launched;
    line.set_nonblocking(true)?;
    let mut line = UnixStream::from_std(line)?;
    let mut output = Output {
        pipe: Some(pipe::Receiver::from_owned_fd(OwnedFd::from(output))?),
        buffer: Vec::with_capacity(CHUNK_BYTES),
        transcript: Transcript::default(),
        decoder: Decoder::default(),
        preview,
    };
    let caller = output.preview.clone();
    let mut sent = Vec::new();
    let mut stopped = None;
    let time_is_up = sleep(time);
    tokio::pin!(time_is_up);
    loop {
        let stop = tokio::select! {
            more = line.read_buf(&mut sent) => match more {
                // The stages are gone, and with them all that they watched over.
                Ok(0) | Err(_) => break,
                Ok(_) => None,
            },
            () = output.read() => {
                (output.transcript.total() > limits::OUTPUT_BYTES).then_some(How::TooMuchOutput)
            },
            () = &mut time_is_up => {
                if stopped.is_some() {
                    break;
                }
                Some(How::TimedOut)
            },
            () = caller.closed(), if stopped.is_none() => Some(How::Abandoned),
        };
        if let (Some(how), None) = (stop, &stopped) {
            stopped = Some(how);
            // The stages see the line closed; the same clock now measures how long they take.
            line.shutdown().await?;
            time_is_up.as_mut().reset(tokio::time::Instant::now() + limits::STOP_TIME);
        }
    }
    // Where it takes longer it is left alone, never killed: it is what stops the others.
    let _ = timeout(limits::STOP_TIME, child.wait()).await;
    let _ = timeout(limits::STOP_TIME, output.read_to_end()).await;
    // What a command made unremovable stays behind in the host's temporary folder.
    let _ = tokio::task::spawn_blocking(move || scratch.close()).await;
    let (report, after) = Report::parse(&sent);
    let how = match (report, stopped) {
        (Report::Exited { code }, _) => How::Exited(code),
        (Report::TooManyProcesses, _) => How::TooManyProcesses,
        (Report::TooManyBytes, _) => How::TooManyBytes,
        (_, Some(how)) => how,
        (Report::Signalled { signal }, None) => How::Signalled(signal),
        (Report::Failed { why }, None) => How::Failed(why),
        (Report::HeldBack { .. } | Report::Unguarded { .. }, None) => {
            How::Failed("the sandbox did not tell how the command ended".to_owned())
        }
    };
    let mut ended = Ended { how, transcript: output.transcript, held_back: Vec::new(), unguarded: None };
    for report in after {
        match report {
            Report::HeldBack { paths } => ended.held_back.extend(paths),
            Report::Unguarded { why } => ended.unguarded = Some(why),
            _ => {}
        }
    }
    Ok(ended)
}

struct Output {
    /// `None`: nobody can print any more.
    pipe: Option<pipe::Receiver>,
    buffer: Vec<u8>,
    transcript: Transcript,
    decoder: Decoder,
    preview: mpsc::Sender<String>,
}

impl Output {
    /// Waits for the next chunk; for ever after the last one. Nothing is lost where the wait is dropped.
    async fn read(&mut self) {
        let Some(pipe) = &mut self.pipe else { return std::future::pending().await };
        match pipe.read_buf(&mut self.buffer).await {
            Ok(0) | Err(_) => self.pipe = None,
            Ok(_) => {
                self.transcript.push(&self.buffer);
                let text = self.decoder.push(&self.buffer);
                self.buffer.clear();
                // A preview: where the reader is slow, chunks are left out.
                let _ = self.preview.try_send(text);
            }
        }
    }

    async fn read_to_end(&mut self) {
        while self.pipe.is_some() {
            self.read().await;
        }
    }
}
