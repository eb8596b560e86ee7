//! List of the runs of a session, which is read from the journal page by page.

use holdshort_core::id::SessionId;
use holdshort_core::projection::RunRow;
use holdshort_store::{RunFilter, Tables};
use holdshort_web::app::App;
use holdshort_web::problem::Answer;

/// Number of runs or sessions that are read in one query.
pub(super) const AT_ONCE: usize = 200;

/// Returns all runs of a workflow in the session, newest first.
pub(super) async fn runs_of(app: &App, id: &SessionId, workflow: &str) -> Answer<Vec<RunRow>> {
    let filter =
        RunFilter { workflow: Some(workflow.to_owned()), session: Some(id.clone()), ..RunFilter::default() };
    let (mut runs, mut cursor) = (Vec::new(), None);
    loop {
        let page = app.journal().runs(&filter, cursor.as_ref(), AT_ONCE).await?;
        runs.extend(page.items);
        cursor = page.next;
        if cursor.is_none() {
            return Ok(runs);
        }
    }
}
