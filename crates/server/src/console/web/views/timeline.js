// The turns of a session as a waterfall: time of the model, tools beside each other, and waiting for people.

import { html, useMemo } from "../html.js";
import { duration, money, time, tokens } from "../format.js";
import { Block, Key } from "../patterns.js";
import { summaryOf } from "../transcript.js";
import { Bar } from "./costs.js";

const WIDTH = 1000;
const LANE = 22;
const MAX_TURNS = 100;

/**
 * @typedef {{ kind: "model" | "tool" | "wait", label: string, from: number, to: number }} Span
 * @typedef {{ prompt: string, from: number, to: number, spans: Span[], turn: import("../transcript.js").Turn | null }} Part
 */

/** Splits a transcript into turns with their spans. @returns {Part[]} */
export function turnsOf(transcript, now) {
  /** @type {Part[]} */
  const parts = [];
  let cursor = 0;
  for (const row of transcript.rows) {
    if (row.kind === "user") {
      parts.push({ prompt: row.text ?? "", from: row.at, to: row.at, spans: [], turn: null });
      cursor = row.at;
      continue;
    }
    const part = parts.at(-1);
    if (!part) continue;
    if (row.kind === "turn") {
      part.turn = row.turn;
      const end = row.turn.duration ? part.from + row.turn.duration : row.turn.ended;
      part.to = Math.max(part.to, end || 0);
      continue;
    }
    if (row.kind === "tool") {
      const { tool } = row;
      const from = tool.started || row.at;
      const to = tool.ended || (tool.result === null ? now : from);
      if (row.at > cursor) part.spans.push({ kind: "model", label: "Model", from: cursor, to: row.at });
      part.spans.push({ kind: "tool", label: `${tool.name} ${summaryOf(tool.input)}`, from, to: Math.max(from, to) });
      cursor = Math.max(cursor, to, row.at);
      part.to = Math.max(part.to, cursor);
    } else if (row.at > cursor) {
      part.spans.push({ kind: "model", label: "Model", from: cursor, to: row.at });
      cursor = row.at;
      part.to = Math.max(part.to, row.at);
    }
  }
  for (const part of parts) {
    for (const [from, to] of transcript.waits) {
      if (from >= part.from && from <= part.to) part.spans.push({ kind: "wait", label: "Waiting for a person", from, to });
    }
  }
  return parts;
}

export function Timeline({ session }) {
  const parts = useMemo(() => turnsOf(session.transcript, Date.now()), [session.transcript.rows.length, session.transcript.state]);
  if (!parts.length) return html`<div class="page"><p class="dim">No turns yet.</p></div>`;
  const widest = Math.max(1, ...parts.map((part) => Object.values(kinds(part.turn?.tokens)).reduce((one, other) => one + other, 0)));
  return html`<div class="page wide timeline">
    <p class="legend"><${Key} kind="model" label="Model" /><${Key} kind="tool" label="Tool" /><${Key} kind="wait" label="Waiting for a person" /></p>
    ${parts.slice(-MAX_TURNS).reverse().map((part) => html`<${Turn} part=${part} widest=${widest} number=${parts.indexOf(part) + 1} />`)}
  </div>`;
}

/** The tokens of a turn as the charts of costs have them. @param {import("../types.d.ts").TokenUsage | null | undefined} usage */
const kinds = (usage) => ({
  cacheRead: usage?.cacheReadTokens ?? 0, cacheWrite: usage?.cacheCreationTokens ?? 0, input: usage?.inputTokens ?? 0, output: usage?.outputTokens ?? 0,
});

/** @param {{ part: Part, widest: number, number: number }} props */
function Turn({ part, widest, number }) {
  const total = Math.max(1, part.to - part.from);
  const lanes = arrange(part.spans);
  const height = Math.max(1, ...lanes.map((lane) => lane + 1)) * LANE + 18;
  const x = (at) => ((at - part.from) / total) * WIDTH;
  const usage = part.turn?.tokens;
  const input = usage ? usage.inputTokens + (usage.cacheReadTokens ?? 0) + (usage.cacheCreationTokens ?? 0) : 0;
  const facts = [time(part.from), duration(part.to - part.from)];
  if (usage) facts.push(`${tokens(input)} in (${input ? Math.round(((usage.cacheReadTokens ?? 0) / input) * 100) : 0}% cached)`, `${tokens(usage.outputTokens)} out`);
  if (part.turn?.cost !== null && part.turn?.cost !== undefined) facts.push(money(part.turn.cost, part.turn.unpriced));
  return html`<section class="turn-chart"><h2>${part.prompt.split("\n")[0] || "Prompt"}</h2><p class="dim">${facts.join(" · ")}</p>
    ${usage && html`<${Bar} sum=${{ tokens: kinds(usage) }} widest=${widest} />`}
    <div class="scroll" tabindex="0" role="region" aria-label=${`Waterfall of turn ${number}`}>
    <svg viewBox=${`0 0 ${WIDTH} ${height}`} preserveAspectRatio="none" class="waterfall" role="img" aria-label=${part.spans.map((span) => `${span.label}: ${duration(span.to - span.from)}`).join("; ")}>
      ${[0, 0.25, 0.5, 0.75].map((at) => html`<g><line x1=${at * WIDTH} x2=${at * WIDTH} y1="0" y2=${height} class="grid" /><text x=${at * WIDTH + 3} y=${height - 4} class="tick">${duration(at * total)}</text></g>`)}
      ${part.spans.map((span, at) => html`<g><${Block} kind=${span.kind} class="span" title=${`${span.label}: ${duration(span.to - span.from)}`} x=${x(span.from)} y=${lanes[at] * LANE + 2} width=${Math.max(2, x(span.to) - x(span.from))} height=${LANE - 4} rx=${3} />
        ${x(span.to) - x(span.from) > 60 && html`<text x=${x(span.from) + 5} y=${lanes[at] * LANE + 15} class="span-label">${span.label.slice(0, Math.floor((x(span.to) - x(span.from)) / 8))}</text>`}</g>`)}
    </svg></div></section>`;
}

/** Puts spans that overlap into different lanes. @param {Span[]} spans */
function arrange(spans) {
  const ends = [];
  return spans.map((span) => {
    let lane = ends.findIndex((end) => end <= span.from + 1);
    if (lane === -1) lane = ends.length;
    ends[lane] = span.to;
    return lane;
  });
}
