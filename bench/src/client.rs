//! A minimal HTTP/1.1 client on one keep-alive connection, which waits for each response. Holdshort and the
//! hand-written loop get exactly the same bytes.

use anyhow::{Context, Result, bail, ensure};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, Connection, SendRequest};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use tokio::net::TcpStream;

use crate::server::Target;

pub(crate) struct Client {
    requests: SendRequest<Full<Bytes>>,
    connection: Connection<TokioIo<TcpStream>, Full<Bytes>>,
    host: HeaderValue,
    bearer: HeaderValue,
    pub(crate) sent: u64,
}

impl Client {
    pub(crate) async fn connect(target: &Target, token: &str) -> Result<Self> {
        let stream = TcpStream::connect(target.address).await?;
        stream.set_nodelay(true)?;
        let (requests, connection) = http1::handshake(TokioIo::new(stream)).await?;
        Ok(Self {
            requests,
            connection,
            host: HeaderValue::try_from(target.address.to_string())?,
            bearer: HeaderValue::try_from(format!("Bearer {token}"))?,
            sent: 0,
        })
    }

    pub(crate) async fn get<T: DeserializeOwned>(&mut self, path: &str) -> Result<T> {
        let answer = self.answer(Method::GET, path, Bytes::new(), None, StatusCode::OK).await?;
        serde_json::from_slice(&answer).context("the body of the response has an unexpected form")
    }

    /// Sends a GET request to the measured server and discards the body of the response, which need not be JSON.
    pub(crate) async fn touch(&mut self, path: &str) -> Result<()> {
        self.answer(Method::GET, path, Bytes::new(), None, StatusCode::OK).await.map(drop)
    }

    pub(crate) async fn create<T: DeserializeOwned>(
        &mut self,
        path: &str,
        body: Bytes,
        key: Option<&str>,
    ) -> Result<T> {
        let key = key.map(HeaderValue::try_from).transpose()?;
        let answer = self.answer(Method::POST, path, body, key, StatusCode::CREATED).await?;
        serde_json::from_slice(&answer).context("the body of the response has an unexpected form")
    }

    pub(crate) async fn post<T: DeserializeOwned>(&mut self, path: &str, body: Bytes) -> Result<T> {
        let answer = self.answer(Method::POST, path, body, None, StatusCode::OK).await?;
        serde_json::from_slice(&answer).context("the body of the response has an unexpected form")
    }

    async fn answer(
        &mut self,
        method: Method,
        path: &str,
        body: Bytes,
        key: Option<HeaderValue>,
        expected: StatusCode,
    ) -> Result<Bytes> {
        let mut request = Request::builder()
            .method(&method)
            .uri(path)
            .header(HOST, &self.host)
            .header(AUTHORIZATION, &self.bearer);
        if method == Method::POST {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let request = request.body(Full::new(body))?;
        self.sent += 1;
        let Self { requests, connection, .. } = self;
        let answer = async {
            requests.ready().await?;
            let response = requests.send_request(request).await?;
            let status = response.status();
            anyhow::Ok((status, response.into_body().collect().await?.to_bytes()))
        };
        let (status, bytes) = tokio::select! {
            biased;
            answer = answer => answer?,
            closed = connection => {
                closed?;
                bail!("the server closed the connection before it sent a response");
            }
        };
        ensure!(status == expected, "{method} {path}: {status}: {}", String::from_utf8_lossy(&bytes));
        Ok(bytes)
    }
}
