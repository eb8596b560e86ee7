//! The server: the native API over HTTP, its streams, and the pages without scripts.
//!
//! Combines the crates `web` (HTTP), `edges` (foreign protocols) and `ui` (the browser app) into one HTTP service. The
//! server makes no decisions about runs: the engine's driver calls `core`, which decides. Every response about the
//! state of a run is read from the journal. Therefore a broken connection causes no loss of data. Begin to read at
//! `server.rs`, then `routes/mod.rs`.

mod asyncapi;
mod card;
mod checkpoint_key;
mod checkpoints;
mod configured;
mod convert;
mod library;
mod mcp;
mod notification_pages;
mod openapi;
mod packs;
mod pages;
pub mod reading;
mod routes;
mod server;
mod serving;
mod slack;
mod socket;
mod tls;
mod vapid_key;

pub use asyncapi::asyncapi;
pub use checkpoints::{CHECKPOINT_EVERY_MS, KeepCheckpoints};
pub use configured::check;
pub use holdshort_edges::crew::{CaseError, ReadCase, Settings as Crew, SettingsError as CrewSettingsError};
pub use holdshort_edges::mars_page;
pub use holdshort_engine::traces::{Malformed as MalformedHeader, Settings as Otlp, headers as otlp_headers};
pub use holdshort_web::callbacks::{Reach as CallbackReach, Settings as Callbacks};
pub use holdshort_web::cors::Cors;
pub use holdshort_web::edge_page::EdgePage;
pub use holdshort_web::identity::{jwt, oidc};
pub use holdshort_web::limits::AGENT_REQUESTS;
pub use holdshort_web::pace::Pace;
pub use holdshort_web::public_endpoint::{Proxies, PublicEndpoint, PublicUrl, TlsFiles, network};
pub use holdshort_web::quota::PerMinute;
pub use library::{
    Checked, Error as WorkflowsError, check as check_workflows, open as open_workflows, people,
};
pub use openapi::openapi;
pub use packs::Packs;
pub use routes::audit::{journal_head, verification};
pub use server::{Options, Server, StartError, Tuning, start, start_tuned};
pub use tls::tls_problem;
