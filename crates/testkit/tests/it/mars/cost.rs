//! Cost in this protocol: computed from the prices in the workflow, in numbers that are never null (contracts A28,
//! A32).

use holdshort_testkit::model::ScriptedModel;
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

use super::tabs::get;
use super::{Mars, check_invariants};
use crate::play::{count, done, one};

/// Workflow that the MARS edge runs.
const BASE: &str = include_str!("../../../../edges/src/mars/base.yaml");

/// Runs a task with two replies. Each reply reports 100 input tokens and 10 output tokens. Returns the cost frames, the
/// cost tab, and the cost of the run.
async fn paid(models: &str) -> (Vec<Value>, Value, Value) {
    let model = ScriptedModel::start().await;
    model.script("engineer", [one(count("a")), done()]);
    let setup = TestServer::setup().workflow("mars", &format!("{BASE}{models}"));
    let server = setup.model(&model).start().await;
    let mut mars = Mars::start(&server, "t1", "Count it.", json!({"mode": "one-shot"})).await;
    mars.wait("workflow_completed").await;
    let told = mars.journal_frames().into_iter().filter(|frame| frame["event_type"] == "cost_update");
    let told = told.map(|frame| frame["data"].clone()).collect();
    check_invariants(&server, &mars).await;
    let run = mars.run();
    (told, get(&server, &format!("runs/{run}/costs")).await, server.run(&run).await["cost"].clone())
}

fn dollars(told: &[Value]) -> Vec<(Option<f64>, Option<f64>)> {
    told.iter().map(|data| (data["cost_usd"].as_f64(), data["total_cost_usd"].as_f64())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_costs_what_the_workflow_says() {
    let models = "models:\n  default: {price: {input_per_million: \"2.50\", output_per_million: \"10\", currency: USD}}\n";
    let (told, costs, native) = paid(models).await;
    assert_eq!(dollars(&told), [(Some(0.00035), Some(0.00035)), (Some(0.00035), Some(0.0007))], "{told:#?}");
    assert_eq!(told[0]["paid"], json!({"amount": "0.00035", "currency": "USD"}));
    assert_eq!(native["amount"], "0.0007");
    assert_eq!(costs["total_cost_usd"].as_f64(), Some(0.0007), "{costs:#}");
    let totals = ["total_prompt_tokens", "total_completion_tokens", "record_count"].map(|key| &costs[key]);
    assert_eq!(totals, [200, 20, 2].map(Value::from).each_ref(), "{costs:#}");
    for key in ["model_breakdown", "agent_breakdown", "step_breakdown"] {
        let row = &costs[key][0];
        let tokens = ["tokens", "prompt_tokens", "completion_tokens"].map(|key| &row[key]);
        assert_eq!(
            (row["cost"].as_f64(), tokens),
            (Some(0.0007), [220, 200, 20].map(Value::from).each_ref())
        );
    }
}

/// Clients add up dollars, so a cost in a different currency is not part of the sum and is sent separately.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_currency_is_no_dollar() {
    let models = "models:\n  default: {price: {input_per_million: \"2.50\", output_per_million: \"10\", currency: EUR}}\n";
    let (told, costs, _) = paid(models).await;
    assert_eq!(dollars(&told), [(Some(0.0), Some(0.0)); 2], "{told:#?}");
    assert_eq!(told[1]["paid"], json!({"amount": "0.00035", "currency": "EUR"}));
    assert_eq!(costs["total_cost_usd"].as_f64(), Some(0.0));
    assert_eq!(costs["paid"], json!({"amount": "0.0007", "currency": "EUR"}), "{costs:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_price_it_is_zero_and_never_null() {
    let (told, costs, _) = paid("").await;
    assert_eq!(dollars(&told), [(Some(0.0), Some(0.0)); 2], "{told:#?}");
    assert!(told[0].get("paid").is_none() && costs.get("paid").is_none(), "{costs:#}");
    assert_eq!(costs["total_cost_usd"].as_f64(), Some(0.0));
}
