"""A machine principal in Python: python signatures.py SETTINGS

Signs with the library http-message-signatures what the hub must take in, and what it must refuse; then verifies what
`stoa registry sign` has signed. SETTINGS is a file of scripts/check-signatures.
"""

import json
import secrets
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path
from types import SimpleNamespace

import http_sf
import requests
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from http_message_signatures import (
    ContentDigest,
    HTTPMessageSigner,
    HTTPMessageVerifier,
    InvalidSignature,
    MappingKeyResolver,
    algorithms,
)

SETTINGS = json.loads(Path(sys.argv[1]).read_text())
KEY_ID = f"{SETTINGS['principal']}/{SETTINGS['kid']}"
TAG = f"svc-machine-v1:{SETTINGS['audience']}"
KEY = load_pem_private_key(Path(SETTINGS["key"]).read_bytes(), password=None)
KEYS = MappingKeyResolver(public_keys={KEY_ID: KEY.public_key()}, private_keys={KEY_ID: KEY})
HEAD = ("@method", "@authority", "@path", "@query")
BODY = ("content-type", "content-digest")
EVENT = "application/cloudevents+json"

session = requests.Session()
session.trust_env = False  # no proxy, whatever the environment says
failures = []


class Sha512(ContentDigest):
    algorithm = "sha-512"


class Sha512Signer(HTTPMessageSigner):
    content_digest_class = Sha512


def request(method, target, body=None, content_type=EVENT, headers=None):
    """A request that is ready to be signed."""
    headers = dict(headers or {})
    if body is not None:
        headers["Content-Type"] = content_type
    message = requests.Request(method, SETTINGS["url"], headers=headers, data=body).prepare()
    message.url = SETTINGS["url"] + target  # set afterwards, as preparing decodes what need not be encoded
    return message


def event(name):
    return {"specversion": "1.0", "id": f"python-{name}", "source": SETTINGS["principal"], "type": "svc.demo.ping"}


def sign(message, covered=None, age=0, signer=HTTPMessageSigner, **parameters):
    """Signs a request in place."""
    created = datetime.now(timezone.utc) - timedelta(seconds=age)
    parameters = {"nonce": secrets.token_urlsafe(16), "tag": TAG, **parameters}
    signer(signature_algorithm=algorithms.ED25519, key_resolver=KEYS).sign(
        message,
        key_id=KEY_ID,
        created=created,
        expires=created + timedelta(seconds=120),
        covered_component_ids=covered or (HEAD + BODY if message.body is not None else HEAD),
        body=message.body,
        **parameters,
    )
    return message


def expect(what, message, status, code=None):
    """Sends a request, and notes when the answer is another one."""
    answer = session.send(message, timeout=20)
    got = answer.json().get("code") if answer.status_code >= 400 else None
    if (answer.status_code, got) != (status, code):
        failures.append(f"{what}: {answer.status_code} {answer.text[:300]}")
    return answer


def post(name, **options):
    body = json.dumps(event(name), indent=2).encode()
    return sign(request("POST", "/machine/events", body), **options)


def check_hub():
    expect("one event", post("one"), 202)
    batch = json.dumps([event("ünïcode"), event("second")], ensure_ascii=False).encode()
    expect("a batch", sign(request("POST", "/machine/events", batch, "application/cloudevents-batch+json")), 202)
    expect("sha-512", post("sha-512", signer=Sha512Signer), 202)
    expect("no alg, another label", post("plain", include_alg=False, label="mine"), 202)
    expect("another order", post("order", covered=tuple(reversed(HEAD + BODY)) + ("content-length",)), 202)
    status = json.dumps({"status": "ok"}).encode()
    expect("an encoded path", sign(request("PUT", "/machine/runtime-status/work%65r", status, "application/json")), 200)
    found = expect("evidence", sign(request("GET", "/machine/evidence?event_id=python-one")), 200).json()
    if [item["event_id"] for item in found.get("items", [])] != ["python-one"]:
        failures.append(f"evidence: {found}")
    expect("an encoded query", sign(request("GET", "/machine/evidence?since=2026-01-01T00%3A00%3A00Z&&limit=1")), 200)

    again = post("replay")
    expect("a first use", again, 202)
    expect("a second use", again, 401, "signature_replayed")
    other = post("digest")
    other.body = other.body.replace(b"digest", b"tsegid")
    expect("another body", other, 400, "digest_mismatch")
    moved = sign(request("GET", "/machine/evidence"))
    moved.url += "?limit=1"
    expect("another query", moved, 401, "signature_invalid")
    expect("another audience", post("audience", tag="svc-machine-v1:svc-bell"), 401, "signature_invalid")
    expect("an old signature", post("old", age=500), 401, "signature_expired")
    expect("no @query", post("query", covered=HEAD[:3] + BODY), 401, "signature_incomplete")
    expect("no nonce", post("nonce", nonce=None), 401, "signature_incomplete")
    twice = post("twice")
    twice.headers["Authorization"] = "Bearer nonsense"
    expect("two credentials", twice, 400, "signature_malformed")
    answer = expect("no signature", request("POST", "/machine/events", b"{}"), 401, "unauthenticated")
    wanted = http_sf.parse(answer.headers["Accept-Signature"].encode(), tltype="dictionary")
    components, parameters = next(iter(wanted.values()))
    if {name for name, _ in components} != set(HEAD + BODY) or parameters.get("tag") != TAG:
        failures.append(f"Accept-Signature: {answer.headers['Accept-Signature']}")


def verify(signed, body):
    message = SimpleNamespace(method=signed["method"], url=signed["url"], headers=signed["headers"])
    verifier = HTTPMessageVerifier(signature_algorithm=algorithms.ED25519, key_resolver=KEYS)
    verifier.verify(
        message,
        max_age=timedelta(seconds=300),
        expect_tag=TAG,
        require_components=HEAD + BODY if body is not None else HEAD,
        body=body,
    )


def check_signed(path, body):
    """What `stoa registry sign` printed, and the file that was its body."""
    signed = json.loads(Path(path).read_text())
    body = Path(body).read_bytes() if body else None
    verify(signed, body)
    for what, changed, other in (
        ("method", {**signed, "method": "DELETE"}, body),
        ("path", {**signed, "url": signed["url"].replace("/machine/", "/machines/")}, body),
        ("query", {**signed, "url": signed["url"] + ("&a" if "?" in signed["url"] else "?a")}, body),
        ("host", {**signed, "url": signed["url"].replace("127.0.0.1", "localhost")}, body),
        ("body", signed, body + b" " if body else b"body"),
    ):
        try:
            verify(changed, other)
        except InvalidSignature:
            continue
        failures.append(f"{path}: another {what} verifies too")


check_hub()
for entry in SETTINGS["signed"]:
    check_signed(entry["request"], entry["body"])
for failure in failures:
    print(f"signatures.py: {failure}", file=sys.stderr)
sys.exit(1 if failures else 0)
