//! Verifies the signatures of tokens with `ring`. Cannot sign.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::signature::{Error, Verifier};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::signature::{
    self, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};
use ring::{error::Unspecified, hmac};

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: no_signer,
    verifier_factory: verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

/// Installs the cryptography provider of the JWT library, once for the whole process.
pub(super) fn install() {
    // An error means that a provider was installed before.
    let _ = PROVIDER.install_default();
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as required by the library")]
fn no_signer(_: &Algorithm, _: &EncodingKey) -> Result<Box<dyn JwtSigner>> {
    Err(ErrorKind::UnsupportedAlgorithm.into())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as required by the library")]
fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    // Rejects a key of a different family, such as a public RSA key that a token uses as an HMAC secret.
    if key.family() != algorithm.family() {
        return Err(ErrorKind::InvalidKeyFormat.into());
    }
    Ok(Box::new(Checks { algorithm: *algorithm, key: key.clone() }))
}

struct Checks {
    algorithm: Algorithm,
    key: DecodingKey,
}

impl JwtVerifier for Checks {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

impl Verifier<Vec<u8>> for Checks {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        let checked = match (self.key.family(), self.key.kind()) {
            (AlgorithmFamily::Hmac, DecodingKeyKind::SecretOrDer(secret)) => {
                let digest = of_secrets(self.algorithm).ok_or_else(Error::new)?;
                hmac::verify(&hmac::Key::new(digest, secret), message, signature)
            }
            (AlgorithmFamily::Rsa, DecodingKeyKind::RsaModulusExponent { n, e }) => {
                let parameters = of_rsa(self.algorithm).ok_or_else(Error::new)?;
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            (AlgorithmFamily::Ec | AlgorithmFamily::Ed, DecodingKeyKind::SecretOrDer(point)) => {
                let curve = of_curves(self.algorithm).ok_or_else(Error::new)?;
                UnparsedPublicKey::new(curve, point).verify(message, signature)
            }
            _ => Err(Unspecified),
        };
        checked.map_err(|_| Error::new())
    }
}

fn of_secrets(algorithm: Algorithm) -> Option<hmac::Algorithm> {
    match algorithm {
        Algorithm::HS256 => Some(hmac::HMAC_SHA256),
        Algorithm::HS384 => Some(hmac::HMAC_SHA384),
        Algorithm::HS512 => Some(hmac::HMAC_SHA512),
        _ => None,
    }
}

/// Returns the parameters for verifying signatures of this algorithm with RSA keys of at least 2,048 bits. `None` for
/// any other kind of algorithm.
fn of_rsa(algorithm: Algorithm) -> Option<&'static RsaParameters> {
    match algorithm {
        Algorithm::RS256 => Some(&signature::RSA_PKCS1_2048_8192_SHA256),
        Algorithm::RS384 => Some(&signature::RSA_PKCS1_2048_8192_SHA384),
        Algorithm::RS512 => Some(&signature::RSA_PKCS1_2048_8192_SHA512),
        Algorithm::PS256 => Some(&signature::RSA_PSS_2048_8192_SHA256),
        Algorithm::PS384 => Some(&signature::RSA_PSS_2048_8192_SHA384),
        Algorithm::PS512 => Some(&signature::RSA_PSS_2048_8192_SHA512),
        _ => None,
    }
}

fn of_curves(algorithm: Algorithm) -> Option<&'static dyn VerificationAlgorithm> {
    match algorithm {
        Algorithm::ES256 => Some(&signature::ECDSA_P256_SHA256_FIXED),
        Algorithm::ES384 => Some(&signature::ECDSA_P384_SHA384_FIXED),
        Algorithm::EdDSA => Some(&signature::ED25519),
        _ => None,
    }
}
