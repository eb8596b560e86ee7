//! Converts an assignment from a client to the type of the core.

use holdshort_core::interrupt::{Assignment, HandedTo, Represented, Stage};
use holdshort_core::schema::Problem;
use holdshort_protocol as wire;

/// Converts the assignment in an agent's question. Appends an error to `problems` for each invalid field, with a JSON
/// pointer that begins with `at`. Does not check that the people and groups exist; the core checks this.
pub(crate) fn from_wire(asked: wire::AskAssignment, at: &str, problems: &mut Vec<Problem>) -> Assignment {
    let wire::AskAssignment { approvers, groups, quorum, distinct, self_approval, stages } = asked;
    for (field, named) in [("approvers", &approvers), ("groups", &groups)] {
        if named.as_ref().is_some_and(Vec::is_empty) {
            let message = "is empty: name the approvers, or omit the field";
            problems.push(Problem::new(format!("{at}/{field}"), message));
        }
    }
    let says_who = approvers.is_some() || groups.is_some() || quorum.is_some();
    let stages = match stages {
        None => {
            if !says_who && self_approval.is_none() {
                let message =
                    "is missing: set `approvers`, `groups`, `quorum` or `stages`, or omit the assignment";
                problems.push(Problem::new(format!("{at}/approvers"), message));
            }
            let (approvers, groups) = (approvers.unwrap_or_default(), groups.unwrap_or_default());
            vec![stage(wire::Stage { name: None, approvers, groups, quorum: quorum.unwrap_or_default() })]
        }
        Some(stages) => {
            if says_who {
                let message = "cannot be combined with `approvers`, `groups` or `quorum`";
                problems.push(Problem::new(format!("{at}/stages"), message));
            }
            if stages.is_empty() {
                problems.push(Problem::new(format!("{at}/stages"), "is empty: name at least one stage"));
            }
            stages.into_iter().map(stage).collect()
        }
    };
    let usual = Assignment::default();
    Assignment {
        stages: if stages.is_empty() { usual.stages } else { stages },
        distinct: distinct.unwrap_or(usual.distinct),
        self_approval: self_approval.unwrap_or(usual.self_approval),
    }
}

/// Converts the new approvers in a request to reassign an interrupt. If the request names only people and groups, the
/// interrupt keeps its quorum.
pub(crate) fn handed_to(asked: wire::AskAssignment, at: &str, problems: &mut Vec<Problem>) -> HandedTo {
    let wire::AskAssignment { approvers, groups, quorum, distinct, self_approval, stages } = &asked;
    let names_others = approvers.is_some() || groups.is_some();
    let says_more = quorum.is_some() || distinct.is_some() || self_approval.is_some() || stages.is_some();
    let names_only = names_others && !says_more;
    let whole = from_wire(asked, at, problems);
    if !names_only {
        return HandedTo::Whole(whole);
    }
    let named = whole.stages.into_iter().next().unwrap_or_default();
    HandedTo::Names { approvers: named.approvers, groups: named.groups }
}

fn stage(stage: wire::Stage) -> Stage {
    let wire::Stage { name, approvers, groups, quorum } = stage;
    Stage {
        name,
        approvers,
        groups,
        required: quorum.required,
        roles: match quorum.roles {
            wire::Represented::Any => Represented::Any,
            wire::Represented::All => Represented::All,
        },
        operators: false,
    }
}
