//! Accepts and serves connections. When the server stops, waits for the open requests. Many connections may be idle at
//! the same time. Therefore an idle connection must use little memory.

use std::convert::Infallible;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use holdshort_web::app::App;
use holdshort_web::connections::{self, Connection, Ends};
use holdshort_web::patient_stream::PatientStream;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::tls::Tls;

/// Delay after the server failed to accept a connection, for example because no file descriptor was free.
const PAUSE: Duration = Duration::from_secs(1);

/// Serves connections until the server stops, and then waits until all open requests are answered.
pub(crate) async fn serve(listener: TcpListener, tls: Option<Arc<Tls>>, service: Router, app: Arc<App>) {
    // No message is sent over this channel. Each connection holds a sender, so the receiver returns when the last
    // connection has ended.
    let (alive, mut gone) = mpsc::channel::<Infallible>(1);
    let mut stopped = pin!(app.stopped());
    loop {
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    refused(&error).await;
                    continue;
                }
            },
            () = &mut stopped => break,
        };
        let acceptor = tls.as_ref().map(|tls| TlsAcceptor::from(tls.config()));
        tokio::spawn(attend((stream, peer), acceptor, service.clone(), app.clone(), alive.clone()));
    }
    drop((listener, alive));
    gone.recv().await;
}

async fn attend(
    (stream, peer): (TcpStream, SocketAddr),
    acceptor: Option<TlsAcceptor>,
    service: Router,
    app: Arc<App>,
    _alive: mpsc::Sender<Infallible>,
) {
    // A response is written in one piece. Nagle's algorithm would only delay it.
    let local = match stream.set_nodelay(true).and_then(|()| stream.local_addr()) {
        Ok(local) => local,
        Err(error) => {
            tracing::debug!(%error, "a connection closed before it was accepted");
            return;
        }
    };
    let accepted = app.connections.accept(Ends { peer, local });
    let wire = PatientStream::new(stream, app.pace.patience, accepted.clone());
    let Some(acceptor) = acceptor else { return speak(wire, accepted, service, app).await };
    // The TLS handshake and the headers of the first request share one time limit. A silent client is then
    // disconnected.
    let shaken = tokio::select! {
        shaken = timeout(app.pace.headers, acceptor.accept(wire)) => shaken,
        () = accepted.evicted() => return,
        () = app.stopped() => return,
    };
    match shaken {
        Ok(Ok(wire)) => Box::pin(speak(wire, accepted, service, app)).await,
        Ok(Err(error)) => tracing::debug!(%error, %peer, "a TLS handshake failed"),
        Err(_) => tracing::debug!(%peer, "a TLS handshake timed out"),
    }
}

async fn speak<W>(wire: W, accepted: Arc<Connection>, service: Router, app: Arc<App>)
where
    W: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = {
        let (service, accepted) = (TowerToHyperService::new(service), accepted.clone());
        service_fn(move |request| connections::serving(accepted.clone(), service.call(request)))
    };
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(app.pace.headers);
    let mut connection = pin!(http.serve_connection(TokioIo::new(wire), service).with_upgrades());
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = accepted.evicted() => {
            tracing::debug!("an unauthenticated connection was closed to make room for others");
            return;
        }
        () = app.stopped() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection failed");
    }
}

async fn refused(error: &io::Error) {
    // With these errors, only the client has disconnected. The listener still works.
    let left = [ErrorKind::ConnectionRefused, ErrorKind::ConnectionAborted, ErrorKind::ConnectionReset];
    if !left.contains(&error.kind()) {
        tracing::error!(%error, "cannot accept connections; trying again after a pause");
        sleep(PAUSE).await;
    }
}
