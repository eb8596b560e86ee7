//! Follows a command from its start until all its processes have ended: collects the output, enforces the time limit,
//! and stops the command on request.
//!
//! If the caller stops waiting, this work continues until no process of the command is left.

use std::io::{self, PipeReader};
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
use crate::sandbox::{self, Launched, Report, Scratch, SetAside};
use crate::tools::Stop;
use crate::turns::Turn;

const CHUNK_BYTES: usize = 16 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ExitReason {
    Exited(i32),
    Signalled(i32),
    TimedOut,
    TooManyProcesses,
    TooMuchOutput,
    TooManyBytes,
    /// The layer (a folder that receives the writes of a trial) could not be created in the workspace of the command.
    NoLayer(String),
    /// The caller has stopped waiting for the result of the command.
    Abandoned,
    Stopped,
    Failed(String),
}

impl ExitReason {
    /// Describes to the model how a command ended. `timeout` is the time limit of the command.
    pub(crate) fn describe(&self, timeout: Duration) -> String {
        match self {
            Self::Exited(code) => format!("exit code {code}"),
            Self::Signalled(signal) => format!("killed by signal {signal}"),
            Self::TimedOut => format!("killed after {} s", timeout.as_secs_f64()),
            Self::TooManyProcesses => {
                format!("killed: too many processes (more than {})", limits::PROCESSES)
            }
            Self::TooMuchOutput => format!("killed: more than {} bytes of output", limits::OUTPUT_BYTES),
            Self::TooManyBytes => "killed: the command wrote more bytes than allowed".to_owned(),
            Self::Abandoned => "killed: the result of the command is no longer needed".to_owned(),
            Self::Stopped => "killed: a person stopped the command".to_owned(),
            Self::NoLayer(why) => format!("the layer over the workspace cannot be created: {why}"),
            Self::Failed(why) => format!("the sandbox failed: {why}"),
        }
    }

    pub(crate) fn exit_code(&self) -> Option<i32> {
        match self {
            Self::Exited(code) => Some(*code),
            Self::Signalled(_)
            | Self::TimedOut
            | Self::TooManyProcesses
            | Self::TooMuchOutput
            | Self::TooManyBytes
            | Self::NoLayer(_)
            | Self::Abandoned
            | Self::Stopped
            | Self::Failed(_) => None,
        }
    }
}

#[derive(Debug)]
pub(crate) struct EndedCommand {
    pub how: ExitReason,
    pub transcript: Transcript,
    /// Guarded paths (files that a person's tools run automatically) that the command created: those that were renamed,
    /// and those that could not be renamed. `None` if the command may write no files, or may write guarded paths too.
    pub aside: Option<SetAside>,
    /// Scratch folder of a trial (a temporary folder outside the workspace). `None` if the trial was stopped.
    pub scratch: Option<Scratch>,
    /// Output of each stream of the command, if the streams are captured separately.
    pub streams: Option<Streams>,
    /// Number of processes of the command that were still running when the shell of the command ended.
    pub left: usize,
}

/// Output of a command, separate for each stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Streams {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// True if the command printed more than [`limits::CAPTURED_BYTES`], so that the rest of the output is missing.
    pub is_cut: bool,
}

impl Streams {
    fn push(&mut self, is_error: bool, bytes: &[u8]) {
        let room = limits::CAPTURED_BYTES - self.stdout.len() - self.stderr.len();
        self.is_cut |= bytes.len() > room;
        let stream = if is_error { &mut self.stderr } else { &mut self.stdout };
        stream.extend(&bytes[..room.min(bytes.len())]);
    }
}

/// Follows a command until it ends. `preview` receives the output. If the receiver of `preview` is dropped, the command
/// is stopped. `turn` keeps other commands from writing in the workspace. It is released when the first stage of the
/// sandbox has ended and the guarded paths that could not be renamed are recorded.
pub(super) async fn drive(
    launched: Launched<Child>,
    time: Duration,
    preview: mpsc::Sender<String>,
    turn: Option<Turn>,
    stop: Stop,
) -> io::Result<EndedCommand> {
    let Launched { mut child, line, output, errors, scratch, is_trial, guarded } = launched;
    line.set_nonblocking(true)?;
    let mut line = UnixStream::from_std(line)?;
    let mut output = Output {
        streams: errors.is_some().then(Streams::default),
        main: Channel::new(Some(output))?,
        errors: Channel::new(errors)?,
        transcript: Transcript::default(),
        decoder: Decoder::default(),
        preview,
    };
    let caller = output.preview.clone();
    let is_stopped = until(stop);
    tokio::pin!(is_stopped);
    let mut sent = Vec::new();
    let mut stopped = None;
    // The command's time limit starts only after the search for guarded paths.
    let mut begins = guarded.is_none();
    let time_is_up = sleep(if begins { time } else { limits::LOOK_TIME });
    tokio::pin!(time_is_up);
    loop {
        let stop = tokio::select! {
            more = line.read_buf(&mut sent) => match more {
                // All stages have ended, and all processes that the stages supervised have ended too.
                Ok(0) | Err(_) => break,
                Ok(_) if !begins && Report::has_begun(&sent) => {
                    begins = true;
                    if stopped.is_none() {
                        time_is_up.as_mut().reset(tokio::time::Instant::now() + time);
                    }
                    None
                }
                // The command ended by itself. The renaming of new guarded paths has a separate time limit.
                Ok(_) if begins && stopped.is_none() && Report::has_ended(&sent) => {
                    time_is_up.as_mut().reset(tokio::time::Instant::now() + limits::SET_ASIDE_TIME);
                    None
                }
                Ok(_) => None,
            },
            () = output.read() => {
                (output.transcript.total() > limits::OUTPUT_BYTES).then_some(ExitReason::TooMuchOutput)
            },
            () = &mut time_is_up => {
                if stopped.is_some() || Report::has_ended(&sent) {
                    break;
                }
                Some(ExitReason::TimedOut)
            },
            () = &mut is_stopped, if stopped.is_none() => Some(ExitReason::Stopped),
            () = caller.closed(), if stopped.is_none() => Some(ExitReason::Abandoned),
        };
        if let (Some(how), None) = (stop, &stopped) {
            stopped = Some(how);
            // Closing the connection signals the stages to end. From now on the timer limits the time until the stages
            // end. An error means that the stages have already ended, which the next read detects.
            let _ = line.shutdown().await;
            let takes = if guarded.is_some() { limits::SET_ASIDE_TIME } else { limits::STOP_TIME };
            time_is_up.as_mut().reset(tokio::time::Instant::now() + takes);
        }
    }
    // The first stage stops the other processes, so it is never killed, even if it exceeds the time limit.
    let is_gone = timeout(limits::STOP_TIME, child.wait()).await.is_ok();
    let _ = timeout(limits::STOP_TIME, output.read_to_end()).await;
    let (report, aside) = Report::parse(&sent);
    // A command that did not start has created no guarded path.
    let has_begun = Report::has_begun(&sent);
    let aside = guarded.as_ref().filter(|_| has_begun).map(|_| aside.unwrap_or_else(untold));
    let scratch = match guarded {
        // New guarded paths remain in the workspace, so the next command needs an approval. The list of the guarded
        // paths from before this command is kept, because it shows later which guarded paths are new.
        Some(workspace) if aside.as_ref().is_some_and(|aside| !aside.is_complete()) => {
            sandbox::remember(&workspace, scratch.keep());
            None
        }
        // The result of a trial is used only if the trial was not stopped and all its processes have ended.
        _ if is_trial && is_gone && stopped.is_none() => Some(scratch),
        // Entries that cannot be removed stay in the host's temporary folder.
        _ => {
            let _ = tokio::task::spawn_blocking(move || drop(scratch)).await;
            None
        }
    };
    // The turn is released only now, because the next command must know which new guarded paths remain.
    if is_gone {
        drop(turn);
    } else {
        tokio::spawn(async move {
            let _ = child.wait().await;
            drop(turn);
        });
    }
    let how = match (report, stopped) {
        (Report::Exited { code }, _) => ExitReason::Exited(code),
        (Report::TooManyProcesses, _) => ExitReason::TooManyProcesses,
        (Report::TooManyBytes, _) => ExitReason::TooManyBytes,
        (Report::NoLayer { why }, _) => ExitReason::NoLayer(why),
        (_, Some(how)) => how,
        (Report::Signalled { signal }, None) => ExitReason::Signalled(signal),
        (Report::Failed { why }, None) => ExitReason::Failed(why),
        (Report::Begins | Report::Left { .. } | Report::SetAside(_), None) => {
            ExitReason::Failed("the sandbox did not report how the command ended".to_owned())
        }
    };
    let left = Report::left_processes(&sent);
    let Output { transcript, streams, .. } = output;
    Ok(EndedCommand { how, transcript, aside, scratch, streams, left })
}

/// Waits until a person stops a command. Waits forever if no person stops the command, or if `stop` is `None`.
pub(super) async fn until(stop: Stop) {
    if let Some(mut stop) = stop
        && stop.wait_for(|is_stopped| *is_stopped).await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
}

fn untold() -> SetAside {
    SetAside {
        unseen: Some("the sandbox ended before it had searched the workspace".to_owned()),
        ..SetAside::default()
    }
}

/// Pipe from which the output of a command is read, and the chunk of bytes that was read last.
struct Channel {
    /// Pipe with the output of a command. `None` after the output has ended, because no process can print any more.
    pipe: Option<pipe::Receiver>,
    buffer: Vec<u8>,
}

impl Channel {
    fn new(reader: Option<PipeReader>) -> io::Result<Self> {
        let pipe = reader.map(|reader| pipe::Receiver::from_owned_fd(OwnedFd::from(reader))).transpose()?;
        let buffer = Vec::with_capacity(if pipe.is_some() { CHUNK_BYTES } else { 0 });
        Ok(Self { pipe, buffer })
    }

    /// Waits for the next chunk of the command's output in this pipe. After the last chunk the future never completes.
    /// Dropping the future loses no output.
    async fn fill(&mut self) {
        let Some(pipe) = &mut self.pipe else { return std::future::pending().await };
        if matches!(pipe.read_buf(&mut self.buffer).await, Ok(0) | Err(_)) {
            self.pipe = None;
        }
    }
}

struct Output {
    main: Channel,
    /// Standard error of the command. Has no pipe if standard error goes into the pipe of `main`.
    errors: Channel,
    streams: Option<Streams>,
    transcript: Transcript,
    decoder: Decoder,
    preview: mpsc::Sender<String>,
}

impl Output {
    /// Waits for the next chunk of the command's output. After the last chunk the future never completes. Dropping the
    /// future loses no output.
    async fn read(&mut self) {
        tokio::select! {
            () = self.main.fill() => {}
            () = self.errors.fill() => {}
        }
        for (is_error, channel) in [(false, &mut self.main), (true, &mut self.errors)] {
            if channel.buffer.is_empty() {
                continue;
            }
            self.transcript.push(&channel.buffer);
            if let Some(streams) = &mut self.streams {
                streams.push(is_error, &channel.buffer);
            }
            let text = self.decoder.push(&channel.buffer);
            channel.buffer.clear();
            // The preview omits chunks if its reader is slow.
            let _ = self.preview.try_send(text);
        }
    }

    async fn read_to_end(&mut self) {
        while self.main.pipe.is_some() || self.errors.pipe.is_some() {
            self.read().await;
        }
    }
}
