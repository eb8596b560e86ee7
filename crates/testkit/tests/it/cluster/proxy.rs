//! A cable between a node and its database, to be cut: bytes that are sent no longer arrive, and nobody is told.

use std::future::pending;
use std::sync::Arc;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

pub(crate) struct Proxy {
    port: u16,
    user_and_database: (String, String),
    cable: Arc<watch::Sender<Cable>>,
}

#[derive(Clone, Copy)]
struct Cable {
    whole: bool,
    /// How often it was cut. A connection that is older than the last cut is dead.
    cuts: u64,
}

impl Proxy {
    /// In front of the server of this URL.
    pub(crate) async fn start(url: &str) -> Self {
        let (before, rest) = url.split_once('@').unwrap();
        let (address, database) = rest.split_once('/').unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let cable = Arc::new(watch::Sender::new(Cable { whole: true, cuts: 0 }));
        let (address, state) = (address.to_owned(), cable.clone());
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                tokio::spawn(carry(near, address.clone(), state.subscribe()));
            }
        });
        Self { port, user_and_database: (before.to_owned(), database.to_owned()), cable }
    }

    pub(crate) fn url(&self) -> String {
        let (before, database) = &self.user_and_database;
        format!("{before}@127.0.0.1:{}/{database}", self.port)
    }

    /// Connections that are there are dead from now on: nothing comes through, and neither end is told.
    pub(crate) fn cut(&self) {
        self.cable.send_modify(|cable| *cable = Cable { whole: false, cuts: cable.cuts + 1 });
    }

    /// Connections that were there stay dead; new ones work.
    pub(crate) fn mend(&self) {
        self.cable.send_modify(|cable| cable.whole = true);
    }
}

/// Carries bytes both ways until an end closes, or the cable is cut: then it keeps both ends open for ever.
async fn carry(mut near: TcpStream, address: String, mut cable: watch::Receiver<Cable>) {
    // Whoever connects meanwhile is connected once the cable is whole: the kernel tries again and again.
    let Ok(began) = cable.wait_for(|cable| cable.whole).await.map(|cable| cable.cuts) else { return };
    let Ok(mut far) = TcpStream::connect(&address).await else { return };
    tokio::select! {
        _closed = copy_bidirectional(&mut near, &mut far) => {}
        () = cut_after(cable, began) => pending().await,
    }
}

async fn cut_after(mut cable: watch::Receiver<Cable>, began: u64) {
    if cable.wait_for(|cable| cable.cuts > began).await.is_err() {
        pending::<()>().await;
    }
}
