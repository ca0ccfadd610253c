"""Signs what schemathesis sends to /machine, so that it comes past the gate.

scripts/fuzz-api makes the key, and names this file in SCHEMATHESIS_HOOKS. Each request is signed when it is about to be sent, as it is then.
"""

import os
import secrets
from datetime import datetime, timedelta, timezone
from pathlib import Path

import requests
import schemathesis
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from http_message_signatures import HTTPMessageSigner, MappingKeyResolver, algorithms

KEY_ID = os.environ["FUZZ_MACHINE_KEY_ID"]
KEY = load_pem_private_key(Path(os.environ["FUZZ_MACHINE_KEY"]).read_bytes(), password=None)
KEYS = MappingKeyResolver(public_keys={KEY_ID: KEY.public_key()}, private_keys={KEY_ID: KEY})
SIGNER = HTTPMessageSigner(signature_algorithm=algorithms.ED25519, key_resolver=KEYS)
HEAD = ("@method", "@authority", "@path", "@query")
BODY = ("content-type", "content-digest")


class Signature(requests.auth.AuthBase):
    """Whatever of a request can be signed is; what cannot goes out as it is, to be refused."""

    def __call__(self, message):
        has_body = message.method in ("POST", "PUT", "PATCH")
        if has_body and "Content-Type" not in message.headers:
            return message
        if has_body and not isinstance(message.body, bytes):
            message.body = (message.body or "").encode()
        created = datetime.now(timezone.utc)
        SIGNER.sign(
            message,
            key_id=KEY_ID,
            created=created,
            expires=created + timedelta(seconds=60),
            nonce=secrets.token_urlsafe(16),
            tag="svc-machine-v1:svc-brain",
            covered_component_ids=HEAD + (BODY if has_body else ()),
            body=message.body if has_body else None,
        )
        return message


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.path.startswith("/machine/"):
        kwargs["auth"] = Signature()
