"""A client of the compliance crew: starts a crew, shows what waits, decides, and checks what its webhooks are sent.

    HOLDSHORT_URL=http://127.0.0.1:7349 HOLDSHORT_TOKEN=… python3 client.py run compliance '{"case": "T123"}'
    python3 client.py status TASK | review TASK | reviews | wait TASK
    python3 client.py approve TASK "comments" REVIEW | reject TASK "comments" REVIEW
    python3 client.py webhooks | register NAME URL [SECRET] | unregister WEBHOOK
    python3 client.py verify HEADERS.json BODY        the secret stands in WEBHOOK_SECRET

REVIEW is the `review_id` that was looked at: an answer that is sent again decides on no other one.
Python 3.9 or later, and nothing else. Every answer is JSON on standard output; a refusal is told on standard error, and
ends with exit code 1.
"""

import base64
import binascii
import hashlib
import hmac
import http.client
import inspect
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

# How old a webhook may be, in seconds: an older one was kept by somebody and sent again.
TOLERANCE = 300


class Refused(Exception):
    """What the server refuses: its status, why in words, and after how many seconds to come back."""

    def __init__(self, status, detail, retry_after=None):
        super().__init__(detail)
        self.status, self.retry_after = status, retry_after


class Crew:
    """`url` is that of the server, `token` a person's or, for `pause`, that of a service."""

    def __init__(self, url, token):
        self.base, self.token = url.rstrip("/") + "/edges/crew/api/v1", token

    def call(self, method, path, body=None):
        request = urllib.request.Request(self.base + path, method=method)
        request.add_header("Authorization", f"Bearer {self.token}")
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            try:
                detail = json.load(error)["detail"]
            except (ValueError, KeyError, TypeError, OSError, http.client.HTTPException):
                detail = error.reason
            raise Refused(error.code, detail, error.headers.get("Retry-After")) from None

    def run(self, crew, inputs=None, background=False):
        """Answers when the task has ended or waits for somebody; in the background at once."""
        body = {"crew_name": crew, "inputs": inputs or {}, "async_execution": background}
        return self.call("POST", "/crew/run", body)

    def status(self, task):
        return self.call("GET", f"/crew/status/{task}")

    def wait(self, task, pause_s=1.0):
        """Asks again until the task waits for a reviewer or has ended."""
        while (shown := self.status(task))["state"] in ("pending", "running"):
            time.sleep(pause_s)
        return shown

    def review(self, task):
        return self.call("GET", f"/crew/review/{task}")

    def reviews(self, status="pending"):
        return self.call("GET", f"/crew/reviews?{urllib.parse.urlencode({'status': status})}")

    def pause(self, task, findings, risk_level, implications=()):
        body = {"findings": findings, "risk_level": risk_level, "regulatory_implications": list(implications)}
        return self.call("POST", f"/crew/pause/{task}", body)

    def approve(self, task, comments="", review=None):
        return self.resume(task, "approved", comments, review)

    def reject(self, task, comments="", review=None):
        return self.resume(task, "rejected", comments, review)

    def resume(self, task, status, comments="", review=None):
        """`review`: the one that was seen. Without it only a task that had no other review is decided on."""
        body = {"status": status, "comments": comments, "review_id": review}
        return self.call("POST", f"/crew/resume/{task}", body)

    def webhooks(self):
        return self.call("GET", "/webhooks")

    def register(self, name, url, secret=None):
        body = {"name": name, "type": "custom_url", "url": url, "active": True}
        return self.call("POST", "/webhooks/register", body if secret is None else {**body, "secret": secret})

    def unregister(self, webhook):
        return self.call("DELETE", f"/webhooks/{webhook}")


def key_of(secret):
    """That of Standard Webhooks: `whsec_` and base64. Any other text is a key as it is written."""
    try:
        key = base64.b64decode(secret[len("whsec_"):] if secret.startswith("whsec_") else "", validate=True)
    except (binascii.Error, ValueError):
        key = b""
    return key if 24 <= len(key) <= 64 else secret.encode()


def verify(secret, headers, body, now=None):
    """The JSON of a webhook, or ValueError. `body`: the bytes as they came. Keep `event_id`, and take none twice.

    The signature is that of Standard Webhooks: over id, time and body, so that none of them can be another.
    """
    headers = {name.lower(): value for name, value in headers.items()}
    try:
        signed_at, signatures = int(headers["webhook-timestamp"]), headers["webhook-signature"].split()
        signed = f"{headers['webhook-id']}.{signed_at}.".encode() + body
    except (KeyError, ValueError):
        raise ValueError("it is not signed") from None
    if abs((time.time() if now is None else now) - signed_at) > TOLERANCE:
        raise ValueError("it is too old, or of a clock that is wrong")
    expected = "v1," + base64.b64encode(hmac.new(key_of(secret), signed, hashlib.sha256).digest()).decode()
    if not any(hmac.compare_digest(expected.encode(), each.encode()) for each in signatures):
        raise ValueError("the signature is not of this secret")
    return json.loads(body)


VERBS = ("run", "status", "wait", "review", "reviews", "approve", "reject", "webhooks", "register", "unregister")


def setting(name):
    if not os.environ.get(name):
        raise ValueError(f"{name} is not set")
    return os.environ[name]


def verify_files(headers, body):
    with open(headers, encoding="utf-8") as headers, open(body, "rb") as body:
        return verify(setting("WEBHOOK_SECRET"), json.load(headers), body.read())


def main(verb=None, *rest):
    if verb == "verify":
        does = verify_files
    elif verb in VERBS:
        does = getattr(Crew(setting("HOLDSHORT_URL"), setting("HOLDSHORT_TOKEN")), verb)
    else:
        raise SystemExit(__doc__)
    try:
        inspect.signature(does).bind(*rest)
    except TypeError as error:
        raise ValueError(f"{verb}: {error}; without arguments this says how it is called") from None
    if verb == "run" and len(rest) > 1:
        rest = (rest[0], json.loads(rest[1]), *rest[2:])
    return does(*rest)


if __name__ == "__main__":
    try:
        print(json.dumps(main(*sys.argv[1:]), indent=2))
    # Whatever the network, the files and the server bring: one line, and exit code 1.
    except (Refused, ValueError, OSError, http.client.HTTPException) as error:
        what = error.status if isinstance(error, Refused) else "refused" if isinstance(error, ValueError) else "failed"
        why = error.reason if isinstance(error, urllib.error.URLError) else error
        sys.exit(f"{what}: {' '.join(str(why).split())}")
