// An editor on the official TypeScript SDK, driven line by line by a test.
//
//   in:  {"call": method, "id": n, "params": {}}   {"notify": method, "params": {}}   {"answer": n, "result": {}}
//        {"answer": n, "error": message}   {"raw": line}, written to the agent as it is
//        {"serve": "terminal"}, from then on terminals are real and nothing is asked about them
//   out: {"done": n, "result": {}} or {"done": n, "error": {}}   {"update": {}}   {"ask": n, "method": "", "params": {}}
//        {"served": method, "params": {}}   {"withdrawn": n}   {"stray": line}   {"unheard": error}, for what is answered without an id
// argv: the folder of the SDK's node_modules, then the agent's command.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { PassThrough, Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [modules, program, ...args] = process.argv.slice(2);
const entry = `${modules}/node_modules/@agentclientprotocol/sdk/dist/v1/unstable/acp.js`;
const acp = await import(pathToFileURL(createRequire(import.meta.url).resolve(entry)));

const say = (line) => process.stdout.write(JSON.stringify(line) + "\n");
const agent = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });

// everything on the agent's stdout must be the protocol
const wire = new PassThrough();
agent.stdout.pipe(wire);
createInterface({ input: agent.stdout }).on("line", (line) => {
  try {
    const message = JSON.parse(line);
    if (message.jsonrpc !== "2.0") say({ stray: line });
    if (message.error && message.id === null) say({ unheard: message.error });
  } catch {
    say({ stray: line });
  }
});

let asked = 0;
const open = new Map();
const ask = (method) => ({ params, signal }) =>
  new Promise((resolve, reject) => {
    const id = ++asked;
    open.set(id, { resolve, reject });
    signal?.addEventListener("abort", () => {
      say({ withdrawn: id });
      reject(new Error("withdrawn"));
    });
    say({ ask: id, method, params });
  });

// terminals as editors have them: programs with a buffer that keeps the end of their output
let isServing = false;
const terminals = new Map();
const serve = {
  "terminal/create": ({ command, args, env, cwd, outputByteLimit }) => {
    const variables = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
    const all = { ...process.env, EDITORS_OWN: "a secret", ...variables };
    const child = spawn(command, args ?? [], { cwd, env: all, stdio: ["pipe", "pipe", "pipe"] });
    const terminal = { child, output: Buffer.alloc(0), truncated: false, exitStatus: null };
    const take = (piece) => {
      const joined = Buffer.concat([terminal.output, piece]);
      terminal.truncated ||= joined.length > outputByteLimit;
      terminal.output = joined.subarray(Math.max(0, joined.length - outputByteLimit));
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    const drained = new Promise((resolve) => child.on("close", resolve));
    terminal.exited = new Promise((resolve) =>
      child.on("exit", async (exitCode, signal) => {
        await Promise.race([drained, new Promise((resolve) => setTimeout(resolve, 300))]);
        terminal.exitStatus = { exitCode, signal };
        resolve(terminal.exitStatus);
      }),
    );
    const terminalId = `terminal-${terminals.size + 1}`;
    terminals.set(terminalId, terminal);
    return { terminalId };
  },
  "terminal/wait_for_exit": ({ terminalId }) => terminals.get(terminalId).exited,
  "terminal/output": ({ terminalId }) => {
    const { output, truncated, exitStatus } = terminals.get(terminalId);
    return { output: output.toString(), truncated, exitStatus };
  },
  // only the program itself: whatever it has started is the agent's to end
  "terminal/kill": ({ terminalId }) => (terminals.get(terminalId).child.kill("SIGKILL"), {}),
  "terminal/release": () => ({}),
};
const terminal = (method) => (context) => {
  if (!isServing) return ask(method)(context);
  say({ served: method, params: context.params });
  return serve[method](context.params);
};

const connection = acp
  .client({ name: "test editor" })
  .onNotification("session/update", ({ params }) => say({ update: params }))
  .onRequest("session/request_permission", ask("session/request_permission"))
  .onRequest("elicitation/create", ask("elicitation/create"))
  .onRequest("fs/read_text_file", ask("fs/read_text_file"))
  .onRequest("fs/write_text_file", ask("fs/write_text_file"))
  .onRequest("terminal/create", terminal("terminal/create"))
  .onRequest("terminal/output", terminal("terminal/output"))
  .onRequest("terminal/wait_for_exit", terminal("terminal/wait_for_exit"))
  .onRequest("terminal/kill", terminal("terminal/kill"))
  .onRequest("terminal/release", terminal("terminal/release"))
  .connect(acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(wire)));
const peer = connection.agent;

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { call, notify, answer, id, params, result, error, raw, serve } = JSON.parse(line);
    if (serve !== undefined) {
      isServing = true;
    } else if (raw !== undefined) {
      agent.stdin.write(raw + "\n");
    } else if (call) {
      peer.request(call, params).then(
        (result) => say({ done: id, result: result ?? null }),
        (error) => say({ done: id, error: { code: error.code, message: error.message, data: error.data } }),
      );
    } else if (notify) {
      peer.notify(notify, params);
    } else {
      const asked = open.get(answer);
      if (error === undefined) asked?.resolve(result);
      else asked?.reject(new Error(error));
    }
  })
  .on("close", () => agent.stdin.end());
agent.on("exit", (code, signal) => {
  say({ exit: code, signal });
  process.exit(code === 0 ? 0 : 1);
});
