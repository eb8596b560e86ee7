#!/usr/bin/env python3
"""Checks a receipt without Holdshort: python3 verify_receipt.py RECEIPT.json KEY INTERRUPT
KEY is the key that you kept, as `holdshort audit checkpoint` told it. Standard library only."""
import base64, datetime, hashlib, json, sys
sys.excepthook = lambda kind, error, _: print(f"bad: no receipt, or no key as it was told ({kind.__name__}: {error})", file=sys.stderr)
p = 2**255 - 19; q, d = 2**252 + 27742317777372353535851937790883648493, -121665 * pow(121666, -1, p) % p  # Ed25519 (RFC 8032, 5.1), extended coordinates
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
need(len(sys.argv) == 4, __doc__)
receipt, (name, _, key), interrupt = json.load(open(sys.argv[1])), sys.argv[2].split("+", 2), sys.argv[3]
text, _, line = receipt["checkpoint"]["note"].partition("\n\n")
need(is_signed(base64.b64decode(key)[1:], (text + "\n").encode(), base64.b64decode(line.split()[2])[4:]), "the checkpoint is not signed with this key")
(origin, size, top), seq, run, call, is_opened = text.split("\n")[:3], 0, None, None, False
need(origin == name, "the checkpoint is of another journal")
for event in receipt["events"]:
    head, previous, index = event["head"].encode(), bytes.fromhex(event["previous"]), event["index"]
    said, path = json.loads(head), [bytes.fromhex(each) for each in event["path"]]
    facts, where, run = said.get("facts", {}), ascii(f"{said['stream']}/{said['seq']}"), run or said["stream"]
    is_in = 0 <= index < int(size) and root(sha256(previous, head), index, int(size) - 1, path) == base64.b64decode(top)
    need(is_in, f"{where} is not in the journal")
    if said["type"] == "interrupt_opened" and facts.get("interrupt") == interrupt: is_opened, call = True, facts["about"].get("call") if isinstance(facts["about"], dict) else None
    of_it = said["seq"] == 1 or facts.get("interrupt") == interrupt or (call and facts.get("call") == call)
    need(of_it and said["stream"] == run and said["seq"] > seq, f"{where} is about something else, or out of order")
    seq, salt, content = said["seq"], bytes.fromhex(event.get("salt", "")), event.get("content")
    if content is not None: need(len(salt) == 16 and sha256(salt, content.encode()).hex() == said.get("content_digest"), f"the content of {where} was changed")
    at = datetime.datetime.fromtimestamp(said["at"] / 1000, datetime.timezone.utc).isoformat(timespec="milliseconds")
    words = content[:100] if content is not None else "(erased, or left out)" if "content_digest" in said else ""
    print(ascii("  ".join(filter(None, [at, said["type"], f"by {said['actor']['id']}", facts.get("outcome"), facts.get("option"), words])))[1:-1])
need(is_opened, f"it does not say what {interrupt} asked")
print(ascii(f"good: {len(receipt['events'])} events of {interrupt}, in the journal {origin} of {size} events")[1:-1])
