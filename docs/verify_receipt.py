#!/usr/bin/env python3
"""Checks a receipt without Holdshort: python3 verify_receipt.py RECEIPT.json KEY INTERRUPT
KEY is the key that you kept, as `holdshort audit checkpoint` told it. Standard library only."""
import base64, datetime, hashlib, json, sys
p, q = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493  # Ed25519 (RFC 8032, 5.1), extended coordinates
d = -121665 * pow(121666, -1, p) % p

def need(holds, otherwise):  # Not `assert`: Python leaves that out when it optimises.
    if not holds: sys.exit(f"bad: {otherwise}")
def add(a, b):
    e, f = (a[1] - a[0]) * (b[1] - b[0]) % p, (a[1] + a[0]) * (b[1] + b[0]) % p
    g, h = 2 * a[3] * b[3] * d % p, 2 * a[2] * b[2] % p
    return (f - e) * (h - g) % p, (h + g) * (f + e) % p, (h - g) * (h + g) % p, (f - e) * (f + e) % p
def times(n, a):
    total = (0, 1, 1, 0)
    while n: total, a, n = add(total, a) if n & 1 else total, add(a, a), n >> 1
    return total
def point(data):
    y = int.from_bytes(data, "little") & (1 << 255) - 1
    square = (y * y - 1) * pow(d * y * y + 1, -1, p) % p
    x = pow(square, (p + 3) // 8, p)
    x = x if (x * x - square) % p == 0 else x * pow(2, (p - 1) // 4, p) % p
    need(len(data) == 32 and y < p and (x * x - square) % p == 0, "a key or a signature is no point of the curve")
    x = x if x & 1 == data[31] >> 7 else p - x
    return x, y, 1, x * y % p
def is_signed(key, text, signature):
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    n = int.from_bytes(hashlib.sha512(r + key + text).digest(), "little") % q
    a, b = times(s, point(bytes([0x58] + [0x66] * 31))), add(point(r), times(n, point(key)))
    return len(signature) == 64 and s < q and all((a[i] * b[2] - b[i] * a[2]) % p == 0 for i in (0, 1))
def sha256(*parts): return hashlib.sha256(b"".join(parts)).digest()
def root(leaf, index, last, path):  # RFC 9162, 2.1.3.2
    node = sha256(b"\0", leaf)
    for other in path:
        need(last, "a path is too long")
        node = sha256(b"\1", other, node) if index & 1 or index == last else sha256(b"\1", node, other)
        while index == last and not index & 1: index, last = index >> 1, last >> 1
        index, last = index >> 1, last >> 1
    return node if last == 0 else None

receipt, (name, _, key), interrupt = json.load(open(sys.argv[1])), sys.argv[2].split("+", 2), sys.argv[3]
text, _, line = receipt["checkpoint"]["note"].partition("\n\n")
need(is_signed(base64.b64decode(key)[1:], (text + "\n").encode(), base64.b64decode(line.split()[2])[4:]), "the checkpoint is not signed with this key")
origin, size, top = text.split("\n")[:3]
need(origin == name, "the checkpoint is of another journal")
call, run = None, json.loads(receipt["events"][0]["head"])["stream"]
for event in receipt["events"]:
    head, previous = event["head"].encode(), bytes.fromhex(event["previous"])
    said, path = json.loads(head), [bytes.fromhex(each) for each in event["path"]]
    facts, where = said.get("facts", {}), f"{said['stream']}/{said['seq']}"
    need(root(sha256(previous, head), event["index"], int(size) - 1, path) == base64.b64decode(top), f"{where} is not in the journal")
    call = facts["about"].get("call") if facts.get("interrupt") == interrupt and isinstance(facts.get("about"), dict) else call
    of_it = facts.get("interrupt") == interrupt or (call and facts.get("call") == call) or said["seq"] == 1
    need(of_it and said["stream"] == run, f"{where} is about something else")
    if "content" in event:
        digest = sha256(bytes.fromhex(event["salt"]), event["content"].encode()).hex()
        need(digest == said["content_digest"], f"the content of {where} was changed")
    at = datetime.datetime.fromtimestamp(said["at"] / 1000, datetime.timezone.utc).isoformat(timespec="milliseconds")
    print(f"{at}  {said['type']}  by {said['actor']['id']}  {event.get('content', '(no content)')[:100]}")
print(f"good: {len(receipt['events'])} events of {interrupt}, in the journal {origin} of {size} events")
