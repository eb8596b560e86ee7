//! The HTTP kit: what comes in is authenticated, measured and typed here, and what goes out is put into words here.
//!
//! The native API (`server`) and the wires of others (`edges`) are made of it; it knows no route and no wire. Handlers
//! get what they work with ([`app::App`]) from an extractor of [`auth`], together with who asks, and never otherwise.
//!
//! | what | module |
//! |---|---|
//! | who asks, what they may do, and how they got in | [`auth`], [`needs`]; [`access`] and when it ends; [`sign_in`] at a provider; [`identity`]: principals, and the issuers and providers that vouch for them; `tokens`, `logins`, `links`, `seal`, `secrets`; `guard` checks Host and Origin ([`cors`]: which pages may call an edge), [`front`] knows the public address and the proxies |
//! | bodies, queries, keys, the trace that a request is in | [`body`], [`query`], [`idempotency`], [`joined`], `accept` |
//! | refusals: problem+json; the id of a request | [`problem`]; `request_id` |
//! | limits of bytes, times, rates, connections | [`limits`], [`pace`], [`rate`], [`quota`], [`connections`], `patient_stream` |
//! | which connection of a client runs a call | [`call_claims`] |
//! | channels that were registered over the API; where agents are told; sending a delivery again | [`webhooks`]; [`callbacks`]; [`deliveries`] |
//! | what lets somebody in elsewhere, beside the journal | [`kept`] |
//! | one WebSocket line | [`line`] |
//! | one follower of events, one SSE line | [`feed`] |
//! | from the journal's types to those of the wire | [`view`]; [`decide`] and [`wait`] answer with it |

pub mod accept;
pub mod access;
pub mod app;
pub mod asked;
pub mod auth;
pub mod body;
pub mod call_claims;
pub mod callbacks;
pub mod connections;
pub mod cors;
pub mod decide;
pub mod deliveries;
pub mod feed;
pub mod front;
pub mod guard;
pub mod idempotency;
pub mod identity;
pub mod joined;
pub mod kept;
pub mod limits;
pub mod links;
pub mod logins;
pub mod needs;
pub mod pace;
pub mod patient_stream;
pub mod problem;
pub mod push;
pub mod query;
pub mod quota;
pub mod rate;
mod request_id;
pub mod route_limit;
pub mod seal;
pub mod secrets;
pub mod sign_in;
pub mod tokens;
pub mod view;
pub mod wait;
pub mod webhooks;
pub mod websocket;
