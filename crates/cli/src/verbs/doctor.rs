//! `doctor`: reports the configuration, and which parts of the installation work. Changes nothing.

use std::path::PathBuf;

use holdshort_models::Source;
use holdshort_protocol::{Code, Frozen, Info, plain};
use holdshort_server::{Crew, StartError};
use holdshort_store::postgres;
use serde_json::{Value, json};

use super::serve::{self, sandbox};
use super::{Scene, hook, system, workflows};
use crate::args::{ModelArgs, Serve, StoreArgs};
use crate::client::{self, Client};
use crate::config_file::{self, EffectiveSettings};
use crate::data_dir::DataDir;
use crate::embed;
use crate::exit::Exit;
use crate::log;
use crate::model;
use crate::output::{print_json, print_text};
use crate::program_name::holdshort;
use crate::shell;
use crate::terminal::edit;
use crate::terminal::paint::Paint;

pub(super) async fn doctor(scene: &Scene, config: Option<PathBuf>, model: ModelArgs) -> anyhow::Result<Exit> {
    let data_dir = DataDir::resolve(scene.reach.data.as_deref())?;
    let store = StoreArgs { store: embed::store_of_environment(), ..StoreArgs::default() };
    let serve = Serve { config, model: model.clone(), store, ..Serve::default() };
    // An error in the configuration must not hide the rest of the report.
    let settled = config_file::resolve_settings(&serve, &data_dir);
    // `serve` makes the same check.
    let tls = settled.as_ref().ok().and_then(|settled| settled.front.tls.as_ref());
    let certificate = tls.map(|files| {
        json!({"path": files.certificate.display().to_string(), "problem": holdshort_server::tls_problem(files)})
    });
    let address = match &settled {
        Ok(settled) => settled.store.store.clone(),
        Err(_) => embed::store_of_environment(),
    };
    let (model, config) = match settled {
        Ok(settled) => {
            let (model, keys) = (settled.model.clone(), json!(settled.told));
            let mut config = json!({"keys": keys});
            if let Err(error) = would_start(scene, &data_dir, settled).await {
                config["problem"] = crate::output::error(&error).into();
            }
            (model, config)
        }
        Err(error) => (model, json!({"problem": crate::output::error(&error)})),
    };
    let model = configured(&model).await;
    let report = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "data": {"path": data_dir.path, "journal": data_dir.holds_journal(), "problem": data_dir.trouble()},
        "store": embed::store_of_environment().map(|url| embed::database_words(&url)),
        "store_warning": address.as_deref().and_then(postgres::warning),
        "config": config,
        "crew": Crew::from_variables(&|name| std::env::var(name).ok()).map(|crew| crew.notices).unwrap_or_default(),
        "certificate": certificate,
        "model": model,
        "sandbox": confined().await?,
        "server": server(scene).await,
        "programs": {"git": shell::program("git"), "python3": shell::program("python3")},
        "editor": edit::editor(),
        "hooks": hook::reports(scene).await?,
    });
    if scene.json {
        print_json(&report)?;
    } else {
        print_report(&report);
    }
    // A server with this configuration would refuse to start, or a hook would not stop its agent.
    Ok(if refused(&report) { Exit::Usage } else { Exit::Ok })
}

fn refused(report: &Value) -> bool {
    let is_there = |pointer: &str| report.pointer(pointer).is_some_and(|found| !found.is_null());
    is_there("/config/problem")
        || is_there("/certificate/problem")
        || report["model"]["wrong"] == true
        || has_broken_hook(report)
}

fn has_broken_hook(report: &Value) -> bool {
    report["hooks"].as_array().into_iter().flatten().any(|hook| hook["holds"] == false)
}

/// Reads everything that `serve` reads before it starts, and returns the first error. Errors of the certificate and the
/// model are left out, because the report of `doctor` has separate lines for them.
async fn would_start(scene: &Scene, data_dir: &DataDir, settled: EffectiveSettings) -> anyhow::Result<()> {
    log::filter("warn")?;
    let plan = serve::plan(scene, data_dir, settled)?;
    let people = match &plan.workflows {
        Some(_) => workflows::read_people(scene).await.ok(),
        None => None,
    };
    match holdshort_server::check(&plan.options()?, people.as_ref()) {
        Ok(()) | Err(StartError::Tls(_) | StartError::Model(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Reports the configured model. Tests the model's server if the URL of this server is known; otherwise `answers` is
/// null.
async fn configured(args: &ModelArgs) -> Value {
    let model = match model::source(args) {
        Ok(Source::Provider(model)) => model.describe(),
        Ok(Source::Missing(_)) => return json!({"missing": model::rehearses(args)}),
        Err(error) => return json!({"missing": error.to_string(), "wrong": true}),
    };
    let answer = match &model.base_url {
        Some(url) => Some(holdshort_models::answers(url).await),
        None => None,
    };
    let (answers, why) = (answer.as_ref().map(Result::is_ok), answer.and_then(Result::err));
    json!({
        "name": model.name, "provider": model.provider, "base_url": model.base_url, "answers": answers, "why": why,
    })
}

/// Returns the mark and the text of the line about the model in the report of `doctor`.
fn of_model(report: &Value) -> (Mark, String) {
    let string = |key: &str| report[key].as_str().unwrap_or_default();
    if report["missing"].is_string() {
        let mark = if report["wrong"] == true { Mark::Bad } else { Mark::Absent };
        return (mark, string("missing").to_owned());
    }
    let model = format!("{} ({})", string("name"), string("provider"));
    let at = string("base_url");
    match report["answers"].as_bool() {
        Some(true) => (Mark::Good, format!("{model} at {at}")),
        Some(false) => (Mark::Bad, format!("{model} does not answer at {at}: {}", string("why"))),
        None => (Mark::Good, format!("{model}; a key is set, but was not tested")),
    }
}

async fn confined() -> anyhow::Result<String> {
    let program = std::env::current_exe()?;
    let level = tokio::task::spawn_blocking(move || holdshort_tools::sandbox::level(&program, false)).await?;
    Ok(serde_json::to_value(level)?.as_str().unwrap_or("none").to_owned())
}

async fn server(scene: &Scene) -> Value {
    let client = match Client::find(&scene.reach) {
        Ok(client) => client,
        Err(error) => return json!({"reachable": false, "why": error.to_string()}),
    };
    let mut report = match client.get::<Info>("/v1/info").await {
        Ok(info) => json!({
            "reachable": true, "address": client.address(), "version": info.version, "data": info.data,
            "model": info.model.name, "rehearsal": info.rehearsal, "sandbox": info.sandbox,
            "public_url": info.public_url, "certificate_problem": info.certificate_problem,
            "warnings": info.warnings,
            "journal_problems": info.journal_problems,
        }),
        // A refusal because of missing permissions, for example of a reviewer, proves that the server is reachable.
        Err(error) if client::code(&error) == Some(Code::ForbiddenRole) => {
            json!({"reachable": true, "address": client.address()})
        }
        Err(error) => {
            return json!({
                "reachable": false, "address": client.address(), "why": crate::output::error(&error),
            });
        }
    };
    let system::Freezes { held, is_all } = system::freezes(&client).await;
    let is_whole = |it: &Frozen| it.run.is_none() && it.workflow.is_none() && it.agent.is_none();
    let is_frozen = held.iter().any(is_whole);
    // The value is null if it is unknown whether anything is frozen, because the caller could not read all freezes.
    report["frozen"] = json!((is_frozen || is_all).then_some(is_frozen));
    report["held"] = json!(system::warnings(&held, client.server_arguments(), |_| true));
    report["freezes"] = json!(held);
    report
}

#[derive(Clone, Copy)]
enum Mark {
    /// The part of the installation that `doctor` reports works.
    Good,
    /// The part of the installation that `doctor` reports is missing or limited.
    Absent,
    /// The part of the installation that `doctor` reports is configured but does not work.
    Bad,
}

fn print_report(report: &Value) {
    let paint = Paint::stdout();
    let string = |pointer: &str| report.pointer(pointer).and_then(Value::as_str);
    let marked = |mark: Mark, label: &str, text: &str| {
        let mut mark = Some(match mark {
            Mark::Good => paint.green("✓"),
            Mark::Absent => paint.yellow("–"),
            Mark::Bad => paint.red("✗"),
        });
        for line in paint.labelled(label, &plain::text(text)) {
            print_text(&format!("{}{line}", mark.take().unwrap_or_else(|| " ".to_owned())));
        }
    };
    let line = |good: bool, label: &str, text: &str| {
        marked(if good { Mark::Good } else { Mark::Absent }, label, text);
    };
    print_text(&paint.bold(&format!("Holdshort {}", string("/version").unwrap_or_default())));
    let holds = report["data"]["journal"].as_bool().unwrap_or(false);
    let state = if holds { "" } else { " (empty)" };
    match string("/data/problem") {
        Some(problem) => line(false, "data", problem),
        None => line(true, "data", &format!("{}{state}", string("/data/path").unwrap_or_default())),
    }
    if let Some(store) = string("/store") {
        line(
            true,
            "store",
            &format!("{store} contains the journal that `{} serve` uses (from HOLDSHORT_STORE)", holdshort()),
        );
    }
    if let Some(warning) = string("/store_warning") {
        line(false, "store", warning);
    }
    if let Some(problem) = string("/config/problem") {
        marked(Mark::Bad, "config", problem);
    }
    for told in report["config"]["keys"].as_array().into_iter().flatten() {
        let text = |key: &str| told[key].as_str().unwrap_or_default();
        if let Some(file) = text("from").strip_prefix("file ") {
            let said = format!("{} = {}, from {file}", text("key"), text("value"));
            marked(Mark::Good, "config", &said);
        }
    }
    for notice in report["crew"].as_array().into_iter().flatten() {
        line(false, "crew", notice.as_str().unwrap_or_default());
    }
    match (string("/certificate/path"), string("/certificate/problem")) {
        (_, Some(problem)) => marked(Mark::Bad, "tls", problem),
        (Some(path), None) => marked(Mark::Good, "tls", path),
        (None, None) => {}
    }
    let (mark, model) = of_model(&report["model"]);
    marked(mark, "model", &model);
    let level = string("/sandbox").unwrap_or("none");
    line(level == "full", "sandbox", &sandbox(level));
    match string("/server/address") {
        Some(address) if report["server"]["reachable"] == true => {
            let version = string("/server/version").map(|version| format!(", version {version}"));
            line(true, "server", &format!("{address}{}", version.unwrap_or_default()));
            if let Some(url) = string("/server/public_url") {
                line(true, "", &format!("others use {url}"));
            }
            if let Some(problem) = string("/server/certificate_problem") {
                marked(Mark::Bad, "", &format!("{problem}; the previous certificate stays in use"));
            }
            for problem in report["server"]["journal_problems"].as_array().into_iter().flatten() {
                marked(Mark::Bad, "journal", problem.as_str().unwrap_or_default());
            }
        }
        _ => line(false, "server", string("/server/why").unwrap_or("none")),
    }
    for warning in report["server"]["warnings"].as_array().into_iter().flatten() {
        line(false, "", warning.as_str().unwrap_or_default());
    }
    for held in report["server"]["held"].as_array().into_iter().flatten() {
        line(false, "", held.as_str().unwrap_or_default());
    }
    for program in ["git", "python3"] {
        match string(&format!("/programs/{program}")) {
            Some(path) => line(true, program, path),
            None => line(false, program, &format!("not found; `{} demo` uses it", holdshort())),
        }
    }
    for hook in report["hooks"].as_array().into_iter().flatten() {
        let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let cli = text(hook, "cli");
        let mut lines = Vec::new();
        for check in hook["checks"].as_array().into_iter().flatten() {
            match check["state"].as_str() {
                Some("good") => {}
                Some("warning") => lines.push((Mark::Absent, text(check, "text"))),
                _ => lines.push((Mark::Bad, text(check, "text"))),
            }
        }
        if hook["holds"] == true {
            lines.insert(0, (Mark::Good, format!("holds in {}", text(hook, "root"))));
        }
        for (index, (mark, said)) in lines.iter().enumerate() {
            marked(*mark, if index == 0 { "hook" } else { "" }, &format!("{cli}: {said}"));
        }
    }
    let editor = string("/editor");
    line(editor.is_some(), "editor", editor.unwrap_or("not found; set EDITOR"));
}
