//! A token issuer on this machine. The issuer has keys, and makes valid and invalid tokens. The key server of the
//! issuer may be down, or may respond with a key set that is huge, slow or invalid.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use data_encoding::BASE64URL_NOPAD;
use futures::stream;
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RSA_PSS_SHA256,
    RsaKeyPair, RsaPublicKeyComponents,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// RSA key that is used only in tests. The key is stored in a file, because `ring` cannot generate RSA keys.
const RSA: &[u8] = include_bytes!("issuer/rsa.pk8");

/// Key with which an issuer signs tokens.
pub enum Signer {
    Rsa(RsaKeyPair),
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
    Secret(Vec<u8>),
}

impl Signer {
    /// Returns the RSA key that is stored in the file `issuer/rsa.pk8`. All calls return the same key.
    pub fn rsa() -> Self {
        Self::Rsa(RsaKeyPair::from_pkcs8(RSA).expect("a key"))
    }

    pub fn ec() -> Self {
        let (random, kind) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(kind, &random).expect("a key");
        Self::Ec(EcdsaKeyPair::from_pkcs8(kind, pkcs8.as_ref(), &random).expect("a key"))
    }

    pub fn ed() -> Self {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key");
        Self::Ed(Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).expect("a key"))
    }

    pub fn secret(bytes: &[u8]) -> Self {
        Self::Secret(bytes.to_vec())
    }

    /// Returns the algorithm of the signing key. The public key in JWK format states the same algorithm.
    pub fn algorithm(&self) -> &'static str {
        match self {
            Self::Rsa(_) => "RS256",
            Self::Ec(_) => "ES256",
            Self::Ed(_) => "EdDSA",
            Self::Secret(_) => "HS256",
        }
    }

    /// Returns the public key in JWK format (RFC 7517).
    pub fn jwk(&self, kid: &str) -> Value {
        let text = |bytes: &[u8]| BASE64URL_NOPAD.encode(bytes);
        let mut key = match self {
            Self::Rsa(key) => {
                let RsaPublicKeyComponents { n, e } =
                    RsaPublicKeyComponents::<Vec<u8>>::from(key.public_key());
                json!({"kty": "RSA", "n": text(&n), "e": text(&e)})
            }
            Self::Ec(key) => {
                let point = key.public_key().as_ref();
                json!({"kty": "EC", "crv": "P-256", "x": text(&point[1..33]), "y": text(&point[33..])})
            }
            Self::Ed(key) => {
                json!({"kty": "OKP", "crv": "Ed25519", "x": text(key.public_key().as_ref())})
            }
            Self::Secret(secret) => json!({"kty": "oct", "k": text(secret)}),
        };
        key["kid"] = kid.into();
        key["use"] = "sig".into();
        key["alg"] = self.algorithm().into();
        key
    }

    /// Returns a signed token with this header and these claims. The header and the claims are not validated.
    pub fn token(&self, header: &Value, claims: &Value) -> String {
        self.token_of(&header.to_string(), &claims.to_string())
    }

    /// Returns a signed token whose header and claims are given as texts, which need not be JSON.
    pub fn token_of(&self, header: &str, claims: &str) -> String {
        let text = |bytes: &[u8]| BASE64URL_NOPAD.encode(bytes);
        let message = format!("{}.{}", text(header.as_bytes()), text(claims.as_bytes()));
        let is_pss = header.contains("PS256");
        let signature = match self {
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                let scheme: &'static dyn ring::signature::RsaEncoding =
                    if is_pss { &RSA_PSS_SHA256 } else { &RSA_PKCS1_SHA256 };
                key.sign(scheme, &SystemRandom::new(), message.as_bytes(), &mut signature).expect("signed");
                signature
            }
            Self::Ec(key) => {
                let signed = key.sign(&SystemRandom::new(), message.as_bytes()).expect("signed");
                signed.as_ref().to_vec()
            }
            Self::Ed(key) => key.sign(message.as_bytes()).as_ref().to_vec(),
            Self::Secret(secret) => {
                let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
                hmac::sign(&key, message.as_bytes()).as_ref().to_vec()
            }
        };
        format!("{message}.{}", text(&signature))
    }
}

/// Returns the current time in seconds since 1970, the unit of token claims.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
    i64::try_from(since.as_secs()).expect("a clock of this age")
}

/// Response of the issuer's key server to a request.
#[derive(Clone, Debug)]
pub enum Answer {
    Set(Value),
    /// The key server sends a text, which need not be a key set.
    Text(String),
    Status(u16),
    /// The key server sends an endless body.
    Huge,
    /// The key server sends the beginning of a key set. After this, no more bytes follow, but the connection stays
    /// open.
    Stalled,
}

#[derive(Debug)]
struct Shared {
    answer: Mutex<Answer>,
    asked: AtomicUsize,
}

/// HTTP server from which the key set of an issuer can be downloaded.
#[derive(Debug)]
pub struct KeyServer {
    url: String,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

impl KeyServer {
    pub async fn start(answer: Answer) -> Self {
        let shared = Arc::new(Shared { answer: Mutex::new(answer), asked: AtomicUsize::new(0) });
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port on loopback is free");
        let address = listener.local_addr().expect("a bound socket has an address");
        let asked = shared.clone();
        let router = Router::new().route("/jwks.json", get(async move || asked.answer()));
        let server = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("the keys are served");
        });
        Self { url: format!("http://{address}/jwks.json"), shared, server }
    }

    /// Starts a key server that offers these keys under these key ids.
    pub async fn with_keys(keys: &[(&str, &Signer)]) -> Self {
        Self::start(Answer::Set(set(keys))).await
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Sets the response of the key server to all later requests.
    pub fn answers(&self, answer: Answer) {
        *self.shared.answer.lock().unwrap_or_else(PoisonError::into_inner) = answer;
    }

    /// Returns the number of requests that the key server has received.
    pub fn request_count(&self) -> usize {
        self.shared.asked.load(Ordering::SeqCst)
    }
}

impl Drop for KeyServer {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Returns a key set (JWKS) of these keys, each with its key id.
pub fn set(keys: &[(&str, &Signer)]) -> Value {
    json!({"keys": keys.iter().map(|(kid, key)| key.jwk(kid)).collect::<Vec<_>>()})
}

impl Shared {
    fn answer(&self) -> Response {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match answer {
            Answer::Set(set) => set.to_string().into_response(),
            Answer::Text(text) => text.into_response(),
            Answer::Status(status) => {
                StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR).into_response()
            }
            Answer::Huge => {
                let chunk = Bytes::from(vec![b' '; 64 * 1_024]);
                let endless = stream::repeat_with(move || Ok::<_, Infallible>(chunk.clone()));
                Body::from_stream(endless).into_response()
            }
            Answer::Stalled => {
                let begun = stream::iter([Ok::<_, Infallible>(Bytes::from_static(b"{\"keys\": ["))]);
                Body::from_stream(futures::StreamExt::chain(begun, stream::pending())).into_response()
            }
        }
    }
}
