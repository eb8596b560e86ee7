//! Totals of a run so far: work done, token usage and cost. When the run fails or reaches a limit, people see the
//! totals, so that they can decide whether a retry is worthwhile.

use serde_json::{Value, json};

use super::{Run, Spent, StepEnd};
use crate::message::Usage;
use crate::pricing::{self, Cost, DEFAULT, ModelTerms, Price};
use crate::time::{Timestamp, format_duration};

impl Run {
    /// Returns the totals of the run so far, both as data for the payload of a card and as text.
    pub(super) fn spent_so_far(&self, now: Timestamp) -> (Value, String) {
        let Spent { requests, calls, tokens, cost, .. } = self.spent;
        let done = |end: Option<StepEnd>| end == Some(StepEnd::Completed);
        let steps = self.steps.values().filter(|step| done(step.end) && !step.role.is_aside()).count();
        let ms = self.started.as_ref().map_or(0, |started| now.ms_since(started.at));
        let mut value = json!({
            "steps_done": steps, "calls": calls, "requests": requests, "tokens": tokens, "ms": ms,
        });
        let mut paid = String::new();
        if let Some(currency) = self.currency() {
            let amount = pricing::amount(cost.millionths());
            paid = format!(", {amount} {currency}");
            value["cost"] = json!({ "amount": amount, "currency": currency });
        }
        let words = format!(
            "So far: {}, {}, {}, {tokens} tokens{paid}, {}.",
            counted(steps as u64, "step done", "steps done"),
            counted(calls, "call made", "calls made"),
            counted(requests, "reply of a model", "replies of models"),
            format_duration(ms),
        );
        (value, words)
    }

    /// Returns the cost and the currency of a model reply in the step `step`. `None` if the workflow has no price for
    /// the model that answered.
    pub fn cost_of(&self, step: &str, answered: &str, usage: Usage) -> Option<(Cost, String)> {
        let terms = self.terms(self.model_of(step).as_deref(), Some(answered))?;
        terms.price.as_ref().map(|price| (price.cost(usage), price.currency.clone()))
    }

    /// Returns the prices and the context window that the workflow defines for a model. If the request named a model,
    /// that model is looked up. If not, the model that replied is looked up. If the workflow does not define this
    /// model, returns the values of the default model.
    pub(super) fn terms(&self, named: Option<&str>, answered: Option<&str>) -> Option<&ModelTerms> {
        let models = &self.definition.models;
        match named {
            Some(named) => models.get(named),
            None => answered.and_then(|answered| models.get(answered)).or_else(|| models.get(DEFAULT)),
        }
    }

    pub(super) fn prices(&self) -> impl Iterator<Item = &Price> {
        self.definition.models.values().filter_map(|terms| terms.price.as_ref())
    }

    /// Returns the currency in which the workflow states all its prices. `None` if the workflow has no prices.
    pub fn currency(&self) -> Option<&str> {
        self.prices().next().map(|price| price.currency.as_str())
    }

    /// Formats the value of a step's limit for people.
    pub(super) fn limit_amount(&self, limit: &str, value: u64) -> String {
        match self.currency().filter(|_| limit == "budget_money") {
            Some(currency) => format!("{} {currency}", pricing::amount(value)),
            None => value.to_string(),
        }
    }
}

fn counted(n: u64, one: &str, more: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { more })
}
