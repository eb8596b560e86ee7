//! Tests that a run starts only with an explicitly named model. No model is chosen silently.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use holdshort_testkit::home::{CommandOutput, Home};
use holdshort_testkit::model::ScriptedModel;
use holdshort_testkit::server::real;

const UNNAMED: &str = "OPENAI_API_KEY is set, but no model is named: add --model NAME (or HOLDSHORT_MODEL)";
const UNTIL: &str = "; until then, agents play scripts (rehearsals)";

fn with_a_key(home: &Home, arguments: &[&str]) -> CommandOutput {
    CommandOutput::from_output(
        home.command(real()).args(arguments).env("OPENAI_API_KEY", "sk-x").output().unwrap(),
    )
}

fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_key_alone_chooses_no_model_and_every_start_says_so() {
    let home = Home::new();
    let doctor = with_a_key(&home, &["doctor"]);
    assert!(joined(&doctor.out).contains(&format!("– model {UNNAMED}{UNTIL}")), "{doctor:?}");
    let work = home.path().to_str().unwrap();
    let ran = with_a_key(&home, &["run", "pair", "--workspace", work, "do it"]);
    assert!(ran.code == 2 && ran.err.contains(UNNAMED), "{ran:?}");
    let demo = with_a_key(&home, &["demo"]);
    assert!(demo.code == 4 && joined(&demo.out).contains(&format!("{UNNAMED}{UNTIL}")), "{demo:?}");

    let mut serve = home
        .command(real())
        .args(["serve", "--listen", "127.0.0.1:0"])
        .env("OPENAI_API_KEY", "sk-x")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(serve.stdout.take().unwrap()).lines().map(Result::unwrap);
    let told: Vec<String> = lines.take_while(|line| !line.contains("Ctrl-C")).collect();
    serve.kill().unwrap();
    serve.wait().unwrap();
    assert!(joined(&told.join(" ")).contains(&format!("model {UNNAMED}{UNTIL}")), "{told:?}");
}

/// A file with an API key may be a systemd credential, although its access list makes it look readable by its group.
#[test]
fn a_key_may_be_a_credential_of_systemd() {
    let home = Home::new();
    let key = home.path().join("openai");
    std::fs::write(&key, "sk-x\n").unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o440)).unwrap();
    let doctor = |credentials: &str| {
        let mut command = home.command(real());
        command.args(["doctor", "--model", "gpt-4o"]).env("OPENAI_API_KEY_FILE", &key);
        CommandOutput::from_output(command.env("CREDENTIALS_DIRECTORY", credentials).output().unwrap())
    };
    let as_credential = doctor(home.path().to_str().unwrap());
    assert!(joined(&as_credential.out).contains("✓ model gpt-4o (openai)"), "{as_credential:?}");
    let elsewhere = doctor("/run/credentials/other.service");
    assert!(joined(&elsewhere.out).contains("is readable by others (mode 440)"), "{elsewhere:?}");
}

#[test]
fn a_name_that_belongs_to_no_provider_is_refused() {
    let home = Home::new();
    let work = home.path().to_str().unwrap();
    let refused = "`my-model` does not name its provider; write `openai::NAME`, `anthropic::NAME`, \
                   `gemini::NAME` or `ollama::NAME`, or point --base-url at an OpenAI-compatible server";
    let doctor = with_a_key(&home, &["doctor", "--model", "my-model"]);
    assert_eq!(doctor.code, 2);
    assert!(joined(&doctor.out).contains(&format!("✗ model {refused}")), "{doctor:?}");
    for arguments in [
        &["run", "pair", "--workspace", work, "--model", "my-model", "do it"][..],
        &["serve", "--listen", "127.0.0.1:0", "--model", "my-model"],
        &["demo", "--model", "my-model"],
    ] {
        let ran = with_a_key(&home, arguments);
        assert!(ran.code == 2 && joined(&ran.err).contains(refused), "{arguments:?}: {ran:?}");
    }
}

#[test]
fn the_doctor_ticks_a_model_server_that_answered() {
    let home = Home::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let model = runtime.block_on(ScriptedModel::start());
    let at = |url: &str| home.run(&["doctor", "--model", "my-model", "--base-url", url]).out;
    let answers = at(model.base_url());
    let said = format!("✓ model my-model (openai-compatible) at {}", model.base_url().trim_end_matches('/'));
    assert!(joined(&answers).contains(&said), "{answers}");

    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let silent = at(&format!("http://{free}"));
    let said = format!("✗ model my-model (openai-compatible) does not answer at http://{free}/v1: ");
    assert!(joined(&silent).contains(&said), "{silent}");
    let keyed = with_a_key(&home, &["doctor", "--model", "gpt-4o"]).out;
    assert!(keyed.contains("✓  model      gpt-4o (openai); a key is set, but was not tested"), "{keyed}");
}
