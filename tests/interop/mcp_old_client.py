"""An MCP client from before revision 2025-06-18: the official library in Python, in a release of that time.

An agent connects, reads the lists, calls tools and waits for a message, once over HTTP and once through `stoa mcp`. A partner sends
the message over HTTP. scripts/check-clients sets the environment: STOA_MCP_URL, STOA_MCP_KEY of the agent, PARTNER_KEY and STOA_BINARY.
Prints the revision that was tried.
"""

import base64
import json
import os
from contextlib import AsyncExitStack
from datetime import timedelta

import anyio
from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from mcp.types import LATEST_PROTOCOL_VERSION

REVISION = "2025-03-26"
PATIENCE = timedelta(seconds=60)


def equal(what, found, expected):
    if found != expected:
        raise AssertionError(f"{what}: found {found!r}, expected {expected!r}")


def over_http(key):
    return streamablehttp_client(os.environ["STOA_MCP_URL"], headers={"Authorization": f"Bearer {key}"}, timeout=PATIENCE)


def through_bridge():
    """Starts `stoa mcp` with this program's environment, which has the address and the key."""
    return stdio_client(StdioServerParameters(command=os.environ["STOA_BINARY"], args=["mcp"], env=dict(os.environ)))


async def connect(stack, transport):
    read, write, *_ = await stack.enter_async_context(transport)
    session = await stack.enter_async_context(ClientSession(read, write, read_timeout_seconds=PATIENCE))
    answer = await session.initialize()
    equal("the revision", answer.protocolVersion, REVISION)
    equal("the server", answer.serverInfo.name, "stoa")
    return session


async def call(session, tool, **arguments):
    """Calls a tool, which must succeed. Structured content is newer than this client, so it reads the text."""
    result = await session.call_tool(tool, arguments)
    equal(f"the failure of {tool} ({result.content})", result.isError, False)
    equal("the kinds of content", [block.type for block in result.content], ["text"])
    return json.loads(result.content[0].text)


async def check_lists(session):
    found = {tool.name for tool in (await session.list_tools()).tools}
    found |= {str(resource.uri) for resource in (await session.list_resources()).resources}
    found |= {template.uriTemplate for template in (await session.list_resource_templates()).resourceTemplates}
    found |= {prompt.name for prompt in (await session.list_prompts()).prompts}
    wanted = {"send_message", "wait_for_messages", "get_replies", "stoa://inbox", "stoa://messages/{id}", "daily-digest"}
    equal("what is not listed", wanted - found, set())
    equal("the contents of the inbox", len((await session.read_resource("stoa://inbox")).contents), 1)
    equal("the prompt", bool((await session.get_prompt("daily-digest")).messages), True)


async def check_refusals(session):
    result = await session.call_tool("send_message", {"to": "nobody-there", "body": "Hello?"})
    equal("a message to nobody", (result.isError, "nobody-there" in result.content[0].text), (True, True))
    equal("the code", result.meta["stoa/error"]["code"], "unknown_recipient")
    try:
        await session.call_tool("send_mesage", {})
    except McpError as error:
        equal("the hint", "send_message" in str(error), True)
    else:
        raise AssertionError("a misspelt tool was called")


async def check_wait(agent, partner, body):
    """The agent waits for messages after those that it has, until the partner sends one with a file."""
    name = (await call(agent, "my_status"))["name"]
    cursor = (await call(agent, "wait_for_messages", timeout_seconds=0))["next_cursor"]
    found = []

    async def wait():
        found.extend((await call(agent, "wait_for_messages", timeout_seconds=50, cursor=cursor))["items"])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        # So that the call is open when the message comes. Without the pause the result would be the same.
        await anyio.sleep(0.3)
        content = base64.b64encode(body.encode()).decode()
        uploaded = await call(partner, "upload_attachment", filename="anchor.txt", content_base64=content)
        sent = await call(partner, "send_message", to=name, body=body, attachments=[uploaded["sha256"]])
    files = [[file["sha256"] for file in item["attachments"]] for item in found]
    equal("what came", [(item["id"], item["content"]) for item in found], [(sent["id"], body)])
    equal("the files", files, [[uploaded["sha256"]]])
    read = await call(agent, "get_replies", message_id=sent["id"])
    equal("the text of the message", read["message"]["content"], body)
    equal("the status", (await call(agent, "mark_done", message_id=sent["id"]))["status"], "done")


async def run(where):
    equal("the newest revision that the library knows", LATEST_PROTOCOL_VERSION, REVISION)
    for way, transport in (("HTTP", over_http(os.environ["STOA_MCP_KEY"])), ("stoa mcp", through_bridge())):
        where[0] = f"over {way}"
        async with AsyncExitStack() as stack:
            agent = await connect(stack, transport)
            partner = await connect(stack, over_http(os.environ["PARTNER_KEY"]))
            await check_lists(agent)
            await check_refusals(agent)
            await check_wait(agent, partner, f"Weigh the anchor, over {way}: ⚓")


WHERE = ["at the beginning"]
try:
    anyio.run(run, WHERE)
except BaseException as error:
    error.add_note(f"mcp_old_client.py: {WHERE[0]}")
    raise
print(REVISION)
