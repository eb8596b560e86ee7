//! A proxy between a client and its server, which forwards all data and can hold back the event stream.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

/// Start of the HTTP request for the stream of all events.
const STREAM: &[u8] = b"GET /v1/events";

#[derive(Default)]
struct Gate {
    is_closed: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    fn pass(&self) {
        let closed = self.is_closed.lock().unwrap();
        drop(self.changed.wait_while(closed, |closed| *closed).unwrap());
    }
}

pub(crate) struct Proxy {
    address: SocketAddr,
    gate: Arc<Gate>,
}

impl Proxy {
    pub(crate) fn to(server: &str) -> Self {
        let server = server.strip_prefix("http://").unwrap().trim_end_matches('/').to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let gate = Arc::new(Gate::default());
        let shared = gate.clone();
        let named = address.to_string();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let to = TcpStream::connect(&server).unwrap();
                connect(client.unwrap(), to, (named.clone(), server.clone()), shared.clone());
            }
        });
        Self { address, gate }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn hold_events(&self) {
        *self.gate.is_closed.lock().unwrap() = true;
    }

    pub(crate) fn release_events(&self) {
        *self.gate.is_closed.lock().unwrap() = false;
        self.gate.changed.notify_all();
    }
}

/// Forwards all data between a client and the server. `names` are the host name that the client uses for the server,
/// and the only one that the server accepts.
fn connect(client: TcpStream, server: TcpStream, names: (String, String), gate: Arc<Gate>) {
    assert_eq!(names.0.len(), names.1.len(), "ports have five digits here");
    let streams = Arc::new(Mutex::new(false));
    let (to_server, to_client) =
        ((client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client));
    let asks = streams.clone();
    std::thread::spawn(move || {
        pass(to_server, |bytes| {
            if bytes.windows(STREAM.len()).any(|part| part == STREAM) {
                *asks.lock().unwrap() = true;
            }
            let (said, own) = (names.0.as_bytes(), names.1.as_bytes());
            while let Some(at) = bytes.windows(said.len()).position(|part| part == said) {
                bytes[at..at + own.len()].copy_from_slice(own);
            }
        });
    });
    std::thread::spawn(move || {
        pass(to_client, |_| {
            if *streams.lock().unwrap() {
                gate.pass();
            }
        });
    });
}

fn pass((mut from, mut to): (TcpStream, TcpStream), mut look: impl FnMut(&mut [u8])) {
    let mut bytes = [0; 16_384];
    while let Ok(count) = from.read(&mut bytes)
        && count > 0
    {
        look(&mut bytes[..count]);
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    // A peer that is still reading sees the end of the stream.
    let _ = to.shutdown(Shutdown::Write);
}
