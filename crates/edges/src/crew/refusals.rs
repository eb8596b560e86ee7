//! Refusals in the words of the source system. Clients of the source system show the member `detail` of an error, and
//! some clients search `detail` for these words (contract D10). Holdshort's details follow these words.

use holdshort_protocol::Code;
use holdshort_web::problem::Refused;

use crate::limits::CREW_TITLE_CHARS;

/// Adds the words for which clients search to the beginning of the error about a caller who is not authenticated.
/// Errors for other reasons, such as a rate limit, are not changed.
pub(super) fn unauthenticated(refused: Refused) -> Refused {
    match refused.code() {
        Code::Unauthenticated | Code::CredentialExpired | Code::AccessEnded => {
            prefixed("Not authenticated", refused)
        }
        _ => refused,
    }
}

/// Adds the words for which clients search to the beginning of the error about a caller without the permission.
pub(super) fn forbidden(refused: Refused) -> Refused {
    if refused.0.status == 403 { prefixed("Access denied", refused) } else { refused }
}

fn prefixed(words: &str, mut refused: Refused) -> Refused {
    if !refused.0.detail.starts_with(words) {
        refused.0.detail = format!("{words}: {}", refused.0.detail);
    }
    refused
}

pub(super) fn no_task(id: &str) -> Refused {
    not_found(&format!("Task '{}'", quoted(id)))
}

pub(super) fn no_review(id: &str) -> Refused {
    not_found(&format!("Review {}", quoted(id)))
}

pub(super) fn no_webhook(id: &str) -> Refused {
    not_found(&format!("Webhook {}", quoted(id)))
}

pub(super) fn no_delivery(id: &str) -> Refused {
    not_found(&format!("Delivery {}", quoted(id)))
}

pub(super) fn no_agent(id: &str) -> Refused {
    not_found(&format!("Agent '{}'", quoted(id)))
}

pub(super) fn no_crew(name: &str, known: &[&str]) -> Refused {
    let known = known.join(", ");
    Refused::new(Code::NotFound, format!("Crew '{}' not found. Available crews: {known}", quoted(name)))
}

pub(super) fn no_review_of_task(id: &str) -> Refused {
    Refused::new(Code::NotFound, format!("No compliance review found for task '{id}'"))
}

/// Returns the error message of a task whose review was rejected with these comments.
pub(super) fn rejected(comments: Option<&str>) -> String {
    format!("Compliance review rejected: {}", comments.unwrap_or("No comments provided"))
}

/// Returns the error message of a task whose review was not decided in time.
pub(super) fn expired(review: &str) -> String {
    format!("Compliance review {review} has expired: nobody decided in time")
}

/// Returns the error for a decision on a task that has no open review. `state` is the state of the task in lower case.
pub(super) fn not_paused(id: &str, state: &str) -> Refused {
    let why = format!("Task '{id}' is not paused (current state: {state}): it has no open review");
    Refused::new(Code::AlreadyResolved, why)
}

/// Returns the error for findings about a task that has already ended.
pub(super) fn has_ended(id: &str, state: &str) -> Refused {
    Refused::new(Code::RunEnded, format!("Cannot pause task '{id}' in state '{state}'"))
}

fn not_found(what: &str) -> Refused {
    Refused::new(Code::NotFound, format!("{what} not found"))
}

/// Returns the first characters of a name or id that a client sent, for use in an error.
fn quoted(text: &str) -> String {
    let begins: String = text.chars().take(CREW_TITLE_CHARS).collect();
    let cut = if begins.len() < text.len() { "…" } else { "" };
    format!("{begins}{cut}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_begin_with_the_words_of_the_source_system() {
        let table = [
            (
                unauthenticated(Refused::new(Code::Unauthenticated, "send one token")),
                "Not authenticated: send one token",
            ),
            (unauthenticated(Refused::new(Code::TooManyRequests, "later")), "later"),
            (forbidden(Refused::new(Code::ForbiddenRole, "not yours")), "Access denied: not yours"),
            (
                forbidden(forbidden(Refused::new(Code::ForbiddenRole, "not yours"))),
                "Access denied: not yours",
            ),
            (forbidden(Refused::new(Code::NotFound, "nothing")), "nothing"),
            (no_task("t1"), "Task 't1' not found"),
            (no_crew("x", &["a", "b"]), "Crew 'x' not found. Available crews: a, b"),
            (
                not_paused("t1", "running"),
                "Task 't1' is not paused (current state: running): it has no open review",
            ),
        ];
        for (refused, detail) in table {
            assert_eq!(refused.0.detail, detail);
        }
        assert!(no_task(&"ä".repeat(10_000)).0.detail.len() < 1_000);
    }
}
