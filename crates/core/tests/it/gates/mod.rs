//! The vote of the gates. Strongest first: forbid, mandatory ask, grant, rule, default (ask).

mod checkpoints;
mod code;
mod rules;
mod stakes;
mod urls;
mod withheld;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use holdshort_core::actor::Actor;
use holdshort_core::gate::{
    self, Changes, Checkpoints, Grant, Matcher, RefusedBefore, Release, Source, Subject, Verdict, VoteInputs,
};
use holdshort_core::policy::RuleAction::{Allow, Ask, Forbid};
use holdshort_core::policy::{Checkpoint, GrantCovers, Rule, RuleAction};
use holdshort_core::session::{self, Session};
use holdshort_core::time::Timestamp;
use holdshort_core::tool::Category;

use crate::snapshot;
use crate::world::{self, WORKSPACE, allow, rule};

fn command<'a>(line: &'a str, findings: &'a [String]) -> Subject<'a> {
    Subject {
        agent: "pair",
        tool: "run_command",
        category: holdshort_command::parse(line).class().into(),
        path: None,
        url: None,
        command: Some(line),
        workspace: WORKSPACE,
        cwd: WORKSPACE,
        ask_because: findings,
        places: &[],
        preconditions: &[],
        changes: Changes::Untried,
        untried: None,
        elsewhere: false,
    }
}

fn file(path: &str) -> Subject<'_> {
    Subject {
        agent: "pair",
        tool: "write_file",
        category: Category::FileWrite,
        path: Some(path),
        url: None,
        command: None,
        workspace: WORKSPACE,
        cwd: WORKSPACE,
        ask_because: &[],
        places: &[],
        preconditions: &[],
        changes: Changes::Untried,
        untried: None,
        elsewhere: false,
    }
}

fn session(granted: Option<&Subject<'_>>) -> Session {
    with_grant(granted.and_then(Matcher::for_call))
}

fn with_grant(matcher: Option<Matcher>) -> Session {
    let mut session = Session::new(world::draw(2).id());
    if let Some(matcher) = matcher {
        let fact = session::Fact::GrantAdded {
            grant: world::draw(3).id(),
            matcher,
            run: world::draw(1).id(),
            interrupt: world::draw(4).id(),
            expires_at: None,
        };
        let given = session.event(Timestamp::from_millis(0), &Actor::operator("rest"), fact);
        session.apply(&given);
    }
    session
}

fn vote(subject: &Subject<'_>, rules: VoteInputs<'_>, session: &Session) -> Verdict {
    let grants: Vec<&Grant> = session.active_grants(Timestamp::from_millis(0)).collect();
    gate::vote(subject, VoteInputs { grants: Some(&grants), ..rules })
}

fn describe_verdict(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Forbid(reason) => format!("forbid ({:?})", reason.source),
        Verdict::Ask { reasons, grantable } => {
            let reasons: Vec<String> =
                reasons.iter().map(|reason| format!("{:?} {}", reason.source, reason.code)).collect();
            format!("ask ({}){}", reasons.join(", "), if *grantable { ", grantable" } else { "" })
        }
        Verdict::Allow(Release::Rule { source, .. }) => format!("allow ({source:?})"),
        Verdict::Allow(Release::Grant { .. }) => "allow (grant)".to_owned(),
        Verdict::Allow(Release::OpensInterrupt) => "allow (opens)".to_owned(),
    }
}

static NOT_REFUSED: LazyLock<RefusedBefore> = LazyLock::new(RefusedBefore::default);
static NOWHERE: BTreeSet<Checkpoint> = BTreeSet::new();

fn lists<'a>(run: &'a [Rule], workflow: &'a [Rule]) -> VoteInputs<'a> {
    VoteInputs {
        system: &[],
        run,
        workflow,
        checkpoints: Checkpoints { at: &NOWHERE, deploy: &[] },
        smart: &[],
        grants: Some(&[]),
        covers: GrantCovers::Call,
        refused: &NOT_REFUSED,
    }
}

fn one(subject: &Subject<'_>, rules: &[Rule]) -> String {
    describe_verdict(&gate::vote(subject, lists(&[], rules)))
}

/// The votes for all combinations of rules of the installation, the run and the workflow are as in the snapshot. Each
/// combination is tested with and without a grant, a finding and an opaque line.
#[test]
fn the_most_severe_vote_wins() {
    let says = [None, Some(RuleAction::Allow), Some(RuleAction::Ask), Some(RuleAction::Forbid)];
    let list = |action: Option<RuleAction>| {
        action.map(|action| rule(action, &["run_command"], &[])).into_iter().collect::<Vec<_>>()
    };
    let name = |action: Option<RuleAction>| {
        action.map_or("–".to_owned(), |action| format!("{action:?}").to_lowercase())
    };
    let findings = ["hard_link".to_owned()];
    let mut rows = vec![
        ["system", "run", "workflow", "grant", "finding", "opaque", "verdict"].map(str::to_owned).to_vec(),
    ];
    for by_system in says {
        for by_run in says {
            for by_workflow in says {
                for (granted, found, opaque) in
                    [(false, false, false), (true, false, false), (true, true, false), (true, false, true)]
                {
                    let (system, run, workflow) = (list(by_system), list(by_run), list(by_workflow));
                    let subject = command(
                        if opaque { "make $X" } else { "make x" },
                        if found { &findings } else { &[] },
                    );
                    let session = session(granted.then(|| command("make x", &[])).as_ref());
                    let rules = VoteInputs { system: &system, ..lists(&run, &workflow) };
                    let verdict = vote(&subject, rules, &session);
                    let flag = |flag: bool| if flag { "yes" } else { "–" }.to_owned();
                    rows.push(vec![
                        name(by_system),
                        name(by_run),
                        name(by_workflow),
                        flag(granted),
                        flag(found),
                        flag(opaque),
                        describe_verdict(&verdict),
                    ]);

                    let says = [by_system, by_run, by_workflow];
                    let expected = if says.contains(&Some(RuleAction::Forbid)) {
                        "forbid"
                    } else if found || opaque {
                        "ask"
                    } else if granted {
                        "allow (grant)"
                    } else if says.contains(&Some(RuleAction::Ask)) || says == [None; 3] {
                        "ask"
                    } else {
                        "allow"
                    };
                    assert!(describe_verdict(&verdict).starts_with(expected), "{rows:?}");
                }
            }
        }
    }
    snapshot::check("vote", &snapshot::table(&rows));
}

/// Rules of a run can only make the run stricter: an `allow` of the run has no effect if the workflow asks or forbids.
#[test]
fn a_run_does_not_loosen_its_workflow() {
    let verdict = |run: RuleAction, workflow: RuleAction| {
        let (run, workflow) = ([rule(run, &["*"], &[])], [rule(workflow, &["write_file"], &[])]);
        let rules = lists(&run, &workflow);
        describe_verdict(&gate::vote(&file("a"), rules))
    };
    assert_eq!(
        [verdict(Allow, Ask), verdict(Allow, Forbid), verdict(Ask, Allow), verdict(Forbid, Allow)],
        ["ask (Workflow rule), grantable", "forbid (Workflow)", "ask (Run rule), grantable", "forbid (Run)"],
    );
}

/// A reason to ask names the rule that asked, for the card and the journal.
#[test]
fn a_reason_says_which_rule_asked() {
    let rules = [
        allow(&["read_file"]),
        Rule { reason: Some("ask the owner".to_owned()), ..rule(RuleAction::Ask, &["write_file"], &[]) },
    ];
    let rules = lists(&[], &rules);
    let Verdict::Ask { reasons, grantable } = gate::vote(&file("a"), rules) else { panic!("it asks") };
    assert_eq!(
        (reasons[0].source, reasons[0].rule, reasons[0].text.as_str(), grantable),
        (Source::Workflow, Some(1), "ask the owner", true),
    );
}

/// A grant for a category covers only commands of this category, and only if the workflow permits such grants.
#[test]
fn a_grant_for_a_category_covers_no_other() {
    let code = command("python3 a.py", &[]);
    let matcher = Matcher::for_coverage(&code, GrantCovers::Category);
    let session = with_grant(matcher);
    let rules = |covers| VoteInputs { covers, ..lists(&[], &[]) };
    for (line, passes) in [
        ("python3 b.py", true),
        ("cat a | python3 b.py", true),
        ("python3 b.py && make x", false),
        ("python3 b.py; curl https://a.example/x", false),
        ("make x", false),
        ("python3 $X", false),
    ] {
        let subject = command(line, &[]);
        let of = |covers| vote(&subject, rules(covers), &session);
        let released = matches!(of(GrantCovers::Category), Verdict::Allow(Release::Grant { .. }));
        assert_eq!(released, passes, "{line}");
        assert!(matches!(of(GrantCovers::Call), Verdict::Ask { .. }), "{line}");
    }
}
