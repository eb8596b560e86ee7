//! The channels of a simulation, and the sink. The sink simulates the receivers of the channels. A receiver can accept
//! a message, fail, ask for a delay, not respond, be unreachable, or refuse all further messages.
//!
//! On each node, the engine's real worker sends the deliveries. A letter is a message that a node has sent. A letter is
//! kept in the sink until the simulator gives the response.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::channel::oneshot;
use holdshort_core::channel::{Channel, Rule, Source, To, Via};
use holdshort_core::delivery::{Delivery, DeliveryState};
use holdshort_core::hours::Day;
use holdshort_core::id::{DeliveryId, InterruptId, PushId};
use holdshort_core::notice::Occasion;
use holdshort_core::quiet_hours::{Digest, Hold, Quiet};
use holdshort_core::time::Timestamp;
use holdshort_engine::Clock;
use holdshort_engine::outbox::{
    Alert, AttemptContent, BrowserFuture, Buttons, CallbackFuture, CallbackTargetFuture, NoCallback, Pages,
    PersonalLink, Post, Sending, keep_sending,
};
use holdshort_notify::{Channels, Sent, Verdict};
use holdshort_store::{DeliveryChange, Outbox as _};
use tokio::sync::watch;

use super::check::{NoticeKey, ReceiverAnswer, deliveries};
use super::node::{Node, NodeId};
use super::site::{Shared, lock};
use super::turns::Sim;
use crate::clock::START;

/// Maximum number of attempts of a simulated delivery. The first delay is [`RETRY_MS`], so the last attempt takes place
/// within minutes.
const ATTEMPTS: u64 = 5;
const RETRY_MS: u64 = 1_000;
/// Maximum number of milliseconds until all simulated deliveries are sent. The limit is longer than the sum of all
/// delays between the attempts of a delivery.
const PATIENCE_MS: u64 = 60 * 60_000;

/// Messages (letters) that nodes have sent and to which the simulator has not given a response yet.
#[derive(Default)]
pub(super) struct Sink {
    letters: Vec<PendingLetter>,
    /// Channels whose simulated receivers cannot be reached at present.
    down: BTreeSet<String>,
}

struct PendingLetter {
    node: NodeId,
    channel: String,
    messages: Vec<(DeliveryId, NoticeKey)>,
    answer: oneshot::Sender<Sent>,
}

/// Response of a receiver to a message (letter) that a node has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LetterAnswer {
    Well,
    /// The receiver has read the message, but responds with an error.
    ReadAndFailed,
    Failed,
    /// The receiver asks the sender to wait for this number of seconds before the next attempt.
    Busy(u64),
    /// The receiver has read the message, but does not respond.
    Hangs,
    Refused,
    Gone,
}

impl LetterAnswer {
    fn name(self) -> &'static str {
        match self {
            Self::Well => "well",
            Self::ReadAndFailed => "read_and_failed",
            Self::Failed => "not_reached",
            Self::Busy(_) => "busy",
            Self::Hangs => "hangs",
            Self::Refused => "refused",
            Self::Gone => "gone",
        }
    }

    fn sent(self) -> (bool, ReceiverAnswer, Sent) {
        let (is_read, verdict, status) = match self {
            Self::Well => (true, Verdict::Delivered, Some(200)),
            Self::ReadAndFailed => (true, Verdict::Again(None), Some(500)),
            Self::Failed => (false, Verdict::Again(None), Some(500)),
            Self::Busy(seconds) => (false, Verdict::Again(Some(Duration::from_secs(seconds))), Some(429)),
            Self::Hangs => (true, Verdict::Again(None), None),
            Self::Refused => (false, Verdict::Refused, Some(400)),
            Self::Gone => (false, Verdict::Gone, Some(410)),
        };
        let answered = match verdict {
            Verdict::Delivered => ReceiverAnswer::Well,
            Verdict::Again(_) => ReceiverAnswer::Badly,
            Verdict::Refused | Verdict::Gone | Verdict::Left => ReceiverAnswer::Never,
        };
        let error = (answered != ReceiverAnswer::Well).then(|| format!("{self:?}"));
        (is_read, answered, Sent { verdict, status, error, digest: String::new(), answer: None })
    }
}

/// Returns the four channels of a simulation: one for a program, one for people, and two that delay their messages.
pub(super) fn channels() -> Vec<Channel> {
    let minute = u16::try_from(START.as_millis() / 60_000 % (24 * 60)).unwrap_or_default();
    let from_now = |minutes| (minute + minutes) % (24 * 60);
    let quiet = Quiet {
        from: from_now(2),
        to: from_now(5),
        days: Day::ALL.into_iter().collect(),
        zone: Some("UTC".to_owned()),
    };
    let all_but_reminders: BTreeSet<Occasion> = Occasion::ALL
        .into_iter()
        .filter(|each| !matches!(each, Occasion::Reminded | Occasion::Checkpoint))
        .collect();
    let digest = Hold { digest: Some(Digest::Every(60_000)), ..Hold::default() };
    vec![
        channel("program", Via::Webhook, Hold::default()),
        Channel {
            rule: Rule { occasions: all_but_reminders, ..Rule::default() },
            ..channel("chat", Via::Slack, Hold::default())
        },
        channel("digest", Via::Ntfy, digest),
        channel("quiet", Via::Teams, Hold { quiet: vec![quiet], ..Hold::default() }),
    ]
}

fn channel(name: &str, via: Via, hold: Hold) -> Channel {
    Channel {
        name: name.to_owned(),
        rule: Rule::default(),
        via,
        url: Source::Plain(format!("https://example.org/{name}")),
        to: To::Channel,
        mail: None,
        slack: None,
        secrets: Vec::new(),
        headers: std::collections::BTreeMap::new(),
        title: false,
        summary: false,
        allow: Vec::new(),
        attempts: ATTEMPTS,
        retry_ms: RETRY_MS,
        timeout_ms: 10_000,
        hold,
        personal: std::collections::BTreeMap::new(),
    }
}

/// Sends the deliveries of a simulated node as long as the node lives.
pub(super) fn worker(node: &Node, site: &Shared) -> impl Future<Output = ()> + Send + use<> {
    let opened = Channels::open(channels(), Path::new(""), &|_| None);
    let opened = opened.expect("channels without secrets can be opened");
    node.driver.set_channels(opened.definitions());
    let (_, channels) = watch::channel(Arc::new(opened));
    let hands = Arc::new(Hands { node: node.id, site: site.clone() });
    keep_sending(node.driver.clone(), channels, hands.clone(), hands, None)
}

/// Connection from a simulated node to the receivers of its channels.
struct Hands {
    node: NodeId,
    site: Shared,
}

impl Post for Hands {
    fn send<'a>(
        &'a self,
        channel: &'a holdshort_notify::Channel,
        letter: AttemptContent<'a>,
        _: Timestamp,
    ) -> Sending<'a> {
        let messages = match letter {
            AttemptContent::Messages { messages, .. } => messages,
            AttemptContent::Checkpoint { .. } => &[],
        };
        let messages: Vec<_> = messages
            .iter()
            .filter_map(|message| {
                let id = DeliveryId::try_from(message.id.clone()).ok()?;
                Some((id, NoticeKey::from_notice(&message.notice)))
            })
            .collect();
        let (answer, heard) = oneshot::channel();
        let mut guard = lock(&self.site);
        let site = &mut *guard;
        let definition = channel.definition();
        let believes = site.leases.is_believed_valid(self.node, site.clock.passed_ms());
        site.witness.sends((self.node, believes), &site.leases, definition, &messages);
        let (node, channel) = (self.node, definition.name.clone());
        site.record_history(|| format!("n{node} sends to `{channel}`: {}", describe_messages(&messages)));
        site.sink.letters.push(PendingLetter { node, channel: definition.name.clone(), messages, answer });
        Box::pin(async move { heard.await.unwrap_or_else(|_| LetterAnswer::Failed.sent().2) })
    }
}

impl Pages for Hands {
    fn all(&self) -> String {
        "https://holdshort.example/inbox".to_owned()
    }

    fn inbox(&self, interrupt: &InterruptId) -> String {
        format!("https://holdshort.example/inbox/{interrupt}")
    }

    fn plain(&self, _: &InterruptId) -> Option<String> {
        None
    }

    fn disabled<'a>(&'a self, channel: &'a str, _: String) -> Alert<'a> {
        let mut site = lock(&self.site);
        site.record_history(|| format!("alert: `{channel}` is disabled"));
        site.witness.telling.alerted(channel);
        Box::pin(async {})
    }

    fn buttons<'a>(&'a self, _: &'a Delivery) -> Buttons<'a> {
        Box::pin(async { Vec::new() })
    }

    fn browser<'a>(&'a self, _: &'a PushId) -> BrowserFuture<'a> {
        Box::pin(async { None })
    }

    fn browser_left<'a>(&'a self, _: &'a PushId) -> Alert<'a> {
        Box::pin(async {})
    }

    fn callback_target<'a>(&'a self, _: &'a Delivery) -> CallbackTargetFuture<'a> {
        Box::pin(async { Ok(None) })
    }

    fn callback<'a>(&'a self, _: &'a Delivery) -> CallbackFuture<'a> {
        Box::pin(async { Err(NoCallback::Never("no agent of a simulation is called back")) })
    }

    fn called_back<'a>(&'a self, _: &'a InterruptId) -> Alert<'a> {
        Box::pin(async {})
    }

    fn personal<'a>(&'a self, _: &'a Delivery, _: &'a str) -> PersonalLink<'a> {
        Box::pin(async { None })
    }
}

impl Sim {
    /// Lets a simulated receiver respond to a message, or makes the receivers of a channel reachable or unreachable.
    /// Returns false if none of this was possible.
    pub(super) fn receive(&mut self) -> bool {
        let letters = self.letters();
        if self.choices.one_in(12) {
            let channels = channels();
            let name = self.choices.pick(&channels).name.clone();
            let mut site = lock(&self.site);
            site.record_history(|| format!("sink: `{name}` becomes unreachable, or reachable again"));
            if !site.sink.down.remove(&name) {
                site.sink.down.insert(name);
            }
            return true;
        }
        if letters == 0 {
            return false;
        }
        let index = self.choices.below(letters);
        let how = match self.choices.below(24) {
            14 | 15 => LetterAnswer::ReadAndFailed,
            16 | 17 => LetterAnswer::Failed,
            18 | 19 => LetterAnswer::Busy(1 + self.choices.below(30) as u64),
            20 | 21 => LetterAnswer::Hangs,
            22 => LetterAnswer::Refused,
            23 if self.choices.one_in(4) => LetterAnswer::Gone,
            _ => LetterAnswer::Well,
        };
        self.answer(index, how);
        true
    }

    /// Returns how many messages to simulated receivers have no response yet.
    pub(super) fn letters(&self) -> usize {
        lock(&self.site).sink.letters.len()
    }

    /// Makes all simulated receivers reachable.
    pub(super) fn heal_sink(&mut self) {
        lock(&self.site).sink.down.clear();
    }

    /// Lets the simulated receiver of the oldest message accept this message.
    pub(super) fn receive_well(&mut self) {
        self.answer(0, LetterAnswer::Well);
    }

    fn answer(&mut self, index: usize, how: LetterAnswer) {
        self.steps += 1;
        let mut guard = lock(&self.site);
        let site = &mut *guard;
        let PendingLetter { node, channel, messages, answer } = site.sink.letters.remove(index);
        let how = if site.sink.down.contains(&channel) { LetterAnswer::Failed } else { how };
        site.record_history(|| {
            format!("sink: `{channel}` receives {}: {how:?}", describe_messages(&messages))
        });
        site.witness.telling.count(how.name());
        let (is_read, answered, sent) = how.sent();
        for (id, what) in &messages {
            if is_read {
                site.witness.telling.received(&channel, what);
            }
            site.witness.telling.answered(id, node, answered);
        }
        let _nobody_waits = answer.send(sent);
    }

    /// Removes the messages without a response that a dead simulated node has sent. Their receivers may have read them
    /// before.
    pub(super) fn hang_up(&mut self, dead: NodeId) {
        let mut guard = lock(&self.site);
        let site = &mut *guard;
        site.witness.telling.died(dead);
        let letters = std::mem::take(&mut site.sink.letters);
        let (gone, left): (Vec<_>, Vec<_>) = letters.into_iter().partition(|each| each.node == dead);
        site.sink.letters = left;
        for PendingLetter { channel, messages, .. } in gone {
            if self.choices.one_in(2) {
                for (_, what) in &messages {
                    site.witness.telling.received(&channel, what);
                }
            }
        }
    }

    /// Sends all waiting deliveries of the simulation. After that, enables disabled channels again, and sends the
    /// deliveries that waited for these channels.
    pub(super) fn empty_outbox(&mut self) {
        if !lock(&self.site).witness.telling.plays {
            return;
        }
        self.send_all();
        self.check_deliveries();
        if self.try_disabled_again() {
            self.send_all();
            self.check_deliveries();
        }
    }

    fn check_deliveries(&mut self) {
        let mut site = lock(&self.site);
        let store = site.store.clone();
        site.witness.check_deliveries(&store, &channels());
    }

    fn send_all(&mut self) {
        let until = self.clock.passed_ms() + PATIENCE_MS;
        while !self.has_problem() && self.clock.passed_ms() < until {
            if self.go_on_well() {
                continue;
            }
            if !self.waits().unwrap_or(true) {
                break;
            }
            self.pass(self.clock.next_ms().unwrap_or(1_000).max(1));
        }
    }

    /// Returns true if a delivery of the simulation is waiting although its channel is enabled.
    fn waits(&self) -> Result<bool, String> {
        let store = lock(&self.site).store.clone();
        let disabled = deliveries::list_disabled_channels(&store)?;
        let mut all = deliveries::list_deliveries(&store)?.into_iter();
        Ok(all.any(|each| each.state == DeliveryState::Waiting && !disabled.contains(&each.channel)))
    }

    /// Retries, for each disabled channel, one delivery that failed. Returns true if at least one channel was disabled.
    fn try_disabled_again(&mut self) -> bool {
        let store = lock(&self.site).store.clone();
        let (Ok(disabled), Ok(all)) =
            (deliveries::list_disabled_channels(&store), deliveries::list_deliveries(&store))
        else {
            return false;
        };
        let now = self.clock.now();
        for channel in &disabled {
            let of_it = |each: &&Delivery| each.channel == *channel && each.state == DeliveryState::Failed;
            if let Some(found) = all.iter().find(of_it) {
                let change = DeliveryChange::Retry { delivery: found.delivery.clone(), now };
                let _changed = store.change_deliveries(change).now_or_never();
            }
        }
        !disabled.is_empty()
    }
}

fn describe_messages(messages: &[(DeliveryId, NoticeKey)]) -> String {
    let each = messages.iter().map(|(_, what)| {
        format!("{} {}", super::history::short(what.interrupt.as_str()), what.occasion.as_str())
    });
    each.collect::<Vec<_>>().join(", ")
}
