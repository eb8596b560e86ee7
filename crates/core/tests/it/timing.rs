//! Deadlines of an interrupt that waits for a decision: reminders, escalations and snoozes.

use holdshort_core::actor::Actor;
use holdshort_core::definition::KindGate;
use holdshort_core::event;
use holdshort_core::id::InterruptId;
use holdshort_core::interrupt::{
    Assignment, Delegation, Escalation, HandedTo, Kind, Refusal, ReminderReason, Reminders, Represented,
    Stage,
};
use holdshort_core::limits;
use holdshort_core::people::Away;
use holdshort_core::run::{Ask, Config, Fact, Input, Rejection};
use holdshort_core::system::freeze::Part;
use holdshort_core::system::{self, Fact as SystemFact};
use holdshort_core::time::Timestamp;

use crate::assignments::{actor, decide, names, of_groups, of_people, people, stages};
use crate::hours::hours;
use crate::pairs::ask;
use crate::world::{World, calls, choose, command, definition, of_system};

const HOUR: u64 = 3_600_000;

fn reminders(after: u64, every: Option<u64>, limit: u32) -> Reminders {
    Reminders { after_ms: after * HOUR, every_ms: every.map(|hours| hours * HOUR), limit }
}

fn to(after: u64, approvers: &[&str], groups: &[&str]) -> Escalation {
    Escalation { after_ms: after * HOUR, approvers: names(approvers), groups: names(groups), replace: false }
}

fn instead(after: u64, approvers: &[&str], groups: &[&str]) -> Escalation {
    Escalation { replace: true, ..to(after, approvers, groups) }
}

fn gate(assignment: Assignment) -> KindGate {
    KindGate { assignment: Some(assignment), ..KindGate::default() }
}

/// Returns a run with a command that waits for approval at this gate, and the id of the interrupt.
fn held(gate: KindGate) -> (World, InterruptId) {
    held_in(gate, |_| {})
}

fn held_in(gate: KindGate, change: impl FnOnce(&mut World)) -> (World, InterruptId) {
    let mut definition = definition();
    definition.gates.kinds.insert(Kind::ToolApproval, gate);
    let mut world = World::new(definition);
    people(&mut world.system);
    change(&mut world);
    let mut world = world.with("work", vec![calls(&[command("make x")])]);
    world.person(world.start_input(Config::default()));
    world.work();
    let id = world.open(Kind::ToolApproval);
    (world, id)
}

/// Lets the given number of hours pass, sends a tick, and returns the events with their recipients.
fn passes(world: &mut World, hours: u64) -> Vec<String> {
    world.pass_ms(hours * HOUR);
    tick(world)
}

fn tick(world: &mut World) -> Vec<String> {
    let from = world.log.len();
    world.send(Input::Tick);
    describe_events(world, from)
}

fn describe_events(world: &World, from: usize) -> Vec<String> {
    let of = |event: &event::Event| {
        let event::Fact::Run(fact) = &event.fact else { return None };
        match fact {
            Fact::InterruptReminded { to, cause: ReminderReason::Waiting, .. } => {
                Some(format!("remind {}", to.join(" ")))
            }
            Fact::InterruptReminded { to, cause: ReminderReason::Snoozed, .. } => {
                Some(format!("wake {}", to.join(" ")))
            }
            Fact::InterruptEscalated { step, to, .. } => {
                let step = step.map_or("operators".to_owned(), |step| step.to_string());
                // The test world has further operators, which are left out.
                let known = ["anna", "ben", "cleo", "dirk", "olga"];
                let to: Vec<&str> = to.iter().map(String::as_str).filter(|id| known.contains(id)).collect();
                Some(format!("escalate {step}: {}", to.join(" ")))
            }
            Fact::InterruptTimed { stage, .. } => Some(format!("anew {stage}")),
            Fact::InterruptResolved { outcome, .. } => Some(format!("{outcome:?}").to_lowercase()),
            Fact::VoteWithdrawn { by, .. } => Some(format!("withdrawn {by}")),
            _ => None,
        }
    };
    world.log[from..].iter().filter_map(of).collect()
}

fn snooze(
    world: &mut World,
    id: &InterruptId,
    who: &str,
    until: Option<Timestamp>,
) -> Result<Vec<String>, Rejection> {
    let actor = actor(&world.system, who);
    world.try_send(&actor, Input::Snooze { interrupt: id.clone(), until })
}

#[test]
fn those_who_are_asked_are_reminded_so_often() {
    let legal = || stages(vec![of_groups(&["legal"], 2)]);
    let once = KindGate { reminders: Some(reminders(4, None, 5)), ..gate(legal()) };
    let (mut world, _) = held(once);
    assert_eq!(passes(&mut world, 3), Vec::<String>::new());
    assert_eq!(passes(&mut world, 1), ["remind anna ben dirk"]);
    assert_eq!(tick(&mut world), Vec::<String>::new());
    assert_eq!(passes(&mut world, 1_000), Vec::<String>::new());

    let three = KindGate { reminders: Some(reminders(4, Some(2), 3)), ..gate(legal()) };
    let (mut world, id) = held(three);
    assert_eq!(passes(&mut world, 4), ["remind anna ben dirk"]);
    decide(&mut world, &id, "ben", choose("approve")).expect("he may");
    assert_eq!(passes(&mut world, 2), ["remind anna dirk"], "who has voted is left alone");
    assert_eq!(passes(&mut world, 2), ["remind anna dirk"]);
    assert_eq!(world.run.next_deadline(), None, "that was the last");
    assert_eq!(passes(&mut world, 100), Vec::<String>::new());
}

/// Several reminders that were missed in a downtime or freeze are sent as one.
#[test]
fn late_reminders_are_one_and_the_next_is_as_far_as_ever() {
    let often = KindGate {
        reminders: Some(reminders(1, Some(1), 50)),
        ..gate(Assignment::from_approvers(names(&["anna"])))
    };
    let (mut world, _) = held(often);
    assert_eq!(passes(&mut world, 30), ["remind anna"]);
    assert_eq!(world.run.next_deadline(), Some(world.now.plus_ms(HOUR)));
    world.system.apply(&of_system(SystemFact::Frozen));
    assert_eq!(passes(&mut world, 30), Vec::<String>::new(), "a freeze makes it stand still");
    world.system.apply(&of_system(SystemFact::Unfrozen));
    assert_eq!(tick(&mut world), ["remind anna"]);
    let agent = world.run.steps["work"].agent.clone();
    world.system.apply(&of_system(SystemFact::PartFrozen { part: Part::Agent(agent) }));
    assert_eq!(passes(&mut world, 30), Vec::<String>::new(), "that of the agent, too");
}

#[test]
fn others_are_asked_step_by_step() {
    let chain = KindGate {
        reminders: Some(reminders(3, None, 1)),
        escalation: vec![to(4, &[], &["finance"]), instead(8, &["olga"], &[])],
        ..gate(Assignment::from_approvers(names(&["anna"])))
    };
    let (mut world, id) = held(chain);
    assert!(matches!(
        decide(&mut world, &id, "cleo", choose("approve")),
        Err(Rejection::Refused(Refusal::NotAnApprover))
    ));
    let version = world.run.interrupts[&id].version;
    assert_eq!(passes(&mut world, 3), ["remind anna"]);
    assert_eq!(passes(&mut world, 1), ["escalate 0: anna cleo dirk"]);
    assert_eq!(world.run.interrupts[&id].version, version + 1, "who may decide is another thing now");
    assert_eq!(passes(&mut world, 3), ["remind anna cleo dirk"], "they are reminded as those before");
    assert_eq!(passes(&mut world, 5), ["escalate 1: olga"]);
    assert!(matches!(
        decide(&mut world, &id, "anna", choose("approve")),
        Err(Rejection::Refused(Refusal::NotAnApprover))
    ));
    assert_eq!(passes(&mut world, 1_000), ["remind olga"]);
    decide(&mut world, &id, "olga", choose("approve")).expect("she is asked");
    assert!(!world.run.interrupts[&id].is_open());
    assert_eq!(world.run.next_deadline(), None);
    crate::events::reread(&world);
}

/// After a late escalation, the next escalation still waits its full delay, so that a downtime skips no approvers.
#[test]
fn a_late_step_does_not_bring_the_next() {
    let chain = KindGate {
        escalation: vec![to(4, &["ben"], &[]), to(4, &["cleo"], &[])],
        ..gate(Assignment::from_approvers(names(&["anna"])))
    };
    let (mut world, _) = held(chain);
    assert_eq!(passes(&mut world, 100), ["escalate 0: anna ben"]);
    assert_eq!(tick(&mut world), Vec::<String>::new());
    assert_eq!(passes(&mut world, 4), ["escalate 1: anna ben cleo"]);
}

/// Missed deadlines take effect in the order of their due times, and no reminder follows an expiry.
#[test]
fn no_server_ran_while_all_of_it_became_due() {
    let everything = |expires: Option<u64>| KindGate {
        expires_in_ms: expires.map(|hours| hours * HOUR),
        reminders: Some(reminders(2, Some(2), 9)),
        escalation: vec![to(3, &["ben"], &[])],
        ..gate(Assignment::from_approvers(names(&["anna"])))
    };
    let (mut world, id) = held(everything(Some(50)));
    let until = world.now.plus_ms(5 * HOUR);
    snooze(&mut world, &id, "anna", Some(until)).expect("she is asked");
    assert_eq!(passes(&mut world, 49), ["remind ", "escalate 0: anna ben", "wake anna"]);
    assert_eq!(passes(&mut world, 1), ["expired"]);

    let (mut world, id) = held(everything(Some(50)));
    snooze(&mut world, &id, "anna", Some(until)).expect("she is asked");
    assert_eq!(passes(&mut world, 51), ["expired"]);
    assert_eq!(world.run.next_deadline(), None);
    crate::events::reread(&world);
}

#[test]
fn a_step_that_reaches_nobody_goes_on_to_the_next() {
    let chain = |escalation| KindGate { escalation, ..gate(Assignment::from_approvers(names(&["anna"]))) };
    let leave = |world: &mut World, who: &str| {
        world.system.apply(&of_system(SystemFact::PersonLeft { person: who.to_owned() }));
    };
    let (mut world, _) = held(chain(vec![to(1, &["cleo"], &[]), to(1, &["ben"], &[])]));
    leave(&mut world, "cleo");
    assert_eq!(passes(&mut world, 1), ["escalate 1: anna ben"]);
    let skipped = world.log.iter().find_map(|event| match &event.fact {
        event::Fact::Run(Fact::InterruptEscalated { skipped, .. }) => Some(skipped.clone()),
        _ => None,
    });
    assert_eq!(skipped, Some(vec![0]));

    let (mut world, _) = held(chain(vec![to(1, &[], &["finance"]), to(1, &["ben"], &[])]));
    for who in ["ben", "cleo", "dirk"] {
        leave(&mut world, who);
    }
    assert_eq!(passes(&mut world, 1), ["escalate operators: anna olga"]);
    let standing = &world.run.interrupts[&world.open(Kind::ToolApproval)];
    assert!(standing.assignment.stages[0].is_open() && standing.marks().contains("\n*\n"));
    assert_eq!(passes(&mut world, 100), Vec::<String>::new(), "and that is the end of the chain");
    let id = world.open(Kind::ToolApproval);
    decide(&mut world, &id, "olga", choose("approve")).expect("operators decide, too");

    // The quorum is two, so an escalation that reaches only one person is skipped.
    let two = stages(vec![of_groups(&["legal"], 2)]);
    let (mut world, _) = held(KindGate { escalation: vec![instead(1, &[], &["finance"])], ..gate(two) });
    leave(&mut world, "cleo");
    assert_eq!(passes(&mut world, 1), ["escalate operators: anna ben dirk olga"]);
}

/// Admins and operators stay approvers of an interrupt when an escalation adds further approvers.
#[test]
fn operators_decide_on_beside_those_who_are_asked_later() {
    let (mut world, id) = held(KindGate { escalation: vec![to(1, &["anna"], &[])], ..KindGate::default() });
    assert_eq!(passes(&mut world, 1), ["escalate 0: anna olga"]);
    decide(&mut world, &id, "olga", choose("approve")).expect("it is still hers");

    let (mut world, id) = held(KindGate { escalation: vec![to(1, &["anna"], &[])], ..KindGate::default() });
    passes(&mut world, 1);
    decide(&mut world, &id, "anna", choose("approve")).expect("it is hers now");
    assert!(!world.run.interrupts[&id].is_open());
}

/// An escalation does not resolve the interrupt. The quorum stays the same, and a vote stays if its voter is still an
/// approver.
#[test]
fn a_step_releases_nothing() {
    let two = || stages(vec![of_groups(&["legal"], 2)]);
    let beside = KindGate { escalation: vec![to(1, &[], &["finance"])], ..gate(two()) };
    let (mut world, id) = held(beside);
    decide(&mut world, &id, "dirk", choose("approve")).expect("he may");
    passes(&mut world, 1);
    assert_eq!(world.run.interrupts[&id].votes.len(), 1, "he is in both groups, and his vote stands");
    decide(&mut world, &id, "cleo", choose("approve")).expect("she is asked now");
    assert!(!world.run.interrupts[&id].is_open(), "one of each is two");

    let others = KindGate { escalation: vec![instead(1, &["cleo", "olga"], &[])], ..gate(two()) };
    let (mut world, id) = held(others);
    decide(&mut world, &id, "anna", choose("approve")).expect("she may");
    assert_eq!(passes(&mut world, 1), ["escalate 0: cleo olga", "withdrawn anna"]);
    decide(&mut world, &id, "cleo", choose("approve")).expect("she is asked now");
    assert!(world.run.interrupts[&id].is_open(), "two of them, as before");

    let each = stages(vec![Stage { roles: Represented::All, ..of_people(&["anna", "ben"], 2) }]);
    let (mut world, id) =
        held(KindGate { escalation: vec![instead(1, &["cleo", "olga"], &[])], ..gate(each) });
    decide(&mut world, &id, "anna", choose("approve")).expect("she may");
    passes(&mut world, 1);
    assert!(world.run.interrupts[&id].votes.is_empty());
    decide(&mut world, &id, "olga", choose("approve")).expect("she is asked now");
    assert!(world.run.interrupts[&id].is_open());
}

/// Reaching a later stage or handing over the interrupt restarts the times of reminders and escalations.
#[test]
fn it_counts_anew_for_whoever_is_asked_next() {
    let in_turn = KindGate {
        reminders: Some(reminders(2, None, 1)),
        escalation: vec![to(4, &["olga"], &[])],
        ..gate(stages(vec![of_people(&["anna"], 1), of_people(&["cleo"], 1)]))
    };
    let (mut world, id) = held(in_turn);
    assert_eq!(passes(&mut world, 3), ["remind anna"]);
    let from = world.log.len();
    decide(&mut world, &id, "anna", choose("approve")).expect("she may");
    assert_eq!(describe_events(&world, from), ["anew 1"]);
    assert_eq!(passes(&mut world, 1), Vec::<String>::new(), "that was the time of those before");
    assert_eq!(passes(&mut world, 1), ["remind cleo"]);
    let from = world.log.len();
    let operator = actor(&world.system, "olga");
    let handed = HandedTo::Names { approvers: names(&["ben"]), groups: Vec::new() };
    let input = Input::Reassign { interrupt: id.clone(), to: handed, text: None };
    world.try_send(&operator, input).expect("an operator may");
    assert_eq!(
        describe_events(&world, from),
        ["withdrawn anna", "anew 0"],
        "all votes are withdrawn: it is at its first stage again"
    );
    crate::events::reread(&world);
}

/// If a person is away, the reminder goes to the person's delegate.
#[test]
fn delegates_are_reminded() {
    let (mut world, id) = held(KindGate {
        reminders: Some(reminders(1, Some(1), 9)),
        ..gate(stages(vec![of_groups(&["legal"], 1)]))
    });
    let away = Away { until: None, delegate: Some("cleo".to_owned()) };
    world.system.apply(&of_system(SystemFact::AwaySet { person: "anna".to_owned(), away: Some(away) }));
    assert_eq!(passes(&mut world, 1), ["remind ben cleo dirk"]);
    let ben = actor(&world.system, "ben");
    let delegation = Delegation {
        from: "ben".to_owned(),
        to: "olga".to_owned(),
        until: Some(world.now.plus_ms(HOUR + 1)),
    };
    world.try_send(&ben, Input::Delegate { interrupt: id, delegation }).expect("he may");
    assert_eq!(passes(&mut world, 1), ["remind ben cleo dirk olga"]);
    assert_eq!(passes(&mut world, 1), ["remind ben cleo dirk"]);
}

#[test]
fn who_has_put_it_off_is_told_when_that_is_over() {
    let (mut world, id) = held(KindGate {
        reminders: Some(reminders(1, Some(1), 9)),
        expires_in_ms: Some(100 * HOUR),
        ..gate(stages(vec![of_groups(&["legal"], 1)]))
    });
    let soon = world.now.plus_ms(5 * HOUR / 2);
    snooze(&mut world, &id, "anna", Some(soon)).expect("she is asked");
    assert_eq!(passes(&mut world, 1), ["remind ben dirk"]);
    assert_eq!(passes(&mut world, 1), ["remind ben dirk"]);
    assert_eq!(passes(&mut world, 1), ["wake anna", "remind anna ben dirk"]);
    assert_eq!(world.run.interrupts[&id].snoozed_until("anna"), None);
    // Anna may still decide while she snoozes the interrupt, and she may change the snooze.
    let later = world.now.plus_ms(HOUR);
    assert_eq!(snooze(&mut world, &id, "anna", Some(later)).map(|told| told.len()), Ok(1));
    assert_eq!(snooze(&mut world, &id, "anna", Some(later)).map(|told| told.len()), Ok(0), "the same again");
    snooze(&mut world, &id, "anna", None).expect("she takes it back");
    assert_eq!(snooze(&mut world, &id, "anna", None).map(|told| told.len()), Ok(0));
    assert!(world.run.interrupts[&id].snoozes.is_empty());

    let refused = |said: Result<Vec<String>, Rejection>| match said {
        Err(Rejection::Refused(Refusal::Invalid(problems))) => problems[0].pointer.clone(),
        other => format!("{other:?}"),
    };
    let now = world.now;
    assert_eq!(refused(snooze(&mut world, &id, "anna", Some(now))), "/until");
    let too_late = world.run.interrupts[&id].opened.expires_at.expect("it expires").plus_ms(1);
    assert_eq!(refused(snooze(&mut world, &id, "anna", Some(too_late))), "/until");
    assert_eq!(snooze(&mut world, &id, "cleo", Some(later)), Err(Rejection::Refused(Refusal::NotAnApprover)));
    decide(&mut world, &id, "anna", choose("approve")).expect("she may");
    assert_eq!(
        snooze(&mut world, &id, "anna", Some(later)),
        Err(Rejection::Refused(Refusal::AlreadyResolved))
    );
    crate::events::reread(&world);

    let (mut world, id) = held(gate(Assignment::from_approvers(names(&["anna"]))));
    let years = world.now.plus_ms(limits::SNOOZE_MS + 1);
    assert_eq!(refused(snooze(&mut world, &id, "anna", Some(years))), "/until");
}

/// Each deadline takes effect once, whichever node sends the tick, although the clocks of two nodes differ by five
/// minutes.
#[test]
fn clocks_that_differ_do_nothing_twice() {
    const SKEW: u64 = 5 * 60_000;
    let (mut world, id) = held(KindGate {
        reminders: Some(reminders(1, Some(1), 9)),
        escalation: vec![to(2, &["ben"], &[])],
        expires_in_ms: Some(6 * HOUR),
        ..gate(Assignment::from_approvers(names(&["anna"])))
    });
    let start = world.now;
    let mut all = Vec::new();
    for minute in 0..8 * 60 {
        for skew in [0, SKEW] {
            world.now = start.plus_ms(minute * 60_000 + skew);
            if world.run.interrupts[&id].is_open() {
                all.extend(tick(&mut world));
            }
        }
    }
    let expected = [
        "remind anna",
        "escalate 0: anna ben",
        "remind anna ben",
        "remind anna ben",
        "remind anna ben",
        "expired",
    ];
    assert_eq!(all, expected);
    let times: Vec<Timestamp> = world
        .log
        .iter()
        .filter(|event| matches!(event.fact, event::Fact::Run(_)))
        .map(|event| event.at)
        .collect();
    assert!(times.is_sorted(), "no event is earlier than the one before it");
}

/// Working time passes only while a member of the group works. Deadlines are stored as timestamps, so a later change
/// of the working hours affects only deadlines that are set after the change.
#[test]
fn working_time_counts_where_it_is_said() {
    let office = hours("Europe/Berlin", "mon-fri 09:00-17:00", &["2026-02-03"]);
    let gate = || KindGate {
        working_time: Some(true),
        reminders: Some(reminders(4, Some(8), 9)),
        expires_in_ms: Some(20 * HOUR),
        ..gate(stages(vec![of_groups(&["legal"], 1)]))
    };
    let set = |world: &mut World, is| {
        world.system.apply(&of_system(SystemFact::HoursSet { group: "legal".to_owned(), is }));
    };
    let (mut world, id) = held_in(gate(), |world| set(world, office.clone()));
    // The run starts on a Saturday. The group works from Monday, 08:00 UTC, and Tuesday is a holiday.
    let at = |text: &str| Some(text.parse::<Timestamp>().expect("a time"));
    assert_eq!(world.run.interrupts[&id].due.remind_at, at("2026-02-02T12:00:00Z"));
    assert_eq!(world.run.interrupts[&id].opened.expires_at, at("2026-02-05T12:00:00Z"));
    set(&mut world, hours("UTC", "mon-sun 00:00-24:00", &[]));
    assert_eq!(world.run.next_deadline(), at("2026-02-02T12:00:00Z"), "what is set stays");
    world.now = at("2026-02-02T12:00:00Z").expect("a time");
    assert_eq!(tick(&mut world), ["remind anna ben dirk"]);
    assert_eq!(world.run.interrupts[&id].due.remind_at, at("2026-02-02T20:00:00Z"));

    // If the gate uses the working time of a group without working hours, the run does not start.
    let mut definition = definition();
    definition.gates.kinds.insert(Kind::ToolApproval, gate());
    let mut world = World::new(definition);
    people(&mut world.system);
    let start = world.start_input(Config::default());
    let refused = world.try_send(&Actor::operator("rest"), start).expect_err("it has none");
    let Rejection::Invalid(problems) = refused else { panic!("{refused:?}") };
    assert!(problems[0].message.contains("working time"), "{problems:?}");
}

type Change = Box<dyn Fn(&mut Ask)>;

#[test]
fn what_can_not_happen_is_refused_when_it_is_asked() {
    let of = |change: &dyn Fn(&mut Ask)| {
        let mut world = World::new(crate::world::external());
        people(&mut world.system);
        let mut start = world.start_input(Config::default());
        if let Input::Start(start) = &mut start {
            start.origin = holdshort_core::run::Origin::External;
        }
        let agent = Actor::agent("their-agent", "rest");
        world.try_send(&agent, start).expect("an agent may start a run of its own");
        let mut ask = Ask { assignment: stages(vec![of_groups(&["legal"], 2)]), ..ask() };
        change(&mut ask);
        match world.try_send(&agent, Input::Ask(Box::new(ask))) {
            Err(Rejection::Invalid(problems)) => {
                problems.into_iter().map(|problem| problem.pointer).collect()
            }
            Ok(_) => Vec::new(),
            Err(other) => vec![format!("{other:?}")],
        }
    };
    let chain = |step: Escalation| move |ask: &mut Ask| ask.timing.escalation = vec![step.clone()];
    let table: Vec<(&str, Change, Vec<&str>)> = vec![
        ("all is well", Box::new(chain(to(1, &["cleo"], &["finance"]))), vec![]),
        (
            "nobody is there",
            Box::new(chain(to(1, &["zoe"], &["nowhere"]))),
            vec!["/escalation/0/approvers/0", "/escalation/0/groups/0"],
        ),
        ("an empty step", Box::new(chain(to(1, &[], &[]))), vec!["/escalation/0"]),
        ("at once", Box::new(chain(to(0, &["cleo"], &[]))), vec!["/escalation/0/after_ms"]),
        ("never", Box::new(chain(to(9_000, &["cleo"], &[]))), vec!["/escalation/0/after_ms"]),
        ("too few instead", Box::new(chain(instead(1, &["cleo"], &[]))), vec!["/escalation/0"]),
        (
            "after it has expired",
            Box::new(|ask| {
                ask.expires_in_ms = Some(2 * HOUR);
                ask.timing.escalation = vec![to(1, &["cleo"], &[]), to(1, &["olga"], &[])];
                ask.timing.reminders = Some(reminders(2, None, 1));
            }),
            vec!["/reminders/after_ms", "/escalation/1/after_ms"],
        ),
        (
            "no reminder at all",
            Box::new(|ask| ask.timing.reminders = Some(reminders(1, None, 0))),
            vec!["/reminders/limit"],
        ),
        (
            "far too many",
            Box::new(|ask| ask.timing.reminders = Some(reminders(1, Some(1), 101))),
            vec!["/reminders/limit"],
        ),
        (
            "all the time",
            Box::new(|ask| ask.timing.reminders = Some(reminders(1, Some(0), 9))),
            vec!["/reminders/every_ms"],
        ),
        ("hours of nobody", Box::new(|ask| ask.timing.working_time = true), vec!["/working_time"]),
        (
            "beside those of whom each has to agree",
            Box::new(|ask| {
                ask.assignment.stages[0].roles = Represented::All;
                ask.timing.escalation = vec![to(1, &["cleo"], &[])];
            }),
            vec!["/escalation/0"],
        ),
        (
            "a long chain",
            Box::new(|ask| ask.timing.escalation = vec![to(1, &["cleo"], &[]); limits::ESCALATION_STEPS + 1]),
            vec!["/escalation"],
        ),
    ];
    for (name, change, expected) in table {
        assert_eq!(of(&*change), expected, "{name}");
    }
}

#[test]
fn hours_are_kept_by_whoever_said_them() {
    use holdshort_core::hours::Hours;
    use holdshort_core::people::PeopleSource;
    let (mut world, _) = held(KindGate::default());
    let file = Actor::engine();
    let admin = Actor { role: holdshort_core::actor::Role::Admin, ..Actor::operator("rest") };
    let office = || hours("Europe/Berlin", "mon-fri 09:00-17:00", &[]);
    let set = |group: &str, hours: Hours| system::Input::SetHours { group: group.to_owned(), hours };
    let unset = |group: &str| system::Input::UnsetHours { group: group.to_owned() };
    let all = |groups: &[&str]| system::Input::SetAllHours {
        source: PeopleSource::File,
        hours: groups.iter().map(|group| ((*group).to_owned(), office())).collect(),
    };
    let mut send = |actor: &Actor, input| {
        let events = world.system.handle(world.now, actor, input)?;
        let told = events.iter().map(|event| event.fact.encode().0).collect::<Vec<_>>();
        for event in &events {
            world.system.apply(event);
        }
        Ok::<_, system::Rejection>(told)
    };
    assert_eq!(send(&admin, set("legal", office())), Ok(vec!["hours_set".to_owned()]));
    assert_eq!(send(&admin, set("legal", office())), Ok(vec![]), "as it stands already");
    assert!(matches!(send(&file, all(&["legal"])), Err(system::Rejection::OtherSource(_))));
    assert_eq!(send(&file, all(&["finance", "ops"])).map(|told| told.len()), Ok(2));
    assert!(matches!(send(&admin, set("ops", office())), Err(system::Rejection::OtherSource(_))));
    assert!(matches!(send(&admin, unset("ops")), Err(system::Rejection::OtherSource(_))));
    assert_eq!(send(&file, all(&["finance"])), Ok(vec!["hours_unset".to_owned()]));
    assert_eq!(send(&admin, unset("legal")), Ok(vec!["hours_unset".to_owned()]));
    assert_eq!(send(&admin, unset("legal")), Err(system::Rejection::UnknownGroup));
    // Removed groups make room for new groups. A single input cannot set more groups than the limit.
    let many = |from: usize, count: usize| {
        let names: Vec<String> = (from..from + count).map(|n| format!("g{n}")).collect();
        all(&names.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let most = holdshort_core::limits::GROUPS;
    assert!(matches!(send(&file, many(0, most + 1)), Err(system::Rejection::Invalid(_))));
    assert_eq!(send(&file, many(0, most)).map(|told| told.len()), Ok(most + 1), "`finance` is unset");
    assert_eq!(send(&file, many(most, most)).map(|told| told.len()), Ok(2 * most));
    assert!(matches!(send(&admin, set("one-more", office())), Err(system::Rejection::Invalid(_))));
    let nowhere = Hours { time_zone: "Mars/Base".to_owned(), ..office() };
    assert!(matches!(send(&admin, set("legal", nowhere)), Err(system::Rejection::Invalid(_))));
    assert!(matches!(send(&Actor::operator("rest"), set("legal", office())), Err(system::Rejection::Role)));
}
