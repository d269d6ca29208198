// What the page knows of the daemon: sessions, the inbox and the sessions that are looked at; and what it asks the daemon to do.

import { connection, uuid, LostError } from "./connection.js";
import { store } from "./store.js";
import { Transcript } from "./transcript.js";

/**
 * A request of an agent that waits for a person.
 * @typedef {{
 *   requestId: string, kind: "permission" | "question", sessionId: string, createdAt: number, cwd?: string, title?: string,
 *   parentSessionId?: string, subagentSessionId?: string,
 *   request: Partial<import("./types.d.ts").RequestPermissionParams & import("./types.d.ts").AskUserParams>
 * }} InboxItem
 */

/**
 * @typedef {{
 *   sessionId: string, title?: string, cwd?: string, branch?: string, model?: string, workingState?: string, isOpen?: boolean,
 *   isArchived?: boolean, updatedAt: number, createdAt: number, costUsd: number | null, unpricedTokens?: number, tokens?: any,
 *   parentId?: string, tags?: any[], lastTurnReason?: string, contextTokens?: number, contextLimit?: number
 * }} Summary
 */

export const sessions = store({ list: /** @type {Summary[]} */ ([]), isLoaded: false });
export const inbox = store({ items: /** @type {InboxItem[]} */ ([]), answering: new Set() });
export const toasts = store({ list: /** @type {{ id: string, text: string, tone: string }[]} */ ([]) });

/**
 * A session that is looked at.
 * @typedef {{ id: string, transcript: Transcript, models: import("./types.d.ts").ModelInfo[], cwd: string, state: "loading" | "ready" | "failed", problem: string,
 *   missed: number }} Open
 */

/** @type {Map<string, import("./store.js").Store<Open>>} */
const open = new Map();
/** Prompts that the daemon has not confirmed. They are sent again after a reconnect; it knows them by their ids. */
const unsent = new Map();
/** Sessions that stay loaded when they are not shown. */
const MAX_OPEN = 6;
/** Events of a running turn that are read again when its session is opened. */
const REPLAY = 4000;

export function start() {
  connection.onOpen = () => void reload();
  connection.onNotification = notification;
  connection.connect();
  setInterval(() => !document.hidden && refreshSessions(), 20_000);
}

async function reload() {
  const resent = [...unsent.values()].map((prompt) => prompt());
  await Promise.allSettled([refreshInbox(), refreshSessions(), ...[...open.values()].map((it) => load(it)), ...resent]);
}

async function refreshInbox() {
  const result = await connection.call("daemon.list_inbox", {});
  setInbox(result.items);
}

function setInbox(items) {
  inbox.value.items = [...items].sort((one, other) => one.createdAt - other.createdAt);
  const ids = new Set(items.map((item) => item.requestId));
  for (const id of inbox.value.answering) if (!ids.has(id)) inbox.value.answering.delete(id);
  inbox.changed();
}

let refreshing = null;
let isStale = false;

/** Loads the list of sessions; of several calls at once, the last one counts. */
export async function refreshSessions() {
  if (refreshing) {
    isStale = true;
    return refreshing;
  }
  refreshing = (async () => {
    try {
      const result = await connection.call("console.list_sessions", {});
      sessions.value.list = result.sessions;
      sessions.value.isLoaded = true;
      sessions.changed();
    } catch (error) {
      if (!(error instanceof LostError)) toast(error.message, "bad");
    } finally {
      refreshing = null;
      if (isStale) {
        isStale = false;
        later();
      }
    }
  })();
  return refreshing;
}

let planned = 0;
function later() {
  if (!planned) planned = setTimeout(() => ((planned = 0), refreshSessions()), 400);
}

function notification({ method, params }) {
  if (method === "daemon.inbox_changed") return setInbox(params.items);
  if (method === "daemon.session.archive_state_changed") return later();
  if (method !== "daemon.session_notification") return;
  const { sessionId, notification: note, sequence } = params;
  const it = open.get(sessionId);
  if (it?.value.state === "ready" && sequence !== undefined) {
    it.value.transcript.apply(note, sequence, Date.now());
    it.changed();
  }
  const summary = sessions.value.list.find((one) => one.sessionId === sessionId);
  if (note.type === "droid_working_state_changed") {
    if (!summary) return later();
    if (summary.workingState !== note.newState) {
      if (note.newState === "idle") later();
      summary.workingState = note.newState;
      sessions.changed();
    }
  } else if (note.type === "session_title_updated" && summary) {
    summary.title = note.title;
    sessions.changed();
  } else if (note.type === "agent_turn_completed" && summary) {
    summary.lastTurnReason = note.reason;
    sessions.changed();
    later();
  } else if (note.type === "agent_turn_completed" || note.type === "session_process_exited" || note.type === "session_closed") {
    later();
  }
}

/** Returns a session that is looked at, and loads it if it is not. @param {string} id */
export function openSession(id) {
  let it = open.get(id);
  if (it) {
    open.delete(id);
    open.set(id, it);
    if (it.value.state === "failed") load(it);
    return it;
  }
  it = store(/** @type {Open} */ ({ id, transcript: new Transcript(), models: [], cwd: "", state: "loading", problem: "", missed: 0 }));
  open.set(id, it);
  for (const [old] of open) {
    if (open.size <= MAX_OPEN) break;
    open.delete(old);
  }
  load(it);
  return it;
}

/** Loads a session, or what was missed of it. @param {import("./store.js").Store<Open>} it */
async function load(it) {
  const session = it.value;
  const params = { sessionId: session.id, token: "cookie" };
  const isAgain = session.state === "ready";
  if (isAgain) params.afterSequence = session.transcript.sequence;
  try {
    const result = await connection.call("daemon.load_session", params);
    // a daemon that numbers its events from the start has nothing in common with what is here
    const isFresh = !isAgain || result.missedEvents > 0 || (result.lastSequence ?? 0) < session.transcript.sequence;
    if (isFresh) {
      session.missed += isAgain ? result.missedEvents : 0;
      session.transcript.load(result);
    } else {
      session.transcript.state = result.workingState ?? session.transcript.state;
    }
    session.models = result.availableModels ?? session.models;
    session.cwd = result.cwd ?? session.cwd;
    session.state = "ready";
    session.problem = "";
    it.changed();
    if (isFresh) loadTurns(it);
    if (isFresh && result.isAgentLoopInProgress) {
      // the beginning of what is being written now
      const after = Math.max(0, (result.lastSequence ?? 0) - REPLAY);
      session.transcript.replayFrom(after);
      await connection.call("daemon.load_session", { ...params, afterSequence: after });
    }
  } catch (error) {
    if (error instanceof LostError) return;
    session.state = "failed";
    session.problem = error.message;
    it.changed();
  }
}

/** Loads how the turns of a session have ended, which its messages do not say. @param {import("./store.js").Store<Open>} it */
async function loadTurns(it) {
  try {
    const { turns } = await connection.call("console.get_turns", { sessionId: it.value.id });
    it.value.transcript.turnsEnded(turns);
    it.changed();
  } catch {
    // the transcript is complete without them
  }
}

/**
 * Sends a prompt, once: with the same ids again if the connection is lost before the daemon has confirmed it.
 * @param {string} sessionId
 * @param {string} text
 * @param {{ images?: any[], files?: any[], placement?: string, previews?: string[] }} [extra]
 */
export async function sendPrompt(sessionId, text, extra = {}) {
  const messageId = uuid();
  const it = open.get(sessionId);
  const params = { sessionId, text, messageId };
  if (extra.images?.length) params.images = extra.images;
  if (extra.files?.length) params.files = extra.files;
  if (extra.placement) params.queuePlacement = extra.placement;
  it?.value.transcript.push({
    key: messageId, kind: "user", version: 0, at: Date.now(), message: messageId, text, isUnsent: true,
    images: extra.previews ?? [], files: (extra.files ?? []).map((file) => file.name),
  });
  it?.changed();
  const attempt = async () => {
    try {
      await connection.call("daemon.add_user_message", params, { id: messageId });
      unsent.delete(messageId);
    } catch (error) {
      if (error instanceof LostError) return;
      unsent.delete(messageId);
      it?.value.transcript.remove((row) => row.key === messageId && row.isUnsent);
      it?.changed();
      toast(`Not sent: ${error.message}`, "bad");
      throw error;
    }
  };
  unsent.set(messageId, attempt);
  await attempt();
}

/**
 * Answers a request in the inbox. Returns whether this answer was the one that counts.
 * @param {InboxItem} item
 * @param {import("./types.d.ts").RequestPermissionResult | import("./types.d.ts").AskUserResult} result
 */
export async function answer(item, result) {
  inbox.value.answering.add(item.requestId);
  inbox.changed();
  try {
    const { accepted } = await connection.call("daemon.answer_inbox", { requestId: item.requestId, result });
    if (!accepted) toast("This request was already answered elsewhere", "info");
    return accepted;
  } catch (error) {
    inbox.value.answering.delete(item.requestId);
    inbox.changed();
    toast(`Not answered: ${error.message}`, "bad");
    return false;
  }
}

/** Denies a request. With a reason, the agent gets it as the next prompt, because a denial ends the turn. */
export async function deny(item, reason) {
  const result = item.kind === "permission" ? { selectedOption: "cancel" } : { cancelled: true, answers: [] };
  if (reason && item.kind === "permission") result.comment = reason;
  if ((await answer(item, result)) && reason) await sendPrompt(item.sessionId, reason).catch(() => {});
}

/**
 * Calls a method, and shows a failure.
 * @template {keyof import("./connection.js").Calls} M
 * @param {M} method
 * @param {import("./connection.js").Calls[M]["params"] & import("./connection.js").Address} params
 * @param {{ id?: string, timeout?: number }} [options]
 * @returns {Promise<(import("./connection.js").Calls[M]["result"] & import("./connection.js").Extras) | null>}
 */
export async function attempt(method, params, options) {
  try {
    return await connection.call(method, params, options);
  } catch (error) {
    toast(error.message, "bad");
    return null;
  }
}

/** Shows a short message. */
export function toast(text, tone = "info") {
  const id = uuid();
  toasts.value.list.push({ id, text, tone });
  if (toasts.value.list.length > 4) toasts.value.list.shift();
  toasts.changed();
  setTimeout(() => {
    toasts.value.list = toasts.value.list.filter((it) => it.id !== id);
    toasts.changed();
  }, 7000);
}
