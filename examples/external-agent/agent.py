#!/usr/bin/env python3
"""An agent of any framework holds short: it asks a person through Holdshort and waits for the decision."""

import hashlib
import json
import os
import sys
import urllib.request
import uuid

URL = os.environ.get("HOLDSHORT_URL", "http://127.0.0.1:7349")
TOKEN = os.environ["HOLDSHORT_AGENT_TOKEN"]


def call(method, path, body=None, headers=None):
    request = urllib.request.Request(URL + path, method=method, data=body and json.dumps(body).encode())
    for name, value in {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", **(headers or {})}.items():
        request.add_header(name, value)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


# Under the same key the question is asked once, however often this is sent: keep it with your task.
key = sys.argv[1] if len(sys.argv) > 1 else str(uuid.uuid4())
interrupt = call("POST", "/v1/interrupts", headers={"Idempotency-Key": key}, body={
    "kind": "tool_approval",
    "title": "Delete 41 merged branches",
    "message": "All of them are merged into main; the newest is 90 days old.",
    "payload": {"tool": "git", "arguments": {"branches": 41}},
})
print(f"holding short: {interrupt['id']}", file=sys.stderr, flush=True)

while interrupt["status"] == "open":  # nothing is lost if this stops here and starts again
    interrupt = call("GET", f"/v1/interrupts/{interrupt['id']}?wait=25")

print(json.dumps(interrupt["resolution"]))
if interrupt["resolution"]["outcome"] != "approved":
    sys.exit(1)

# What is done is what was approved: the payload, or what a person made of it. Its digest is that of canonical JSON
# (RFC 8785), which this is as long as there are no fractions and the names of members are ASCII.
approved = interrupt["approval"].get("approved", interrupt["payload"])
canonical = json.dumps(approved, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
digest = hashlib.sha256(canonical.encode()).hexdigest()
# Once, and only once. The same key again is answered alike, so a crash in between does no harm; anybody else gets 409.
used = call("POST", f"/v1/interrupts/{interrupt['id']}/consume", {"digest": digest}, {"Idempotency-Key": key})
print(f"used at {used['used_at']}: {json.dumps(used['approved'])}", file=sys.stderr)
