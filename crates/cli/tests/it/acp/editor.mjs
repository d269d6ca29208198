// An editor on the official TypeScript SDK, driven line by line by a test.
//
//   in:  {"call": method, "id": n, "params": {}}   {"notify": method, "params": {}}   {"answer": n, "result": {}}
//        {"raw": line}, written to the agent as it is
//   out: {"done": n, "result": {}} or {"done": n, "error": {}}   {"update": {}}   {"ask": n, "method": "", "params": {}}
//        {"withdrawn": n}   {"stray": line}   {"unheard": error}, for what is answered without an id
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
    open.set(id, resolve);
    signal?.addEventListener("abort", () => {
      say({ withdrawn: id });
      reject(new Error("withdrawn"));
    });
    say({ ask: id, method, params });
  });

const connection = acp
  .client({ name: "test editor" })
  .onNotification("session/update", ({ params }) => say({ update: params }))
  .onRequest("session/request_permission", ask("session/request_permission"))
  .onRequest("elicitation/create", ask("elicitation/create"))
  .onRequest("fs/read_text_file", ask("fs/read_text_file"))
  .onRequest("terminal/create", ask("terminal/create"))
  .connect(acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(wire)));
const peer = connection.agent;

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { call, notify, answer, id, params, result, raw } = JSON.parse(line);
    if (raw !== undefined) {
      agent.stdin.write(raw + "\n");
    } else if (call) {
      peer.request(call, params).then(
        (result) => say({ done: id, result: result ?? null }),
        (error) => say({ done: id, error: { code: error.code, message: error.message, data: error.data } }),
      );
    } else if (notify) {
      peer.notify(notify, params);
    } else {
      open.get(answer)?.(result);
    }
  })
  .on("close", () => agent.stdin.end());
agent.on("exit", (code, signal) => {
  say({ exit: code, signal });
  process.exit(code === 0 ? 0 : 1);
});
