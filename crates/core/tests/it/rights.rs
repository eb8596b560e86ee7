//! The permissions of roles in the core: what each role must never do, and the inputs that it may send to a run.

use std::collections::BTreeSet;

use holdshort_core::actor::{Actor, Role};
use holdshort_core::interrupt::{self, Decision, Kind, Refusal, Voter};
use holdshort_core::rights::{Extent, Permission, ROLES, TABLE, extent};
use holdshort_core::run::{Input, Rejection};

use crate::world::{World, assigned, calls, choose, definition, write};

#[test]
fn each_permission_has_one_row() {
    let rows: BTreeSet<&str> = TABLE.iter().map(|(permission, _)| permission.name()).collect();
    assert_eq!(rows.len(), TABLE.len());
    let engine = TABLE.iter().map(|(permission, _)| extent(Role::Engine, *permission));
    assert!(engine.into_iter().all(|extent| extent == Extent::Nothing), "nobody can sign in as the engine");
}

#[test]
fn agents_and_auditors_release_nothing() {
    let releases = [
        Permission::Decide,
        Permission::Halt,
        Permission::Assign,
        Permission::Administer,
        Permission::SignIn,
    ];
    for permission in releases {
        for role in [Role::Agent, Role::Auditor] {
            assert_eq!(extent(role, permission), Extent::Nothing, "{permission:?} {role:?}");
        }
    }
    let whole: Vec<Permission> = TABLE
        .iter()
        .map(|(permission, _)| *permission)
        .filter(|permission| extent(Role::Agent, *permission) == Extent::All)
        .collect();
    assert_eq!(whole, [], "an agent has what is its own");
}

/// Agents, reviewers and auditors cannot control a native run.
#[test]
fn a_run_of_ours_is_steered_by_admins_and_operators() {
    for role in ROLES {
        let mut world = World::started(definition(), vec![calls(&[write("a.txt")])]);
        world.work();
        let actor = Actor::for_role(role, "rest");
        let inputs = [
            Input::Message { text: "look again".to_owned() },
            Input::Pause,
            Input::Resume,
            Input::Cancel { text: None },
        ];
        let may = matches!(role, Role::Admin | Role::Operator);
        for input in inputs {
            let told = format!("{role:?}: {input:?}");
            let refused = world.clone().try_send(&actor, input) == Err(Rejection::Role);
            assert_eq!(refused, !may, "{told}");
        }
    }
}

/// Only the approvers of an assigned interrupt decide on the interrupt. Admins and operators decide on an interrupt
/// without approvers.
#[test]
fn who_decides() {
    let mut world = World::started(definition(), vec![calls(&[write("a.txt")])]);
    world.work();
    let mut shown = (*world.run.interrupts[&world.open(Kind::ToolApproval)]).clone();
    let mut told = |approvers: &[&str]| {
        shown.assignment = assigned(approvers).unwrap_or_default();
        ROLES.map(|role| {
            let decision: Decision = choose("approve");
            let actor = Actor::for_role(role, "rest");
            let people = &world.system.people;
            let voter = Voter { actor: &actor, people, starter: None, now: world.now };
            match interrupt::check(&shown, &voter, &decision, 99) {
                Ok(_) => "may",
                Err(Refusal::Role) => "role",
                Err(Refusal::NotAnApprover) => "others",
                Err(_) => "else",
            }
        })
    };
    assert_eq!(told(&[]), ["may", "may", "others", "role", "role"]);
    assert_eq!(told(&["reviewer"]), ["others", "others", "may", "role", "role"]);
    assert_eq!(told(&["admin", "agent", "auditor"]), ["may", "others", "others", "role", "role"]);
}
