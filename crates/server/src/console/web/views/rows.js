// The rows of a transcript.

import { html, useState } from "../html.js";
import { Component } from "../vendor/preact.js";
import { Code, languageOf } from "../code.js";
import { Diff } from "../diff.js";
import { duration, money, time, tokens } from "../format.js";
import { Markdown } from "../markdown.js";
import { href } from "../router.js";
import { parseTodos, summaryOf } from "../transcript.js";

const MAX_RESULT = 20_000;

/** One row; rendered again only if it has changed. */
export class RowView extends Component {
  shouldComponentUpdate(next) {
    return next.row !== this.props.row || next.row.version !== this.seen;
  }

  render({ row, session, actions }) {
    this.seen = row.version;
    const View = VIEWS[row.kind];
    return html`<${View} row=${row} session=${session} actions=${actions} version=${row.version} />`;
  }
}

const VIEWS = { user: User, text: Text, thinking: Thinking, tool: ToolCall, notice: Notice, turn: TurnEnd };

function User({ row, session, actions }) {
  return html`<div class="user"><div class="bubble">
    <p class="said">${row.text}</p>
    ${row.images?.map((url) => html`<img src=${url} alt="Attached image" loading="lazy" />`)}
    ${row.files?.map((name) => html`<span class="tag">${name}</span>`)}
    <footer class="dim">${row.isUnsent ? "sending…" : time(row.at)}
      ${!row.isUnsent && html`<a class="permalink" href=${href("session", session, "transcript", row.key)} aria-label="Link to this message">#</a>
        <button class="quiet" onClick=${() => actions.rewind(row)}>Rewind to here</button>`}</footer>
  </div></div>`;
}

function Text({ row, session }) {
  return html`<div class=${`said-by-agent ${row.isStreaming ? "streaming" : ""}`}><${Markdown} text=${row.text} />
    <a class="permalink" href=${href("session", session, "transcript", row.key)} aria-label="Link to this message">#</a></div>`;
}

function Thinking({ row }) {
  const [isOpen, setOpen] = useState(false);
  const label = row.isStreaming ? "Thinking…" : `Thought${row.duration ? ` for ${duration(row.duration)}` : ""}`;
  return html`<div class="thinking"><button class="quiet fold" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>${label}</button>
    ${isOpen && html`<div class="thought"><${Markdown} text=${row.text} /></div>`}</div>`;
}

function Notice({ row }) {
  return html`<p class=${`notice ${row.tone}`}>${row.text}</p>`;
}

const REASONS = {
  completed: "Done",
  cancelled: "Interrupted",
  permission_rejected: "Permission denied",
  error: "Failed",
  process_exit: "The agent ended",
};

function TurnEnd({ row }) {
  const { turn } = row;
  const used = turn.tokens ? turn.tokens.inputTokens + turn.tokens.outputTokens + (turn.tokens.cacheReadTokens ?? 0) : 0;
  const parts = [REASONS[turn.reason] ?? turn.reason.replaceAll("_", " ")];
  if (turn.duration) parts.push(duration(turn.duration));
  if (used) parts.push(`${tokens(used)} tokens`);
  if (turn.cost !== null) parts.push(money(turn.cost, turn.unpriced));
  return html`<p class=${`turn-end ${turn.reason === "completed" ? "" : "bad"}`}><span>${parts.join(" · ")}</span></p>`;
}

function ToolCall({ row }) {
  const { tool } = row;
  const isRunning = tool.result === null;
  const isShown = tool.name === "TodoWrite" || tool.name === "Task" || tool.isError;
  const [isOpen, setOpen] = useState(/** @type {boolean | null} */ (null));
  const open = isOpen ?? (isShown || (isRunning && Boolean(tool.output)));
  const state = isRunning ? (tool.phase === "executing" ? "running" : "queued") : tool.isError ? "failed" : "done";
  const summary = summaryOf(tool.input);
  const took = tool.started && tool.ended > tool.started ? duration(tool.ended - tool.started) : "";
  return html`<div class=${`tool ${state}`} data-tool=${tool.name}>
    <button class="tool-head fold" aria-expanded=${open} onClick=${() => setOpen(!open)}>
      <span class=${`mark ${state}`} role="img" aria-label=${state}></span>
      <span class="tool-name">${tool.name}</span> <span class="tool-summary">${summary}</span> <span class="dim">${took}</span>
    </button>
    ${open && html`<div class="tool-body"><${ToolInput} tool=${tool} /><${Steps} tool=${tool} /><${Output} tool=${tool} /></div>`}
  </div>`;
}

function ToolInput({ tool }) {
  const input = tool.input ?? {};
  const path = input.file_path ?? input.path ?? "";
  switch (tool.name) {
    case "Execute":
      return html`<${Code} text=${String(input.command ?? "")} language="sh" label="command" />`;
    case "Edit":
      return html`<${Diff} path=${path} before=${String(input.old_str ?? input.old_string ?? "")} after=${String(input.new_str ?? input.new_string ?? "")} />`;
    case "Create":
      return html`<${Code} text=${String(input.content ?? "")} language=${languageOf(path)} label=${path} />`;
    case "ApplyPatch":
      return html`<${Code} text=${String(input.input ?? input.patch ?? "")} language="diff" />`;
    case "TodoWrite":
      return html`<${Todos} items=${parseTodos(input.todos)} />`;
    case "Task":
      return html`<div class="thought"><${Markdown} text=${String(input.prompt ?? input.description ?? "")} /></div>`;
    case "ExitSpecMode":
      return html`<div class="plan"><${Markdown} text=${String(input.plan ?? "")} /></div>`;
    default:
      return Object.keys(input).length ? html`<${Code} text=${JSON.stringify(input, null, 2)} language="json" label="input" />` : null;
  }
}

/** What a subagent does, step by step. */
function Steps({ tool }) {
  if (!tool.steps.length) return null;
  return html`<div class="subagent"><p class="dim">Subagent${tool.child && html` · <a href=${href("session", tool.child)}>open</a>`}</p>
    <ol>${tool.steps.map((step) => html`<li class=${`step ${step.kind} ${step.tone ?? ""}`}>${step.text}</li>`)}</ol></div>`;
}

function Output({ tool }) {
  const [isWhole, setWhole] = useState(false);
  if (tool.name === "TodoWrite" && !tool.isError) return null;
  const text = tool.result ?? tool.output;
  if (!text && !tool.images.length) return null;
  const shown = isWhole ? text : text.slice(0, MAX_RESULT);
  const label = tool.result === null ? "live output" : tool.isError ? "error" : "result";
  const isText = tool.name === "Task" && !tool.isError;
  return html`<div class="output">
    ${isText ? html`<${Markdown} text=${shown} />` : text && html`<pre class=${`plain ${tool.isError ? "bad" : ""}`} tabindex="0" role="region" aria-label=${label}>${shown}</pre>`}
    ${text.length > shown.length && html`<button class="quiet" onClick=${() => setWhole(true)}>Show all ${tokens(text.length)} characters</button>`}
    ${tool.images.map((url) => html`<img src=${url} alt="Image of the result" loading="lazy" />`)}
  </div>`;
}

const MARKS = { completed: "✓", in_progress: "▸", pending: "○" };

/** @param {{ items: { status: string, text: string }[] }} props */
export function Todos({ items }) {
  return html`<ul class="todos">${items.map(
    (item) => html`<li class=${item.status}><span role="img" aria-label=${item.status.replace("_", " ")}>${MARKS[item.status] ?? "○"}</span> ${item.text}</li>`,
  )}</ul>`;
}
