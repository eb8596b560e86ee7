//! Tests of tokens that must be rejected (RFC 8725), and of valid ones.

use holdshort_core::actor::Role;
use holdshort_testkit::issuer::{KeyServer, Signer, now};
use holdshort_web::identity::AuthMethod;
use holdshort_web::identity::jwt::{Issuers, Refusal};
use serde_json::{Value, json};

use super::{ISSUER, claims, issuer, issuers, verify};

fn set(mut value: Value, key: &str, to: Value) -> Value {
    value[key] = to;
    value
}

fn without(mut value: Value, key: &str) -> Value {
    value.as_object_mut().expect("an object").remove(key);
    value
}

#[tokio::test]
async fn a_token_of_each_algorithm_says_who_somebody_is() {
    let (rsa, ec, ed) = (Signer::rsa(), Signer::ec(), Signer::ed());
    let server = KeyServer::start(holdshort_testkit::issuer::Answer::Set(json!({"keys": [
        without(rsa.jwk("r"), "alg"), ec.jwk("e"), ed.jwk("d"),
        // Keys of unknown kinds, and keys for other uses, are skipped.
        {"kty": "EC", "crv": "secp256k1", "x": "AA", "y": "AA", "kid": "k"}, {"kty": "later"},
        set(ec.jwk("enc"), "use", json!("enc")),
    ]})))
    .await;
    let issuers = issuers(&[("jwks_url", server.url().into())]);
    for (alg, kid, signer) in
        [("RS256", "r", &rsa), ("PS256", "r", &rsa), ("ES256", "e", &ec), ("EdDSA", "d", &ed)]
    {
        let token = signer.token(&json!({"alg": alg, "kid": kid, "typ": "JWT"}), &claims());
        let verified = verify(&issuers, &token).await.expect(alg);
        let who = verified.principal;
        assert_eq!((who.id.as_str(), who.name.as_deref()), ("ada", Some("Ada")), "{alg}");
        assert_eq!(who.roles.into_iter().collect::<Vec<_>>(), [Role::Operator], "{alg}");
        assert_eq!(who.groups.into_iter().collect::<Vec<_>>(), ["night", "ops"], "{alg}");
        assert_eq!(who.how, AuthMethod::Jwt { issuer: ISSUER.to_owned() });
        let until = verified.until.as_millis() / 1_000 - now();
        assert!((350..=360).contains(&until), "{alg}: {until}");
    }
    assert_eq!(server.request_count(), 1, "what is known is not fetched again");
}

/// A token with an invalid header or claim is rejected, even if the correct key signed it.
#[tokio::test]
async fn what_lets_nobody_in() {
    let key = Signer::ec();
    let server = KeyServer::with_keys(&[("k", &key)]).await;
    let url = server.url();
    let issuers = issuers(&[("jwks_url", url.into()), ("typ", "at+jwt".into())]);
    let head = json!({"alg": "ES256", "kid": "k", "typ": "at+jwt"});
    let table: Vec<(&str, Value, Value, Refusal)> = vec![
        ("alg none", set(head.clone(), "alg", json!("none")), claims(), Refusal::Algorithm),
        ("alg None", set(head.clone(), "alg", json!("nOnE")), claims(), Refusal::Algorithm),
        ("no alg", without(head.clone(), "alg"), claims(), Refusal::Algorithm),
        ("alg a list", set(head.clone(), "alg", json!(["ES256"])), claims(), Refusal::Algorithm),
        ("alg that is not allowed", set(head.clone(), "alg", json!("ES384")), claims(), Refusal::Algorithm),
        ("alg of a secret", set(head.clone(), "alg", json!("HS256")), claims(), Refusal::Algorithm),
        ("alg of another kind", set(head.clone(), "alg", json!("RS256")), claims(), Refusal::NoKey),
        ("unknown kid", set(head.clone(), "kid", json!("x")), claims(), Refusal::NoKey),
        ("kid a number", set(head.clone(), "kid", json!(7)), claims(), Refusal::Malformed),
        ("crit", set(head.clone(), "crit", json!(["exp"])), claims(), Refusal::Critical),
        ("empty crit", set(head.clone(), "crit", json!([])), claims(), Refusal::Critical),
        ("b64", set(head.clone(), "b64", json!(false)), claims(), Refusal::Critical),
        ("zip", set(head.clone(), "zip", json!("DEF")), claims(), Refusal::Critical),
        ("enc", set(head.clone(), "enc", json!("A128GCM")), claims(), Refusal::Critical),
        ("typ", set(head.clone(), "typ", json!("JWT")), claims(), Refusal::Type),
        ("no typ", without(head.clone(), "typ"), claims(), Refusal::Type),
        ("issuer", head.clone(), set(claims(), "iss", json!("https://other.example")), Refusal::Malformed),
        (
            "issuer with a slash",
            head.clone(),
            set(claims(), "iss", json!(format!("{ISSUER}/"))),
            Refusal::Malformed,
        ),
        ("issuer a list", head.clone(), set(claims(), "iss", json!([ISSUER])), Refusal::Malformed),
        ("no issuer", head.clone(), without(claims(), "iss"), Refusal::Malformed),
        ("audience", head.clone(), set(claims(), "aud", json!("others")), Refusal::Audience),
        ("audiences", head.clone(), set(claims(), "aud", json!(["a", "b"])), Refusal::Audience),
        ("audience a number", head.clone(), set(claims(), "aud", json!(7)), Refusal::Claim),
        ("no audience", head.clone(), without(claims(), "aud"), Refusal::Claim),
        ("expired", head.clone(), set(claims(), "exp", json!(now() - 61)), Refusal::Expired),
        ("expires as text", head.clone(), set(claims(), "exp", json!("tomorrow")), Refusal::Claim),
        ("expires never", head.clone(), without(claims(), "exp"), Refusal::Claim),
        ("expires before 1970", head.clone(), set(claims(), "exp", json!(-1)), Refusal::Claim),
        ("expires after time", head.clone(), set(claims(), "exp", json!(9e15)), Refusal::Claim),
        ("not yet", head.clone(), set(claims(), "nbf", json!(now() + 90)), Refusal::NotYet),
        ("not before as text", head.clone(), set(claims(), "nbf", json!("x")), Refusal::Claim),
        ("issued later", head.clone(), set(claims(), "iat", json!(now() + 90)), Refusal::NotYet),
        ("issued as text", head.clone(), set(claims(), "iat", json!("x")), Refusal::Claim),
        ("no subject", head.clone(), without(claims(), "sub"), Refusal::Claim),
        ("subject a number", head.clone(), set(claims(), "sub", json!(7)), Refusal::Claim),
        ("empty subject", head.clone(), set(claims(), "sub", json!("")), Refusal::Subject),
        ("subject with a space", head.clone(), set(claims(), "sub", json!("a b")), Refusal::Subject),
        ("subject that turns", head.clone(), set(claims(), "sub", json!("a\u{202e}b")), Refusal::Subject),
        (
            "subject of another script",
            head.clone(),
            set(claims(), "sub", json!("\u{430}da")),
            Refusal::Subject,
        ),
        ("subject with a line break", head.clone(), set(claims(), "sub", json!("a\nb")), Refusal::Subject),
        ("long subject", head.clone(), set(claims(), "sub", json!("a".repeat(129))), Refusal::Subject),
        ("roles an object", head.clone(), set(claims(), "roles", json!({"deciders": true})), Refusal::Claim),
        ("roles with a number", head.clone(), set(claims(), "roles", json!(["deciders", 7])), Refusal::Claim),
        ("groups with a number", head.clone(), set(claims(), "groups", json!([7])), Refusal::Claim),
        (
            "agent and person",
            head.clone(),
            set(claims(), "roles", json!(["robots", "deciders"])),
            Refusal::Roles,
        ),
        ("many groups", head.clone(), set(claims(), "groups", json!(vec!["g"; 501])), Refusal::Claim),
        ("a huge token", head.clone(), set(claims(), "x", json!("x".repeat(9_000))), Refusal::Malformed),
    ];
    for (what, header, claims, refusal) in table {
        let token = key.token(&header, &claims);
        assert_eq!(verify(&issuers, &token).await, Err(refusal), "{what}");
    }
    let good = key.token(&head, &claims());
    assert!(verify(&issuers, &good).await.is_ok());
    let text = head.to_string();
    for (what, header, claims) in [
        ("alg twice", text.replacen('{', "{\"alg\":\"none\",", 1), claims().to_string()),
        ("sub twice", text.clone(), claims().to_string().replacen('{', "{\"sub\":\"eve\",", 1)),
        ("no JSON", text.clone(), "sub".to_owned()),
        ("a list", text.clone(), "[]".to_owned()),
        ("a text", text.clone(), "\"ada\"".to_owned()),
    ] {
        assert_eq!(
            verify(&issuers, &key.token_of(&header, &claims)).await,
            Err(Refusal::Malformed),
            "{what}"
        );
    }
}

#[tokio::test]
async fn no_bit_of_a_token_can_be_another() {
    let key = Signer::ed();
    let server = KeyServer::with_keys(&[("k", &key)]).await;
    let issuers = issuers(&[("jwks_url", server.url().into())]);
    let token = key.token(&json!({"alg": "EdDSA", "kid": "k"}), &claims());
    assert!(verify(&issuers, &token).await.is_ok());
    for at in 0..token.len() {
        let mut altered = token.clone().into_bytes();
        altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
        let altered = String::from_utf8(altered).expect("ASCII");
        assert!(verify(&issuers, &altered).await.is_err(), "{at}");
    }
    let (message, signature) = token.rsplit_once('.').expect("a signature");
    for altered in [
        format!("{message}."),
        message.to_owned(),
        format!("{token}."),
        format!("{token}.{signature}"),
        format!(" {token}"),
        format!("{token}="),
        format!("{token}\n"),
        String::new(),
        "..".to_owned(),
        "ey..".to_owned(),
    ] {
        assert!(verify(&issuers, &altered).await.is_err(), "{altered}");
    }
}

/// A token with an HMAC that was computed with a public key is rejected, for every encoding of the key.
#[tokio::test]
async fn a_public_key_is_no_secret() {
    let rsa = Signer::rsa();
    let server = KeyServer::with_keys(&[("k", &rsa)]).await;
    let issuers = issuers(&[("jwks_url", server.url().into())]);
    let jwk = rsa.jwk("k");
    let modulus = data_encoding::BASE64URL_NOPAD.decode(jwk["n"].as_str().expect("n").as_bytes()).expect("n");
    for secret in [modulus, jwk["n"].to_string().into_bytes(), jwk.to_string().into_bytes()] {
        let forged = Signer::secret(&secret);
        for alg in ["HS256", "RS256", "PS256"] {
            let token = forged.token(&json!({"alg": alg, "kid": "k"}), &claims());
            assert!(verify(&issuers, &token).await.is_err(), "{alg}");
        }
    }
    // A symmetric secret that an issuer publishes by mistake is rejected.
    let secret = Signer::secret(&[7; 64]);
    server.answers(holdshort_testkit::issuer::Answer::Set(json!({"keys": [secret.jwk("s"), jwk]})));
    let token = secret.token(&json!({"alg": "HS256", "kid": "s"}), &claims());
    assert_eq!(verify(&issuers, &token).await, Err(Refusal::Algorithm));
    // A key that the token itself contains is ignored.
    let own = Signer::ec();
    let header = json!({"alg": "ES256", "kid": "k", "jwk": own.jwk("k"), "jku": server.url()});
    assert_eq!(verify(&issuers, &own.token(&header, &claims())).await, Err(Refusal::NoKey));
}

#[tokio::test]
async fn a_shared_secret() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("secret");
    std::fs::write(&file, [b"0123456789abcdef0123456789abcdef".as_slice(), b"\n"].concat()).expect("written");
    let changes = |path: &std::path::Path| {
        let path = path.to_str().expect("UTF-8").to_owned();
        [("jwks_url", "".into()), ("secret_file", path.into()), ("algorithms", vec!["HS256"].into())]
    };
    let opened = Issuers::open(&[issuer(&changes(&file))]);
    assert!(opened.is_err_and(|wrong| wrong.to_string().contains("chmod 600")), "others may read it");
    let own = |mode| std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(mode));
    own(0o600).expect("changed");
    let issuers = issuers(&changes(&file));
    let signer = Signer::secret(b"0123456789abcdef0123456789abcdef");
    let token = signer.token(&json!({"alg": "HS256"}), &claims());
    assert_eq!(verify(&issuers, &token).await.expect("it is good").principal.id, "ada");
    let other =
        Signer::secret(b"0123456789abcdef0123456789abcdeg").token(&json!({"alg": "HS256"}), &claims());
    assert_eq!(verify(&issuers, &other).await, Err(Refusal::Signature));
    let longer = signer.token(&json!({"alg": "HS512"}), &claims());
    assert_eq!(verify(&issuers, &longer).await, Err(Refusal::Algorithm));
    let none = signer.token(&json!({"alg": "none"}), &claims());
    assert_eq!(verify(&issuers, &none).await, Err(Refusal::Algorithm));

    std::fs::write(&file, "0123456789abcdef0123456789abcde\n").expect("written");
    let short = Issuers::open(&[issuer(&changes(&file))]);
    assert!(short.is_err_and(|wrong| wrong.to_string().contains("fewer than 32 bytes")));
}

/// Tokens of two issuers name different people.
#[tokio::test]
async fn the_people_of_two_issuers_are_told_apart() {
    let (ours, theirs) = (Signer::ec(), Signer::ed());
    let (one, two) =
        (KeyServer::with_keys(&[("k", &ours)]).await, KeyServer::with_keys(&[("k", &theirs)]).await);
    let partner = "https://partner.example";
    let issuers = Issuers::open(&[
        issuer(&[("jwks_url", one.url().into())]),
        issuer(&[("jwks_url", two.url().into()), ("issuer", partner.into()), ("prefix", "partner:".into())]),
    ])
    .expect("they are right");
    let of_ours =
        |sub: &str| ours.token(&json!({"alg": "ES256", "kid": "k"}), &set(claims(), "sub", json!(sub)));
    let of_theirs = set(claims(), "iss", json!(partner));
    let id = async |token: &str| verify(&issuers, token).await.map(|verified| verified.principal.id);
    assert_eq!(id(&of_ours("ada")).await.as_deref(), Ok("ada"));
    let token = theirs.token(&json!({"alg": "EdDSA", "kid": "k"}), &of_theirs);
    assert_eq!(id(&token).await.as_deref(), Ok("partner:ada"));
    assert_eq!(id(&of_ours("partner:ada")).await, Err(Refusal::Subject));
    // A key of one issuer does not verify tokens of the other issuer.
    let crossed = theirs.token(&json!({"alg": "EdDSA", "kid": "k"}), &claims());
    assert_eq!(id(&crossed).await, Err(Refusal::NoKey));
}

#[tokio::test]
async fn claims_are_where_the_configuration_says() {
    let key = Signer::ec();
    let server = KeyServer::with_keys(&[("k", &key)]).await;
    let table: toml::Value = toml::from_str(
        "subject = \"email\"\nname = \"/profile/name\"\nroles = \"/realm_access/roles\"\ngroups = \"https://x/groups\"",
    )
    .expect("a table");
    let issuers = issuers(&[("jwks_url", server.url().into()), ("claims", table)]);
    let mut claims = set(claims(), "email", json!("ada@example.org"));
    claims["email_verified"] = json!(true);
    claims["realm_access"] = json!({"roles": ["owners", "deciders"]});
    claims["profile"] = json!({"name": "Ada\u{202e}!"});
    claims["https://x/groups"] = json!("ops");
    let token = key.token(&json!({"alg": "ES256", "kid": "k"}), &claims);
    let who = verify(&issuers, &token).await.expect("it is good").principal;
    assert_eq!((who.id.as_str(), who.name), ("ada@example.org", None), "no name that turns a line around");
    assert_eq!(who.roles.into_iter().collect::<Vec<_>>(), [Role::Admin, Role::Operator]);
    assert_eq!(who.groups.into_iter().collect::<Vec<_>>(), ["ops"]);
    // An unverified email address does not identify its owner.
    for said in [json!(false), json!("false"), json!(1), Value::Null] {
        let unverified = set(claims.clone(), "email_verified", said.clone());
        let token = key.token(&json!({"alg": "ES256", "kid": "k"}), &unverified);
        assert_eq!(verify(&issuers, &token).await, Err(Refusal::Unverified), "{said}");
    }
    let token = key.token(&json!({"alg": "ES256", "kid": "k"}), &without(claims.clone(), "email_verified"));
    assert_eq!(verify(&issuers, &token).await, Err(Refusal::Unverified), "nothing is said");
    claims["realm_access"] = json!({"roles": []});
    let token = key.token(&json!({"alg": "ES256", "kid": "k"}), &claims);
    assert!(verify(&issuers, &token).await.expect("it is good").principal.roles.is_empty());
}
