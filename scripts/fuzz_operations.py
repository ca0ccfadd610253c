#!/usr/bin/env python3
"""Decides how thoroughly scripts/fuzz-api tries each operation.

    fuzz_operations.py config OPENAPI    prints the configuration for schemathesis
    fuzz_operations.py record OPENAPI    notes that every operation passed as it is described now

scripts/fuzzed-operations.json has a digest of each operation's description. An operation whose digest is in the file
passed a full run, so few examples are enough; one that is new or described in another way gets all of them. The digest
covers what schemathesis works from: parameters, bodies, answers and the schemas they refer to, but no prose.
"""

import hashlib
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
CONFIG = HERE / "fuzz-api.toml"
RECORD = HERE / "fuzzed-operations.json"
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
PROSE = ("summary", "description", "tags", "title", "externalDocs")


def resolve(node, document, above=()):
    """The node with all it refers to, and without prose."""
    if isinstance(node, list):
        return [resolve(item, document, above) for item in node]
    if not isinstance(node, dict):
        return node
    reference = node.get("$ref")
    if isinstance(reference, str):
        if reference in above:
            return {"$ref": reference}
        target = document
        for part in reference.removeprefix("#/").split("/"):
            target = target[part.replace("~1", "/").replace("~0", "~")]
        return resolve(target, document, (*above, reference))
    # A property may be called `description`; then it is a schema and no text.
    def is_prose(key, value):
        return key in PROSE and not isinstance(value, dict)

    return {key: resolve(value, document, above) for key, value in node.items() if not is_prose(key, value)}


def digests(document):
    """The digest of each operation, by the name that schemathesis gives it."""
    found = {}
    for path, item in document["paths"].items():
        for method in METHODS:
            if method not in item:
                continue
            described = [item.get("parameters"), item[method], document.get("security")]
            text = json.dumps(resolve(described, document), sort_keys=True)
            found[f"{method.upper()} {path}"] = hashlib.sha256(text.encode()).hexdigest()[:16]
    return dict(sorted(found.items()))


def config(document):
    """The configuration, with all examples for the operations that have not passed like this before."""
    recorded = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    changed = [name for name, digest in digests(document).items() if recorded.get(name) != digest]
    if os.environ.get("FUZZ_EXAMPLES"):
        changed = list(digests(document))
    text = CONFIG.read_text()
    if changed:
        examples = int(os.environ.get("FUZZ_EXAMPLES") or 15)
        names = ", ".join(map(json.dumps, changed))
        text += f"\n[[operations]]\ninclude-name = [{names}]\ngeneration.max-examples = {examples}\n"
    print(f"fuzz-api: {len(changed)} of {len(digests(document))} operations with all examples", file=sys.stderr)
    return text


def main():
    command, path = sys.argv[1:]
    document = json.loads(Path(path).read_text())
    if command == "config":
        print(config(document))
    elif command == "record":
        RECORD.write_text(json.dumps(digests(document), indent=2) + "\n")
    else:
        sys.exit(__doc__)


main()
