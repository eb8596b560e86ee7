//! The files of the coach's workflow in the binary, including the sample for a demo.

use holdshort_workflow::Shipped;

use crate::WORKFLOW;

pub(crate) static SHIPPED: [Shipped; 1] = [Shipped {
    name: WORKFLOW,
    aliases: &[],
    shows: "Analysts read training data and ask you what it does not show. Every number comes from a tool.",
    sample_is: "a generated season of a runner",
    folder: "training",
    workflow: include_str!("../workflows/coach/workflow.yaml"),
    rehearsal: Some(include_str!("../workflows/coach/rehearsal.yaml")),
    readme: include_str!("../workflows/coach/README.md"),
    input: include_str!("../workflows/coach/input.json"),
    sample: &[
        ("activities/easy-run.gpx", include_bytes!("../workflows/coach/sample/activities/easy-run.gpx")),
        ("activities/intervals.fit", include_bytes!("../workflows/coach/sample/activities/intervals.fit")),
        ("activities/long-ride.tcx", include_bytes!("../workflows/coach/sample/activities/long-ride.tcx")),
        ("activities/long-run.fit", include_bytes!("../workflows/coach/sample/activities/long-run.fit")),
        ("days.csv", include_bytes!("../workflows/coach/sample/days.csv")),
        ("log.csv", include_bytes!("../workflows/coach/sample/log.csv")),
        ("platform.json", include_bytes!("../workflows/coach/sample/platform.json")),
    ],
}];
