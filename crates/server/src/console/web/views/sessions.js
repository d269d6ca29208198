// The overview: all sessions, filters, search, archive, and a new session.

import { html, useState, useEffect, useMemo } from "../html.js";
import { attempt, inbox, refreshSessions, sessions, toast } from "../app.js";
import { connection } from "../connection.js";
import { STATES, age, money, share, shortPath, stateOf, tokens } from "../format.js";
import { href } from "../router.js";
import { useStore } from "../store.js";
import { NewSession } from "./new_session.js";

const FILTERS = { all: "All", working: "Working", waiting: "Waiting", failed: "Failed", idle: "Idle", archived: "Archived" };
const PAGE = 200;

export function Sessions() {
  const { list, isLoaded } = useStore(sessions);
  const { items } = useStore(inbox);
  const { homedir } = useStore(connection.status);
  const [filter, setFilter] = useState("all");
  const [text, setText] = useState("");
  const [hits, setHits] = useState(/** @type {any} */ (null));
  const [isNew, setNew] = useState(false);
  const [limit, setLimit] = useState(PAGE);
  const [tag, setTag] = useState("");
  useEffect(() => void refreshSessions(), []);
  useFullText(text, setHits);

  const waiting = useMemo(() => new Set(items.map((item) => item.sessionId)), [items]);
  const found = list.filter((session) => {
    const state = stateOf(session, waiting);
    const fits = filter === "archived" ? session.isArchived : !session.isArchived && (filter === "all" || filter === state);
    return fits && (!tag || tagsOf(session).includes(tag)) && matches(session, text, hits);
  });
  const known = [...new Set(list.flatMap(tagsOf))].sort();
  // what waits comes first, then what works; each by age
  const rank = { waiting: 0, working: 1, failed: 2, idle: 3 };
  found.sort((one, other) => rank[stateOf(one, waiting)] - rank[stateOf(other, waiting)] || other.updatedAt - one.updatedAt);
  const count = (name) => list.filter((it) => (name === "archived" ? it.isArchived : !it.isArchived && (name === "all" || stateOf(it, waiting) === name))).length;
  return html`<section class="page wide">
    <div class="title-row"><h1>Sessions</h1><button class="primary" onClick=${() => setNew(true)}>New session</button></div>
    ${isNew && html`<${NewSession} onClose=${() => setNew(false)} />`}
    <div class="filters">
      <div class="chips" role="group" aria-label="Filter by state">${Object.entries(FILTERS).map(
        ([name, label]) => html`<button class="chip" aria-pressed=${filter === name} onClick=${() => setFilter(name)}>${label} <span class="count">${count(name)}</span></button>`,
      )}</div>
      ${known.length > 0 && html`<label class="setting"><span>Tag</span><select value=${tag} onChange=${(event) => setTag(event.target.value)}>
        <option value="">All</option>${known.map((it) => html`<option value=${it}>${it}</option>`)}</select></label>`}
      <input type="search" class="search" placeholder="Search titles and messages" aria-label="Search titles and messages" value=${text} onInput=${(event) => setText(event.target.value)} />
    </div>
    <ul class="sessions" aria-label="Sessions">${found.slice(0, limit).map((session) => html`<${Row} key=${session.sessionId} session=${session}
      state=${stateOf(session, waiting)} home=${homedir} snippet=${hits?.get(session.sessionId)} />`)}</ul>
    ${found.length > limit && html`<button onClick=${() => setLimit(limit + PAGE)}>Show more (${found.length - limit})</button>`}
    ${isLoaded && !found.length && html`<div class="empty"><p class="big">${list.length ? "No session matches." : "No sessions yet."}</p>
      ${!list.length && html`<p class="dim">Start one here, or with <code>musher run</code>.</p>`}</div>`}
  </section>`;
}

/** @param {import("../app.js").Summary} session @returns {string[]} */
export const tagsOf = (session) => (session.tags ?? []).map((tag) => tag.name ?? tag).filter((tag) => typeof tag === "string");

function matches(session, text, hits) {
  if (!text.trim()) return true;
  if (hits?.has(session.sessionId)) return true;
  const all = `${session.title ?? ""} ${session.cwd ?? ""} ${session.branch ?? ""} ${session.model ?? ""} ${tagsOf(session).join(" ")} ${session.sessionId}`.toLowerCase();
  return text.toLowerCase().split(/\s+/).every((word) => all.includes(word));
}

/** Searches the messages on the daemon when typing has paused. */
function useFullText(text, setHits) {
  useEffect(() => {
    setHits(null);
    if (text.trim().length < 3) return;
    const timer = setTimeout(async () => {
      try {
        const result = await connection.call("console.search", { query: text.trim() });
        setHits(new Map(result.hits.map((it) => [it.sessionId, it])));
      } catch {
        // the connection is lost: titles and paths are searched anyway
      }
    }, 300);
    return () => clearTimeout(timer);
  }, [text]);
}

function Row({ session, state, home, snippet }) {
  const archive = async () => {
    const method = session.isArchived ? "daemon.unarchive_session" : "daemon.archive_session";
    if (await attempt(method, { sessionId: session.sessionId })) {
      toast(session.isArchived ? "Restored" : "Archived");
      refreshSessions();
    }
  };
  const tags = tagsOf(session);
  return html`<li class=${`session ${state}`}>
    <span class=${`state ${state}`}><span class="dot" aria-hidden="true"></span>${STATES[state]}</span>
    <a class="session-title" href=${href("session", session.sessionId)}>${session.title || "New session"}</a>
    <span class="where"><span class="path" title=${session.cwd}>${shortPath(session.cwd, home)}</span>${session.branch && html` <span class="tag branch">${session.branch}</span>`}
      ${session.parentId && html` <span class="tag">fork</span>`}${tags.map((tag) => html` <span class="tag">${tag}</span>`)}</span>
    <span class="model">${session.model ?? ""}</span>
    <span class="context dim" title=${session.contextTokens ? `${tokens(session.contextTokens)} tokens in context` : ""}>${share(session.contextTokens, session.contextLimit)}</span>
    <span class="cost">${money(session.costUsd, session.unpricedTokens)}</span>
    <span class="age" title=${new Date(session.updatedAt).toLocaleString()}>${age(session.updatedAt)}</span>
    <button class="quiet" onClick=${archive} aria-label=${`${session.isArchived ? "Restore" : "Archive"} ${session.title || "session"}`}>${session.isArchived ? "Restore" : "Archive"}</button>
    ${snippet && html`<a class="snippet" href=${href("session", session.sessionId, "transcript", snippet.messageId)}>${snippet.text}</a>`}
  </li>`;
}
