#!/usr/bin/env python3
"""A stand-in for the Claude Code CLI that only writes messages: `many COUNT` at once, `pace COUNT MILLISECONDS` one by one.

Each message is written by itself, whatever the environment says of buffers. It carries the time it was written, so that the reader can
tell how long it was on the way.
"""
import json
import sys
import time

FILLER = "x" * 400

sys.stdout.reconfigure(line_buffering=True)


def write(text):
    sys.stdout.write(text + "\n")


def message(number):
    text = "%d %s" % (time.monotonic_ns(), FILLER)
    return (
        '{"type":"assistant","message":{"id":"msg_%d","type":"message","role":"assistant","model":"fake","content":'
        '[{"type":"text","text":"%s"}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}},'
        '"parent_tool_use_id":null,"session_id":"00000000-0000-4000-8000-000000000000","uuid":"00000000-0000-4000-8000-%012d"}'
        % (number, text, number)
    )


def result():
    write(
        '{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"result":"",'
        '"session_id":"00000000-0000-4000-8000-000000000000","total_cost_usd":0,"usage":{},"modelUsage":{},"permission_denials":[],'
        '"uuid":"00000000-0000-4000-8000-000000000001"}'
    )


for line in sys.stdin:
    asked = json.loads(line)
    if asked["type"] == "control_request":
        response = {"commands": [], "models": [], "account": {}, "agents": [], "output_style": "default", "available_output_styles": []}
        answer = {"subtype": "success", "request_id": asked["request_id"], "response": response}
        write(json.dumps({"type": "control_response", "response": answer}))
    elif asked["type"] == "user":
        content = asked["message"]["content"]
        if not isinstance(content, str):
            content = content[0]["text"]
        word, *numbers = content.split()
        if word == "many":
            for number in range(int(numbers[0])):
                write(message(number))
        elif word == "pace":
            for number in range(int(numbers[0])):
                write(message(number))
                time.sleep(float(numbers[1]) / 1000)
        result()
