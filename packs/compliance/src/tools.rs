//! The tools of the agents that examine a compliance case: an overview, the findings, sums, and the report.
//!
//! `casework` computes the findings, and this module finds the files of the case. No result of a tool contains a name,
//! an account or a date of birth, so models, reviewers and channels receive none.

use std::io::{self, Read as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use holdshort_core::digest::Digest;
use holdshort_core::level::Level;
use holdshort_core::tool::{HeldOutput, Outcome, Spec};
use holdshort_tools::{Refusal, Toolset, Work, Workspace, read_arguments};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::casework::findings::Gravity;
use crate::casework::{
    CUSTOMERS, Case, Code, Examination, OWN_RULES, Problems, Query, RuleId, Rules, Subject, TRANSACTIONS,
    WATCH_LIST, examine, format_finding, overview, query, read, redact, redact_members, report, warnings,
};
use crate::{casework, limits, specs};

#[derive(Debug)]
pub struct CaseTools;

impl Toolset for CaseTools {
    fn specs(&self) -> Vec<Spec> {
        specs::specs()
    }

    fn read(&self, tool: &str, arguments: &Value) -> Option<Result<Box<dyn Work>, Refusal>> {
        let call = match tool {
            "case_overview" => read_arguments(arguments).map(|NoArguments {}| CaseCall::Overview),
            "case_findings" => read_arguments(arguments).map(CaseCall::Findings),
            "case_query" => read_arguments(arguments).map(CaseCall::Query),
            "case_review" => read_arguments(arguments).map(|NoArguments {}| CaseCall::Review),
            _ => return None,
        };
        Some(call.map(|call| Box::new(call) as Box<dyn Work>))
    }
}

impl Work for CaseCall {
    fn run(self: Box<Self>, workspace: &Workspace, input: &Value) -> Result<Outcome, Refusal> {
        run(workspace, input, *self)
    }
}

#[derive(Debug)]
enum CaseCall {
    Overview,
    Findings(CaseFindings),
    Query(Query),
    Review,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoArguments {}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFindings {
    rule: Option<String>,
    customer: Option<usize>,
}

/// The case and the day in the input of a compliance run. All other keys of the input are only for the agents.
#[derive(Debug, Default, Deserialize)]
struct Stated {
    case: Option<String>,
    as_of: Option<Date>,
}

/// A compliance case, with the result of its rules.
#[derive(Debug)]
pub struct Loaded {
    pub case: Case,
    pub rules: Rules,
    pub examined: Examination,
    pub as_of: Date,
}

/// Reason why a compliance case cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// The folder of the case contains none of its three tables.
    #[error("contains no case: {TRANSACTIONS}, {CUSTOMERS} and {WATCH_LIST} are missing")]
    Nothing,
    #[error("contains a case with problems\n{0}")]
    Wrong(Problems),
    #[error("cannot be read: {}", .0.kind())]
    Unreadable(io::Error),
    /// The key `as_of` in the input of the run is not a date.
    #[error("is not a day such as `2026-03-31`")]
    NoDay,
}

/// Question about a compliance case, for a run whose input contains no other question.
const QUESTION: &str = "Does anything in this case need attention? Who should be looked at first?";

/// Keys in the input of a compliance run that state the case and its day.
pub const CASE: &str = "case";
pub const AS_OF: &str = "as_of";

/// A compliance case, and the input of the run that is about to start on it.
#[derive(Debug)]
pub struct PreparedCase {
    pub loaded: Arc<Loaded>,
    /// Input of the run for the agents, with numbers such as `customer 3` instead of names.
    pub input: Map<String, Value>,
}

/// Reads the compliance case in `folder`, for a run that is about to start. `named` is the name of the case in the run.
/// `said` contains all other members of the input. Without `as_of` in `said`, the day of the case is today. Without any
/// other member, the task is [`QUESTION`].
///
/// # Errors
/// Returns an error if the folder contains none of the three tables of a case, or if one of them is missing or invalid.
pub fn prepare_case(
    folder: &Path,
    named: &str,
    mut said: Map<String, Value>,
) -> Result<PreparedCase, CaseError> {
    let as_of = match said.remove(AS_OF) {
        Some(day) => day.as_str().and_then(|day| day.parse().ok()).ok_or(CaseError::NoDay)?,
        None => today(),
    };
    let dir = Dir::open_ambient_dir(folder, ambient_authority()).map_err(CaseError::Unreadable)?;
    let loaded = load(&dir, Some(as_of))?;
    if said.is_empty() {
        said.insert("task".to_owned(), QUESTION.into());
    }
    // These keys contain the question. They are kept even if they are equal to the name of a person in the case, such
    // as `query`.
    let mut input = Map::new();
    for member in ["task", "query", "question", "description"] {
        if let Some(text) = said.get(member).and_then(Value::as_str) {
            input.insert(member.to_owned(), redact(&loaded.case, text).into());
            said.remove(member);
        }
    }
    input.append(&mut redact_members(&loaded.case, said));
    input.insert(CASE.to_owned(), redact(&loaded.case, named).into());
    input.insert(AS_OF.to_owned(), as_of.to_string().into());
    Ok(PreparedCase { loaded, input })
}

/// Returns the day for cases without `as_of`: the later of today in local time and today in UTC. Otherwise a
/// transaction of today could seem to be in the future.
#[expect(clippy::disallowed_methods, reason = "the default day of a case is today")]
fn today() -> Date {
    let now = jiff::Zoned::now();
    now.date().max(now.timestamp().to_zoned(TimeZone::UTC).date())
}

fn run(workspace: &Workspace, input: &Value, request: CaseCall) -> Result<Outcome, Refusal> {
    let stated = if input.is_object() { Stated::deserialize(input) } else { Ok(Stated::default()) };
    let stated =
        stated.map_err(|error| Refusal::new("bad_input", format!("invalid input of this run: {error}")))?;
    let loaded = match load(workspace.dir(), stated.as_of) {
        Ok(loaded) => loaded,
        // A crew may run in a workspace without tables. Then there are no findings, and no report needs a release.
        Err(CaseError::Nothing) if stated.case.is_none() && matches!(request, CaseCall::Review) => {
            return Ok(Outcome::Done { text: String::new(), data: json!({ "no_case": true }) });
        }
        Err(CaseError::Nothing) => {
            let files = format!("{TRANSACTIONS}, {CUSTOMERS} and {WATCH_LIST}");
            return Err(Refusal::new(
                "no_case",
                format!("the workspace contains no case: {files} are missing"),
            ));
        }
        Err(CaseError::Wrong(problems)) => return Err(Refusal::new("bad_case", problems.to_string())),
        Err(error @ (CaseError::Unreadable(_) | CaseError::NoDay)) => {
            return Err(Refusal::new("not_readable", format!("the case {error}")));
        }
    };
    let Loaded { case, rules, examined, as_of } = &*loaded;
    match request {
        CaseCall::Overview => {
            let warnings = warnings(case).into_iter().map(|warning| format!("warning: {warning}"));
            Ok(lines(&overview(case, rules).into_iter().chain(warnings).collect::<Vec<_>>()))
        }
        CaseCall::Query(asked) => {
            let found = query(case, rules, &asked);
            found.map(|found| lines(&found)).map_err(|message| Refusal::new("bad_arguments", message))
        }
        CaseCall::Findings(wanted) => findings(&loaded, &wanted),
        CaseCall::Review => {
            let report = report(case, examined, rules, *as_of);
            let data = json!({ "report": { "title": report.title, "details": report.details } });
            if report.held.is_empty() {
                return Ok(Outcome::Done { text: report.text, data });
            }
            Ok(Outcome::Held(Box::new(HeldOutput {
                title: report.title,
                content: report.text,
                findings: report.held,
                implications: report.implications,
                level: level(report.gravity),
                details: report.details,
                data,
            })))
        }
    }
}

const fn level(gravity: Gravity) -> Level {
    match gravity {
        Gravity::Low => Level::Low,
        Gravity::Medium => Level::Medium,
        Gravity::High => Level::High,
        Gravity::Critical => Level::Critical,
    }
}

fn lines(lines: &[String]) -> Outcome {
    Outcome::Done { text: lines.join("\n"), data: json!({ "lines": lines }) }
}

fn findings(loaded: &Loaded, wanted: &CaseFindings) -> Result<Outcome, Refusal> {
    let rule = wanted.rule.as_deref().map(|name| {
        let there = || RuleId::ALL.iter().map(|id| id.name()).collect::<Vec<_>>().join(", ");
        RuleId::from_name(name)
            .ok_or_else(|| Refusal::new("bad_arguments", format!("`rule` must be one of {}", there())))
    });
    let rule = rule.transpose()?;
    let subject = wanted.customer.map(Subject::Customer);
    let all = loaded.examined.findings.iter().enumerate().filter(|(_, finding)| {
        rule.is_none_or(|rule| finding.rule == rule)
            && subject.is_none_or(|subject| finding.subject == subject)
    });
    let mut all: Vec<String> =
        all.map(|(at, finding)| format_finding(finding, at + 1, &loaded.rules)).collect();
    let more = all.len().saturating_sub(limits::CASE_FINDINGS);
    all.truncate(limits::CASE_FINDINGS);
    if all.is_empty() {
        all.push("nothing was found".to_owned());
    }
    if more > 0 {
        all.push(format!("and {more} more; set `rule` or `customer` to list fewer findings"));
    }
    Ok(lines(&all))
}

/// Reads the compliance case in a folder. The last case is cached, and is not parsed again as long as its files are
/// byte for byte the same.
#[expect(clippy::disallowed_methods, reason = "the default day of a run is today")]
fn load(dir: &Dir, as_of: Option<Date>) -> Result<Arc<Loaded>, CaseError> {
    static LAST: Mutex<Option<(Digest, Arc<Loaded>)>> = Mutex::new(None);
    let as_of = as_of.unwrap_or_else(|| jiff::Timestamp::now().to_zoned(TimeZone::UTC).date());
    let mut problems = Problems::default();
    let mut files: Vec<Option<Vec<u8>>> = Vec::new();
    for name in [TRANSACTIONS, CUSTOMERS, WATCH_LIST, OWN_RULES] {
        files.push(file(dir, name, &mut problems).map_err(CaseError::Unreadable)?);
    }
    if files.iter().all(Option::is_none) && problems.is_empty() {
        return Err(CaseError::Nothing);
    }
    for (file, name) in files.iter().zip([TRANSACTIONS, CUSTOMERS, WATCH_LIST]) {
        if file.is_none() && !problems.first.iter().any(|problem| problem.file == name) {
            problems.of_file(name, Code::MissingFile, "");
        }
    }
    let [Some(transactions), Some(customers), Some(watched), own] = &files[..] else {
        return Err(CaseError::Wrong(problems));
    };
    if !problems.is_empty() {
        return Err(CaseError::Wrong(problems));
    }
    let day = as_of.to_string();
    let own = own.as_deref();
    let of = |bytes: &[u8]| Digest::of_bytes(bytes);
    let key = Digest::of_json(&(of(transactions), of(customers), of(watched), own.map(of), &day));
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = last.as_ref().filter(|(known, _)| *known == key) {
        return Ok(known.clone());
    }
    // The previous case is dropped first. Otherwise two large cases would be in memory at the same time.
    *last = None;
    let rules = match own.map(std::str::from_utf8) {
        None => Rules::shipped(),
        Some(Ok(text)) => Rules::parse_case_rules(text),
        Some(Err(_)) => Err("not UTF-8".to_owned()),
    };
    let rules = rules.map_err(|why| CaseError::Wrong(Problems::one(OWN_RULES, Code::BadRules, why)))?;
    let case = read(transactions, customers, watched, &rules, as_of).map_err(CaseError::Wrong)?;
    let examined = examine(&case, &rules);
    let loaded = Arc::new(Loaded { case, rules, examined, as_of });
    *last = Some((key, loaded.clone()));
    Ok(loaded)
}

/// Returns the bytes of a file of the compliance case. Reports a symbolic link as a problem and does not read it.
fn file(dir: &Dir, name: &'static str, problems: &mut Problems) -> io::Result<Option<Vec<u8>>> {
    let metadata = match dir.symlink_metadata(name) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !metadata.is_file() {
        problems.of_file(name, Code::Link, "");
        return Ok(None);
    }
    let most = casework::limits::FILE_BYTES;
    let mut bytes = Vec::new();
    // The file may have grown since its metadata was read, so the read is limited.
    dir.open(name)?.take(most as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > most {
        problems.of_file(name, Code::FileTooLarge, format!("at most {most} bytes"));
        return Ok(None);
    }
    Ok(Some(bytes))
}
