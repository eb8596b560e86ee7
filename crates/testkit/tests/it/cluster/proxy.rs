//! A cable between a node and its database, to be cut: bytes that are sent no longer arrive, and nobody is told.

use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

pub(crate) struct Proxy {
    port: u16,
    user_and_database: (String, String),
    whole: Arc<watch::Sender<bool>>,
}

impl Proxy {
    /// In front of the server of this URL.
    pub(crate) async fn start(url: &str) -> Self {
        let (before, rest) = url.split_once('@').unwrap();
        let (address, database) = rest.split_once('/').unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let whole = Arc::new(watch::Sender::new(true));
        let (address, state) = (address.to_owned(), whole.clone());
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let (address, state) = (address.clone(), state.clone());
                tokio::spawn(async move {
                    let Ok(far) = TcpStream::connect(&address).await else { return };
                    let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
                    let there = carry(near_in, far_out, state.subscribe());
                    let back = carry(far_in, near_out, state.subscribe());
                    tokio::join!(there, back);
                });
            }
        });
        Self { port, user_and_database: (before.to_owned(), database.to_owned()), whole }
    }

    pub(crate) fn url(&self) -> String {
        let (before, database) = &self.user_and_database;
        format!("{before}@127.0.0.1:{}/{database}", self.port)
    }

    pub(crate) fn cut(&self) {
        self.whole.send_replace(false);
    }

    /// Connections that were there stay dead; new ones work.
    pub(crate) fn mend(&self) {
        self.whole.send_replace(true);
    }
}

/// Carries bytes one way until either end closes, or for ever nowhere once the cable was cut.
async fn carry(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    mut whole: watch::Receiver<bool>,
) {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        if whole.wait_for(|whole| *whole).await.is_err() {
            return;
        }
        let read = tokio::select! {
            read = from.read(&mut buffer) => read,
            () = cut(whole.clone()) => continue,
        };
        let Ok(n @ 1..) = read else {
            drop(to.shutdown().await);
            return;
        };
        let arrives = *whole.borrow();
        if arrives && to.write_all(&buffer[..n]).await.is_err() {
            return;
        }
    }
}

async fn cut(mut whole: watch::Receiver<bool>) {
    let _mended = whole.wait_for(|whole| !*whole).await.is_err();
}
