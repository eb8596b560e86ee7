"""Verifies a webhook with the reference library of Standard Webhooks. Reads JSON from standard input and prints `valid` or
`invalid`. If the webhook has no headers, prints its signature instead."""

import datetime
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "node_modules" / ".python"))
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

given = json.load(sys.stdin)
webhook = Webhook(given["secret"])
if "headers" not in given:
    at = datetime.datetime.fromtimestamp(given["timestamp"], datetime.timezone.utc)
    print(webhook.sign(given["id"], at, given["body"]))
    sys.exit()
try:
    webhook.verify(given["body"], given["headers"])
    print("valid")
except WebhookVerificationError:
    print("invalid")
