//! Compatibility edges: the wire formats of other systems. Each edge has its own base path, so their clients need only
//! another address and a token.
//!
//! An edge translates the names of frames, kinds, options and states. Its output is a function of the journal, and its
//! input becomes an input of the core. It keeps no state that must survive and decides nothing.
//! All edges share these files: `credentials.rs` reads tokens, `follow.rs` reads the events of one run, and `run_list.rs` reads
//! the runs of a list. `change.rs` describes the change of a request, and `assignment.rs` describes its approvers.
//! Sockets use the lines of the crate `web`.

mod assignment;
mod change;
mod codelab;
mod credentials;
pub mod crew;
mod follow;
mod limits;
pub mod mars;
mod run_list;

use axum::Router;
use holdshort_web::auth::AuthState;
use holdshort_web::problem::Answer;

/// Path prefix of the crew edge.
pub const CREW: &str = "/edges/crew/";

/// Returns the routes of all edges. `read_case` reads the case of a crew task.
pub fn router(crew: crew::Settings, read_case: Option<crew::ReadCase>) -> Router<AuthState> {
    Router::new()
        .nest("/edges/codelab", codelab::router())
        .nest("/edges/crew", crew::router(crew, read_case))
        .nest("/edges/mars", mars::router())
}

/// Parses a message of a `CodeLab` client, as far as this is possible without its session.
pub fn read_codelab(text: &[u8]) -> Answer<()> {
    codelab::read(text)
}

/// Parses a frame of a MARS client, its config included.
pub fn read_mars(text: &str) -> Answer<()> {
    mars::read(text)
}
