//! Signals at which a terminal is left: somebody ends the process, or the terminal goes away. Ctrl-C is with whoever reads
//! the keyboard.

use tokio::signal::unix::{Signal, SignalKind, signal};

pub(super) struct Leaving {
    terminate: Signal,
    hang_up: Option<Signal>,
}

impl Leaving {
    /// `terminal`: what its loss is told by, where one is read. Without one it is none of ours: `nohup` wants to outlive it.
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
    // A signal that can not come any more never comes.
    if signal.recv().await.is_none() {
        std::future::pending::<()>().await;
    }
}
