//! Tests of `holdshort.toml`: precedence of the sources of a value, and errors with line numbers.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use holdshort_testkit::home::{CommandOutput, Home};
use holdshort_testkit::server::real;
use serde_json::{Value, json};

const ISSUER: &str = r#"
[[identity.jwt]]
issuer = "https://issuer.example"
audience = ["holdshort"]
algorithms = ["ES256"]
jwks_url = "https://issuer.example/keys"
roles = { deciders = "operator" }
"#;

const PROVIDER: &str = r#"
[identity.oidc]
issuer = "https://login.example"
client_id = "holdshort"
roles = { deciders = "operator" }
"#;

fn write(home: &Home, text: &str) -> String {
    fs::create_dir_all(home.data()).unwrap();
    let path = home.data().join("holdshort.toml");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Returns the error that `serve` prints for an invalid configuration file.
fn refused(home: &Home, text: &str) -> String {
    write(home, text);
    let ran = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!((ran.code, &*ran.out), (2, ""), "{text}: {ran:?}");
    ran.err
}

fn value_and_source(report: &Value, key: &str) -> Value {
    let keys = report["config"]["keys"].as_array().unwrap();
    let found = keys.iter().find(|told| told["key"] == key).unwrap();
    json!([found["value"], found["from"]])
}

#[test]
fn a_flag_wins_over_the_environment_that_over_the_file_and_that_over_the_default() {
    let home = Home::new();
    let nothing = home.json(&["doctor"]);
    assert_eq!(value_and_source(&nothing, "listen"), json!(["127.0.0.1:7349", "default"]));
    assert_eq!(value_and_source(&nothing, "model"), json!([null, "default"]));

    let path = write(
        &home,
        &format!("listen = \"localhost:7400\"\nmodel = \"ollama::filed\"\nagent_requests = 7\n{ISSUER}"),
    );
    let from = format!("file {path}");
    let report = home.json(&["doctor"]);
    assert_eq!(value_and_source(&report, "listen"), json!(["127.0.0.1:7400", from]));
    assert_eq!(value_and_source(&report, "agent_requests"), json!(["7", from]));
    assert_eq!(value_and_source(&report, "model"), json!(["ollama::filed", from]));
    assert_eq!(value_and_source(&report, "identity.jwt"), json!(["https://issuer.example", from]));
    let shown = home.run(&["doctor"]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("listen = 127.0.0.1:7400, from "), "{shown}");

    let with = |arguments: &[&str]| {
        let mut command = home.command(real());
        command.args(arguments).arg("--json").env("HOLDSHORT_MODEL", "in-the-environment");
        let ran = CommandOutput::from_output(command.output().unwrap());
        serde_json::from_str::<Value>(&ran.out).expect(&ran.err)
    };
    let report = with(&["doctor"]);
    assert_eq!(
        value_and_source(&report, "model"),
        json!(["in-the-environment", "environment HOLDSHORT_MODEL"])
    );
    assert_eq!(
        value_and_source(&with(&["doctor", "--model", "flagged"]), "model"),
        json!(["flagged", "flag"])
    );

    // A configuration file in another place, and a flag that overrides a key of the file.
    let other = home.path().join("other.toml");
    fs::write(&other, "listen = \"127.0.0.1:1\"\n").unwrap();
    fs::set_permissions(&other, fs::Permissions::from_mode(0o600)).unwrap();
    let other = other.to_str().unwrap();
    assert_eq!(value_and_source(&home.json(&["doctor", "--config", other]), "listen")[0], "127.0.0.1:1");
    let serving = home.serve(&["--config", other]);
    assert!(!serving.started["listening"].as_str().unwrap().ends_with(":1"));
}

/// `doctor` prints the warning about an unencrypted database connection that `serve` prints, whatever the source of the
/// address.
#[test]
fn a_database_that_is_spoken_to_in_the_clear_is_warned_of() {
    const WARNING: &str =
        "the connection to the database is not encrypted; add `sslmode=verify-full` to its address";
    let home = Home::new();
    let with = |arguments: &[&str], address: &str| {
        let mut command = home.command(real());
        let ran = CommandOutput::from_output(
            command.args(arguments).env("HOLDSHORT_STORE", address).output().unwrap(),
        );
        assert!(!format!("{ran:?}").contains("hidden"), "{ran:?}");
        ran
    };
    let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (address, warns) in [
        ("postgres://me:hidden@db.invalid/x", true),
        ("postgres://me:hidden@db.invalid/x?sslmode=verify-full", false),
        ("postgres://me:hidden@localhost/x", false),
    ] {
        let doctor = with(&["doctor"], address);
        assert_eq!(joined(&doctor.out).contains(&format!("– store {WARNING}")), warns, "{doctor:?}");
    }
    // No server listens at this address, and the address does not show that it belongs to this machine.
    let serve = with(&["serve", "--listen", "127.0.0.1:0"], "postgres://me:hidden@0.0.0.0:1/x");
    assert!(serve.code == 2 && joined(&serve.err).contains(WARNING), "{serve:?}");

    assert_eq!(home.json(&["doctor"])["store_warning"], Value::Null);
    write(&home, "store = \"postgres://db.invalid/x\"\n");
    assert_eq!(home.json(&["doctor"])["store_warning"], WARNING);
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let home = Home::new();
    let table: [(String, &[&str]); 38] = [
        ("lisen = \"127.0.0.1:1\"".into(), &["line 1, column 1", "unknown field `lisen`", "`listen`"]),
        ("\n[identity]\njwts = []".into(), &["line 3, column 1", "unknown field `jwts`"]),
        ("listen = \"here\"".into(), &["line 1, column 10", "is not an address such as"]),
        (
            "listen = 7349".into(),
            &["line 1, column 10", "expected a quoted string, such as `\"127.0.0.1:7349\"`"],
        ),
        ("proxy = \"127.0.0.1\"".into(), &["line 1, column 9", "such as `[\"127.0.0.1\"]`"]),
        ("keep_content = 90".into(), &["line 1, column 16", "such as `\"90d\"`"]),
        ("agent_requests = \"7\"".into(), &["line 1, column 18", "expected a whole number"]),
        ("\npeople = \"gone.yaml\"".into(), &["line 2, column 10", "`people`", "gone.yaml cannot be read"]),
        ("workflows = \"gone\"".into(), &["line 1, column 13", "`workflows`", "gone cannot be read"]),
        ("tls_key = \"k\"".into(), &["line 1, column 11", "belong together"]),
        (
            "model = \"\"".into(),
            &["line 1, column 9", "set `model` to the name of a model, or remove the key"],
        ),
        ("base_url = \"x\"".into(), &["line 1, column 12", "is not a URL such as"]),
        (
            "base_url = \"http://127.0.0.1:9/v1\"".into(),
            &["line 1, column 12", "`base_url` has no effect without a model"],
        ),
        ("store = \"mysql://x\"".into(), &["line 1, column 9", "is not a URL such as `postgres://"]),
        (ISSUER.replace("\"operator\"", "\"owner\""), &["line 7", "unknown variant `owner`", "`auditor`"]),
        ("lease = \"1s\"".into(), &["line 1", "must be from `2s` to `10m`"]),
        ("agent_requests = 0".into(), &["line 1", "must be from 1 to 1000000"]),
        (
            "callback_allow_networks = [\"10.0.0.1/8\"]".into(),
            &["line 1", "`10.0.0.1/8` is not a network such as"],
        ),
        ("callbacks = \"some\"".into(), &["line 1", "must be `public`, `allowed` or `off`"]),
        ("listen = ".into(), &["line 1, column 10"]),
        ("model = \"a\"\nmodel = \"b\"".into(), &["line 2, column 1", "duplicate key"]),
        ("store = \"postgres://me:secret@host/name\"".into(), &["line 1", "store_file"]),
        ("node = \"a\"".into(), &["`node` and `lease` need a database"]),
        ("store_file = \"missing\"".into(), &["`store_file`", "missing"]),
        ("edge_origin = \"http://mars.example\"".into(), &["line 1, column 15", "must be `https`"]),
        ("edge_origin = \"http://localhost:3000/api\"".into(), &["line 1", "consist of only"]),
        (
            "public_url = \"https://a.example\"\nedge_origin = \"https://A.example:443\"".into(),
            &["line 2", "it is the public URL of this server"],
        ),
        (ISSUER.replace("ES256", "none"), &["unknown variant `none`", "line 5"]),
        (ISSUER.replace("ES256", "HS256"), &["1 `algorithms`", "anyone who knows a key could sign"]),
        (ISSUER.replace("https://issuer.example/keys", "http://issuer.example/keys"), &["must be `https`"]),
        (
            PROVIDER.replace("https:", "http:"),
            &["line 3, column 10: [identity.oidc] `issuer`", "must be `https`"],
        ),
        (format!("{ISSUER}{PROVIDER}"), &["[identity.oidc] `prefix`", "needs its own"]),
        ("sign_in_rate = 0".into(), &["line 1", "must be from 1 to 1000000, a minute"]),
        ("log_format = \"xml\"".into(), &["line 1, column 14", "unknown variant `xml`", "`json`"]),
        ("otlp_endpoint = \"collector:4318\"".into(), &["line 1, column 17", "is not a URL such as"]),
        ("otlp_endpoint = \"http://me:secret@host\"".into(), &["line 1", "otlp_headers_file"]),
        ("otlp_headers_file = \"missing\"".into(), &["`otlp_headers_file`", "missing"]),
        (
            format!("{ISSUER}{ISSUER}"),
            &["line 10, column 10: [[identity.jwt]] 2 `issuer`: is used by an earlier issuer"],
        ),
    ];
    for (text, said) in table {
        let told = refused(&home, &text);
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in said {
            assert!(told.contains(part), "{text}: {told}");
        }
        assert!(told.contains("holdshort.toml"), "{text}: {told}");
        assert!(!told.contains("`engine`"), "nobody's role: {told}");
        assert!(!told.contains("secret@"), "what stands in the file is not shown: {told}");
    }
    let doctor = home.run(&["doctor", "--json"]);
    assert!(doctor.code == 2 && doctor.out.contains("used by an earlier issuer"), "{doctor:?}");
    let doctor = home.run(&["doctor"]);
    let shown = doctor.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(doctor.code == 2 && shown.contains("✗ config"), "{doctor:?}");

    let path = write(&home, "");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    let ran = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert!(ran.code == 2 && ran.err.contains("can be changed by other users"), "{ran:?}");
    let ran = home.run(&["serve", "--config", "/nowhere/holdshort.toml"]);
    assert!(ran.code == 2 && ran.err.contains("does not exist"), "{ran:?}");
}

/// `doctor` reports each error that stops `serve`, with the same exit code, also in the environment and in configured
/// files.
#[test]
fn the_doctor_reads_what_a_start_reads() {
    let home = Home::new();
    let with = |verb: &[&str], text: &str, (name, value): (&str, &str)| {
        write(&home, text);
        let mut command = home.command(real());
        CommandOutput::from_output(command.args(verb).env(name, value).output().unwrap())
    };
    let nothing = ("UNUSED", "");
    let secret = ISSUER
        .replace("ES256", "HS256")
        .replace("jwks_url = \"https://issuer.example/keys\"", "secret_file = \"gone\"");
    let table = [
        ("people = \"gone.yaml\"", nothing, "gone.yaml"),
        ("rules = \"gone.yaml\"", nothing, "gone.yaml"),
        ("channels = \"gone.yaml\"", nothing, "gone.yaml"),
        ("workflows = \"gone\"", nothing, "gone"),
        ("checkpoint_file = \"gone/kept.txt\"", nothing, "gone/kept.txt"),
        (&*secret, nothing, "`secret_file`"),
        ("", ("HITL_ENABLED", "maybe"), "HITL_ENABLED"),
        ("", ("HOLDSHORT_STORE", "x"), "postgresql://"),
        ("", ("HOLDSHORT_LOG", "verbose"), "HOLDSHORT_LOG"),
        ("", ("HOLDSHORT_MODEL", "whatever"), "whatever"),
    ];
    for (text, variable, said) in table {
        let doctor = with(&["doctor"], text, variable);
        let serve = with(&["serve", "--listen", "127.0.0.1:0"], text, variable);
        assert_eq!((doctor.code, serve.code), (2, 2), "{text} {variable:?}: {doctor:?} {serve:?}");
        let joined = |text: &str| text.split_whitespace().collect::<String>();
        let shown = (joined(&doctor.out), joined(&serve.err));
        assert!(shown.0.contains('✗') && shown.0.contains(said), "{text} {variable:?}: {doctor:?}");
        assert!(shown.1.contains(said), "{text} {variable:?}: {serve:?}");
    }
    assert!(!home.data().join("gone").exists(), "looking makes nothing");
    for (value, is_told) in [("yes", false), ("no", true)] {
        let doctor = with(&["doctor"], "", ("HITL_ENABLED", value));
        assert_eq!((doctor.code, doctor.out.contains("HITL_ENABLED is false")), (0, is_told), "{doctor:?}");
    }
}

/// The password of a database is read from a file and never printed.
#[test]
fn a_secret_stays_in_its_file() {
    let home = Home::new();
    write(&home, "store_file = \"database\"\nnode = \"blue\"\n");
    let secret = home.data().join("database");
    fs::write(&secret, "postgres://me:hunter2@db.example/hs\n").unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o640)).unwrap();
    let report = home.run(&["doctor", "--json"]);
    assert!(report.out.contains("readable by others"), "{report:?}");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    let report = home.json(&["doctor"]);
    assert_eq!(value_and_source(&report, "store")[0], "the database db.example/hs");
    assert!(!report.to_string().contains("hunter2"));
}

/// `docs/reference/config.md` contains exactly the keys that the configuration file accepts.
#[test]
fn the_page_has_every_key() {
    let home = Home::new();
    // The error for an unknown key lists all known keys.
    let known = |text: &str| -> BTreeSet<String> {
        let said = refused(&home, text);
        let (_, list) =
            said.split_once("expected one of ").or_else(|| said.split_once("expected ")).expect(&said);
        list.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/config.md");
    let page = fs::read_to_string(page).unwrap();
    let rows = |part: &str| -> BTreeSet<String> {
        let (_, rest) = page.split_once(&format!("\n## {part}\n")).expect(part);
        let rows = rest.split("\n## ").next().unwrap().lines();
        rows.filter_map(|line| line.strip_prefix("| `")?.split('`').next().map(str::to_owned)).collect()
    };
    let mut whole = known("unknown = 1");
    assert!(whole.remove("identity"));
    assert_eq!(rows("The server"), whole);
    assert_eq!(known("[identity]\nunknown = 1"), BTreeSet::from(["jwt", "oidc"].map(str::to_owned)));
    assert_eq!(rows("The provider where people sign in"), known("[identity.oidc]\nunknown = 1"));
    let mut issuer = known("[[identity.jwt]]\nunknown = 1");
    assert!(issuer.remove("claims"));
    assert_eq!(rows("Issuers of tokens"), issuer);
    assert_eq!(rows("Claims"), known("[[identity.jwt]]\nclaims = { unknown = 1 }"));
}

/// The headers for a trace collector are secrets and never printed.
#[test]
fn headers_of_a_collector_are_shown_nowhere() {
    const SECRET: &str = "collector-secret-0d1e";
    let home = Home::new();
    let path = write(&home, "otlp_endpoint = \"http://127.0.0.1:1\"\notlp_headers_file = \"headers\"\n");
    let file = home.data().join("headers");
    let put = |text: &str, mode: u32| {
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    };
    put(&format!("authorization=Bearer {SECRET}\n"), 0o644);
    let ran = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!((ran.code, ran.err.contains("readable by others")), (2, true), "{ran:?}");
    put(&format!("authorization {SECRET}\n"), 0o600);
    let ran = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!((ran.code, ran.err.contains("header 1 is not `name=value`")), (2, true), "{ran:?}");
    assert!(!ran.err.contains(SECRET), "{ran:?}");
    put(&format!("authorization=Bearer {SECRET}\n"), 0o600);
    let report = home.json(&["doctor"]);
    assert_eq!(
        value_and_source(&report, "otlp_endpoint"),
        json!(["http://127.0.0.1:1/", format!("file {path}")])
    );
    assert!(!report.to_string().contains(SECRET), "{report}");
    let shown = home.run(&["doctor"]).out;
    assert!(shown.contains("otlp_headers_file") && !shown.contains(SECRET), "{shown}");
    drop(home.serve(&[]).stop());

    let mut command = home.command(real());
    command.args(["serve", "--listen", "127.0.0.1:0"]).env("OTEL_EXPORTER_OTLP_HEADERS", SECRET);
    let ran = CommandOutput::from_output(command.output().unwrap());
    assert_eq!((ran.code, ran.err.contains("OTEL_EXPORTER_OTLP_HEADERS: header 1")), (2, true), "{ran:?}");
    assert!(!ran.err.contains(SECRET), "{ran:?}");
}
