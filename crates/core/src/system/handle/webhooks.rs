//! Registration of webhooks.

use crate::id::WebhookId;
use crate::limits::{NAME_BYTES, WEBHOOKS};
use crate::name::is_name;
use crate::schema::Problem;
use crate::system::webhooks::Webhook;
use crate::system::{Fact, Rejection, System};

impl System {
    pub(super) fn register_webhook(&self, id: WebhookId, webhook: Webhook) -> Result<Fact, Rejection> {
        let mut problems = Vec::new();
        for (pointer, text) in [("/name", &webhook.name), ("/url", &webhook.host)] {
            if !is_name(text, NAME_BYTES) {
                problems.push(Problem::new(pointer, "is empty, too long, or contains invisible characters"));
            }
        }
        if self.webhooks.values().any(|known| known.is.name == webhook.name) {
            problems.push(Problem::new("/name", format!("`{}` is already registered", webhook.name)));
        }
        if self.webhooks.len() >= WEBHOOKS {
            problems.push(Problem::new("", format!("{WEBHOOKS} webhooks are registered: remove one first")));
        }
        if !problems.is_empty() {
            return Err(Rejection::Invalid(problems));
        }
        Ok(Fact::WebhookRegistered { webhook: id, is: webhook })
    }

    pub(super) fn remove_webhook(&self, webhook: WebhookId) -> Result<Fact, Rejection> {
        if self.webhooks.contains_key(&webhook) {
            Ok(Fact::WebhookRemoved { webhook })
        } else {
            Err(Rejection::UnknownWebhook)
        }
    }
}
