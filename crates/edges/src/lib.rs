//! Compatibility edges: the wire formats of other systems, each below a base of its own, so that a client of theirs
//! needs another address and a token and nothing else.
//!
//! An edge translates names: of frames, kinds, options, states. What it says is a function of the journal, what it
//! is told becomes an input of the core. It holds no state that matters and decides nothing.
//! For all edges `who.rs` reads tokens, `follow.rs` a run's events, `glance.rs` the runs of a list, `change.rs` the
//! change that a request is about, and `assigned.rs` who decides on it; sockets are lines of `web`.

mod assigned;
mod change;
mod codelab;
pub mod crew;
mod follow;
mod glance;
mod limits;
pub mod mars;
mod who;

use axum::Router;
use holdshort_web::auth::AuthState;
use holdshort_web::problem::Answer;

/// What the paths of the crew edge begin with.
pub const CREW: &str = "/edges/crew/";

/// The routes of all edges. `read_case`: reads the case that a task of a crew works on.
pub fn router(crew: crew::Settings, read_case: Option<crew::ReadCase>) -> Router<AuthState> {
    Router::new()
        .nest("/edges/codelab", codelab::router())
        .nest("/edges/crew", crew::router(crew, read_case))
        .nest("/edges/mars", mars::router())
}

/// A message of a `CodeLab` client, as far as it can be understood without its session.
pub fn read_codelab(text: &[u8]) -> Answer<()> {
    codelab::read(text)
}

/// A frame of a MARS client, its config included.
pub fn read_mars(text: &str) -> Answer<()> {
    mars::read(text)
}
