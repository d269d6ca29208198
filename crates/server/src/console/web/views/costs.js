// What all sessions have spent: by day, model, project and session, as bars that carry their numbers.

import { html, useEffect, useState } from "../html.js";
import { attempt, sessions } from "../app.js";
import { money, tokens } from "../format.js";
import { href } from "../router.js";
import { connection } from "../connection.js";
import { Block, Key } from "../patterns.js";
import { useStore } from "../store.js";

const GROUPS = { day: "Day", model: "Model", project: "Project", sessionId: "Session" };
const KINDS = { cacheRead: "Cached input", cacheWrite: "Written to cache", input: "Other input", output: "Output" };
const MAX_BARS = 40;

/** Adds rows up by a key. */
export function grouped(rows, key) {
  const groups = new Map();
  for (const row of rows) {
    const name = row[key] || "unknown";
    const sum = groups.get(name) ?? { name, calls: 0, cost: 0, unpriced: 0, tokens: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 } };
    sum.calls += row.calls;
    sum.cost += row.costUsd ?? 0;
    sum.unpriced += row.unpricedTokens;
    for (const kind of Object.keys(sum.tokens)) sum.tokens[kind] += row.tokens[kind];
    groups.set(name, sum);
  }
  const all = [...groups.values()];
  return key === "day" ? all.sort((one, other) => (one.name < other.name ? 1 : -1)) : all.sort((one, other) => total(other) - total(one));
}

const total = (sum) => Object.values(sum.tokens).reduce((one, other) => one + other, 0);

export function Costs() {
  const [rows, setRows] = useState(/** @type {any[] | null} */ (null));
  const [by, setBy] = useState("day");
  const { state } = useStore(connection.status);
  useEffect(() => {
    if (state === "open") attempt("console.get_usage", {}).then((result) => result && setRows(result.rows));
  }, [state]);
  if (!rows) return html`<p class="boot" role="status">Loading…</p>`;
  const groups = grouped(rows, by);
  const [all] = grouped(rows.map((row) => ({ ...row, all: "all" })), "all");
  const widest = Math.max(1, ...groups.map(total));
  const titles = new Map(sessions.value.list.map((it) => [it.sessionId, it.title]));
  const input = all ? all.tokens.input + all.tokens.cacheRead + all.tokens.cacheWrite : 0;
  return html`<section class="page wide">
    <h1>Cost</h1>
    ${all
      ? html`<dl class="facts"><div><dt>Cost</dt><dd>${money(all.cost || (all.unpriced ? null : 0), all.unpriced)}</dd></div><div><dt>Model calls</dt><dd>${all.calls}</dd></div>
          <div><dt>Tokens</dt><dd>${tokens(total(all))}</dd></div><div><dt>Input from cache</dt><dd>${input ? Math.round((all.tokens.cacheRead / input) * 100) : 0}%</dd></div></dl>`
      : html`<div class="empty"><p class="big">No usage recorded yet.</p></div>`}
    <div class="chips" role="group" aria-label="Group by">${Object.entries(GROUPS).map(([name, label]) => html`<button class="chip" aria-pressed=${by === name} onClick=${() => setBy(name)}>${label}</button>`)}</div>
    <p class="legend">${Object.entries(KINDS).map(([kind, label]) => html`<${Key} kind=${kind} label=${label} />`)}</p>
    <table class="bars"><caption class="hidden">Tokens and cost by ${GROUPS[by].toLowerCase()}</caption>
      <thead><tr><th scope="col">${GROUPS[by]}</th><th scope="col">Tokens</th><th scope="col" class="to-right">Total</th><th scope="col" class="to-right">Cost</th></tr></thead>
      <tbody>${groups.slice(0, MAX_BARS).map((sum) => html`<tr><th scope="row">${by === "sessionId" ? html`<a href=${href("session", sum.name)}>${titles.get(sum.name) || sum.name}</a>` : sum.name}</th>
        <td><${Bar} sum=${sum} widest=${widest} /></td><td class="to-right">${tokens(total(sum))}</td><td class="to-right">${money(sum.cost || (sum.unpriced ? null : 0), sum.unpriced)}</td></tr>`)}</tbody></table>
  </section>`;
}

/** A bar of tokens by kind. @param {{ sum: { tokens: Record<string, number> }, widest: number }} props */
export function Bar({ sum, widest }) {
  let x = 0;
  const parts = Object.keys(KINDS).map((kind) => {
    const width = (sum.tokens[kind] / widest) * 1000;
    const part = html`<${Block} kind=${kind} class="part" title=${`${KINDS[kind]}: ${tokens(sum.tokens[kind])}`} x=${x} y=${0} width=${width} height=${18} />`;
    x += width;
    return part;
  });
  const label = Object.keys(KINDS).map((kind) => `${KINDS[kind]} ${tokens(sum.tokens[kind])}`).join(", ");
  return html`<svg viewBox="0 0 1000 18" preserveAspectRatio="none" class="bar" role="img" aria-label=${label}>${parts}</svg>`;
}
