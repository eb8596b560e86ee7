//! `demo`: copies a sample that is part of the program into a throw-away repository, and runs an agent in it. The
//! person decides in this terminal.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::Context;
use holdshort_engine::real::REHEARSAL;
use holdshort_protocol::{Info, Run, RunConfig, StartRun, plain};
use holdshort_server::{AGENT_REQUESTS, PerMinute};
use holdshort_workflow::Shipped;

use super::Scene;
use super::links::invitation;
use super::run::{ANY_PORT, end_of, follow_run, output_words};
use crate::args::ModelArgs;
use crate::data_dir::DataDir;
use crate::embed::{self, Embedded, Plan};
use crate::exit::{Exit, usage};
use crate::log;
use crate::model;
use crate::output::{print_lines, print_message, print_text};
use crate::pack::{Pack, Packs};
use crate::program_name::holdshort;
use crate::shell::quoted;
use crate::terminal::paint::Paint;

const FOLDER_PREFIX: &str = "holdshort-demo-";

pub(super) async fn demo(scene: &Scene, workflow: &str, model: ModelArgs) -> anyhow::Result<Exit> {
    let samples = scene.packs.samples();
    let sample = *samples.iter().find(|shipped| shipped.name == workflow).ok_or_else(|| {
        let names: Vec<&str> = samples.iter().map(|shipped| shipped.name).collect();
        usage(format!("there is no demo of `{workflow}`, only of {}", names.join(", ")))
    })?;
    let folder = tempfile::Builder::new().prefix(FOLDER_PREFIX).tempdir()?;
    let repository = folder.path().join(sample.folder);
    prepare(sample, &repository)?;
    let data = scene.reach.data.clone().unwrap_or_else(|| folder.path().join("data"));
    let data_dir = DataDir::resolve(Some(&data))?;
    log::start("off", log::Format::of_environment()?.unwrap_or_default())?;
    let again = embed::again(&data_dir, &model);
    let unnamed = model::unnamed(&model);
    let plan = Plan {
        listen: ANY_PORT,
        data_dir: data_dir.clone(),
        workflows: None,
        people: None,
        rules: None,
        channels: None,
        model,
        database: None,
        agent_requests: AGENT_REQUESTS,
        per_minute: PerMinute::default(),
        issuers: Vec::new(),
        provider: None,
        front: holdshort_server::PublicEndpoint::default(),
        callbacks: holdshort_server::Callbacks::default(),
        checkpoints: None,
        keep_content: None,
        crew: holdshort_server::Crew::default(),
        otlp: None,
        packs: scene.packs,
        accept_loss: None,
        json: scene.json,
    };
    let embedded = Embedded::start(plan).await?;
    // The person may want to look at the folder later, so it is not deleted from here on.
    let _kept = folder.keep();
    let exit = play(scene, &embedded, sample, &repository, &data_dir, &again, unnamed.as_deref()).await;
    end_of(embedded).await;
    if !scene.json {
        PlayedDemo { sample, repository }.farewell(scene.packs, &data_dir);
    }
    exit
}

async fn play(
    scene: &Scene,
    embedded: &Embedded,
    sample: &Shipped,
    repository: &Path,
    data_dir: &DataDir,
    again: &str,
    unnamed: Option<&str>,
) -> anyhow::Result<Exit> {
    let client = embedded.client()?;
    let info: Info = client.get("/v1/info").await?;
    let start = StartRun {
        workflow: sample.name.to_owned(),
        input: serde_json::from_str(sample.input)?,
        session: None,
        config: Some(RunConfig {
            workspace: Some(
                repository.to_str().context("the path of the temporary folder is not UTF-8")?.to_owned(),
            ),
            model: info.rehearsal.then(|| REHEARSAL.to_owned()),
            ..RunConfig::default()
        }),
    };
    let run: Run = client.post("/v1/runs", &start).await?;
    let pack = scene.packs.for_workflow(sample.name);
    let files = pack.map(|_| repository.with_file_name("report"));
    if !scene.json {
        greet(
            &info,
            (sample, pack),
            repository,
            &start,
            data_dir,
            &invitation(embedded, &data_dir.arguments(), Paint::stdout())?,
            unnamed,
        );
        // The command gets its own line, whatever its length, so that it can be copied.
        print_text("  if this process is killed, continue with:");
        print_text(&format!("  {} attach {}{again}{}", holdshort(), run.id, output_words(files.as_deref())));
    }
    follow_run(scene, &client, &run.id, Some(again), files.as_deref()).await
}

fn greet(
    info: &Info,
    (sample, pack): (&Shipped, Option<&dyn Pack>),
    repository: &Path,
    start: &StartRun,
    data_dir: &DataDir,
    browser: &str,
    unnamed: Option<&str>,
) {
    let paint = Paint::stdout();
    for line in paint.fold(sample.shows, 0) {
        print_text(&paint.bold(&line));
    }
    print_text("");
    let line = |label: &str, text: &str| print_lines(&paint.labelled(label, text));
    // Agents of a pack write reports about data, and use no Git repository.
    let (folder, real) = if pack.is_some() {
        ("folder", "data, computed numbers, gates, journal")
    } else {
        ("repository", "files, git, tests, gates, journal")
    };
    line(folder, &format!("{} (a throw-away copy of {})", repository.display(), sample.sample_is));
    line("task", start.input.get("task").and_then(serde_json::Value::as_str).unwrap_or_default());
    line("data", &format!("{} (the journal of this run)", data_dir.path.display()));
    if info.rehearsal {
        line("model", &paint.yellow("none, so this is a REHEARSAL: the agent's words are scripted."));
        line("", &paint.yellow(&format!("Everything else is real: {real}.")));
        if let Some(unnamed) = unnamed {
            line("", &paint.yellow(unnamed));
        }
    } else {
        line("model", &plain::line(&info.model.name));
    }
    line("browser", browser);
    line("you", "answer with a number or in your own words; ? explains, d leaves");
}

/// Demo that a person has run: its sample, and the temporary repository with a copy of the sample.
pub(super) struct PlayedDemo {
    sample: &'static Shipped,
    repository: PathBuf,
}

impl PlayedDemo {
    /// Returns the demo of a run. Returns `None` unless the run works in a temporary copy of its sample.
    pub(super) fn from_run(packs: Packs, run: &Run) -> Option<Self> {
        let repository = PathBuf::from(run.config.workspace.as_deref()?);
        let sample = packs.samples().into_iter().find(|sample| sample.name == run.workflow)?;
        let folder = repository.parent()?.file_name()?.to_str()?;
        let is_copy = folder.starts_with(FOLDER_PREFIX) && repository.file_name()? == sample.folder;
        is_copy.then_some(Self { sample, repository })
    }

    /// Prints what the run of the demo changed, and commands that the person can try next.
    pub(super) fn farewell(&self, packs: Packs, data_dir: &DataDir) {
        farewell(self.sample, packs.for_workflow(self.sample.name), &self.repository, data_dir);
    }
}

fn farewell(sample: &Shipped, pack: Option<&dyn Pack>, repository: &Path, data_dir: &DataDir) {
    let paint = Paint::stdout();
    if pack.is_none() {
        print_text("");
        print_text(&paint.bold("What changed"));
        for line in changed(repository) {
            print_text(&format!("  {}", plain::line(&line)));
        }
    }
    print_text("");
    print_text(&paint.bold("Go on"));
    let holdshort = holdshort();
    let data = quoted(&data_dir.path.display().to_string());
    let repository = quoted(&repository.display().to_string());
    let diff = (format!("git -C {repository} diff"), "what the agent wrote");
    // Agents of a pack change nothing in the folder. The files with their results are named above.
    let diff = pack.is_none().then_some(diff);
    let commands = [
        (
            format!("{holdshort} serve --data {data}"),
            "serves the journal of this run; then, in another terminal:",
        ),
        (format!("{holdshort} inbox --all --data {data}"), "every decision"),
        (format!("{holdshort} audit verify --data {data}"), "verifies that the journal is unchanged"),
        yours(holdshort, sample.name, pack),
    ];
    for (command, what) in diff.into_iter().chain(commands) {
        print_text(&format!("  {command}"));
        paint.fold(&format!("      {what}"), 6).iter().for_each(|line| print_text(&paint.dim(line)));
    }
}

/// Returns the command that runs the demo's workflow on the person's own data, and a description of what it does.
fn yours(holdshort: &str, name: &str, pack: Option<&dyn Pack>) -> (String, &'static str) {
    if let Some(pack) = pack {
        return (format!("{holdshort} init {name}"), pack.texts().init_hint);
    }
    (format!("{holdshort} run {name} --workspace PATH \"task\""), "the same in your own folder, with a model")
}

/// Returns the changes in the demo's repository that Git reports. If it is unsafe to run Git, returns a sentence about
/// this instead.
fn changed(repository: &Path) -> Vec<String> {
    // Git runs the filters of its configuration to compare a file. The sample has no filters.
    let filters = git(repository, &["config", "--includes", "--get-regexp", "^filter\\."]);
    if !filters.is_ok_and(|output| output.status.code() == Some(1)) {
        return vec![
            "The changes were not checked, because the configuration of the repository names programs that \
            git would run."
                .to_owned(),
        ];
    }
    // New files must appear in the diff too, here and in the command below.
    let _ = git(repository, &["add", "--intent-to-add", "--", ".", ":(exclude,glob)**/__pycache__/**"]);
    let diff = git(repository, &["-c", "color.ui=never", "diff", "--no-ext-diff", "--no-textconv", "--stat"]);
    let diff = diff.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    if diff.trim().is_empty() {
        return vec!["nothing".to_owned()];
    }
    diff.lines().map(|line| line.trim().to_owned()).collect()
}

/// Writes the files of the demo's sample into a new Git repository, and commits them.
fn prepare(sample: &Shipped, repository: &Path) -> anyhow::Result<()> {
    for (path, bytes) in sample.sample {
        let path: PathBuf = repository.join(path);
        fs::create_dir_all(path.parent().context("the sample has a file without a folder")?)?;
        fs::write(&path, bytes)?;
    }
    for arguments in [
        &["init", "--quiet", "--initial-branch=main", "--template="][..],
        &["add", "--all"],
        &[
            "-c",
            "user.name=Holdshort demo",
            "-c",
            "user.email=demo@localhost",
            "commit",
            "--quiet",
            "-m",
            "The sample",
        ],
    ] {
        let output = git(repository, arguments)?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr).into_owned();
            print_message(&plain::text(&why));
            anyhow::bail!("git {} failed in {}", arguments[0], repository.display());
        }
    }
    Ok(())
}

/// Environment variables that the demo passes on to Git: the search path of programs, and the folder for temporary
/// files. All other variables are removed, because they could name configuration, templates, repositories, or programs
/// that Git runs.
const PASSED_ON: [&str; 2] = ["PATH", "TMPDIR"];

/// Runs Git without the person's settings, so that the demo's sample is the same everywhere. Disables programs that a
/// repository can configure: hooks, a file watcher, a pager.
fn git(repository: &Path, arguments: &[&str]) -> anyhow::Result<Output> {
    let passed_on = PASSED_ON.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    Command::new("git")
        .env_clear()
        .envs(passed_on)
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_ATTR_NOSYSTEM", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .arg("--no-pager")
        .args([
            "-c",
            "core.fsmonitor=false",
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "core.attributesFile=/dev/null",
        ])
        .arg("-C")
        .arg(repository)
        .args(arguments)
        .output()
        .map_err(|error| usage(format!("the demo needs git, which cannot be started: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The demo does not run a program that an agent wrote into the Git configuration of its repository.
    #[test]
    fn a_filter_of_the_repository_does_not_run() {
        let folder = tempfile::tempdir().expect("a folder");
        let repository = folder.path();
        fs::write(repository.join("a.txt"), "a\n").expect("a file");
        for arguments in [&["init", "--quiet"][..], &["add", "--all"]] {
            assert!(git(repository, arguments).expect("git").status.success());
        }
        fs::write(repository.join("a.txt"), "b\n").expect("a file");
        assert!(changed(repository)[0].contains("a.txt"));
        let ran = repository.join("ran");
        let program = format!("touch {}; cat", ran.display());
        git(repository, &["config", "filter.evil.clean", &program]).expect("git");
        fs::write(repository.join(".gitattributes"), "* filter=evil\n").expect("a file");
        fs::write(repository.join("a.txt"), "c\n").expect("a file");
        assert!(changed(repository)[0].starts_with("The changes were not checked"));
        assert!(!ran.exists());
    }
}
