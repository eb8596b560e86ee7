//! The HTTP kit: authenticates callers, limits requests, parses requests into types, and builds responses.
//!
//! The native API (`server`) and the edges (`edges`) are built with this crate. This crate must not depend on any route
//! or wire format. A handler receives its state ([`app::App`]) only from an extractor of [`auth`], together with the
//! authenticated caller.
//!
//! | content | module |
//! |---|---|
//! | the caller and their rights | [`auth`], [`needs`]; [`access`]: when a caller's access ends; [`sign_in`] at a
//! provider; [`identity`]: principals, issuers and providers; `tokens`, `logins`, `links`, `seal`, `secrets`; `guard`
//! checks Host and Origin ([`cors`]: pages that may call an edge, [`edge_page`]: a page that may use an edge with a
//! cookie), [`public_endpoint`] knows the public address and the proxies |
//! | bodies, queries, keys, the trace of a request | [`body`], [`query`], [`idempotency`], [`trace_context`], `accept`
//! |
//! | refusals: problem+json; the id of a request | [`problem`]; `request_id` |
//! | limits of bytes, times, rates, connections | [`limits`], [`pace`], [`rate`], [`quota`], [`connections`],
//! `patient_stream` |
//! | the connection of a client that runs a call | [`call_claims`] |
//! | the process at the other end of a connection | [`peer_process`] |
//! | channels registered over the API; callbacks of agents; retries of deliveries | [`webhooks`]; [`callbacks`];
//! [`deliveries`] |
//! | secrets of other systems, outside the journal | [`secret_store`] |
//! | one WebSocket connection | [`websocket`] |
//! | the events for one follower, and their SSE stream | [`feed`] |
//! | conversion of the journal's types to types of the API | [`view`]; [`decide`] and [`wait`] respond with a view |

pub mod accept;
pub mod access;
pub mod app;
pub mod auth;
pub mod body;
pub mod call_claims;
pub mod callbacks;
pub mod connections;
pub mod cors;
pub mod decide;
pub mod deliveries;
pub mod edge_page;
pub mod feed;
pub mod guard;
pub mod idempotency;
pub mod identity;
pub mod interrupt_ref;
pub mod limits;
pub mod links;
pub mod logins;
pub mod needs;
pub mod pace;
pub mod patient_stream;
pub mod peer_process;
pub mod problem;
pub mod public_endpoint;
pub mod push;
pub mod query;
pub mod quota;
pub mod rate;
mod request_id;
pub mod route_limit;
pub mod seal;
pub mod secret_store;
pub mod secrets;
pub mod sign_in;
pub mod tokens;
pub mod trace_context;
pub mod view;
pub mod wait;
pub mod webhooks;
pub mod websocket;
