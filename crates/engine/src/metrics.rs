//! Metrics about the events that this process commits, for `/metrics`. The metrics are updated after each append. They
//! influence no decision.
//!
//! Each node counts the events that it writes, so the total is the sum over all nodes. Names and units follow
//! OpenMetrics 1.0: counters end in `_total`, and durations are in seconds.

use holdshort_core::event::{Event, Fact};
use holdshort_core::interrupt::Outcome;
use holdshort_core::run::{Fact as Of, Run};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Upper bounds of the buckets of duration histograms, in seconds: from ten seconds to a week.
pub const WAITS: [f64; 9] = [10.0, 60.0, 300.0, 900.0, 3_600.0, 14_400.0, 86_400.0, 259_200.0, 604_800.0];

type Labels<const N: usize> = [(&'static str, String); N];
type Counted<const N: usize> = Family<Labels<N>, Counter>;

#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    appends: Counter,
    opened: Counted<1>,
    resolved: Counted<2>,
    waited: Family<Labels<1>, Histogram>,
    decisions: Counted<1>,
    runs_started: Counter,
    runs_ended: Counted<1>,
    model_calls: Counted<1>,
    tokens: Counted<2>,
    tool_calls: Counter,
    deliveries: Counted<2>,
    channels_disabled: Counted<1>,
}

impl Default for Metrics {
    fn default() -> Self {
        let waited: Family<Labels<1>, Histogram> = Family::new_with_constructor(|| Histogram::new(WAITS));
        let mut metrics = Self {
            registry: Registry::with_prefix("holdshort"),
            appends: Counter::default(),
            opened: Family::default(),
            resolved: Family::default(),
            waited,
            decisions: Family::default(),
            runs_started: Counter::default(),
            runs_ended: Family::default(),
            model_calls: Family::default(),
            tokens: Family::default(),
            tool_calls: Counter::default(),
            deliveries: Family::default(),
            channels_disabled: Family::default(),
        };
        let Self {
            registry,
            appends,
            opened,
            resolved,
            waited,
            decisions,
            runs_started,
            runs_ended,
            model_calls,
            tokens,
            tool_calls,
            deliveries,
            channels_disabled,
        } = &mut metrics;
        registry.register("appends", "Transactions of the journal", appends.clone());
        registry.register("interrupts_opened", "Interrupts opened", opened.clone());
        registry.register("interrupts_resolved", "Interrupts resolved", resolved.clone());
        registry.register(
            "interrupt_waiting_seconds",
            "Time from the opening of an interrupt to its resolution",
            waited.clone(),
        );
        registry.register("decisions", "Decisions by people, including votes", decisions.clone());
        registry.register("runs_started", "Runs started", runs_started.clone());
        registry.register("runs_ended", "Runs that ended", runs_ended.clone());
        registry.register("model_calls", "Requests to models, by outcome", model_calls.clone());
        registry.register("model_tokens", "Input and output tokens of models", tokens.clone());
        registry.register("tool_calls", "Tool calls started", tool_calls.clone());
        registry.register("deliveries", "Notification delivery attempts, by outcome", deliveries.clone());
        registry.register(
            "channels_disabled",
            "Channels that were disabled because their deliveries failed for too long",
            channels_disabled.clone(),
        );
        metrics
    }
}

impl Metrics {
    /// Returns the registry with all metrics.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    pub(crate) fn delivered(&self, channel: &str, outcome: &str) {
        let labels = [("channel", channel.to_owned()), ("outcome", outcome.to_owned())];
        self.deliveries.get_or_create(&labels).inc();
    }

    pub(crate) fn channel_disabled(&self, channel: &str) {
        self.channels_disabled.get_or_create(&[("channel", channel.to_owned())]).inc();
    }

    /// Counts one append, whatever it contains.
    pub(crate) fn appended(&self) {
        self.appends.inc();
    }

    /// Counts committed events of a run. `run` is the state of the run after these events were applied.
    pub(crate) fn committed(&self, events: &[Event], run: &Run) {
        self.appended();
        for event in events {
            let Fact::Run(fact) = &event.fact else { continue };
            match fact {
                Of::InterruptOpened(opened) => {
                    self.opened.get_or_create(&[("kind", opened.kind.as_str().to_owned())]).inc();
                }
                Of::InterruptResolved { interrupt, outcome, .. } => {
                    let Some(found) = run.interrupts.get(interrupt) else { continue };
                    let kind = ("kind", found.opened.kind.as_str().to_owned());
                    self.resolved
                        .get_or_create(&[kind.clone(), ("outcome", outcome_label(*outcome).to_owned())])
                        .inc();
                    let waited = event.at.as_millis().saturating_sub(found.opened_at.as_millis());
                    self.waited.get_or_create(&[kind]).observe(seconds(waited));
                }
                Of::DecisionMade { interrupt, .. } => {
                    let Some(found) = run.interrupts.get(interrupt) else { continue };
                    self.decisions.get_or_create(&[("kind", found.opened.kind.as_str().to_owned())]).inc();
                }
                Of::RunStarted { .. } => {
                    self.runs_started.inc();
                }
                Of::RunCompleted { .. } => self.ended("completed"),
                Of::RunFailed { .. } => self.ended("failed"),
                Of::RunCancelled { .. } => self.ended("cancelled"),
                Of::ModelReplied { model, usage, .. } => {
                    self.called("replied");
                    for (direction, tokens) in
                        [("input", usage.input_tokens), ("output", usage.output_tokens)]
                    {
                        let labels = [("model", model.clone()), ("direction", direction.to_owned())];
                        self.tokens.get_or_create(&labels).inc_by(tokens);
                    }
                }
                Of::ModelFailed { .. } => self.called("failed"),
                Of::ModelLost { .. } => self.called("lost"),
                Of::ModelStopped { .. } => self.called("stopped"),
                Of::ToolStarted { .. } => {
                    self.tool_calls.inc();
                }
                _ => {}
            }
        }
    }

    fn ended(&self, outcome: &str) {
        self.runs_ended.get_or_create(&[("outcome", outcome.to_owned())]).inc();
    }

    fn called(&self, outcome: &str) {
        self.model_calls.get_or_create(&[("outcome", outcome.to_owned())]).inc();
    }
}

fn outcome_label(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Approved => "approved",
        Outcome::Rejected => "rejected",
        Outcome::Answered => "answered",
        Outcome::Expired => "expired",
        Outcome::Cancelled => "cancelled",
        Outcome::Superseded => "superseded",
    }
}

/// Converts milliseconds to seconds. The conversion is exact for durations up to a few weeks, which are the only ones
/// used.
#[expect(clippy::cast_precision_loss, reason = "a time for a histogram")]
pub fn seconds(ms: i64) -> f64 {
    ms as f64 / 1_000.0
}
