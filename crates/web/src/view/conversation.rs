//! Conversations of sessions, in the form that clients receive. The events of a session's stream do not contain the
//! text, but refer to the events that do.

use holdshort_core::event::{self, Event};
use holdshort_core::id::{SessionId, StreamId};
use holdshort_core::run::conversation_text;
use holdshort_core::session::Fact;
use holdshort_protocol::{List, Speaker, Utterance};
use holdshort_store::Log;

use crate::app::App;
use crate::limits::{PAGE_BYTES, READ_EVENTS};
use crate::problem::Answer;

/// Returns at most `limit` messages of a session's conversation after the event `after`, oldest first. The cursor is
/// the `seq` of an event in the session's stream.
pub async fn page(app: &App, session: &SessionId, after: u64, limit: usize) -> Answer<List<Utterance>> {
    let stream = StreamId::Session(session.clone());
    let (mut items, mut after, mut bytes) = (Vec::new(), after, 0);
    loop {
        let read = app.journal().read(&stream, after, READ_EVENTS).await?;
        for sealed in &read {
            let event = app.decode_event(sealed)?;
            if let Some(item) = read_utterance(app, sealed.seq, &event).await? {
                if items.len() == limit || bytes > PAGE_BYTES {
                    return Ok(List { items, next_cursor: Some(after.to_string()) });
                }
                bytes += item.text.as_ref().map_or(0, String::len);
                items.push(item);
            }
            after = sealed.seq;
        }
        if read.len() < READ_EVENTS {
            return Ok(List { items, next_cursor: None });
        }
    }
}

async fn read_utterance(app: &App, seq: u64, event: &Event) -> Answer<Option<Utterance>> {
    let event::Fact::Session(Fact::Said { run, seq: at, agent, interrupt }) = &event.fact else {
        return Ok(None);
    };
    let source = app.event(&StreamId::Run(run.clone()), *at).await?;
    Ok(Some(Utterance {
        seq,
        at: event.at.to_string(),
        speaker: if agent.is_some() { Speaker::Agent } else { Speaker::Person },
        by: agent.clone().unwrap_or_else(|| event.actor.id.clone()),
        text: conversation_text(&source),
        run: run.to_string(),
        interrupt: interrupt.as_ref().map(ToString::to_string),
    }))
}
