//! Notices to people, derived from the events of each append to the journal.

use std::collections::BTreeSet;

use holdshort_core::channel::Rule;
use holdshort_core::definition::KindGate;
use holdshort_core::event::Fact;
use holdshort_core::interrupt::{Assignment, Escalation, Kind, Reminders, Stage};
use holdshort_core::level::Level;
use holdshort_core::notice::{Notice, Occasion, notices};
use holdshort_core::people::{Away, People};
use holdshort_core::run::{Config, Input, Run};
use holdshort_core::time::Timestamp;

use crate::assignments::{decide, of_groups, of_people, people, stages};
use crate::world::{World, allow, calls, choose, command, definition, write};

const HOUR: u64 = 3_600_000;

/// Returns a run before its first event, and the world after a gate has stopped a command of the run for approval.
fn held(gate: KindGate) -> (Run, World) {
    let mut definition = definition();
    definition.gates.kinds.insert(Kind::ToolApproval, gate);
    let mut world = World::new(definition);
    people(&mut world.system);
    let before = world.run.clone();
    let mut world = world.with("work", vec![calls(&[command("make x")])]);
    world.person(world.start_input(Config::default()));
    world.work();
    (before, world)
}

fn gate(assignment: Assignment) -> KindGate {
    KindGate { assignment: Some(assignment), ..KindGate::default() }
}

/// Returns the notices for all appends in the log of a world.
fn all(before: &Run, world: &World) -> Vec<Notice> {
    let (mut run, mut from, mut all) = (before.clone(), 0, Vec::new());
    for upto in &world.commits {
        let (events, before) = (&world.log[from..*upto], run.clone());
        for event in events.iter().filter(|event| matches!(event.fact, Fact::Run(_))) {
            run.apply(event);
        }
        all.extend(notices(&before, &run, before.seq + 1, events));
        from = *upto;
    }
    all
}

fn describe_notices(before: &Run, world: &World) -> Vec<String> {
    let told = |notice: &Notice| {
        let of: Vec<&str> = notice.groups.iter().chain(&notice.people).map(String::as_str).collect();
        let outcome =
            notice.outcome.map(|outcome| format!(" {outcome:?}").to_lowercase()).unwrap_or_default();
        format!("{}{outcome}: {}", notice.occasion.as_str(), of.join(" "))
    };
    all(before, world).iter().map(told).collect()
}

#[test]
fn each_stage_hears_when_it_is_its_turn_and_all_of_the_end() {
    let stages = stages(vec![of_groups(&["legal"], 1), of_people(&["cleo"], 1)]);
    let (before, mut world) = held(gate(stages));
    let id = world.open(Kind::ToolApproval);
    assert_eq!(describe_notices(&before, &world), ["opened: legal"]);
    decide(&mut world, &id, "anna", choose("approve")).unwrap();
    assert_eq!(describe_notices(&before, &world), ["opened: legal", "asked: cleo"]);
    decide(&mut world, &id, "cleo", choose("approve")).unwrap();
    let wanted = ["opened: legal", "asked: cleo", "resolved approved: legal cleo"];
    assert_eq!(describe_notices(&before, &world), wanted);
    // A notice points to the event that it is about.
    let run = world.run.id.clone();
    for notice in all(&before, &world) {
        assert_eq!((&notice.run, &notice.interrupt), (&run, &id));
        let of_run = world.log.iter().filter(|event| matches!(event.fact, Fact::Run(_)));
        let event = of_run.clone().nth(usize::try_from(notice.seq).unwrap() - 1).unwrap();
        let kind = crate::world::describe_event(event);
        let wanted = match notice.occasion {
            Occasion::Opened => "interrupt_opened",
            Occasion::Asked => "decision_made",
            _ => "interrupt_resolved",
        };
        assert!(kind.starts_with(wanted), "{kind} is no {wanted}");
    }
}

#[test]
fn reminders_escalations_and_expiry_are_told() {
    let escalation =
        Escalation { after_ms: 2 * HOUR, groups: vec!["finance".to_owned()], ..Escalation::default() };
    let (before, mut world) = held(KindGate {
        reminders: Some(Reminders { after_ms: HOUR, every_ms: None, limit: 1 }),
        escalation: vec![escalation],
        expires_in_ms: Some(3 * HOUR),
        ..gate(stages(vec![of_people(&["anna"], 1)]))
    });
    for _ in 0..3 {
        world.pass_ms(HOUR);
        world.send(Input::Tick);
    }
    let told = describe_notices(&before, &world);
    let starts: Vec<&str> = told.iter().map(|each| each.split(':').next().unwrap()).collect();
    assert_eq!(starts, ["opened", "reminded", "escalated", "expired expired"], "{told:?}");
    assert_eq!(told[0], "opened: anna");
    assert_eq!(told[1], "reminded: anna");
    assert!(told[2].starts_with("escalated: finance anna cleo"), "{told:?}");
}

#[test]
fn what_nobody_is_asked_is_told_to_nobody() {
    let mut definition = definition();
    definition.gates.rules = vec![allow(&["write_file"])];
    let world = World::new(definition);
    let before = world.run.clone();
    let mut world = world.with("work", vec![calls(&[write("a.txt")])]);
    world.person(world.start_input(Config::default()));
    world.work();
    assert_eq!(describe_notices(&before, &world), Vec::<String>::new());
}

#[test]
fn a_rule_takes_what_it_names() {
    let (before, world) = held(gate(stages(vec![of_groups(&["legal"], 1)])));
    let notice = all(&before, &world).remove(0);
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    let rule = Rule::default;
    for (rule, takes) in [
        (rule(), true),
        (Rule { occasions: BTreeSet::from([Occasion::Opened]), ..rule() }, true),
        (Rule { occasions: BTreeSet::from([Occasion::Resolved]), ..rule() }, false),
        (Rule { kinds: BTreeSet::from([Kind::ToolApproval]), ..rule() }, true),
        (Rule { kinds: BTreeSet::from([Kind::Question]), ..rule() }, false),
        (Rule { groups: names(&["legal"]), ..rule() }, true),
        (Rule { groups: names(&["finance"]), ..rule() }, false),
        (Rule { groups: names(&["finance"]), people: names(&["anna"]), ..rule() }, false),
        (Rule { groups: names(&["legal"]), people: names(&["nobody"]), ..rule() }, true),
        (Rule { workflows: names(&["another"]), ..rule() }, false),
        (Rule { risk: Some(Level::Low), ..rule() }, true),
        (Rule { risk: Some(notice.risk), ..rule() }, true),
        (Rule { risk: Some(Level::Critical), ..rule() }, notice.risk == Level::Critical),
    ] {
        assert_eq!(rule.matches(&notice), takes, "{rule:?}");
    }
}

/// Recipients of a notice are the individual people who may decide: a group is replaced by its members, and an absent
/// person by their delegate.
#[test]
fn recipients_are_those_who_may_decide() {
    let of = |stages: Vec<Stage>| {
        let (before, world) = held(gate(crate::assignments::stages(stages)));
        let notice = all(&before, &world).remove(0);
        (notice, world.system.people.clone(), world.now)
    };
    let told = |(notice, people, now): (Notice, People, Timestamp)| {
        notice.recipients(&people, now).into_iter().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(told(of(vec![of_groups(&["legal"], 1)])), "anna ben dirk", "no auditor");
    assert_eq!(told(of(vec![of_people(&["cleo"], 1)])), "cleo");
    let (notice, mut people, now) = of(vec![of_groups(&["legal"], 1)]);
    let nobody = Notice { groups: Vec::new(), ..notice.clone() };
    let told_all = told((nobody, people.clone(), now));
    let is_told = |id: &str| told_all.split(' ').any(|told| told == id);
    assert!(is_told("olga") && !is_told("anna"), "whoever decides what is nobody's: {told_all}");
    let too = Notice { groups: vec!["legal".to_owned()], operators: true, ..notice.clone() };
    let told_too = told((too, people.clone(), now));
    assert_eq!(told_too.split(' ').filter(|id| ["anna", "olga"].contains(id)).count(), 2, "{told_too}");
    let reminded = Notice { told: vec!["ben".to_owned(), "gone".to_owned()], ..notice.clone() };
    assert_eq!(told((reminded, people.clone(), now)), "ben");
    let away = |id: &str, delegate: &str| {
        let mut person = people.get(id).unwrap().clone();
        person.away = Some(Away { until: None, delegate: Some(delegate.to_owned()) });
        (id.to_owned(), person)
    };
    let others = people.iter().map(|(id, person)| (id.to_owned(), person.clone()));
    let all: Vec<_> = others.filter(|(id, _)| id != "anna").chain([away("anna", "cleo")]).collect();
    people = People::from_entries(&all);
    assert_eq!(told((notice, people, now)), "ben cleo dirk");
}

#[test]
fn who_decided_is_told() {
    let (before, mut world) = held(gate(stages(vec![of_groups(&["legal"], 2)])));
    let id = world.open(Kind::ToolApproval);
    for who in ["anna", "ben"] {
        decide(&mut world, &id, who, choose("approve")).unwrap();
    }
    let last = all(&before, &world).pop().unwrap();
    assert_eq!((last.occasion, last.by), (Occasion::Resolved, vec!["anna".to_owned(), "ben".to_owned()]));
}
