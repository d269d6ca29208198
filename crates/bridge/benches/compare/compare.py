#!/usr/bin/env python3
"""Compares the bridge with a minimal Node backend on the official SDK, in one run on one machine.

    npm install --omit=optional @anthropic-ai/claude-agent-sdk @anthropic-ai/sdk @modelcontextprotocol/sdk zod
    cargo build --profile dist -p musher-cli
    python3 crates/bridge/benches/compare/compare.py --bridge target/dist/musher-bridge --sdk FOLDER_WITH_NODE_MODULES

`--bridge "target/dist/musher bridge"` measures the program with everything in it.

A stand-in plays the CLI, so that only the backends are measured: memory (RSS of the backend process, and the part of it that is not the
program's file) with 1, 10 and 50 sessions, the same of other processes that the backend needs, CPU time of the backend per 1,000 messages,
and how long a message is on the way. Beside them runs a relay that only copies whole lines (`relay.rs`): the floor. They take turns, and
each number is the median of the rounds.
"""
import argparse
import json
import os
import shlex
import statistics
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
FAKE = os.path.join(HERE, "fake_claude.py")


def memory_of(pid):
    with open(f"/proc/{pid}/status") as status:
        values = dict(line.split(":", 1) for line in status)
    return [int(values[name].split()[0]) / 1024 for name in ("VmRSS", "RssAnon")]


class Backend:
    def __init__(self, command, env):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, **env})
        self.fd = self.process.stdout.fileno()
        self.rest = b""

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def read(self):
        """Some lines, and when they came."""
        chunk = os.read(self.fd, 1 << 20)
        now = time.monotonic_ns()
        if not chunk:
            raise SystemExit("the backend is gone")
        *lines, self.rest = (self.rest + chunk).split(b"\n")
        return now, lines

    def create(self, count, cwd):
        for number in range(count):
            self.send({"type": "session.create", "id": str(number), "payload": {"prompt": "", "cwd": cwd, "options": {}}})
        sessions = []
        while len(sessions) < count:
            for line in self.read()[1]:
                message = json.loads(line)
                if message["type"] == "session.created":
                    sessions.append(message["session_id"])
        return sessions

    def play(self, sessions, text):
        """Lets every session play, and gives the times of its messages on the way, in microseconds."""
        for session in sessions:
            self.send({"type": "session.send", "id": "s", "session_id": session, "payload": {"message": text}})
        delays, results, marker = [], 0, b'"text":"'
        while results < len(sessions):
            now, lines = self.read()
            for line in lines:
                at = line.find(marker)
                if at >= 0:
                    sent = line[at + len(marker) : line.index(b" ", at + len(marker))]
                    delays.append((now - int(sent)) / 1000)
                elif b'"type":"result"' in line or b'"result"' in line:
                    results += 1
        return delays

    def cpu(self):
        """Seconds so far, of all its threads, to the nanosecond: the ticks of /proc are as long as 2,000 messages."""
        return time.clock_gettime(~self.process.pid << 3 | 2)

    def memory(self):
        """All that is mapped, and what of it is the process's own: the rest are pages of the program's file, which the kernel may drop."""
        return memory_of(self.process.pid)

    def helpers(self):
        """The same of all processes that the backend has started and that are no agents, added up."""
        pids = []
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            pids += open(f"/proc/{self.process.pid}/task/{thread}/children").read().split()
        helpers = [pid for pid in set(pids) if FAKE not in open(f"/proc/{pid}/cmdline").read()]
        return [sum(each) for each in zip([0, 0], *map(memory_of, helpers))]

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=20)


def measure(make, sessions, messages, paced):
    backend = make()
    ids = backend.create(sessions, os.getcwd())
    idle = backend.memory()
    before = backend.cpu()
    got = len(backend.play(ids, f"many {messages // sessions}"))
    cpu = (backend.cpu() - before) / got * 1000
    busy, helpers = backend.memory(), backend.helpers()
    delays = sorted(backend.play(ids[:10], f"pace {paced} 10"))
    backend.close()
    return {
        "memory idle (MB)": idle[0],
        "  its own, without its code (MB)": idle[1],
        "memory after traffic (MB)": busy[0],
        "  its own, without its code (MB) ": busy[1],
        "helper processes (MB)": helpers[0],
        "  their own (MB)": helpers[1],
        "CPU per 1,000 messages (ms)": cpu * 1000,
        "on the way, median (us)": statistics.median(delays),
        "on the way, 95 % (us)": delays[int(len(delays) * 0.95)],
    }


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bridge", required=True, help="the command line of the bridge")
    arguments.add_argument("--sdk", required=True, help="a folder with node_modules")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--messages", type=int, default=20000)
    arguments.add_argument("--paced", type=int, default=100)
    arguments.add_argument("--sessions", type=int, nargs="*", default=[1, 10, 50])
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        relay = os.path.join(folder, "relay")
        subprocess.run(["rustc", "-O", "--edition", "2024", "-o", relay, os.path.join(HERE, "relay.rs")], check=True)
        compare(given, relay)


def compare(given, relay):
    node = {"SDK_FOLDER": os.path.abspath(given.sdk), "FAKE_CLAUDE": FAKE}
    backends = {
        "musher": lambda: Backend([*shlex.split(given.bridge), "--claude", FAKE], {}),
        "relay": lambda: Backend([relay, FAKE], {}),
        "node": lambda: Backend(["node", os.path.join(HERE, "node_backend.mjs")], node),
    }
    for sessions in given.sessions:
        rounds = {name: [] for name in backends}
        for _ in range(given.rounds):
            for name, make in backends.items():
                rounds[name].append(measure(make, sessions, given.messages, given.paced))
        print(f"\n{f'{sessions} sessions':<34} {'musher':>10} {'relay':>10} {'node':>10} {'musher/node':>12}")
        for key in rounds["musher"][0]:
            ours, floor, theirs = (statistics.median(it[key] for it in rounds[name]) for name in backends)
            ratio = f"{ours / theirs:.3f}" if theirs else "-"
            print(f"  {key:<32} {ours:>10.2f} {floor:>10.2f} {theirs:>10.2f} {ratio:>12}")


if __name__ == "__main__":
    main()
