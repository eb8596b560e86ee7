//! Output and input for a person: cards, lines, progress, prompts.
//!
//! All text from agents is made safe to print by `plain` of the crate `protocol`. Start reading at `follow.rs`.

/// Remark about a run whose agents replay a script instead of calling a model.
pub(crate) const REHEARSES: &str = "A rehearsal: the agents' words are scripted.";

pub(crate) mod card;
pub(crate) mod chat;
pub(crate) mod diff;
pub(crate) mod earlier_answers;
pub(crate) mod edit;
pub(crate) mod follow;
mod help;
pub(crate) mod input;
mod kill_switch;
mod naming;
pub(crate) mod paint;
pub(crate) mod plan;
mod progress;
pub(crate) mod projector;
pub(crate) mod prompt;
mod quote;
mod reply_flaws;
mod signals;
mod team;
#[cfg(test)]
pub(crate) mod test;
pub(crate) mod time;
