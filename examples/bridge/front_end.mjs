#!/usr/bin/env node
// A front end for `musher bridge` in Node, with nothing but the standard library.
//
//   node front_end.mjs "How many files are here?"
//   node front_end.mjs --yes "Make a file."        (allows every tool)
//   node front_end.mjs --agent engine "Hello."     (with musher's own agent instead of Claude Code)
//
// Starts the bridge, runs one turn, and asks you before a tool runs.
// The types of the messages are in docs/schema/bridge.d.ts.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { createInterface as createPrompt } from "node:readline/promises";

/** One bridge process: messages go in and come out as JSON lines. */
class Bridge {
  #numbers = 0;

  constructor() {
    const program = process.env.MUSHER ?? "musher";
    this.process = spawn(program, ["bridge"], { stdio: ["pipe", "pipe", "inherit"] });
    this.ended = new Promise((resolve) => this.process.on("close", resolve));
  }

  send(type, payload, { sessionId, id } = {}) {
    const message = { type, id: id ?? `r${++this.#numbers}`, payload };
    if (sessionId !== undefined) message.session_id = sessionId;
    this.process.stdin.write(JSON.stringify(message) + "\n");
    return message.id;
  }

  /** @returns {AsyncGenerator<import("../../docs/schema/bridge").BridgeMessage>} */
  async *messages() {
    for await (const line of createInterface({ input: this.process.stdout })) yield JSON.parse(line);
  }

  close() {
    this.process.stdin.end();
    return this.ended;
  }
}

/** Answers a question of the agent: may this tool run? */
async function decide(request, allowAll) {
  console.log(`\n[${request.tool_name}] ${JSON.stringify(request.tool_input)}`);
  if (allowAll) return { behavior: "allow" };
  const prompt = createPrompt({ input: process.stdin, output: process.stdout });
  const answer = await prompt.question("allow? [y/N] ");
  prompt.close();
  if (answer.trim().toLowerCase() === "y") return { behavior: "allow" };
  return { behavior: "deny", message: "The user said no." };
}

/** Prints what the agent says, and how its turn ended. */
function show(message) {
  if (message.type === "assistant") {
    for (const block of message.message.content) {
      if (block.type === "text") console.log(block.text);
      if (block.type === "tool_use") console.log(`-> ${block.name}`);
    }
  }
  if (message.type !== "result") return;
  const cost = message.total_cost_usd ? `, $${message.total_cost_usd.toFixed(4)}` : "";
  console.log(`-- done: ${message.subtype}${cost}`);
  for (const error of message.errors ?? []) console.error(`error: ${error}`);
}

async function main() {
  const words = process.argv.slice(2);
  const allowAll = words.includes("--yes");
  const at = words.indexOf("--agent");
  const options = at < 0 ? {} : { agent: words.splice(at, 2)[1] };
  const prompt = words.filter((word) => word !== "--yes").join(" ");
  if (prompt === "") {
    console.error('usage: node front_end.mjs [--yes] [--agent NAME] "PROMPT"');
    return 2;
  }
  const bridge = new Bridge();
  const create = bridge.send("session.create", { prompt, cwd: process.cwd(), options });
  let code = 0;
  for await (const { type, id, session_id: sessionId, payload } of bridge.messages()) {
    if (type === "session.created") console.log(`-- session ${payload.sdk_session_id}`);
    if (type === "sdk.message") {
      show(payload);
      if (payload.type === "result") {
        code = payload.is_error || payload.subtype !== "success" ? 1 : 0;
        break;
      }
    }
    if (type === "callback.request") {
      const answer = payload.callback_type === "can_use_tool" ? await decide(payload, allowAll) : {};
      bridge.send("callback.response", answer, { sessionId, id });
    }
    if (type === "error") {
      console.error(`error ${payload.code}: ${payload.message}`);
      // an error that is not a reply, or the reply to our first request, ends the session
      if (id === undefined || id === create) {
        code = 1;
        break;
      }
    }
  }
  await bridge.close();
  return code;
}

process.exitCode = await main();
