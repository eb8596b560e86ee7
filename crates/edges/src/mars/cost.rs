//! Tokens and cost of model requests, as numbers that clients can add up (contract A32). The workflow sets the prices.
//! The core calculates exact amounts, and only this file converts them to floating-point numbers.

use holdshort_core::message::Usage;
use holdshort_core::pricing;
use holdshort_core::run::Run;
use serde_json::{Value, json};

use super::history::text;
use super::steps;

/// Currency in which MARS clients expect amounts.
const CLIENTS: &str = "USD";

/// Returns the data of a `cost_update` frame for one model reply. `total_cost_usd` is the cost of the run so far.
pub(super) fn update(run: &Run, step: &str, model: &str, usage: Usage) -> Value {
    let paid = run
        .cost_of(step, model, usage)
        .map(|(cost, currency)| Amount { millionths: cost.millionths(), currency });
    let all = run
        .currency()
        .map(|currency| Amount { millionths: run.spent.cost.millionths(), currency: currency.to_owned() });
    let (input, output) = (usage.input_tokens, usage.output_tokens);
    let mut data = json!({
        "run_id": run.id.as_str(), "step_id": step, "agent": steps::agent(run, step), "model": model,
        "tokens": input + output, "input_tokens": input, "output_tokens": output,
        "cost_usd": dollars(paid.as_ref()), "total_cost_usd": dollars(all.as_ref()),
    });
    if let Some(paid) = paid {
        data["paid"] = paid.to_value();
    }
    data
}

/// Total tokens and cost of several model requests.
#[derive(Default)]
pub(super) struct Cost {
    input: u64,
    output: u64,
    requests: u64,
    paid: Option<Amount>,
    /// Model of the first request that was added to the total.
    pub(super) model: String,
}

impl Cost {
    /// Adds the tokens and cost of one model request. `data` is the data of a `cost_update` frame.
    pub(super) fn add(&mut self, data: &Value) {
        let count = |key: &str| data.get(key).and_then(Value::as_u64).unwrap_or_default();
        if self.requests == 0 {
            text(data, "model").clone_into(&mut self.model);
        }
        self.input += count("input_tokens");
        self.output += count("output_tokens");
        self.requests += 1;
        if let Some(paid) = data.get("paid").and_then(Amount::from_value) {
            let before = self.paid.as_ref().map_or(0, |paid| paid.millionths);
            self.paid = Some(Amount { millionths: before.saturating_add(paid.millionths), ..paid });
        }
    }

    /// Returns the total number of tokens, the number in the prompts, and the number in the completions.
    pub(super) fn tokens(&self) -> [u64; 3] {
        [self.input + self.output, self.input, self.output]
    }

    pub(super) fn requests(&self) -> u64 {
        self.requests
    }

    /// Returns the total cost in US dollars, or 0 if no model request has a price in US dollars.
    pub(super) fn usd(&self) -> f64 {
        dollars(self.paid.as_ref())
    }

    /// Returns the total cost in the workflow's currency, or null if no model request has a price.
    pub(super) fn paid(&self) -> Value {
        self.paid.as_ref().map(|paid| json!({ "paid": paid.to_value() })).unwrap_or_default()
    }

    /// Returns one row of a table that breaks down the cost of a run. Every number is present and not null, because the
    /// client would crash otherwise (contract A33).
    pub(super) fn row(&self, named: &Value) -> Value {
        let [tokens, prompts, completions] = self.tokens();
        let mut row = json!({
            "cost": self.usd(), "tokens": tokens, "prompt_tokens": prompts, "completion_tokens": completions,
            "call_count": self.requests,
        });
        steps::merge(&mut row, &self.paid());
        steps::merge(&mut row, named);
        row
    }
}

/// Amount of money in the currency of the workflow's prices.
struct Amount {
    millionths: u64,
    currency: String,
}

impl Amount {
    fn from_value(value: &Value) -> Option<Self> {
        let millionths = pricing::millionths(text(value, "amount"))?;
        Some(Self { millionths, currency: text(value, "currency").to_owned() })
    }

    fn to_value(&self) -> Value {
        json!({ "amount": pricing::amount(self.millionths), "currency": self.currency })
    }
}

/// Returns an amount of money in US dollars. Returns 0 if the amount is unknown or in a different currency, because
/// clients need a number.
fn dollars(paid: Option<&Amount>) -> f64 {
    let paid = paid.filter(|paid| paid.currency == CLIENTS);
    paid.and_then(|paid| pricing::amount(paid.millionths).parse().ok()).unwrap_or_default()
}
