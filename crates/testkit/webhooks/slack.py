"""Signs requests as Slack does, and validates posted messages, with Slack's own SDK. Reads JSON and prints JSON."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "node_modules" / ".python"))
from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View
from slack_sdk.signature import SignatureVerifier

given = json.load(sys.stdin)
told = {}
if "sign" in given:
    verifier = SignatureVerifier(given["secret"])
    told["signature"] = verifier.generate_signature(timestamp=given["timestamp"], body=given["sign"])
# The SDK parses and validates each block. Writing the block again must lose nothing.
for name, blocks in given.get("blocks", {}).items():
    read = Block.parse_all(blocks)
    for block in read:
        block.validate_json()
    told[name] = [block.to_dict() for block in read]
if "view" in given:
    view = View(**given["view"])
    view.validate_json()
    told["view"] = view.to_dict()
json.dump(told, sys.stdout)
