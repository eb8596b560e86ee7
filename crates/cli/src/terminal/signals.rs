//! Signals that end the use of a terminal: a request to terminate, or the loss of the terminal. The keyboard module
//! handles Ctrl-C.

use tokio::signal::unix::{Signal, SignalKind, signal};

pub(super) struct ExitSignals {
    terminate: Signal,
    hang_up: Option<Signal>,
}

impl ExitSignals {
    /// Starts listening for the signals that end a command. `terminal` is the signal for a lost terminal. With `None`,
    /// the loss of the terminal is ignored, so that `nohup` works.
    pub(super) fn new(terminal: Option<SignalKind>) -> std::io::Result<Self> {
        let hang_up = terminal.map(signal).transpose()?;
        Ok(Self { terminate: signal(SignalKind::terminate())?, hang_up })
    }

    pub(super) async fn came(&mut self) {
        let Some(hang_up) = &mut self.hang_up else { return came(&mut self.terminate).await };
        tokio::select! {
            () = came(&mut self.terminate) => {}
            () = came(hang_up) => {}
        }
    }
}

pub(super) async fn came(signal: &mut Signal) {
    // `None` means that the signal cannot arrive any more, so wait forever.
    if signal.recv().await.is_none() {
        std::future::pending::<()>().await;
    }
}
