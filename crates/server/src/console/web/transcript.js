// One session as rows of a transcript: the history and the notifications in, rows out. Pure, and safe to feed twice: after a reconnect the
// daemon repeats what was missed, and rows are known by the ids of messages and tool calls.

/** @typedef {import("./types.d.ts").Message} Message */
/** @typedef {import("./types.d.ts").SessionNotification} SessionNotification */
/** What the daemon adds. @typedef {{ type: "session_process_exited", message: string } | { type: "session_closed" }} DaemonNotification */

/**
 * One row. `version` counts its changes, so that a view renders only what has changed.
 * @typedef {{
 *   key: string, kind: "user" | "text" | "thinking" | "tool" | "notice" | "turn", version: number, at: number,
 *   message?: string, text?: string, isStreaming?: boolean, images?: string[], files?: string[], isUnsent?: boolean, tool?: Tool,
 *   tone?: string, turn?: Turn, model?: string, duration?: number
 * }} Row
 * @typedef {{
 *   id: string, name: string, input: any, phase: string, result: string | null, images: string[], isError: boolean, output: string,
 *   steps: Step[], child: string, started: number, ended: number
 * }} Tool
 * @typedef {{ kind: string, text: string, tone?: string }} Step
 * @typedef {{
 *   id: string, reason: string, duration: number, tokens: import("./types.d.ts").TokenUsage | null, childTokens: import("./types.d.ts").TokenUsage | null, cost: number | null, unpriced: number, ended: number
 * }} Turn
 */

const MAX_STEPS = 400;
const MAX_OUTPUT = 400_000;

export class Transcript {
  constructor() {
    /** @type {Row[]} */
    this.rows = [];
    /** @type {Map<string, Row>} */
    this.byKey = new Map();
    /** Messages whose final text is known. Their deltas are out of date. */
    this.complete = new Set();
    /** @type {Turn[]} */
    this.turns = [];
    /** @type {{ status: string, text: string }[]} */
    this.todos = [];
    this.state = "idle";
    this.title = "";
    /** @type {import("./types.d.ts").SessionSettings} */
    this.settings = {};
    /** @type {import("./types.d.ts").TokenUsage | null} */
    this.usage = null;
    /** @type {import("./types.d.ts").LastCallTokenUsage | null} */
    this.lastCall = null;
    this.sequence = 0;
    /** Notices with a sequence up to this one were there when the session was loaded. */
    this.baseline = 0;
    /** The last of those that was taken again. */
    this.replayed = 0;
    /** Whether the events before the baseline are on their way. Newer ones come again after them. */
    this.isReplaying = false;
    this.waitingSince = 0;
    /** Times at which the session waited for a person: `[from, to]`. @type {number[][]} */
    this.waits = [];
  }

  /** Begins again with the answer of `load_session`. @param {import("./types.d.ts").LoadSessionResult & import("./connection.js").Extras} result */
  load(result) {
    const unsent = this.rows.filter((row) => row.isUnsent);
    this.rows = [];
    this.byKey = new Map();
    this.complete = new Set();
    for (const message of result.session?.messages ?? []) this.message(message);
    for (const row of unsent) if (!this.byKey.has(row.key)) this.push(row);
    this.title = result.session?.title ?? this.title;
    this.settings = result.settings ?? this.settings;
    this.state = result.workingState ?? "idle";
    this.usage = result.inclusiveTokenUsage ?? result.tokenUsage ?? null;
    this.lastCall = result.lastCallTokenUsage ?? null;
    this.sequence = result.lastSequence ?? 0;
    this.baseline = this.sequence;
    this.replayed = 0;
    this.isReplaying = false;
    /** Prompts that wait for the end of the turn, here or in another browser. */
    for (const queued of result.queuedMessages ?? []) this.queued(queued);
  }

  /** Expects the events after this one again, in their order. */
  replayFrom(sequence) {
    this.isReplaying = sequence < this.baseline;
  }

  /** Adds a prompt that waits in the daemon, if its row is not there. @param {import("./types.d.ts").QueuedMessage} queued */
  queued(queued) {
    const key = queued.messageId ?? queued.requestId;
    if (this.byKey.has(key)) return;
    this.push({ key, kind: "user", version: 0, at: Date.now(), message: key, text: queued.text, isUnsent: true, images: [], files: [] });
  }

  /** Whether an event is new. Events come in their order; some come twice: after a reconnect, and while a turn is read again. */
  isNew(sequence) {
    if (sequence <= this.baseline) {
      if (sequence <= this.replayed) return false;
      this.replayed = sequence;
      if (sequence === this.baseline) this.isReplaying = false;
      return true;
    }
    if (this.isReplaying || sequence <= this.sequence) return false;
    this.sequence = sequence;
    return true;
  }

  /**
   * Takes a notification.
   * @param {SessionNotification | DaemonNotification} note
   * @param {number | undefined} sequence
   * @param {number} now milliseconds
   */
  apply(note, sequence, now) {
    if (sequence !== undefined && !this.isNew(sequence)) return;
    const isOld = sequence !== undefined && sequence <= this.baseline;
    switch (note.type) {
      case "droid_working_state_changed":
        return this.setState(note.newState, now);
      case "create_message":
        return this.message(note.message);
      case "assistant_text_delta":
        return this.delta("text", note, now);
      case "thinking_text_delta":
        return this.delta("thinking", note, now);
      case "assistant_text_complete":
      case "thinking_text_complete": {
        const row = this.byKey.get(`${note.messageId}:${note.blockIndex ?? 0}`);
        if (row) this.change(row, { isStreaming: false, duration: "durationMs" in note ? note.durationMs : undefined });
        return;
      }
      case "assistant_message_retracted":
        return this.remove((row) => row.message === note.messageId && row.kind !== "tool");
      case "tool_call": {
        const { id, name, input } = note.toolUse;
        return void this.tool(id, name, input, now, isOld);
      }
      case "tool_execution_phase_changed": {
        const row = this.tool(note.toolUseId, note.toolName, undefined, now, isOld);
        if (row?.tool.result === null) {
          row.tool.phase = note.phase;
          if (note.phase === "executing" && !row.tool.started) row.tool.started = now;
          this.change(row, {});
        }
        return;
      }
      case "tool_progress_update":
        return this.progress(note, now, isOld);
      case "child_session_available": {
        const row = note.toolUseId && this.tool(note.toolUseId, "Task", undefined, now, isOld);
        if (row) {
          row.tool.child = note.childSessionId;
          this.change(row, {});
        }
        return;
      }
      case "tool_result": {
        const row = this.tool(note.toolUseId, "", undefined, now, isOld);
        if (row) this.result(row, note.content, note.isError, isOld ? 0 : now);
        return;
      }
      case "agent_turn_completed":
        return this.turnEnded(note, isOld ? 0 : now);
      case "session_token_usage_changed":
        this.usage = note.inclusiveTokenUsage ?? note.tokenUsage;
        this.lastCall = note.lastCallTokenUsage ?? this.lastCall;
        return;
      case "settings_updated":
        this.settings = { ...this.settings, ...note.settings };
        return;
      case "session_title_updated":
        this.title = note.title;
        return;
      case "error":
        return this.notice(`error:${sequence}`, note.message, "bad", isOld, now);
      case "llm_retry":
        return this.notice(`retry:${sequence}`, `The model did not answer (${note.reason}); attempt ${note.attempt}`, "warn", isOld, now);
      case "session_compacted":
        return this.notice(`compact:${sequence}`, `Conversation compacted: a summary replaces ${note.removedCount ?? "older"} messages`, "info", isOld, now);
      case "session_process_exited":
        return this.notice(`exit:${sequence}`, note.message, "bad", isOld, now);
      case "session_closed":
        return this.notice(`closed:${sequence}`, "Session closed; the next message opens it again", "info", isOld, now);
      case "queued_messages_discarded":
        return this.notice(`discarded:${sequence}`, `Queued message discarded: ${note.text ?? ""}`, "warn", isOld, now);
      case "hook_execution_completed":
        if (note.hookStatus === "error" || note.hookPreventedAction) {
          const output = (note.hookResults ?? []).map((it) => it.stderr || it.stdout).join("\n");
          this.notice(`hook:${note.hookId}`, `Hook ${note.hookEventName}: ${output}`, "warn", isOld, now);
        }
        return;
      default:
    }
  }

  setState(state, now) {
    if (state === "waiting_for_tool_confirmation") this.waitingSince ||= now;
    else if (this.waitingSince) {
      this.waits.push([this.waitingSince, now]);
      this.waitingSince = 0;
    }
    this.state = state;
    if (state === "idle") {
      for (const row of this.rows.slice(-50)) if (row.isStreaming) this.change(row, { isStreaming: false });
    }
  }

  /** Adds a message, or completes the rows that its deltas have made. @param {Message} message */
  message(message) {
    if (message.visibility === "llm_only" || /^(context-|__internal__)/.test(message.id)) return;
    /** @type {any[]} the test of `type` for each use is in `block` */
    const content = message.content ?? [];
    const at = message.createdAt ?? 0;
    if (message.role === "tool") {
      for (const block of content) this.block(message, block, at, 0);
      return;
    }
    if (message.role === "user") {
      const results = content.filter((block) => block.type === "tool_result");
      for (const block of results) this.block(message, block, at, 0);
      if (results.length && results.length === content.length) return;
      const text = content.filter((block) => block.type === "text").map((block) => block.text).join("\n");
      const images = content.filter((block) => block.type === "image").map(imageUrl).filter(Boolean);
      const files = content.filter((block) => block.type === "document").map((block) => block.source?.name ?? "document");
      const row = this.byKey.get(message.id);
      if (row?.isUnsent) {
        // what was said before the agent took it comes first
        this.rows.splice(this.rows.indexOf(row), 1);
        this.rows.push(row);
      }
      if (row) return this.change(row, { text, images, files, at, isUnsent: false });
      return this.push({ key: message.id, kind: "user", version: 0, at, message: message.id, text, images, files });
    }
    if (message.role === "system") {
      const text = content.map((block) => block.text ?? "").join("\n");
      return this.notice(message.id, text, "info", false, at);
    }
    const rows = content.map((block, index) => this.block(message, block, at, index)).filter(Boolean);
    const isOurs = (row) => row.message === message.id;
    const keys = new Set(rows.map((row) => row.key));
    const first = lastRun(this.rows, (row) => isOurs(row) || keys.has(row.key));
    this.complete.add(message.id);
    if (first === -1) return rows.forEach((row) => this.push(row));
    // rows of its deltas, in the order of the message
    const tail = this.rows.splice(first).filter((row) => !isOurs(row) && !keys.has(row.key));
    for (const row of rows) {
      this.byKey.set(row.key, row);
      this.rows.push(row);
    }
    this.rows.push(...tail);
  }

  /**
   * Returns the row of a block of an assistant's message; it is not in the list yet.
   * @param {Message} message
   * @param {import("./types.d.ts").ContentBlock} block
   * @returns {Row | null}
   */
  block(message, block, at, index) {
    const key = `${message.id}:${index}`;
    const known = this.byKey.get(key);
    const base = { key, version: (known?.version ?? 0) + 1, at, message: message.id, model: message.modelId };
    switch (block.type) {
      case "text":
        return block.text ? Object.assign(known ?? {}, base, { kind: /** @type {const} */ ("text"), text: block.text, isStreaming: false }) : null;
      case "thinking":
        return block.thinking
          ? Object.assign(known ?? {}, base, { kind: /** @type {const} */ ("thinking"), text: block.thinking, isStreaming: false, duration: block.durationMs ?? known?.duration })
          : null;
      case "tool_use": {
        const row = this.byKey.get(block.id) ?? newTool(block.id, block.name, at);
        row.message = message.id;
        row.at = at;
        row.tool.input = block.input;
        this.learn(row.tool);
        row.version += 1;
        return row;
      }
      case "tool_result": {
        const row = this.byKey.get(block.toolUseId);
        if (row) this.result(row, block.content, block.isError, at);
        return null;
      }
      default:
        return null;
    }
  }

  /** @param {"text" | "thinking"} kind @param {import("./types.d.ts").AssistantTextDelta | import("./types.d.ts").ThinkingTextDelta} note @param {number} now */
  delta(kind, note, now) {
    if (this.complete.has(note.messageId)) return;
    const key = `${note.messageId}:${note.blockIndex ?? 0}`;
    const row = this.byKey.get(key);
    if (row) return this.change(row, { text: row.text + note.textDelta, isStreaming: true });
    this.push({ key, kind, version: 0, at: now, message: note.messageId, text: note.textDelta, isStreaming: true });
  }

  /** Returns the row of a tool call, and adds it if it is new. An old one that is not in the history is not added. */
  tool(id, name, input, now, isOld) {
    let row = this.byKey.get(id);
    if (!row) {
      if (isOld || !name) return null;
      row = newTool(id, name, now);
      this.push(row);
    }
    if (name) row.tool.name = name;
    if (input && Object.keys(input).length) row.tool.input = input;
    this.learn(row.tool);
    this.change(row, {});
    return row;
  }

  /** @param {import("./types.d.ts").ToolProgressUpdate} note @param {number} now @param {boolean} isOld */
  progress(note, now, isOld) {
    const row = this.tool(note.toolUseId, note.toolName, undefined, now, isOld);
    const update = note.update ?? {};
    if (!row || row.tool.result !== null) return;
    row.tool.started ||= now;
    if (update.subagentSessionId) {
      row.tool.child = update.subagentSessionId;
      const text = update.text ?? `${update.toolName ?? ""} ${summaryOf(update.parameters) || update.valueSnippet || ""}`;
      const tone = update.status === "error" ? "bad" : undefined;
      row.tool.steps.push({ kind: update.type ?? "message", text, tone });
      if (row.tool.steps.length > MAX_STEPS) row.tool.steps.shift();
    } else {
      const output = update.fullOutput ?? update.text ?? "";
      if (output) row.tool.output = output.slice(-MAX_OUTPUT);
    }
    this.change(row, {});
  }

  result(row, content, isError, now) {
    const blocks = Array.isArray(content) ? content : [];
    const text = typeof content === "string" ? content : blocks.filter((it) => it.type === "text").map((it) => it.text).join("\n");
    row.tool.result = text ?? "";
    row.tool.images = blocks.filter((it) => it.type === "image").map(imageUrl).filter(Boolean);
    row.tool.isError = Boolean(isError);
    row.tool.phase = "done";
    row.tool.ended ||= now;
    this.change(row, {});
  }

  /** Remembers what a tool call says about the session. */
  learn(tool) {
    if (tool.name === "TodoWrite" && tool.input?.todos) this.todos = parseTodos(tool.input.todos);
  }

  /** Adds the ends of earlier turns. Those whose prompt is not shown have no place. @param {import("./types.d.ts").AgentTurnCompleted[]} notes */
  turnsEnded(notes) {
    for (const note of notes) {
      if (!this.byKey.has(`turn:${note.turnId}`) && this.byKey.has(note.turnId)) this.turnEnded(note, 0);
    }
  }

  /** @param {import("./types.d.ts").AgentTurnCompleted} note @param {number} now */
  turnEnded(note, now) {
    const { "musher.costUsd": cost = null, "musher.unpricedTokens": unpriced = 0 } = note;
    const turn = {
      id: note.turnId ?? "",
      reason: note.reason,
      duration: note.durationMs ?? 0,
      tokens: note.tokenUsage ?? null,
      childTokens: note.childTokenUsage ?? null,
      cost,
      unpriced,
      ended: now,
    };
    const key = `turn:${turn.id}`;
    const known = this.turns.findIndex((it) => it.id === turn.id);
    if (known === -1) this.turns.push(turn);
    else this.turns[known] = { ...turn, ended: this.turns[known].ended || now };
    if (this.byKey.has(key)) return;
    const row = { key, kind: /** @type {const} */ ("turn"), version: 0, at: now, turn };
    // after the last row of its prompt
    const start = this.rows.findIndex((it) => it.key === turn.id);
    const next = start === -1 ? -1 : this.rows.findIndex((it, at) => at > start && it.kind === "user");
    this.byKey.set(key, row);
    if (next === -1) this.rows.push(row);
    else this.rows.splice(next, 0, row);
  }

  notice(key, text, tone, isOld, now) {
    if (isOld || this.byKey.has(key) || !text) return;
    this.push({ key, kind: "notice", version: 0, at: now, text, tone });
  }

  push(row) {
    this.byKey.set(row.key, row);
    this.rows.push(row);
  }

  change(row, fields) {
    Object.assign(row, fields);
    row.version += 1;
  }

  remove(test) {
    for (const row of this.rows.filter(test)) this.byKey.delete(row.key);
    this.rows = this.rows.filter((row) => !test(row));
  }
}

/** @returns {Row} */
function newTool(id, name, at) {
  const tool = { id, name, input: {}, phase: "queued", result: null, images: [], isError: false, output: "", steps: [], child: "", started: 0, ended: 0 };
  return { key: id, kind: /** @type {const} */ ("tool"), version: 0, at, tool };
}

/** The first index of the last run of rows; looks at the end only, where new rows are. */
function lastRun(rows, test) {
  let first = -1;
  for (let at = rows.length - 1; at >= Math.max(0, rows.length - 400); at -= 1) if (test(rows[at])) first = at;
  return first;
}

/** Images are shown if they are data of a known type; nothing is loaded from elsewhere. */
function imageUrl(block) {
  const source = block.source ?? {};
  const type = source.mediaType ?? "";
  const isKnown = source.type === "base64" && /^image\/(png|jpeg|gif|webp)$/.test(type);
  return isKnown && /^[A-Za-z0-9+/=]*$/.test(source.data ?? "") ? `data:${type};base64,${source.data}` : "";
}

/** @returns {{ status: string, text: string }[]} */
export function parseTodos(todos) {
  const lines = typeof todos === "string" ? todos.split("\n") : Array.isArray(todos) ? todos : [];
  const items = lines.map((line) => {
    if (typeof line !== "string") return { status: line?.status ?? "pending", text: line?.content ?? line?.text ?? "" };
    const [, status, text] = /^[\s\-*]*\d*[.)]?\s*(?:\[([^\]]*)\])?\s*(.*)$/.exec(line) ?? [];
    return { status: status === "x" ? "completed" : status || "pending", text: text ?? "" };
  });
  return items.filter((item) => item.text);
}

/** One line that says what a tool call is about. */
export function summaryOf(input) {
  if (!input || typeof input !== "object") return "";
  const names = ["command", "file_path", "path", "pattern", "query", "url", "description", "prompt", "title", "skill"];
  const name = names.find((it) => typeof input[it] === "string");
  return name ? input[name].split("\n")[0] : "";
}
