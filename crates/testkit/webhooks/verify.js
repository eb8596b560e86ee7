// Verifies a webhook with the reference library of Standard Webhooks. Reads JSON from standard input and prints
// `valid` or `invalid`. If the webhook has no headers, prints its signature instead.

import { readFileSync } from "node:fs";
import { Webhook, WebhookVerificationError } from "standardwebhooks";

const { secret, headers, body, id, timestamp } = JSON.parse(readFileSync(0, "utf8"));
const webhook = new Webhook(secret);
try {
  if (headers) {
    webhook.verify(body, headers);
    console.log("valid");
  } else {
    console.log(webhook.sign(id, new Date(timestamp * 1000), body));
  }
} catch (error) {
  if (!(error instanceof WebhookVerificationError)) throw error;
  console.log("invalid");
}
