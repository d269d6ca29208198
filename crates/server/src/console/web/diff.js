// Shows changed lines, below each other or side by side.

import { html, useMemo, useState } from "./html.js";
import { highlight, languageOf } from "./code.js";
import { compare, hunks } from "./lines.js";

const MAX_LINES = 400;

/** The difference of two texts. @param {{ path?: string, before: string, after: string }} props */
export function Diff({ path = "", before, after }) {
  const parts = useMemo(() => hunks(compare(before, after)), [before, after]);
  const [added, removed] = [count(parts, "+"), count(parts, "-")];
  return html`<figure class="code diff"><figcaption><span class="path">${path}</span>
    <span><span class="t-add">+${added}</span> <span class="t-del">−${removed}</span></span></figcaption>
    <div class="scroll" tabindex="0" role="region" aria-label=${`Changes of ${path || "a file"}`}>
      ${parts.length ? parts.map((lines) => html`<${Lines} lines=${lines} language=${languageOf(path)} />`) : html`<p class="dim pad">No difference</p>`}
    </div></figure>`;
}

const count = (parts, kind) => parts.flat().filter((line) => line.kind === kind).length;
const WORDS = { "+": "added", "-": "removed", " ": "" };

/**
 * Lines of one hunk. `onLine` makes the numbers buttons.
 * @param {{ lines: import("./lines.js").Line[], language: string, isSplit?: boolean, onLine?: (line: any) => void, after?: (line: any) => any }} props
 */
export function Lines({ lines, language, isSplit = false, onLine, after }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? lines : lines.slice(0, MAX_LINES);
  const number = (line, value) =>
    onLine && value !== ""
      ? html`<button class="number" aria-label=${`Comment on line ${value}`} onClick=${() => onLine(line)}>${value}</button>`
      : html`<span class="number">${value}</span>`;
  const cell = (line) => html`<span class="sign" aria-hidden="true">${line.kind}</span>${WORDS[line.kind] && html`<span class="hidden">${WORDS[line.kind]} </span>`}<span class="line-text">${highlight(line.text, language)}${"\n"}</span>`;
  const rows = isSplit
    ? pairs(shown).map(([left, right]) => html`<div class="split">
        <div class=${`line ${left ? tone(left) : "none"}`}>${left && [number(left, left.before), cell(left)]}</div>
        <div class=${`line ${right ? tone(right) : "none"}`}>${right && [number(right, right.after), cell(right)]}</div></div>
        ${after?.(right ?? left)}`)
    : shown.map((line) => html`<div class=${`line ${tone(line)}`}>
        ${number(line.kind === "-" ? line : {}, line.kind === "+" ? "" : line.before)}${number(line, line.kind === "-" ? "" : line.after)}${cell(line)}</div>${after?.(line)}`);
  return html`<div class="hunk">${rows}
    ${lines.length > shown.length && html`<button class="quiet" onClick=${() => setWhole(true)}>Show ${lines.length - shown.length} more lines</button>`}</div>`;
}

const tone = (line) => ({ "+": "added", "-": "removed", " ": "same" })[line.kind];

/** Removed lines beside the added ones that replace them. */
function pairs(lines) {
  const rows = [];
  let at = 0;
  while (at < lines.length) {
    if (lines[at].kind === " ") {
      rows.push([lines[at], lines[at]]);
      at += 1;
      continue;
    }
    const [left, right] = [[], []];
    while (lines[at]?.kind === "-") left.push(lines[at++]);
    while (lines[at]?.kind === "+") right.push(lines[at++]);
    for (let row = 0; row < Math.max(left.length, right.length); row += 1) rows.push([left[row], right[row]]);
  }
  return rows;
}
