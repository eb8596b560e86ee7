// Verifies a webhook with the reference library of Standard Webhooks: JSON on standard input, `valid` or `invalid` back.

import { readFileSync } from "node:fs";
import { Webhook, WebhookVerificationError } from "standardwebhooks";

const { secret, headers, body } = JSON.parse(readFileSync(0, "utf8"));
try {
  new Webhook(secret).verify(body, headers);
  console.log("valid");
} catch (error) {
  if (!(error instanceof WebhookVerificationError)) throw error;
  console.log("invalid");
}
