//! Encrypts a message for one browser (RFC 8291). The result is one record in the format `aes128gcm` (RFC 8188),
//! computed with the functions of `ring`.

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::error::Unspecified;
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::{SecureRandom, SystemRandom};

use crate::limits::PUSH_AUTH_BYTES;

/// Length in bytes of an uncompressed P-256 point: the byte `0x04`, then x and y.
const POINT_BYTES: usize = 65;

const SALT_BYTES: usize = 16;

/// Record size of an encrypted push message that all push services accept (RFC 8291, section 4).
const RECORD_BYTES: u32 = 4096;

/// Byte that marks the end of the content in the last record of an encrypted push message (RFC 8188, section 2).
const LAST_RECORD: u8 = 2;

/// Public key `p256dh` with which push messages for a browser are encrypted: a point on the curve P-256.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Point([u8; POINT_BYTES]);

impl Point {
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let point = Self(bytes.try_into().ok()?);
        // `ring` checks a point only when it uses the point. Therefore the point is used once here.
        point.shared().ok().map(|_| point)
    }

    /// Generates a key pair for one push message. Returns its public key, and the secret that the server shares with
    /// the browser.
    fn shared(&self) -> Result<([u8; POINT_BYTES], Vec<u8>), Unspecified> {
        let own = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new())?;
        let public = own.compute_public_key()?.as_ref().try_into().map_err(|_| Unspecified)?;
        let secret = agree_ephemeral(own, &UnparsedPublicKey::new(&ECDH_P256, self.0), <[u8]>::to_vec)?;
        Ok((public, secret))
    }

    /// Encrypts the push message `plain` into the body of a request. Only the browser can decrypt it, with its private
    /// key and `auth`.
    pub(crate) fn seal(&self, auth: &[u8; PUSH_AUTH_BYTES], plain: Vec<u8>) -> Result<Vec<u8>, Unspecified> {
        let (own, secret) = self.shared()?;
        let mut salt = [0; SALT_BYTES];
        SystemRandom::new().fill(&mut salt)?;

        let info: [&[u8]; 3] = [b"WebPush: info\0", &self.0, &own];
        let mut key_material = [0; 32];
        expand(auth, &secret, &info, &mut key_material)?;
        let mut key = [0; 16];
        expand(&salt, &key_material, &[b"Content-Encoding: aes128gcm\0"], &mut key)?;
        let mut nonce = [0; 12];
        expand(&salt, &key_material, &[b"Content-Encoding: nonce\0"], &mut nonce)?;

        let mut record = plain;
        record.push(LAST_RECORD);
        let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key)?);
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut record)?;

        let own_bytes = u8::try_from(POINT_BYTES).map_err(|_| Unspecified)?;
        Ok([&salt[..], &RECORD_BYTES.to_be_bytes(), &[own_bytes], &own, &record].concat())
    }
}

/// Fills `out` with bytes that HKDF with SHA-256 derives from `secret` (RFC 5869).
fn expand(salt: &[u8], secret: &[u8], info: &[&[u8]], out: &mut [u8]) -> Result<(), Unspecified> {
    struct Bytes(usize);
    impl KeyType for Bytes {
        fn len(&self) -> usize {
            self.0
        }
    }
    Salt::new(HKDF_SHA256, salt).extract(secret).expand(info, Bytes(out.len()))?.fill(out)
}
