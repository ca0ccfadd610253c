"""OAuth clients in Python: python oauth_flow.py SETTINGS begin|resume

Has the library Authlib go through all that a client does, as clients of every kind: `begin` until they have tokens and one
more question to the person is open, `resume`, after the hub was started again, from there to the end. SETTINGS is a file of
scripts/check-oauth.
"""

import json
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import requests
from authlib.common.security import generate_token
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2 import rfc8414, rfc9207
from authlib.oauth2.rfc6749.errors import MissingCodeException
from authlib.oauth2.rfc6749.parameters import parse_authorization_code_response
from authlib.oauth2.rfc7591 import ClientMetadataClaims
from person import Person, equal

SETTINGS = json.loads(Path(sys.argv[1]).read_text())
PHASE = sys.argv[2]
HUB = SETTINGS["url"]
RESOURCE = f"{HUB}/mcp"
STATE = Path(SETTINGS["folder"]) / "python.json"
AGENT = "interop-python"
SCOPE = "mcp:read mcp:write"
REDIRECT = "http://localhost:33418/callback"
METHODS = ("none", "client_secret_basic", "client_secret_post")


@contextmanager
def named(what):
    """Says in errors what was tried."""
    try:
        yield
    except Exception as error:
        error.add_note(f"oauth_flow.py: {what}")
        raise


def secret(value):
    """Notes what neither the log nor the database may hold."""
    with open(SETTINGS["secrets"], "a") as file:
        print(value, file=file)
    return value


def discover():
    """What the hub says about itself, found from the address of the protected resource."""
    with requests.Session() as session:
        session.trust_env = False
        described = session.get(rfc8414.get_well_known_url(RESOURCE, external=True, suffix="oauth-protected-resource"), timeout=20)
        equal("the status", described.status_code, 200)
        equal("resource", described.json()["resource"], RESOURCE)
        (issuer,) = described.json()["authorization_servers"]
        found = session.get(rfc8414.get_well_known_url(issuer, external=True), timeout=20)
        equal("the status", found.status_code, 200)
    metadata = rfc8414.AuthorizationServerMetadata(found.json())
    metadata.validate(metadata_classes=[rfc9207.AuthorizationServerMetadata])
    equal("issuer", metadata["issuer"], issuer)
    equal("PKCE", metadata["code_challenge_methods_supported"], ["S256"])
    return metadata


def register(method):
    wanted = {
        "client_name": f"Authlib as {method}",
        "redirect_uris": [REDIRECT],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "scope": SCOPE,
        "token_endpoint_auth_method": method,
    }
    with requests.Session() as session:
        session.trust_env = False
        answer = session.post(SERVER["registration_endpoint"], json=wanted, timeout=20)
    equal("the status", answer.status_code, 201)
    client = answer.json()
    ClientMetadataClaims(client, {}, ClientMetadataClaims.get_claims_options(SERVER)).validate()
    for name, value in wanted.items():
        equal(name, client[name], value)
    equal("a secret", "client_secret" in client, method != "none")
    if "client_secret" in client:
        secret(client["client_secret"])
        equal("client_secret_expires_at", client["client_secret_expires_at"], 0)
    secret(client["registration_access_token"])
    return client


def library(client, token=None):
    """The client as Authlib sees it."""
    method = client["token_endpoint_auth_method"]
    return OAuth2Session(
        client["client_id"],
        client.get("client_secret"),
        token_endpoint_auth_method=method,
        revocation_endpoint_auth_method=method,
        scope=SCOPE,
        redirect_uri=REDIRECT,
        code_challenge_method="S256",
        token=token,
        default_timeout=20,
        trust_env=False,
    )


def ask(session):
    """A question to the person, and what the client must remember until it is answered."""
    verifier = generate_token(64)
    url, state = session.create_authorization_url(SERVER["authorization_endpoint"], code_verifier=verifier, resource=RESOURCE)
    return url, {"state": state, "verifier": verifier}


def note_tokens(tokens, refresh=True):
    secret(tokens["access_token"])
    equal("a refresh token", "refresh_token" in tokens, refresh)
    if refresh:
        secret(tokens["refresh_token"])
    equal("token_type", tokens["token_type"].lower(), "bearer")
    equal("expires_in", tokens["expires_in"], 3600)
    equal("scope", tokens["scope"], SCOPE)
    return dict(tokens)


def approve(session, person, page, agent, remembered):
    location = person.decide(page, agent, "approve")
    secret(parse_qs(urlsplit(location).query)["code"][0])
    tokens = session.fetch_token(
        SERVER["token_endpoint"],
        authorization_response=location,
        state=remembered["state"],
        code_verifier=remembered["verifier"],
        resource=RESOURCE,
    )
    return note_tokens(tokens)


def check_denied(session, person):
    url, remembered = ask(session)
    location = person.decide(person.open(url), "self", "deny")
    answered = parse_qs(urlsplit(location).query)
    equal("the error", answered.get("error"), ["access_denied"])
    equal("state", answered.get("state"), [remembered["state"]])
    try:
        parse_authorization_code_response(location, remembered["state"])
    except MissingCodeException:
        return
    raise AssertionError("a denied request has a code")


def begin_run(person, method):
    client = register(method)
    session = library(client)
    check_denied(session, person)
    agent = AGENT if method == "client_secret_basic" else "self"
    url, remembered = ask(session)
    tokens = approve(session, person, person.open(url), agent, remembered)
    # Stays unanswered until the hub has been started again.
    url, later = ask(session)
    return {"client": client, "agent": agent, "tokens": tokens, "later": later, "page": person.open(url)}


def begin():
    person = Person(HUB, REDIRECT)
    person.call("POST", "/auth/login", 200, json={"username": SETTINGS["username"], "password": SETTINGS["password"]})
    for cookie in person.session.cookies:
        secret(cookie.value)
    person.call("POST", "/api/agents", 201, json={"name": AGENT})
    runs = []
    for method in METHODS:
        with named(f"Authlib as {method}"):
            runs.append(begin_run(person, method))
    STATE.touch(mode=0o600)
    STATE.write_text(json.dumps({"cookies": person.session.cookies.get_dict(), "runs": runs}))


def introspect(session, token):
    answer = session.introspect_token(SERVER["introspection_endpoint"], token=token)
    equal("the status of the introspection", answer.status_code, 200)
    return answer.json()


def check_active(found, client, agent):
    """A token that is in force, as the one says that may ask."""
    for name, wanted in (
        ("active", True),
        ("client_id", client["client_id"]),
        ("scope", SCOPE),
        ("username", SETTINGS["username"]),
        ("sub", SETTINGS["username"]),
        ("iss", HUB),
        ("token_type", "Bearer"),
    ):
        equal(name, found.get(name), wanted)
    equal("agent", found.get("agent") or "self", agent)
    audience = found["aud"]
    equal("aud", RESOURCE in (audience if isinstance(audience, list) else [audience]), True)
    equal("the lifetime", found["exp"] - found["iat"], 3600)
    equal("a fresh iat", abs(found["iat"] - time.time()) < 600, True)


def revoke(session, token, hint):
    answer = session.revoke_token(SERVER["revocation_endpoint"], token=token, token_type_hint=hint)
    equal("the status of the revocation", answer.status_code, 200)


def refused(error, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except OAuthError as refusal:
        equal("the error", refusal.error, error)
        return
    raise AssertionError(f"{error} was expected")


def resume_run(person, inspector, run):
    client, agent, tokens = run["client"], run["agent"], run["tokens"]
    session = library(client, tokens)
    asking = session
    if client["token_endpoint_auth_method"] == "none":
        asking = inspector
        answer = session.introspect_token(SERVER["introspection_endpoint"], token=tokens["access_token"])
        equal("the answer to a public client", (answer.status_code, answer.json()["error"]), (401, "invalid_client"))
    check_active(introspect(asking, tokens["access_token"]), client, agent)

    second = note_tokens(session.refresh_token(SERVER["token_endpoint"], resource=RESOURCE))
    third = note_tokens(session.refresh_token(SERVER["token_endpoint"], resource=RESOURCE))
    every = [one[name] for one in (tokens, second, third) for name in ("access_token", "refresh_token")]
    equal("how many tokens differ", len(set(every)), len(every))
    check_active(introspect(asking, third["access_token"]), client, agent)

    other = approve(session, person, run["page"], agent, run["later"])
    check_active(introspect(asking, other["access_token"]), client, agent)
    revoke(session, other["access_token"], "access_token")
    equal("a revoked token", introspect(asking, other["access_token"]), {"active": False})

    revoke(session, third["refresh_token"], "refresh_token")
    equal("a token of a revoked grant", introspect(asking, third["access_token"]), {"active": False})
    refused("invalid_grant", session.refresh_token, SERVER["token_endpoint"], refresh_token=third["refresh_token"])


def check_credentials(person):
    """A client that has one agent's rights and no person to ask."""
    made = person.call("POST", "/api/oauth/clients", 201, json={"name": "Authlib alone", "agent": AGENT}).json()
    client = {"client_id": made["client"]["client_id"], "client_secret": secret(made["client_secret"])}
    for method in METHODS[1:]:
        session = library({**client, "token_endpoint_auth_method": method})
        tokens = session.fetch_token(SERVER["token_endpoint"], grant_type="client_credentials", resource=RESOURCE)
        note_tokens(tokens, refresh=False)
        check_active(introspect(session, tokens["access_token"]), client, AGENT)
        revoke(session, tokens["access_token"], "access_token")
        equal("a revoked token", introspect(session, tokens["access_token"]), {"active": False})
    stranger = library({**client, "client_secret": "wrong", "token_endpoint_auth_method": METHODS[1]})
    refused("invalid_client", stranger.fetch_token, SERVER["token_endpoint"], grant_type="client_credentials")


def resume():
    state = json.loads(STATE.read_text())
    person = Person(HUB, REDIRECT, state["cookies"])
    inspector = library({**SETTINGS["inspector"], "token_endpoint_auth_method": "client_secret_basic"})
    for run in state["runs"]:
        with named(run["client"]["client_name"]):
            resume_run(person, inspector, run)
    with named("Authlib with client credentials"):
        check_credentials(person)


SERVER = discover()
if PHASE == "begin":
    begin()
else:
    resume()
