//! Keys of agents and services: who may create keys, which names are valid, and when a secret is valid.

use std::collections::BTreeSet;

use holdshort_core::actor::{Actor, RESERVED, Role};
use holdshort_core::digest::Digest;
use holdshort_core::event;
use holdshort_core::id::{Draw, KeyId, Seed};
use holdshort_core::limits::{KEY_FOLDER_BYTES, KEY_NAME_BYTES, KEY_OVERLAP_MS, KEYS, KEYS_REVOKED};
use holdshort_core::rights::{Permission, ROLES, acting};
use holdshort_core::system::keys::{KeyLookup, NewKey, Refusal, Status};
use holdshort_core::system::{Fact, Input, Rejection, System};
use holdshort_core::time::Timestamp;
use serde_json::json;

const NOW: i64 = 1_000_000;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(ms)
}

fn id(n: u8) -> KeyId {
    Draw::new(Seed([n; 16]), at(i64::from(n))).id()
}

fn secret(text: &str) -> Digest {
    Digest::of_bytes(text.as_bytes())
}

fn new(n: u8, name: &str) -> NewKey {
    NewKey {
        id: id(n),
        name: name.to_owned(),
        role: Role::Agent,
        digest: secret(&format!("secret {n}")),
        expires_at: None,
        folder: None,
    }
}

/// Sends an input as an admin, and applies the resulting events. Returns the number of events.
fn send_at(system: &mut System, now: i64, input: Input) -> Result<usize, Rejection> {
    let events = system.handle(at(now), &Actor::admin("ada", "rest"), input)?;
    for event in &events {
        let event::Fact::System(fact) = &event.fact else { panic!("{event:?}") };
        // The fact can be written to the journal and read back unchanged.
        let text = serde_json::to_string(fact).expect("it is JSON");
        assert_eq!(&serde_json::from_str::<Fact>(&text).expect("the same"), fact);
        system.apply(event);
    }
    Ok(events.len())
}

fn send(system: &mut System, input: Input) -> Result<usize, Rejection> {
    send_at(system, NOW, input)
}

fn make(system: &mut System, new: NewKey) -> Result<usize, Rejection> {
    send(system, Input::MakeKey(new))
}

fn rotate(n: u8, to: &str, overlap_ms: u64) -> Input {
    Input::RotateKey { key: id(n), digest: secret(to), overlap_ms }
}

fn revoke(n: u8) -> Input {
    Input::RevokeKey { key: id(n) }
}

/// Returns the name of the key to which the secret `text` belongs, and the time until which the secret is valid. The
/// name is `expired` or `unknown` without a valid key.
fn found(system: &System, text: &str, now: i64) -> (String, Option<i64>) {
    match system.keys.find(&secret(text), at(now)) {
        KeyLookup::Live { key, until } => (key.name.clone(), until.map(Timestamp::as_millis)),
        KeyLookup::Expired => ("expired".to_owned(), None),
        KeyLookup::Unknown => ("unknown".to_owned(), None),
    }
}

fn without_expiry(name: &str) -> (String, Option<i64>) {
    (name.to_owned(), None)
}

#[test]
fn only_an_admin_makes_rotates_and_revokes() {
    let mut system = System::default();
    make(&mut system, new(1, "bot")).unwrap();
    let inputs = || [Input::MakeKey(new(2, "other")), rotate(1, "x", 0), revoke(1)];
    for role in ROLES {
        for input in inputs() {
            let result = system.handle(at(NOW), &Actor::for_role(role, "rest"), input);
            assert_eq!(result.is_ok(), role == Role::Admin, "{role:?}");
        }
    }
}

#[test]
fn names() {
    let longest = "a".repeat(KEY_NAME_BYTES);
    let good = ["a", "7", "build-bot", "claude.code_2", &longest];
    let long = format!("{longest}a");
    let bad = [
        "",
        " ",
        "-a",
        ".a",
        "_a",
        "Bot",
        "b t",
        "bot\n",
        "bot\u{202e}",
        "bot\u{0}",
        "b\u{f6}t",
        "\u{430}",
        "a/b",
        "a@b",
        "a:b",
        &long,
    ];
    for name in good {
        assert_eq!(make(&mut System::default(), new(1, name)), Ok(1), "{name}");
    }
    for name in bad {
        assert_eq!(make(&mut System::default(), new(1, name)), Err(Refusal::Name.into()), "{name:?}");
    }
    for name in RESERVED {
        let taken = make(&mut System::default(), new(1, name));
        assert!(matches!(taken, Err(Rejection::NameTaken { .. })), "{name}");
    }
}

/// A key cannot have the name of a role's token or of the engine.
#[test]
fn nobody_is_called_like_one_of_ours() {
    let ours = ROLES.into_iter().map(|role| Actor::for_role(role, "rest")).chain([Actor::engine()]);
    for actor in ours {
        assert!(RESERVED.contains(&&*actor.id), "{}", actor.id);
    }
}

#[test]
fn a_name_is_one_live_keys() {
    let mut system = System::default();
    make(&mut system, NewKey { expires_at: Some(at(NOW + 10)), ..new(1, "bot") }).unwrap();
    let taken = make(&mut system, new(2, "bot"));
    let who = "is the name of a key";
    assert_eq!(taken, Err(Rejection::NameTaken { name: "bot".to_owned(), who }));
    assert_eq!(send_at(&mut system, NOW + 10, Input::MakeKey(new(2, "bot"))), Ok(1), "the first has expired");
    assert_eq!(send_at(&mut system, NOW + 10, revoke(2)), Ok(1));
    assert_eq!(send_at(&mut system, NOW + 10, Input::MakeKey(new(3, "bot"))), Ok(1), "the second is revoked");
}

#[test]
fn what_no_key_may_be() {
    let made = |change: fn(&mut NewKey)| {
        let mut system = System::default();
        make(&mut system, new(1, "first")).unwrap();
        let mut key = new(2, "second");
        change(&mut key);
        make(&mut system, key)
    };
    let refused = |refusal: Refusal| Err(Rejection::Key(refusal));
    assert_eq!(made(|_| ()), Ok(1));
    for role in [Role::Operator, Role::Reviewer, Role::Auditor] {
        assert_eq!(make(&mut System::default(), NewKey { role, ..new(1, "bot") }), Ok(1), "{role:?}");
    }
    assert_eq!(made(|key| key.role = Role::Admin), refused(Refusal::Role));
    assert_eq!(made(|key| key.role = Role::Engine), refused(Refusal::Role));
    assert_eq!(made(|key| key.expires_at = Some(at(NOW))), refused(Refusal::Expiry));
    assert_eq!(made(|key| key.expires_at = Some(at(NOW + 1))), Ok(1));
    assert_eq!(made(|key| key.id = id(1)), refused(Refusal::Twice));
    assert_eq!(made(|key| key.digest = secret("secret 1")), refused(Refusal::Twice));
}

#[test]
fn the_folder_of_a_key_is_an_absolute_path_and_only_for_an_agent() {
    let made = |role: Role, folder: &str| {
        let mut system = System::default();
        let new = NewKey { role, folder: Some(folder.to_owned()), ..new(1, "bot") };
        make(&mut system, new).map(|_| system.keys.get(&id(1)).and_then(|key| key.folder.clone()))
    };
    let longest = format!("/{}", "a".repeat(KEY_FOLDER_BYTES - 1));
    for folder in ["/home/me/project", "/a b/\u{e4}", &longest] {
        assert_eq!(made(Role::Agent, folder), Ok(Some(folder.to_owned())), "{folder}");
    }
    let long = format!("{longest}a");
    let bad = ["", "/", "project", "./a", "/a/", "/a/../b", "/a/./b", "//a", "/a\nb", "/a\u{0}", &long];
    for folder in bad {
        assert_eq!(made(Role::Agent, folder), Err(Refusal::Folder.into()), "{folder:?}");
    }
    for role in [Role::Operator, Role::Reviewer, Role::Auditor] {
        assert_eq!(made(role, "/home/me/project"), Err(Refusal::FolderRole.into()), "{role:?}");
    }
}

/// A key event of an earlier version has no folder, and can still be read.
#[test]
fn a_key_of_an_earlier_version_has_no_folder() {
    let facts = json!({"key": id(1), "name": "bot", "role": "agent", "digest": secret("s")});
    let stored = json!({"type": "key_made", "facts": facts});
    let fact: Fact = serde_json::from_value(stored.clone()).expect("it can be read");
    let Fact::KeyMade { folder, .. } = &fact else { panic!("{fact:?}") };
    assert_eq!((folder, serde_json::to_value(&fact).unwrap()), (&None, stored));
}

#[test]
fn a_secret_counts_from_its_making_to_the_expiry() {
    let mut system = System::default();
    make(&mut system, NewKey { expires_at: Some(at(NOW + 10)), ..new(1, "bot") }).unwrap();
    let bot = ("bot".to_owned(), Some(NOW + 10));
    assert_eq!(found(&system, "secret 1", NOW), bot);
    assert_eq!(found(&system, "secret 1", NOW + 9), bot);
    assert_eq!(found(&system, "secret 1", NOW + 10), without_expiry("expired"));
    assert_eq!(found(&system, "secret 2", NOW), without_expiry("unknown"));
    assert_eq!(found(&system, "", NOW), without_expiry("unknown"));
    assert_eq!(send_at(&mut system, NOW + 10, rotate(1, "x", 0)), Err(Refusal::Expired.into()));
    assert_eq!(send_at(&mut system, NOW + 10, revoke(1)), Ok(1));
    assert_eq!(found(&system, "secret 1", NOW + 10), without_expiry("unknown"));
}

#[test]
fn a_rotation_ends_the_secret_before_at_once_or_later() {
    let mut system = System::default();
    make(&mut system, new(1, "bot")).unwrap();
    send(&mut system, rotate(1, "b", 0)).unwrap();
    assert_eq!(found(&system, "secret 1", NOW), without_expiry("unknown"));
    assert_eq!(found(&system, "b", NOW), without_expiry("bot"));

    send(&mut system, rotate(1, "c", 10)).unwrap();
    let previous = ("bot".to_owned(), Some(NOW + 10));
    assert_eq!([found(&system, "b", NOW), found(&system, "c", NOW)], [previous, without_expiry("bot")]);
    assert_eq!(found(&system, "b", NOW + 10), without_expiry("unknown"));

    // A third secret ends the first secret at once, even if its overlap period is not over.
    send(&mut system, rotate(1, "d", 10)).unwrap();
    assert_eq!(found(&system, "b", NOW), without_expiry("unknown"));
    assert_eq!(found(&system, "c", NOW), ("bot".to_owned(), Some(NOW + 10)));

    let refused = |refusal: Refusal| Err(Rejection::Key(refusal));
    assert_eq!(send(&mut system, rotate(1, "d", 0)), refused(Refusal::Twice));
    assert_eq!(send(&mut system, rotate(1, "c", 0)), refused(Refusal::Twice));
    assert_eq!(send(&mut system, rotate(1, "e", KEY_OVERLAP_MS + 1)), refused(Refusal::Overlap));
    assert_eq!(send(&mut system, rotate(2, "e", 0)), refused(Refusal::Unknown));
}

#[test]
fn a_revocation_ends_every_secret_and_is_one_however_often_it_is_asked_for() {
    let mut system = System::default();
    make(&mut system, new(1, "bot")).unwrap();
    send(&mut system, rotate(1, "b", 10)).unwrap();
    assert_eq!(send(&mut system, revoke(1)), Ok(1));
    assert_eq!(send(&mut system, revoke(1)), Ok(0));
    for text in ["secret 1", "b"] {
        assert_eq!(found(&system, text, NOW), without_expiry("unknown"), "{text}");
    }
    assert_eq!(send(&mut system, rotate(1, "c", 0)), Err(Refusal::Revoked.into()));
    assert_eq!(send(&mut system, revoke(2)), Err(Refusal::Unknown.into()));
    let key = system.keys.get(&id(1)).unwrap();
    assert_eq!((key.status(at(NOW)), key.made_by.as_str()), (Status::Revoked, "ada"));
}

#[test]
fn so_many_and_no_more() {
    let mut system = System::default();
    let numbered = |n: usize| {
        let mut seed = [7; 16];
        seed[..8].copy_from_slice(&n.to_be_bytes());
        NewKey {
            id: Draw::new(Seed(seed), at(NOW)).id(),
            name: format!("bot-{n}"),
            digest: secret(&format!("of {n}")),
            ..new(0, "")
        }
    };
    for n in 0..KEYS {
        make(&mut system, numbered(n)).unwrap();
    }
    assert_eq!(make(&mut system, numbered(KEYS)), Err(Refusal::Limit.into()));
    // A revoked key makes room for a new key, and the number of revoked keys is limited.
    for n in 0..=KEYS_REVOKED {
        let key = numbered(n).id;
        send_at(&mut system, NOW + i64::try_from(n).unwrap(), Input::RevokeKey { key }).unwrap();
        make(&mut system, numbered(KEYS + n)).unwrap();
    }
    assert_eq!(system.keys.all().count(), KEYS + KEYS_REVOKED);
    assert_eq!(system.keys.get(&numbered(0).id), None);
}

/// A person uses a permission in the role in which the permission extends furthest, or in the least powerful of several
/// such roles.
#[test]
fn the_role_that_somebody_acts_in() {
    let roles = |list: &[Role]| list.iter().copied().collect::<BTreeSet<_>>();
    let local = roles(&[Role::Admin, Role::Operator]);
    let table = [
        (&local, Permission::Steer, Some(Role::Operator)),
        (&local, Permission::Decide, Some(Role::Operator)),
        (&local, Permission::Ask, Some(Role::Operator)),
        (&local, Permission::Administer, Some(Role::Admin)),
        (&local, Permission::SignIn, Some(Role::Admin)),
        (&roles(&[]), Permission::Read, None),
        (&roles(&[Role::Engine]), Permission::Read, None),
        (&roles(&[Role::Agent, Role::Auditor]), Permission::Read, Some(Role::Auditor)),
        (&roles(&[Role::Agent, Role::Auditor]), Permission::Ask, Some(Role::Agent)),
        (&roles(&[Role::Agent, Role::Auditor]), Permission::Decide, None),
        (&roles(&[Role::Reviewer, Role::Operator]), Permission::Decide, Some(Role::Operator)),
    ];
    for (roles, permission, role) in table {
        assert_eq!(acting(roles, permission), role, "{roles:?} {permission:?}");
    }
}
