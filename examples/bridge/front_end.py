#!/usr/bin/env python3
"""A front end for `musher bridge` in Python, with nothing but the standard library.

    python3 front_end.py "How many files are here?"
    python3 front_end.py --yes "Make a file."        # allows every tool
    python3 front_end.py --agent droid "Hello."      # with Droid instead of Claude Code

Starts the bridge, runs one turn, and asks you before a tool runs.
"""
import itertools
import json
import os
import subprocess
import sys


class Bridge:
    """One bridge process: messages go in and come out as JSON lines."""

    def __init__(self):
        program = os.environ.get("MUSHER", "musher")
        self.process = subprocess.Popen(
            [program, "bridge"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self.numbers = itertools.count(1)

    def send(self, kind, payload, session_id=None, id=None):
        message = {"type": kind, "id": id or f"r{next(self.numbers)}", "payload": payload}
        if session_id is not None:
            message["session_id"] = session_id
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        return message["id"]

    def messages(self):
        for line in self.process.stdout:
            yield json.loads(line)

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def decide(request, allow_all):
    """Answers a question of the agent: may this tool run?"""
    tool, tool_input = request.get("tool_name"), json.dumps(request.get("tool_input"))
    print(f"\n[{tool}] {tool_input}")
    if allow_all or input("allow? [y/N] ").strip().lower() == "y":
        return {"behavior": "allow"}
    return {"behavior": "deny", "message": "The user said no."}


def show(message):
    """Prints what the agent says, and how its turn ended."""
    if message["type"] == "assistant":
        for block in message["message"]["content"]:
            if block["type"] == "text":
                print(block["text"])
            elif block["type"] == "tool_use":
                print(f"-> {block['name']}")
    elif message["type"] == "result":
        cost = message.get("total_cost_usd")
        print(f"-- done: {message['subtype']}" + (f", ${cost:.4f}" if cost else ""))
        for error in message.get("errors") or []:
            print(f"error: {error}", file=sys.stderr)


def main():
    words = sys.argv[1:]
    allow_all = "--yes" in words
    options = {}
    if "--agent" in words:
        at = words.index("--agent")
        options["agent"] = words[at + 1]
        del words[at : at + 2]
    prompt = " ".join(word for word in words if word != "--yes")
    if not prompt:
        sys.exit(__doc__)

    bridge = Bridge()
    create = bridge.send("session.create", {"prompt": prompt, "cwd": os.getcwd(), "options": options})
    failed = False
    for message in bridge.messages():
        kind, payload = message["type"], message["payload"]
        if kind == "session.created":
            print(f"-- session {payload['sdk_session_id']}")
        elif kind == "sdk.message":
            show(payload)
            if payload["type"] == "result":
                failed = bool(payload.get("is_error")) or payload["subtype"] != "success"
                break
        elif kind == "callback.request":
            answer = decide(payload, allow_all) if payload["callback_type"] == "can_use_tool" else {}
            bridge.send("callback.response", answer, message["session_id"], message["id"])
        elif kind == "error":
            print(f"error {payload['code']}: {payload['message']}", file=sys.stderr)
            # an error that is not a reply, or the reply to our first request, ends the session
            if message.get("id") in (None, create):
                failed = True
                break
    bridge.close()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
