//! Lines of a card about the people who may decide.

use holdshort_protocol::{Assignment, InvolvedPeople, Offer, PeopleLine};
use serde_json::json;

/// If several people must answer a question, the card says that one skip settles it for all.
#[test]
fn that_one_skip_settles_it_for_all_is_said_of_questions_that_several_answer() {
    let offers = |ids: &[&str]| -> Vec<Offer> {
        let offer = |id: &&str| json!({ "id": id, "label": id, "effect": "respond" });
        ids.iter().map(|id| serde_json::from_value(offer(id)).unwrap()).collect()
    };
    for (required, ids, expected) in [
        (
            2,
            &["answer", "skip", "cancel"][..],
            "one more person; one person can skip the question for all of them",
        ),
        (1, &["answer", "skip", "cancel"], "one more person"),
        (2, &["approve", "skip"], "one more person"),
    ] {
        let assignment: Assignment = serde_json::from_value(
            json!({ "approvers": ["ann", "ben"], "quorum": { "required": required }, "needed": 1 }),
        )
        .unwrap();
        let options = offers(ids);
        let involved = InvolvedPeople {
            assignment: &assignment,
            votes: &[],
            options: &options,
            is_open: true,
            you: None,
        };
        let lines = involved.lines(str::to_owned);
        let missing: Vec<&str> =
            lines.iter().filter(|(line, _)| *line == PeopleLine::Missing).map(|(_, text)| &**text).collect();
        assert_eq!(missing, [expected], "{required}: {ids:?}");
    }
}
