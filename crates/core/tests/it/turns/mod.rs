//! The turn loop: the actions that follow a reply, and the next model call.

mod asking;
mod ending;
mod failures;
mod limits;
mod notes;
mod replies;
mod window;

use holdshort_core::definition::{Definition, Phase};
use holdshort_core::message::{Message, Request};

use crate::world::{World, definition};

fn phase(change: impl FnOnce(&mut Phase)) -> Definition {
    let mut definition = definition();
    change(&mut definition.phases[0]);
    definition
}

fn asking_off() -> Definition {
    let mut definition = definition();
    definition.asking.enabled = false;
    definition.tools.remove("ask_human");
    definition
}

/// Returns the messages in the next request, without the system message and the task.
fn request_messages(world: &World) -> Vec<String> {
    let request = world.run.request("work").expect("the step is there");
    paired(&request);
    request.messages[2..].iter().map(say).collect()
}

fn say(message: &Message) -> String {
    match message {
        Message::System { text } => format!("system: {text}"),
        Message::User { text } => format!("user: {text}"),
        Message::Assistant { text, calls, .. } => {
            let calls: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
            format!("assistant: {text} {}", calls.join(" ")).trim_end().to_owned()
        }
        Message::Tool { call, text, .. } => format!("{call}: {text}"),
    }
}

/// Asserts that each call is directly followed by its result, and that no call id is used twice.
pub(crate) fn paired(request: &Request) {
    let mut seen = std::collections::BTreeSet::new();
    let mut rest = request.messages.as_slice();
    while let Some((message, more)) = rest.split_first() {
        rest = more;
        let Message::Assistant { calls, .. } = message else {
            assert!(!matches!(message, Message::Tool { .. }), "a result without its call: {request:#?}");
            continue;
        };
        for call in calls {
            assert!(seen.insert(call.id.clone()), "{} is there twice", call.id);
            let (result, more) = rest.split_first().expect("a call has a result");
            assert!(matches!(result, Message::Tool { call: id, .. } if *id == call.id), "{request:#?}");
            rest = more;
        }
    }
}
