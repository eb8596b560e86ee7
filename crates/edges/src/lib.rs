//! Compatibility edges: routes that use the protocols of other systems (the *source systems*). Each edge serves its
//! routes below its own base path. A client of a source system therefore needs only a different URL and a token.
//!
//! An edge translates the names of frames, of request kinds, of options and of states. The frames that an edge sends
//! about events are computed from the journal alone. Each client message becomes an input of the core, which decides.
//! An edge makes no decisions and stores no state that must survive a restart. All edges share these files:
//! `credentials.rs` reads tokens, `follow.rs` reads the events of one run, and `run_list.rs` loads the runs of a list.
//! `change.rs` describes the change that a request asks to approve, and `assignment.rs` describes the approvers of a
//! request. The sockets of the edges use the WebSocket code of the crate `web`.
//!
//! `hooks/` is not part of a server: the command line uses it to translate the hooks of coding agents. `mcp/` is used by
//! the server and by the command line.

mod assignment;
mod change;
mod codelab;
mod credentials;
pub mod crew;
mod follow;
pub mod hooks;
mod limits;
pub mod mars;
pub mod mcp;
mod run_list;

use axum::Router;
use holdshort_web::auth::AuthState;
use holdshort_web::edge_page::EdgePage;
use holdshort_web::problem::Answer;
use holdshort_web::public_endpoint::PublicUrl;

/// Returns the web page that is allowed to use the MARS edge with a cookie. `url` is the address at which browsers open
/// the web UI of MARS. The server of this UI forwards the requests below `/api` and `/ws` to the edge.
pub fn mars_page(url: &PublicUrl) -> EdgePage {
    url.page_of_edge("/edges/mars/", ["/api", "/ws"])
}

/// Path prefix of the routes of the crew edge.
pub const CREW: &str = "/edges/crew/";

/// Returns the routes of all edges, the compatible APIs for clients of other systems. `read_case` reads the folder of a
/// crew task.
pub fn router(crew: crew::Settings, read_case: Option<crew::ReadCase>) -> Router<AuthState> {
    Router::new()
        .nest("/edges/codelab", codelab::router())
        .nest("/edges/crew", crew::router(crew, read_case))
        .nest("/edges/mars", mars::router())
}

/// Parses a message of a `CodeLab` client. Checks that need the client's session are not made.
pub fn read_codelab(text: &[u8]) -> Answer<()> {
    codelab::read(text)
}

/// Parses a frame of a MARS client and checks the config in this frame.
pub fn read_mars(text: &str) -> Answer<()> {
    mars::read(text)
}
