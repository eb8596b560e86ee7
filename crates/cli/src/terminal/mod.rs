//! What a person sees and types: cards, lines, progress, prompts.
//!
//! Whatever agents wrote passes through `escape` before it reaches the terminal. Start at `follow.rs`.

pub(crate) mod card;
mod diff;
pub(crate) mod edit;
pub(crate) mod escape;
pub(crate) mod follow;
pub(crate) mod grant;
mod help;
mod input;
pub(crate) mod paint;
mod progress;
mod prompt;
mod quote;
pub(crate) mod story;
#[cfg(test)]
pub(crate) mod test;
