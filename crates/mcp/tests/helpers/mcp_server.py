"""Test helper: an MCP server on stdin and stdout, with a tool for each thing a server can do.

A script and not a `[[bin]]`: the unit tests of `mcp` start it, and Cargo tells only integration tests where a binary is.
"""

import json
import os
import sys
import time

names = ["echo", "fail", "picture", "wait", "die", "grow", "variable"]
names += [f"extra_{number:02}" for number in range(int(os.environ.get("EXTRA_TOOLS", "0")))]
while (gate := os.environ.get("GATE")) and not os.path.exists(gate):
    time.sleep(0.01)


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def text(text):
    return {"content": [{"type": "text", "text": text}]}


def call(name, arguments):
    """The result of a tool, or None if it never answers."""
    match name:
        case "echo":
            return text(json.dumps(arguments, ensure_ascii=False, separators=(",", ":")))
        case "fail":
            return {**text("it broke"), "isError": True}
        case "picture":
            return {"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]}
        case "wait":
            return None
        case "die":
            print("out of cheese", file=sys.stderr, flush=True)
            os._exit(7)
        case "grow":
            names.append("more")
            send({"method": "notifications/tools/list_changed"})
            return text("grown")
        case "huge":
            # a line that never ends
            while True:
                sys.stdout.write("x" * 65536)
        case "variable":
            return text(os.environ.get(arguments["name"], "not set"))
    raise KeyError(f"there is no tool `{name}`")


def describe(name):
    tool = {"name": name, "description": f"does {name}", "inputSchema": {"type": "object"}}
    return {**tool, "annotations": {"readOnlyHint": True}} if name == "echo" else tool


for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    params = request.get("params", {})
    match request["method"]:
        case "initialize":
            result = {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "helper", "version": "1"},
            }
        case "tools/list":
            result = {"tools": [describe(name) for name in names]}
        case "tools/call":
            try:
                result = call(params["name"], params.get("arguments", {}))
            except KeyError as error:
                send({"id": request["id"], "error": {"code": -32602, "message": error.args[0]}})
                continue
        case _:
            result = {}
    if result is not None:
        send({"id": request["id"], "result": result})
