"""A stand-in for the Claude Code CLI: does what the text of a user message says, one word per line of it.

It says hello, then obeys: `say TEXT`, `many N SIZE`, `raw TEXT`, `ask`, `hook`, `unknown`, `exit CODE`, `die`, `silent`, `deaf`, `result`.
"""
import json, os, signal, sys, time

for name in ("FAKE_IGNORE_SIGNALS",):
    if os.environ.get(name):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

def write(message):
    sys.stdout.write(json.dumps(message, separators=(",", ":")) + "\n")
    sys.stdout.flush()

def ask(request):
    write({"type": "control_request", "request_id": "q%d" % time.monotonic_ns(), "request": request})

silent = False
sys.stderr.write("fake agent with %s\n" % " ".join(a for a in sys.argv[1:] if a.startswith("--session-id")))
sys.stderr.flush()
if os.environ.get("FAKE_EXIT"):
    sys.exit(int(os.environ["FAKE_EXIT"]))
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "control_response":
        write({"type": "answered", "response": message["response"]})
    elif message["type"] == "control_request":
        if silent:
            continue
        subtype = message["request"]["subtype"]
        if subtype == "initialize":
            if os.environ.get("FAKE_EARLY"):
                write({"type": "early"})
                ask({"subtype": "mcp_message", "server_name": "x", "message": {}})
            if os.environ.get("FAKE_NEVER_READY"):
                continue
        answer = {"models": [{"value": "m"}], "commands": [], "account": {"n": 1}} if subtype == "initialize" else {}
        write({"type": "control_response", "response": {"subtype": "success", "request_id": message["request_id"], "response": answer}})
    elif message["type"] == "user":
        content = message["message"]["content"]
        if not isinstance(content, str):
            write({"type": "got", "content": content})
            continue
        for step in content.splitlines():
            word, _, rest = step.partition(" ")
            if word == "say":
                write({"type": "said", "text": rest})
            elif word == "many":
                count, size = map(int, rest.split())
                for number in range(count):
                    write({"type": "said", "number": number, "text": "x" * size})
            elif word == "raw":
                sys.stdout.write(rest + "\n")
                sys.stdout.flush()
            elif word == "ask":
                ask({"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "t"})
            elif word == "hook":
                ask({"subtype": "hook_callback", "callback_id": "hook_0", "input": {"hook_event_name": "Stop"}})
            elif word == "unknown":
                ask({"subtype": "elicitation"})
            elif word == "exit":
                sys.stderr.write("goodbye\n")
                sys.exit(int(rest))
            elif word == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            elif word == "silent":
                silent = True
                write({"type": "silent"})
            elif word == "deaf":
                write({"type": "deaf"})
                time.sleep(1000)
            elif word == "length":
                write({"type": "length", "length": len(content)})
            elif word == "result":
                write({"type": "result", "subtype": "success"})
