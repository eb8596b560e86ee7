"""Verifies a webhook with the reference library of Standard Webhooks: JSON on standard input, `valid` or `invalid` back."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "node_modules" / ".python"))
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

given = json.load(sys.stdin)
try:
    Webhook(given["secret"]).verify(given["body"], given["headers"])
    print("valid")
except WebhookVerificationError:
    print("invalid")
