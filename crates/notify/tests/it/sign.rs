//! Signatures: the vectors of Standard Webhooks, and those of the documents.

use holdshort_notify::{Secret, SecretError};

use crate::channels::{OTHER, SECRET};

#[test]
fn a_signature_is_that_of_the_specification() {
    // The vector that the reference libraries are tested with.
    let secret = Secret::parse(SECRET).unwrap();
    let signed = secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
    assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

#[test]
fn each_secret_signs_in_its_own_way() {
    let (one, other) = (Secret::parse(SECRET).unwrap(), Secret::parse(OTHER).unwrap());
    assert_ne!(one.sign("id", 1, b"{}"), other.sign("id", 1, b"{}"));
    assert_ne!(one.sign("id", 1, b"{}"), one.sign("id", 2, b"{}"));
    assert_eq!(one.sign_body(b"{}").len(), 64);
    assert_eq!(format!("{one:?}"), "Secret");
    assert_eq!(Secret::parse("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap_err(), SecretError::Form);
}
