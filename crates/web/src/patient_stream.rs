//! TCP connection that is closed if the client stops reading, because unread data occupies buffers of the server. The
//! client then reconnects with its cursor. A client that reads slowly is not disconnected.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use crate::connections::Connection;

pub struct PatientStream {
    stream: TcpStream,
    patience: Duration,
    /// Timer after which the connection is closed, running only while the client takes no bytes.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Entry of the connection in its quota, which counts the connection until the socket is closed.
    _connection: Arc<Connection>,
}

impl PatientStream {
    pub fn new(stream: TcpStream, patience: Duration, connection: Arc<Connection>) -> Self {
        Self { stream, patience, stalled: None, _connection: connection }
    }

    /// Returns the result of a write to the client, or an error if the client has taken no bytes for too long.
    fn written<T>(&mut self, written: Poll<io::Result<T>>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(self.patience)));
        ready!(stalled.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl Drop for PatientStream {
    fn drop(&mut self) {
        if self.stalled.is_some() {
            // Without this option, the unsent bytes would stay in kernel memory after the connection is closed.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for PatientStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for PatientStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.written(written, cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(cx, slices);
        this.written(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
