//! Specs of the coach's tools for models: names, descriptions, JSON Schemas.

use holdshort_core::tool::Spec;
use holdshort_tools::reading_tool;
use serde_json::json;

use super::SERIES;
use super::planned::MOST_HOURS;
use crate::limits::PLANNED_WEEKS;

/// Returns the specs of the tools. They read the training data in the workspace.
pub(super) fn specs() -> Vec<Spec> {
    let given = |name: &str, of: &str| {
        let description = format!(
            "Returns what is known of {of}, from the files of training data in the workspace, with the unit and the source of \
             every value, and names the metrics that can be computed of it."
        );
        reading_tool(name, description, &[], &json!({}))
    };
    let entries = crate::training::catalogue();
    let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
    let listed: Vec<String> = entries
        .iter()
        .map(|entry| {
            let parameters = entry.parameters["properties"].as_object().into_iter().flatten();
            let names: Vec<&str> = parameters.map(|(name, _)| name.as_str()).collect();
            format!("{}({}): {} [{}]", entry.name, names.join(", "), entry.description, entry.unit)
        })
        .collect();
    let metric =
        format!("Computes a metric of the training data. Never compute one yourself.\n{}", listed.join("\n"));
    vec![
        given("read_load_data", "training load, fitness and how they change, week by week"),
        given("read_activity_data", "what was done, activity by activity"),
        given(
            "read_physiology_data",
            "recovery: heart-rate variability, resting heart rate, sleep, stress, weight",
        ),
        reading_tool(
            "compute_metric",
            metric,
            &["metric"],
            &json!({
                "metric": {"enum": names, "description": "Which metric."},
                "parameters": {
                    "type": "object",
                    "description": "Its parameters, those in brackets. `as_of` is a day such as 2026-03-01, and today where \
                                    it is left out; `scale` is trimp, tss or session_rpe.",
                },
            }),
        ),
        reading_tool(
            "plot_series",
            "Has the report draw a series of the training data.".into(),
            &["series", "title"],
            &json!({
                "series": {"enum": SERIES, "description": "What to draw."},
                "title": {"type": "string", "minLength": 1, "maxLength": 200, "description": "What it shows."},
            }),
        ),
        reading_tool(
            "plan_weeks",
            "Has the report draw the weeks that you plan beside those that were done. Name all of them in one call; a later \
             call counts for the weeks that it names."
                .into(),
            &["weeks"],
            &json!({
                "weeks": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": PLANNED_WEEKS,
                    "description": "The weeks, each once.",
                    "items": {
                        "type": "object",
                        "required": ["begins", "hours"],
                        "additionalProperties": false,
                        "properties": {
                            "begins": {"type": "string", "format": "date", "description": "Its Monday, as 2026-03-02."},
                            "hours": {
                                "type": "number",
                                "minimum": 0,
                                "maximum": MOST_HOURS,
                                "description": "Hours of training, of all sports.",
                            },
                        },
                    },
                },
            }),
        ),
    ]
}
