import base64
import hashlib
import hmac
import json
import time

TOLERANCE_SECONDS = 300
REMEMBERED_IDS = 10_000
# Keep the ids in your database if several processes receive deliveries.
handled = {}


def remember(event):
    """Remembers an event that you have handled. Do this last: the hub sends again what you do not answer with 2xx."""
    handled[event["id"]] = True
    if len(handled) > REMEMBERED_IDS:
        del handled[next(iter(handled))]


def verify(secret, headers, raw_body):
    """Returns the event, or None if you have handled it before. Raises ValueError if the request is not from the hub.

    `headers` have lower-case names; `raw_body` is the body as it arrived, as bytes.
    """
    delivery, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not (timestamp.isascii() and timestamp.isdigit()) or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        raise ValueError("The timestamp is missing or more than 5 minutes off.")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{delivery}.{timestamp}.".encode() + raw_body
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    # After a rotation there are two signatures for 24 hours.
    given = headers.get("webhook-signature", "").encode().split(b" ")
    if not any([hmac.compare_digest(signature, expected) for signature in given]):
        raise ValueError("The signature is wrong.")
    return None if delivery in handled else json.loads(raw_body)
