//! MCP server: agents ask people through the tools of a Model Context Protocol server.
//!
//! The server is a client of the agent API: `holdshort mcp` serves it over stdio and sends HTTP requests, and the route
//! `/mcp` passes the same requests to the routes of the server that it is part of. Every request has the credentials of
//! an agent, so this module cannot decide. An elicitation only shows the link to the inbox: the person at the client
//! has not authenticated. Start at `server.rs`, then `waiting.rs`.

mod api;
mod decision;
mod elicitation;
mod permission;
mod request;
mod requests;
mod server;
mod settings;
mod tools;
mod waiting;

pub use api::{AgentApi, ApiRequest, ApiResponse};
pub use server::McpServer;
pub use settings::McpSettings;
