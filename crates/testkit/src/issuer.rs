//! An issuer of tokens on loopback: keys, tokens as right or as wrong as a test wants them, and a server of its set of
//! keys that can be down, huge, slow or broken.

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

/// For tests alone: `ring` makes no RSA keys.
const RSA: &[u8] = include_bytes!("issuer/rsa.pk8");

/// What signs a token.
pub enum Signer {
    Rsa(RsaKeyPair),
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
    Secret(Vec<u8>),
}

impl Signer {
    /// The one of these tests; each call gives the same.
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

    /// The algorithm that it signs with where a header names no other.
    pub fn algorithm(&self) -> &'static str {
        match self {
            Self::Rsa(_) => "RS256",
            Self::Ec(_) => "ES256",
            Self::Ed(_) => "EdDSA",
            Self::Secret(_) => "HS256",
        }
    }

    /// The public key (RFC 7517).
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

    /// A token of this header and these claims, whatever they say.
    pub fn token(&self, header: &Value, claims: &Value) -> String {
        self.token_of(&header.to_string(), &claims.to_string())
    }

    /// The same of texts, which may be no JSON.
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

/// Seconds since 1970, as tokens have them.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
    i64::try_from(since.as_secs()).expect("a clock of this age")
}

/// What a server of keys answers with.
#[derive(Clone, Debug)]
pub enum Answer {
    Set(Value),
    /// Of whatever it is.
    Text(String),
    Status(u16),
    /// Without end.
    Huge,
    /// The beginning of a set, and then nothing more.
    Stalled,
}

#[derive(Debug)]
struct Shared {
    answer: Mutex<Answer>,
    asked: AtomicUsize,
}

/// A server of a set of keys.
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

    /// With these keys, by id.
    pub async fn of(keys: &[(&str, &Signer)]) -> Self {
        Self::start(Answer::Set(set(keys))).await
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// From here on it answers so.
    pub fn answers(&self, answer: Answer) {
        *self.shared.answer.lock().unwrap_or_else(PoisonError::into_inner) = answer;
    }

    /// How often it was asked.
    pub fn asked(&self) -> usize {
        self.shared.asked.load(Ordering::SeqCst)
    }
}

impl Drop for KeyServer {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// A set of keys.
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
