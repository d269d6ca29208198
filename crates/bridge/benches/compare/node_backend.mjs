// The smallest backend on the official SDK that does the job of the benchmark: many sessions over JSON lines.
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { randomUUID } from "node:crypto";

const require = createRequire(pathToFileURL(process.env.SDK_FOLDER + "/"));
const { query } = await import(pathToFileURL(require.resolve("@anthropic-ai/claude-agent-sdk")));

const send = (frame) => process.stdout.write(JSON.stringify(frame) + "\n");
const sessions = new Map();

/** A stream of user messages that can be added to. */
function inbox() {
  const waiting = [];
  let wake = () => {};
  return {
    push(text) {
      waiting.push({ type: "user", message: { role: "user", content: text }, parent_tool_use_id: null, session_id: "" });
      wake();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        while (waiting.length > 0) yield waiting.shift();
        await new Promise((resolve) => (wake = resolve));
      }
    },
  };
}

async function create({ id, payload }) {
  const session_id = randomUUID();
  const messages = inbox();
  const options = { cwd: payload.cwd, pathToClaudeCodeExecutable: process.env.FAKE_CLAUDE, canUseTool: async (_, input) => ({ behavior: "allow", updatedInput: input }) };
  const session = query({ prompt: messages, options });
  sessions.set(session_id, messages);
  await session.initializationResult?.() ?? (await session.supportedCommands());
  send({ type: "session.created", id, session_id, payload: {} });
  if (payload.prompt.trim() !== "") messages.push(payload.prompt);
  for await (const message of session) send({ type: "sdk.message", session_id, payload: message });
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.type === "session.create") create(message).catch((error) => console.error(error));
  if (message.type === "session.send") sessions.get(message.session_id).push(message.payload.message);
}
process.exit(0);
