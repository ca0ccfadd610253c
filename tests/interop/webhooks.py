"""A receiver of webhooks in Python: python webhooks.py DELIVERIES VERIFY

Verifies deliveries that webhooks.mjs has received, with the library standardwebhooks and with the example of
docs/webhooks.md, whose file is VERIFY.
"""

import base64
import importlib.util
import json
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

from standardwebhooks import Webhook

failures = []


def check(is_right, what):
    if not is_right:
        failures.append(what)


def refuses(action):
    try:
        action()
    except Exception:
        return True
    return False


given = json.loads(Path(sys.argv[1]).read_text())
spec = importlib.util.spec_from_file_location("verify_webhook", sys.argv[2])
example = importlib.util.module_from_spec(spec)
spec.loader.exec_module(example)

for delivery in given["deliveries"]:
    name, headers, good = delivery["name"], delivery["headers"], delivery["good"]
    body = base64.b64decode(delivery["body"])
    for number, secret in enumerate(given["secrets"]):
        is_good = secret in good
        check(refuses(lambda: Webhook(secret).verify(body, headers)) != is_good, f"{name}: the library, secret {number}")
        if not is_good:
            check(refuses(lambda: example.verify(secret, headers, body)), f"{name}: the example, secret {number}")
    secret = good[0]
    changed = body.replace(b"webhook.ping", b"webhook.pong")
    old = datetime.now(tz=timezone.utc) - timedelta(minutes=10)
    # With a right signature, so that only the time speaks against it.
    expired = {
        **headers,
        "webhook-timestamp": str(int(old.timestamp())),
        "webhook-signature": Webhook(secret).sign(headers["webhook-id"], old, body.decode()),
    }
    for what, read in [
        ("the library", lambda sent, raw: Webhook(secret).verify(raw, sent)),
        ("the example", lambda sent, raw: example.verify(secret, sent, raw)),
    ]:
        check(refuses(lambda: read(headers, changed)), f"{name}: {what} accepts another body")
        check(refuses(lambda: read(expired, body)), f"{name}: {what} accepts an old delivery")
        check(refuses(lambda: read({}, body)), f"{name}: {what} accepts a request without signature")
    event = example.verify(good[-1], headers, body) or {}
    check(event.get("type") == "webhook.ping", f"{name}: the example does not know it")
    check(example.verify(secret, headers, body) is not None, f"{name}: the example forgets what was not handled")
    example.remember(event)
    check(example.verify(secret, headers, body) is None, f"{name}: the example takes a repetition for new")

vector = given["vector"]
signed = Webhook(vector["secret"]).sign(vector["id"], datetime.fromtimestamp(1_800_000_000, tz=timezone.utc), vector["body"])
check(signed == vector["signature"], "the vector")

for failure in failures:
    print(f"webhooks.py: {failure}", file=sys.stderr)
sys.exit(1 if failures else 0)
