"""The official Python SDK drives the agent named by the first argument through all it offers.

Prints what a user of the SDK would see, one JSON list per line: no ids, no times, nothing that differs from run to run.
"""

import asyncio
import json
import sys

from droid_sdk import (
    Autonomy,
    InteractionHandlers,
    JsonSchema,
    Mode,
    Runtime,
    Session,
    SessionConfig,
    SessionNotFoundError,
    SessionTag,
    ToolConfirmationOutcome,
    list_sessions,
    run,
)
from droid_sdk.mcp import create_sdk_mcp_server, tool

RUNTIME = Runtime(executable=sys.argv[1])
MODEL = "custom:rehearsal-chat"
TIMEOUT = 100
NUMBER = JsonSchema({
    "type": "object",
    "properties": {"number": {"type": "number"}},
    "required": ["number"],
    "additionalProperties": False,
})


def tell(what, *facts):
    print(json.dumps([what, *facts], default=str), flush=True)


def told(event):
    """What an event is, and the part of it that is the same in every run."""
    facts = [type(event).__name__]
    for name in ("text", "name", "tool_name", "content", "is_error", "error_type"):
        value = getattr(event, name, None)
        if isinstance(value, str) and value.startswith("{"):
            # an object of the agent's own: the names in it are part of the protocol, its words are not
            facts.append(sorted(json.loads(value)))
        elif isinstance(value, (str, bool)):
            facts.append(value)
    return facts


def is_hidden(event):
    """Whether it is for the model only: agents differ in what they remind it of, and when."""
    return type(event).__name__ == "UserMessage" and not event.content


async def turn(session, prompt, **options):
    """One turn: the events a user sees, and its end."""
    stream = session.stream(prompt, timeout=TIMEOUT, **options)
    async with stream:
        events = [told(event) async for event in stream if not is_hidden(event)]
    result = stream.result
    tell(prompt, events)
    tell("ended", result.subtype, result.text, result.turn_count, result.structured_output and dict(result.structured_output))
    return result


def permission(request):
    action = request.actions[0]
    options = [option.value.value for option in request.options]
    tell("asked", type(action).__name__, getattr(action, "full_command", None), options)
    if request.plan:
        tell("plan", request.plan.text, request.plan.title)
    is_refused = "refused" in str(getattr(action, "full_command", ""))
    outcome = ToolConfirmationOutcome.CANCEL if is_refused else ToolConfirmationOutcome.PROCEED_ONCE
    return request.respond(outcome)


async def question(request):
    for it in request.questions:
        tell("question", it.index, it.topic, it.question, list(it.options), it.multi_select)
    if request.questions[0].topic == "Left":
        return request.cancel()
    return request.submit([it.answer(it.options[-1]) for it in request.questions])


@tool("reverse", "Turns a text round")
def reverse(text: str) -> str:
    return text[::-1]


HANDLERS = InteractionHandlers(on_permission=permission, on_question=question)


async def conversation():
    """Turns of all kinds, then what can be asked of a session, then its forks."""
    config = SessionConfig(
        autonomy=Autonomy.OFF,
        tags=[SessionTag("of the test", {"a": "b"})],
        mcp_servers=[create_sdk_mcp_server("sdk", [reverse])],
    )
    session = Session(model=MODEL, config=config, interactions=HANDLERS, runtime=RUNTIME)
    await session.open()
    settings = session.settings
    tell("opened", settings.model, settings.mode, settings.autonomy, [tag.name for tag in settings.tags])
    result = await turn(session, "say hello", include_partial_messages=False)
    tell("usage", result.usage.input_tokens, result.usage.output_tokens, result.usage.cache_read_tokens)
    await turn(session, "say more")
    await turn(session, "run it")
    await turn(session, "run what is refused")
    await turn(session, "ask me")
    await turn(session, "ask and be left")
    await turn(session, "use the tool of the client")
    await turn(session, "give a number", output=NUMBER)
    await turn(session, "give no number", output=NUMBER)
    await turn(session, "go wrong")

    stream = session.stream("talk without end", timeout=TIMEOUT, include_partial_messages=True)
    async with stream:
        async for event in stream:
            if type(event).__name__ == "TextDelta" and "upon" in event.text:
                await session.interrupt()
    tell("interrupted", stream.result.subtype, stream.result.interrupted)

    await session.rename("By the test")
    context = await session.context()
    tell("context", context.used > 0, context.used + context.remaining == context.limit, context.limit)
    tools = await session.list_tools()
    tell("tools", sorted((it.id, it.display_name, it.category.value, it.default_allowed, it.allowed) for it in tools))
    tell("MCP tools", [(it.server_name, it.name, it.is_enabled) for it in await session.list_mcp_tools()])
    tell("MCP servers", [it.name for it in (await session.list_mcp_servers()).servers])
    tell("skills", (await session.list_skills()).project_available)

    await session.update_settings(autonomy=Autonomy.HIGH)
    await turn(session, "run it without asking")
    await session.update_settings(autonomy=Autonomy.OFF)
    await session.enter_spec()
    await turn(session, "make a plan")
    tell("after the plan", session.settings.mode, session.settings.autonomy)

    fork = await session.fork(title="A fork")
    tell("forked", fork.id != session.id, fork.settings.model)
    await turn(fork, "in the fork")
    compacted = await fork.compact(instructions="Keep the numbers.")
    tell("compacted", compacted.removed_count > 0, compacted.session.id != fork.id)
    await turn(compacted.session, "after compaction")
    await compacted.session.close()
    return session.id


async def main():
    one = await run("say hello", model=MODEL, timeout=TIMEOUT, runtime=RUNTIME)
    tell("one shot", one.success, one.text, one.turn_count)
    shaped = await run("give a number", model=MODEL, output=NUMBER, timeout=TIMEOUT, runtime=RUNTIME)
    tell("one shot with a shape", shaped.success, dict(shaped.structured_output))
    first = await conversation()

    resumed = Session.resume(first, interactions=HANDLERS, runtime=RUNTIME)
    await resumed.open()
    tell("resumed", resumed.settings.model, resumed.settings.mode == Mode.AUTO, resumed.cwd is not None)
    await turn(resumed, "say more")
    await resumed.close()
    try:
        await Session.resume("no-such-session", runtime=RUNTIME).open()
    except SessionNotFoundError as error:
        tell("not found", type(error).__name__)

    listed = await list_sessions()
    titles = [it.title for it in listed]
    # the one made of a summary is named by each in its own way
    tell("listed", len(listed), "By the test" in titles, "A fork" in titles, all(isinstance(it.message_count, int) for it in listed))


asyncio.run(main())
