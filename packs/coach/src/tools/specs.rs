//! Descriptions of the coach's tools for models: names, texts, and JSON Schemas of the parameters.

use holdshort_core::tool::Spec;
use holdshort_tools::reading_tool;
use serde_json::json;

use super::SERIES;
use super::planned::MOST_HOURS;
use crate::limits::PLANNED_WEEKS;

/// Returns the descriptions of the coach's tools, which only read the training data in the workspace.
pub(super) fn specs() -> Vec<Spec> {
    let given = |name: &str, of: &str| {
        let description = format!(
            "Returns {of}, from the training data in the workspace. Every value has its unit and its source. \
             Lists the metrics that can be computed."
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
    let metric = format!(
        "Computes a metric of the training data. Never compute a metric yourself.\n{}",
        listed.join("\n")
    );
    vec![
        given("read_load_data", "training load and fitness, week by week"),
        given("read_activity_data", "the activities, one by one"),
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
                    "description": "Parameters of the metric, listed in brackets. `as_of` is a day such as \
                                    2026-03-01; default: today. `scale` is trimp, tss or \
                                    session_rpe.",
                },
            }),
        ),
        reading_tool(
            "plot_series",
            "Adds a chart of a series of the training data to the report.".into(),
            &["series", "title"],
            &json!({
                "series": {"enum": SERIES, "description": "What to draw."},
                "title": {"type": "string", "minLength": 1, "maxLength": 200, "description": "What it shows."},
            }),
        ),
        reading_tool(
            "plan_weeks",
            "Adds a chart of your planned weeks next to the past weeks to the report. Name all weeks in one \
             call. A later call replaces only the weeks that it names."
                .into(),
            &["weeks"],
            &json!({
                "weeks": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": PLANNED_WEEKS,
                    "description": "Planned weeks. Each week may occur only once.",
                    "items": {
                        "type": "object",
                        "required": ["begins", "hours"],
                        "additionalProperties": false,
                        "properties": {
                            "begins": {"type": "string", "format": "date", "description": "Monday of the week, such as 2026-03-02."},
                            "hours": {
                                "type": "number",
                                "minimum": 0,
                                "maximum": MOST_HOURS,
                                "description": "Total hours of training in the week, over all sports.",
                            },
                        },
                    },
                },
            }),
        ),
    ]
}
