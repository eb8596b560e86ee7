#!/usr/bin/env python3
"""Checks a receipt without Holdshort: python3 verify_receipt.py RECEIPT.json KEY

KEY is the key that you kept, as `holdshort audit checkpoint` told it. Standard library only."""
import base64, hashlib, json, sys

# Ed25519 (RFC 8032, 5.1), as points in extended coordinates.
p, q = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
d = -121665 * pow(121666, -1, p) % p

def add(a, b):
    e, f = (a[1] - a[0]) * (b[1] - b[0]) % p, (a[1] + a[0]) * (b[1] + b[0]) % p
    g, h = 2 * a[3] * b[3] * d % p, 2 * a[2] * b[2] % p
    return (f - e) * (h - g) % p, (h + g) * (f + e) % p, (h - g) * (h + g) % p, (f - e) * (f + e) % p

def times(n, a):
    total = (0, 1, 1, 0)
    while n:
        total, a, n = add(total, a) if n & 1 else total, add(a, a), n >> 1
    return total

def point(data):
    y, sign = int.from_bytes(data, "little") & (1 << 255) - 1, data[31] >> 7
    square = (y * y - 1) * pow(d * y * y + 1, -1, p) % p
    x = pow(square, (p + 3) // 8, p)
    x = x if (x * x - square) % p == 0 else x * pow(2, (p - 1) // 4, p) % p
    assert y < p and (x * x - square) % p == 0, "no point of the curve"
    x = x if x & 1 == sign else p - x
    return x, y, 1, x * y % p

def is_signed(key, text, signature):
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    n = int.from_bytes(hashlib.sha512(r + key + text).digest(), "little") % q
    a, b = times(s, point(bytes([0x58]) + bytes([0x66]) * 31)), add(point(r), times(n, point(key)))
    return s < q and all((a[i] * b[2] - b[i] * a[2]) % p == 0 for i in (0, 1))

def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()

def root(leaf, index, size, path):  # RFC 9162, 2.1.3.2
    node, last = sha256(b"\0", leaf), size - 1
    for other in path:
        if index & 1 or index == last:
            node = sha256(b"\1", other, node)
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            node = sha256(b"\1", node, other)
        index, last = index >> 1, last >> 1
    assert last == 0, "the path is too short"
    return node

receipt, (name, _, key) = json.load(open(sys.argv[1])), sys.argv[2].split("+", 2)
text, _, line = receipt["checkpoint"]["note"].partition("\n\n")
signature = base64.b64decode(line.split()[2])[4:]
assert is_signed(base64.b64decode(key)[1:], (text + "\n").encode(), signature), "the checkpoint is not signed with this key"
origin, size, top = text.split("\n")[:3]
assert origin == name, "the checkpoint is of another journal"
for event in receipt["events"]:
    head, previous = event["head"].encode(), bytes.fromhex(event["previous"])
    facts, leaf, where = json.loads(head), sha256(previous, head), f"{event['stream']}/{event['seq']}"
    path = [bytes.fromhex(each) for each in event["path"]]
    assert root(leaf, event["index"], int(size), path) == base64.b64decode(top), f"{where} is not in the journal"
    if "content" in event:
        digest = sha256(bytes.fromhex(event["salt"]), event["content"].encode()).hex()
        assert digest == facts["content_digest"], f"the content of {where} was changed"
    said = "" if "content" in event else "  (no content, or erased)" if "content_digest" in facts else ""
    print(f"{facts['at']}  {facts['type']}  by {facts['actor']['id']}{said}")
print(f"good: {len(receipt['events'])} events, in the journal {origin} of {size} events")
