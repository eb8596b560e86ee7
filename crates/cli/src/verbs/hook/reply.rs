//! Answer of the hook: printed exactly once, before the coding agent stops waiting.
//!
//! Coding agents run the tool if their hook crashes, is killed, or answers too late. Therefore a thread of its own
//! answers at the deadline, and a panic ends the process with the exit code that stops the tool.

use std::io::Write;
use std::process;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use holdshort_edges::hooks::Printed;

use crate::output::print_message;

/// Exit code that stops the tool in every coding agent.
const BLOCK: i32 = 2;
/// Shortest and longest time between the answer and the end of the agent's patience.
const MARGIN: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(15));

/// Makes every panic of this process stop the tool. The exit code of a panic would let the tool run.
pub(crate) fn stop_on_panic() {
    std::panic::set_hook(Box::new(|panic| {
        print_message(&format!("holdshort: the hook failed, so the call is denied: {panic}"));
        process::exit(BLOCK);
    }));
}

/// The one answer of this process.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    begun: Instant,
    /// Answer at the deadline. The lock is held while an answer is printed, and never released afterwards.
    late: Arc<Mutex<Printed>>,
}

impl Reply {
    pub(super) fn new() -> Self {
        let late = Printed::failure("holdshort: the hook was not ready in time, so the call is denied");
        Self { begun: Instant::now(), late: Arc::new(Mutex::new(late)) }
    }

    /// Starts the thread that answers before the agent's time-out. Returns the time of this answer.
    pub(super) fn answer_before(&self, timeout: Duration) -> anyhow::Result<Instant> {
        let margin = (timeout / 10).clamp(MARGIN.0, MARGIN.1);
        let deadline = self.begun + timeout.saturating_sub(margin);
        let reply = self.clone();
        thread::Builder::new().name("deadline".to_owned()).spawn(move || {
            thread::sleep(deadline.saturating_duration_since(Instant::now()));
            reply.give_late();
        })?;
        Ok(deadline)
    }

    /// Sets the answer at the deadline.
    pub(super) fn set_late(&self, printed: Printed) {
        *self.late.lock().unwrap_or_else(PoisonError::into_inner) = printed;
    }

    pub(super) fn give_late(&self) -> ! {
        let late = self.late.lock().unwrap_or_else(PoisonError::into_inner);
        print(&late)
    }

    /// Prints the answer and ends the process. Waits for the end if the other thread prints.
    pub(super) fn give(&self, printed: &Printed) -> ! {
        match self.late.try_lock() {
            Ok(_) | Err(TryLockError::Poisoned(_)) => print(printed),
            Err(TryLockError::WouldBlock) => loop {
                thread::park();
            },
        }
    }

    pub(super) fn fail(&self, text: &str) -> ! {
        self.give(&Printed::failure(&format!("holdshort: {text}")))
    }
}

fn print(printed: &Printed) -> ! {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(printed.stdout.as_bytes()).and_then(|()| out.flush());
    if let Err(error) = written {
        print_message(&format!("holdshort: the answer cannot be printed, so the call is denied: {error}"));
        process::exit(BLOCK);
    }
    let _ = std::io::stderr().write_all(printed.stderr.as_bytes());
    process::exit(i32::from(printed.exit))
}
