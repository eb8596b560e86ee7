//! Network cable between a node and its database. When the cable is cut, bytes no longer arrive, and neither end is
//! notified.

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
    /// Number of cuts of the simulated network cable so far. A connection that began before the last cut is dead.
    cuts: u64,
}

impl Proxy {
    /// Starts a proxy in front of the database server of this URL, which simulates a network cable.
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

    /// Cuts the simulated network cable. Existing connections transfer no more bytes, and neither end is notified.
    pub(crate) fn cut(&self) {
        self.cable.send_modify(|cable| *cable = Cable { whole: false, cuts: cable.cuts + 1 });
    }

    /// Mends the simulated network cable. New connections work, but connections from before the cut stay dead.
    pub(crate) fn mend(&self) {
        self.cable.send_modify(|cable| cable.whole = true);
    }
}

/// Copies bytes in both directions of a connection until one end closes it. After a cut of the cable, both ends stay
/// open without traffic.
async fn carry(mut near: TcpStream, address: String, mut cable: watch::Receiver<Cable>) {
    // A new connection waits until the cable is mended, because a kernel keeps retrying to connect.
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
