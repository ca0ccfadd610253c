"""The MCP client of the official library in Python: python mcp_clients.py SETTINGS

Goes through a piece of work between two agents, once for each revision of the protocol and for each way to the hub: with OAuth,
with a key, and with a key through `stoa mcp`. In the middle of all of them it prints `restart` and waits for a line: the hub is started again in between. SETTINGS is a file of
scripts/check-mcp.
"""

import json
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
import mcp.client.session
from anyio import to_thread
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata
from mcp.shared.exceptions import MCPError
from person import Person, equal

SETTINGS = json.loads(Path(sys.argv[1]).read_text())
HUB = SETTINGS["url"]
ENDPOINT = f"{HUB}/mcp"
REVISIONS = ("2025-06-18", "2025-11-25", "2026-07-28")
REDIRECT = "http://localhost:33418/callback"
PATIENCE = 60


def secret(value):
    """Notes what neither the log nor the database may hold."""
    with open(SETTINGS["secrets"], "a") as file:
        print(value, file=file)
    return value


class Storage:
    """What the library asks of a program that logs in with OAuth, all in memory."""

    def __init__(self):
        self.tokens = None
        self.client = None
        self.issued = 0

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        secret(tokens.access_token)
        secret(tokens.refresh_token)
        self.tokens = tokens
        self.issued += 1

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


class Login(OAuthClientProvider):
    """Logs in over the consent of a person, who is asked when the library wants it."""

    def __init__(self, name, agent, person):
        self.agent = agent
        self.person = person
        self.asked = 0
        self.storage = Storage()
        metadata = OAuthClientMetadata(client_name=name, redirect_uris=[REDIRECT], token_endpoint_auth_method="none")
        super().__init__(ENDPOINT, metadata, self.storage, self.ask, self.answer)

    async def ask(self, address):
        self.asked += 1
        equal("the resource", parse_qs(urlsplit(address).query)["resource"], [ENDPOINT])
        page = await to_thread.run_sync(self.person.open, address)
        self.location = await to_thread.run_sync(self.person.decide, page, self.agent, "approve")

    async def answer(self):
        fields = {name: values[0] for name, values in parse_qs(urlsplit(self.location).query).items()}
        return AuthorizationCodeResult(code=secret(fields["code"]), state=fields["state"], iss=fields["iss"])


class Agent:
    """A client of one revision, which notes what the hub answered."""

    def __init__(self, name, revision, key=None, login=None, bridge_key=None):
        self.name = name
        self.revision = revision
        self.key = key
        self.bridge_key = bridge_key
        self.login = login
        self.answers = []

    async def transport(self, stack):
        if self.bridge_key:
            environment = {"STOA_MCP_KEY": self.bridge_key, "STOA_MCP_URL": HUB}
            return stdio_client(StdioServerParameters(command=SETTINGS["binary"], args=["mcp"], env=environment))
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        http = httpx2.AsyncClient(
            auth=self.login, headers=headers, timeout=PATIENCE, trust_env=False, event_hooks={"response": [self.note]}
        )
        await stack.enter_async_context(http)
        return streamable_http_client(ENDPOINT, http_client=http)

    async def connect(self, stack):
        mode = "auto" if self.revision >= "2026" else "legacy"
        # The library offers only the newest of the revisions that begin with a handshake.
        mcp.client.session.LATEST_HANDSHAKE_VERSION = min(self.revision, "2025-11-25")
        transport = await self.transport(stack)
        self.client = await stack.enter_async_context(Client(transport, mode=mode, read_timeout_seconds=PATIENCE))
        equal("the revision", self.client.protocol_version, self.revision)
        equal("the server", self.client.server_info.name, "stoa")

    async def note(self, response):
        if response.request.url.path == "/mcp" and response.request.method == "POST":
            self.answers.append((response.status_code, response.headers.get("WWW-Authenticate")))

    async def call(self, name, **arguments):
        """Calls a tool, which must succeed. The library checks the answer against the tool's output schema."""
        result = await self.client.call_tool(name, arguments)
        equal(f"the failure of {name} ({result.content})", result.is_error, False)
        equal("the text", json.loads(result.content[0].text), result.structured_content)
        return result.structured_content

    async def wait(self, found):
        found.append((await self.call("wait_for_messages", timeout_seconds=50))["items"])


def shortened(items, *names):
    return [{name: item.get(name) for name in names} for item in items]


async def check_login(agent):
    """From the challenge of the hub, over the person's consent, to tokens."""
    status, challenge = agent.answers[0]
    equal("the first status", status, 401)
    equal("the challenge", f'resource_metadata="{HUB}/.well-known/oauth-protected-resource/mcp"' in challenge, True)
    equal("how often the person was asked", agent.login.asked, 1)


async def check_tools(agent):
    tools = {tool.name: tool for tool in (await agent.client.list_tools()).tools}
    for name in ("my_status", "send_message", "wait_for_messages", "claim_messages", "mark_done"):
        tool = tools[name]
        equal(f"the schemas of {name}", (tool.input_schema["type"], tool.output_schema["type"]), ("object", "object"))
    equal("that my_status only reads", tools["my_status"].annotations.read_only_hint, True)
    equal("the name", (await agent.call("my_status"))["name"], agent.name)
    wrong = await agent.client.call_tool("send_message", {"to": "nobody-there", "body": "Hello?"})
    equal("a failure", wrong.is_error, True)
    equal("the code", bool(wrong.meta["stoa/error"]["code"]), True)
    try:
        await agent.client.call_tool("send_mesage", {})
    except MCPError as error:
        equal("the hint", "send_message" in str(error), True)
    else:
        raise AssertionError("a tool that is not there was called")


async def begin_work(author, worker):
    """One waits while the other sends."""
    found = []
    body = f"Weigh the anchor, in {author.revision}: ⚓"
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(worker.wait, found)
        sent = await author.call("send_message", to=worker.name, body=body, idempotency_key="once")
    again = await author.call("send_message", to=worker.name, body=body, idempotency_key="once")
    equal("the repeated call", again, sent)
    equal("what came", shortened(found[0], "id", "from", "content"), [{"id": sent["id"], "from": author.name, "content": body}])
    return sent["id"], body


async def end_work(author, worker, message, body):
    claimed = await worker.call("claim_messages", limit=5)
    equal("what was claimed", shortened(claimed["items"], "id", "content"), [{"id": message, "content": body}])
    found = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(author.wait, found)
        settled = await worker.call("mark_done", message_id=message, result="Forty tonnes.")
    equal("the status", settled["status"], "done")
    reply = {"id": settled["reply_id"], "reply_to": message, "content": "Forty tonnes."}
    equal("the reply", shortened(found[0], "id", "reply_to", "content"), [reply])


async def check_tokens(agent, person):
    """An old token is replaced without the person. When it is revoked, the person is asked again."""
    login, storage = agent.login, agent.login.storage
    before, issued, asked = storage.tokens, storage.issued, login.asked
    login.context.token_expiry_time = 1
    equal("the name", (await agent.call("my_status"))["name"], agent.name)
    equal("the refreshed tokens", storage.issued, issued + 1)
    equal("how often the person was asked", login.asked, asked)
    equal("a new refresh token", storage.tokens.refresh_token != before.refresh_token, True)

    address = str(login.context.oauth_metadata.revocation_endpoint)
    form = {"token": storage.tokens.refresh_token, "token_type_hint": "refresh_token", "client_id": storage.client.client_id}
    await to_thread.run_sync(lambda: person.call("POST", address, 200, data=form))
    calls = len(agent.answers)
    equal("the name", (await agent.call("my_status"))["name"], agent.name)
    statuses = [status for status, _ in agent.answers[calls:]]
    equal("the statuses after the revocation", statuses, [401, 200])
    equal("the challenge", 'error="invalid_token"' in agent.answers[calls][1], True)
    equal("how often the person was asked", login.asked, asked + 1)


async def restart():
    print("restart", flush=True)
    equal("the answer", (await to_thread.run_sync(sys.stdin.readline)).strip(), "restarted")


async def make_pair(stack, person, index, revision, kind):
    def make_agent(name):
        return secret(person.call("POST", "/api/agents", 201, json={"name": name}).json()["key"])

    names = [f"python-{role}-{index}-{kind}" for role in ("author", "worker")]
    keys = [make_agent(name) for name in names]
    if kind == "oauth":
        author = Agent(names[0], revision, login=Login(f"Python {revision}", names[0], person))
    elif kind == "bridge":
        author = Agent(names[0], revision, bridge_key=keys[0])
    else:
        author = Agent(names[0], revision, key=keys[0])
    worker = Agent(names[1], revision, key=keys[1])
    await author.connect(stack)
    await worker.connect(stack)
    return author, worker


async def run(where):
    person = Person(HUB, REDIRECT)
    person.call("POST", "/auth/login", 200, json={"username": SETTINGS["username"], "password": SETTINGS["password"]})
    for cookie in person.session.cookies:
        secret(cookie.value)
    async with AsyncExitStack() as stack:
        rounds = []
        for index, revision in enumerate(REVISIONS):
            for kind in ("oauth", "key", "bridge"):
                where[0] = f"{revision} with {kind}"
                author, worker = await make_pair(stack, person, index, revision, kind)
                if author.login:
                    await check_login(author)
                await check_tools(author)
                rounds.append((where[0], author, worker, await begin_work(author, worker)))
        where[0] = "at the restart"
        # Whoever waits is told that there is nothing, and does not see the hub go.
        found = []
        async with anyio.create_task_group() as tasks:
            for _, author, worker, _ in rounds:
                tasks.start_soon(author.wait, found)
                await worker.call("my_status")
            await restart()
        equal("what came at the restart", found, [[] for _ in rounds])
        for name, author, worker, work in rounds:
            where[0] = f"{name}, after the restart"
            await end_work(author, worker, *work)
            if author.login:
                await check_tokens(author, person)


WHERE = ["at the beginning"]
try:
    anyio.run(run, WHERE)
except BaseException as error:
    error.add_note(f"mcp_clients.py: {WHERE[0]}")
    raise
