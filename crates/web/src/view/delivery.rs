//! Deliveries and channels, in the form that clients receive.

use holdshort_core::channel::Channel;
use holdshort_core::delivery::{Attempt, ChannelState, Delivery, DeliveryState};
use holdshort_core::json;
use holdshort_core::notice::{Notice, Occasion, Recipient};
use holdshort_protocol as wire;

pub fn delivery(row: &Delivery, tried: &[Attempt]) -> wire::Delivery {
    wire::Delivery {
        id: row.delivery.to_string(),
        channel: row.channel.clone(),
        event: match row.occasion {
            Occasion::Opened => wire::Occasion::Opened,
            Occasion::Asked => wire::Occasion::Asked,
            Occasion::Reminded => wire::Occasion::Reminded,
            Occasion::Escalated => wire::Occasion::Escalated,
            Occasion::Resolved => wire::Occasion::Resolved,
            Occasion::Expired => wire::Occasion::Expired,
            Occasion::Checkpoint => wire::Occasion::Checkpoint,
        },
        interrupt: row.subject().map(|(_, interrupt)| interrupt.to_string()),
        run: row.subject().map(|(run, _)| run.to_string()),
        seq: row.seq,
        state: match row.state {
            DeliveryState::Waiting => wire::DeliveryState::Waiting,
            DeliveryState::Delivered => wire::DeliveryState::Delivered,
            DeliveryState::Failed => wire::DeliveryState::Failed,
            DeliveryState::Dropped => wire::DeliveryState::Dropped,
        },
        attempts: row.attempts,
        status: row.status,
        error: row.error.clone(),
        created_at: row.created_at.to_string(),
        next_at: row.next_at.map(|at| at.to_string()),
        ended_at: row.ended_at.map(|at| at.to_string()),
        sending: row.node.is_some(),
        tried: tried.iter().map(attempt).collect(),
    }
}

/// Converts a delivery for the record of the interrupt. The recipient is missing if the stored notification was
/// deleted, because only the notification contains it.
pub fn recorded(row: &Delivery, tried: &[Attempt]) -> wire::RecordedDelivery {
    let notice = json::from_slice::<Notice>(row.notice.as_bytes()).ok();
    let to = notice.and_then(|notice| notice.to).map(|to| match to {
        Recipient::Person(id) | Recipient::Browser { person: id, .. } => id,
        Recipient::Address(address) => address,
    });
    wire::RecordedDelivery { delivery: delivery(row, tried), to }
}

fn attempt(row: &Attempt) -> wire::Attempt {
    wire::Attempt {
        number: row.number,
        at: row.at.to_string(),
        took_ms: row.took_ms,
        status: row.status,
        error: row.error.clone(),
        digest: row.digest.clone(),
        answer: row.answer.clone(),
    }
}

pub fn state(asked: wire::DeliveryState) -> DeliveryState {
    match asked {
        wire::DeliveryState::Waiting => DeliveryState::Waiting,
        wire::DeliveryState::Delivered => DeliveryState::Delivered,
        wire::DeliveryState::Failed => DeliveryState::Failed,
        wire::DeliveryState::Dropped => DeliveryState::Dropped,
    }
}

/// Converts a notification channel for clients. `state` is `None` if no state of this channel is recorded.
pub fn channel(channel: &Channel, state: Option<&ChannelState>) -> wire::Channel {
    wire::Channel {
        name: channel.name.clone(),
        kind: channel.via.as_str().to_owned(),
        failing_since: state.map(|state| state.failing_since.to_string()),
        disabled_at: state.and_then(|state| state.disabled_at).map(|at| at.to_string()),
        why: state.and_then(|state| state.why.clone()),
    }
}
