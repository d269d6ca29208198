// One session: its transcript, what waits for an answer, the composer, and tabs for its changes and its timeline.

import { html, useCallback, useState } from "../html.js";
import { attempt, inbox, openSession, refreshSessions, sessions, toast } from "../app.js";
import { connection } from "../connection.js";
import { share, shortPath, tokens } from "../format.js";
import { go, href } from "../router.js";
import { useStore } from "../store.js";
import { VirtualList } from "../virtual.js";
import { Changes } from "./changes.js";
import { Composer } from "./composer.js";
import { RequestCard } from "./request.js";
import { RowView, Todos } from "./rows.js";
import { tagsOf } from "./sessions.js";
import { SettingsBar } from "./settings.js";
import { Timeline } from "./timeline.js";

const TABS = { transcript: "Transcript", changes: "Changes", timeline: "Timeline" };

/** @param {{ route: import("../router.js").Route }} props */
export function Session({ route }) {
  const it = openSession(route.id);
  const session = useStore(it);
  const tab = TABS[route.tab] ? route.tab : "transcript";
  if (session.state === "failed") {
    return html`<section class="page"><h1>Session</h1><p class="problem" role="alert">${session.problem}</p>
      <p><a href=${href("sessions")}>All sessions</a></p></section>`;
  }
  return html`<section class="session-view">
    <${Head} session=${session} />
    <nav class="tabs" aria-label="Session">${Object.entries(TABS).map(
      ([name, label]) => html`<a href=${href("session", session.id, name)} aria-current=${tab === name ? "page" : undefined}>${label}</a>`,
    )}</nav>
    ${session.missed > 0 && html`<p class="notice warn" role="status">${session.missed} events are no longer kept; the transcript was loaded again.</p>`}
    ${tab === "changes" ? html`<${Changes} session=${session} />` : tab === "timeline" ? html`<${Timeline} session=${session} />` : html`<${Conversation} session=${session} anchor=${route.anchor} />`}
  </section>`;
}

/** @param {{ session: import("../app.js").Open }} props */
function Head({ session }) {
  const { transcript } = session;
  const { homedir } = useStore(connection.status);
  const { list } = useStore(sessions);
  const [isRenaming, setRenaming] = useState(false);
  const summary = list.find((one) => one.sessionId === session.id);
  const title = transcript.title || summary?.title || "New session";
  const rename = async (event) => {
    event.preventDefault();
    const name = String(new FormData(event.target).get("title") ?? "").trim();
    if (name && (await attempt("daemon.rename_session", { sessionId: session.id, title: name }))) transcript.title = name;
    setRenaming(false);
    refreshSessions();
  };
  const fork = async () => {
    const made = await attempt("daemon.fork_session", { sessionId: session.id });
    if (made) {
      toast("Forked");
      go("session", made.newSessionId);
    }
  };
  const compact = async () => {
    toast("Compacting…");
    const made = await attempt("daemon.compact_session", { sessionId: session.id }, { timeout: 240_000 });
    if (made) {
      toast(`Compacted: a summary replaces ${made.removedCount ?? "the older"} messages`);
      if (made.newSessionId && made.newSessionId !== session.id) go("session", made.newSessionId);
    }
  };
  const call = transcript.lastCall;
  const used = call ? call.inputTokens + (call.cacheReadTokens ?? 0) + (call.outputTokens ?? 0) : 0;
  const part = share(used, summary?.contextLimit);
  const tags = summary ? tagsOf(summary) : [];
  const tag = async () => {
    const text = prompt("Tags of this session, separated by commas", tags.join(", "));
    if (text === null) return;
    const names = text.split(",").map((name) => name.trim()).filter(Boolean);
    await attempt("daemon.update_session_settings", { sessionId: session.id, tags: names.map((name) => ({ name })) });
    refreshSessions();
  };
  return html`<header class="session-head">
    ${isRenaming
      ? html`<form onSubmit=${rename} class="rename"><input name="title" aria-label="Title" defaultValue=${title} autofocus /><button>Save</button></form>`
      : html`<h1>${title}</h1>`}
    <p class="dim"><span class="path">${shortPath(session.cwd, homedir)}</span>${summary?.branch && html` <span class="tag branch">${summary.branch}</span>`}
      ${used > 0 && html` <span title="Tokens of the last request">${tokens(used)} tokens in context${part && ` (${part})`}</span>`}${tags.map((name) => html` <span class="tag">${name}</span>`)}</p>
    <div class="session-actions">
      <button class="quiet" onClick=${() => setRenaming(!isRenaming)}>Rename</button>
      <button class="quiet" onClick=${tag}>Tags</button>
      <button class="quiet" onClick=${fork}>Fork</button>
      <button class="quiet" onClick=${compact}>Compact</button>
    </div>
  </header>`;
}

/** @param {{ session: import("../app.js").Open, anchor: string }} props */
function Conversation({ session, anchor }) {
  const { transcript } = session;
  const { items } = useStore(inbox);
  const waiting = items.filter((item) => item.sessionId === session.id);
  const rewind = useCallback((row) => startRewind(session, row), [session.id]);
  const openTodos = transcript.todos.filter((todo) => todo.status !== "completed");
  const row = (it) => html`<${RowView} row=${it} session=${session.id} actions=${{ rewind }} />`;
  if (session.state === "loading") return html`<p class="boot" role="status">Loading the session…</p>`;
  return html`<div class="conversation">
    ${openTodos.length > 0 && html`<details class="todo-bar"><summary>${transcript.todos.length - openTodos.length} of ${transcript.todos.length} steps done:
      <strong>${(openTodos.find((todo) => todo.status === "in_progress") ?? openTodos[0]).text}</strong></summary><${Todos} items=${transcript.todos} /></details>`}
    <${VirtualList} rows=${transcript.rows} row=${row} label="Transcript" anchor=${anchor}
      tail=${html`<${Activity} transcript=${transcript} isWaiting=${waiting.length > 0} />`} />
    ${waiting.length > 0 && html`<div class="waiting" role="region" aria-label="Waiting for you">${waiting.map((item) => html`<${RequestCard} key=${item.requestId} item=${item} showsSession=${false} />`)}</div>`}
    <${SettingsBar} session=${session} />
    <${Composer} session=${session} />
  </div>`;
}

const ACTIVITIES = {
  thinking: "Thinking…",
  streaming_assistant_message: "Writing…",
  executing_tool: "Running a tool…",
  compacting_conversation: "Compacting the conversation…",
  waiting_for_tool_confirmation: "Waiting for you",
};

/** @param {{ transcript: import("../transcript.js").Transcript, isWaiting: boolean }} props */
function Activity({ transcript, isWaiting }) {
  if (transcript.state === "idle") return html`<p class="activity" role="status"></p>`;
  const text = isWaiting ? ACTIVITIES.waiting_for_tool_confirmation : (ACTIVITIES[transcript.state] ?? "Working…");
  return html`<p class="activity busy" role="status"><span class="pulse" aria-hidden="true"></span>${text}</p>`;
}

/**
 * Goes back to before a message, in a new session; files are restored if the person agrees.
 * @param {import("../app.js").Open} session
 * @param {import("../transcript.js").Row} row
 */
async function startRewind(session, row) {
  const params = { sessionId: session.id, messageId: row.key };
  const info = await attempt("daemon.get_rewind_info", params);
  if (!info) return;
  const restore = info.availableFiles ?? [];
  const created = info.createdFiles ?? [];
  const count = restore.length + created.length;
  const question = count ? `Rewind to before this message, and restore ${count} changed ${count === 1 ? "file" : "files"}?` : "Rewind to before this message, in a fork of this session?";
  if (!confirm(question)) return;
  const made = await attempt("daemon.execute_rewind", { ...params, filesToRestore: restore, filesToDelete: created, forkTitle: `${session.transcript.title || "Session"} (rewound)` });
  if (made) {
    toast("Rewound");
    go("session", made.newSessionId);
  }
}
