// Markdown to elements. Never HTML: text becomes text nodes, and only the elements below are made. Links lead to http, https and mailto only.

import { html } from "./html.js";
import { Code } from "./code.js";

const MAX_LENGTH = 200_000;
const MAX_DEPTH = 8;

/**
 * @typedef {{ type: string, text?: string, level?: number, language?: string, items?: Item[], isOrdered?: boolean, start?: number,
 *   rows?: string[][], align?: string[], blocks?: Block[] }} Block
 * @typedef {{ blocks: Block[], check: string | null }} Item
 */

/** Renders a text. A text beyond the limit is shown as it is. @param {{ text: string }} props */
export function Markdown({ text }) {
  if (text.length > MAX_LENGTH) return html`<pre class="plain" tabindex="0">${text}</pre>`;
  return html`<div class="markdown">${parse(text.split("\n"), 0).map(view)}</div>`;
}

const FENCE = /^\s{0,3}(`{3,}|~{3,})\s*([^`\s]*).*$/;
const HEADING = /^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^\s{0,3}([-*_])(\s*\1){2,}\s*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const QUOTE = /^\s{0,3}>\s?(.*)$/;
const DIVIDER = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

/** @param {string[]} lines @param {number} depth @returns {Block[]} */
export function parse(lines, depth) {
  /** @type {Block[]} */
  const blocks = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    const fence = FENCE.exec(line);
    if (fence) {
      const body = [];
      const end = new RegExp(`^\\s{0,3}${fence[1][0] === "~" ? "~" : "`"}{${fence[1].length},}\\s*$`);
      at += 1;
      while (at < lines.length && !end.test(lines[at])) body.push(lines[at++]);
      at += 1;
      blocks.push({ type: "code", language: fence[2], text: body.join("\n") });
      continue;
    }
    if (!line.trim()) {
      at += 1;
      continue;
    }
    const heading = HEADING.exec(line);
    if (heading) {
      blocks.push({ type: "heading", level: heading[1].length, text: heading[2] });
      at += 1;
      continue;
    }
    if (RULE.test(line)) {
      blocks.push({ type: "rule" });
      at += 1;
      continue;
    }
    if (QUOTE.test(line) && depth < MAX_DEPTH) {
      const body = [];
      while (at < lines.length && QUOTE.test(lines[at])) body.push(QUOTE.exec(lines[at++])[1]);
      blocks.push({ type: "quote", blocks: parse(body, depth + 1) });
      continue;
    }
    if (ITEM.test(line) && depth < MAX_DEPTH) {
      const [list, next] = parseList(lines, at, depth);
      blocks.push(list);
      at = next;
      continue;
    }
    if (line.includes("|") && at + 1 < lines.length && DIVIDER.test(lines[at + 1]) && lines[at + 1].includes("-")) {
      const rows = [cells(line)];
      const align = cells(lines[at + 1]).map((cell) => (/^:-+:$/.test(cell) ? "center" : /-:$/.test(cell) ? "right" : "left"));
      at += 2;
      while (at < lines.length && lines[at].includes("|") && lines[at].trim()) rows.push(cells(lines[at++]));
      blocks.push({ type: "table", rows, align });
      continue;
    }
    const body = [line];
    at += 1;
    while (at < lines.length && lines[at].trim() && !startsBlock(lines[at])) body.push(lines[at++]);
    blocks.push({ type: "text", text: body.join("\n") });
  }
  return blocks;
}

const startsBlock = (line) => FENCE.test(line) || HEADING.test(line) || QUOTE.test(line) || ITEM.test(line) || RULE.test(line);

function cells(line) {
  return line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
}

/** @returns {[Block, number]} */
function parseList(lines, at, depth) {
  const [, indent, marker] = ITEM.exec(lines[at]);
  const isOrdered = /\d/.test(marker);
  /** @type {Item[]} */
  const items = [];
  while (at < lines.length) {
    const item = ITEM.exec(lines[at]);
    if (!item || item[1].length > indent.length + 1 || item[1].length < indent.length || /\d/.test(item[2]) !== isOrdered) break;
    const inner = lines[at].length - item[3].length;
    const [, check, rest] = /^(?:\[([ xX])\]\s+)?(.*)$/.exec(item[3]);
    const body = [rest];
    at += 1;
    while (at < lines.length) {
      const width = lines[at].length - lines[at].trimStart().length;
      const isInside = lines[at].trim() ? width > indent.length : isContinued(lines, at, indent.length);
      if (!isInside) break;
      body.push(lines[at].slice(Math.min(width, inner)));
      at += 1;
    }
    items.push({ blocks: parse(body, depth + 1), check: check === undefined ? null : check });
  }
  return [{ type: "list", isOrdered, start: parseInt(marker, 10) || 1, items }, at];
}

function isContinued(lines, at, indent) {
  const next = lines.slice(at + 1).find((line) => line.trim());
  return next !== undefined && next.length - next.trimStart().length > indent;
}

/** @param {Block} block */
function view(block) {
  switch (block.type) {
    case "code":
      return html`<${Code} text=${block.text} language=${block.language} />`;
    case "heading":
      // the page has its own headings above
      return html`<${`h${Math.min(6, block.level + 2)}`}>${inline(block.text)}<//>`;
    case "rule":
      return html`<hr />`;
    case "quote":
      return html`<blockquote>${block.blocks.map(view)}</blockquote>`;
    case "list": {
      const items = block.items.map(({ blocks, check }) => {
        const isTight = blocks.length && blocks[0].type === "text";
        const [first, ...rest] = isTight ? blocks : [null, ...blocks];
        const mark = check === null ? null : html`<span class="check" role="img" aria-label=${check === " " ? "open" : "done"}>${check === " " ? "☐" : "☑"} </span>`;
        return html`<li class=${check === null ? "" : "task"}>${mark}${first && inline(first.text)}${rest.map(view)}</li>`;
      });
      return block.isOrdered ? html`<ol start=${block.start}>${items}</ol>` : html`<ul>${items}</ul>`;
    }
    case "table": {
      const [head, ...rows] = block.rows;
      const cell = (tag) => (text, at) => html`<${tag} class=${`to-${block.align[at] ?? "left"}`}>${inline(text)}<//>`;
      return html`<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>
        <thead><tr>${head.map(cell("th"))}</tr></thead>
        <tbody>${rows.map((row) => html`<tr>${row.map(cell("td"))}</tr>`)}</tbody>
      </table></div>`;
    }
    default:
      return html`<p>${inline(block.text)}</p>`;
  }
}

// code, strong, emphasis, strike, link, address
const INLINE = /(`+)([\s\S]*?[^`])\1(?!`)|\*\*(?=\S)([\s\S]*?\S)\*\*|(?<![\w_])__(?=\S)([\s\S]*?\S)__(?!\w)|\*(?=[^\s*])([^*]*?[^\s*])\*|(?<![\w_])_(?=[^\s_])([^_]*?[^\s_])_(?!\w)|~~(?=\S)([\s\S]*?\S)~~|!?\[([^\]\n]*)\]\(\s*<?([^)\s>]*)>?(?:\s+"[^"]*")?\s*\)|(https?:\/\/[^\s<>()"'`]+[^\s<>()"'`.,;:!?])/;

/** @param {string} text */
export function inline(text, depth = 0) {
  const parts = [];
  let rest = text;
  while (rest && depth < MAX_DEPTH) {
    const found = INLINE.exec(rest);
    if (!found) break;
    if (found.index) parts.push(plain(rest.slice(0, found.index)));
    const [whole, , code, strong, strong2, em, em2, strike, label, target, address] = found;
    if (code !== undefined) parts.push(html`<code>${code.replace(/^ (.*) $/s, "$1")}</code>`);
    else if (strong ?? strong2) parts.push(html`<strong>${inline(strong ?? strong2, depth + 1)}</strong>`);
    else if (em ?? em2) parts.push(html`<em>${inline(em ?? em2, depth + 1)}</em>`);
    else if (strike) parts.push(html`<del>${inline(strike, depth + 1)}</del>`);
    else if (address) parts.push(link(address, address));
    else parts.push(link(target, inline(label || target, depth + 1)));
    rest = rest.slice(found.index + whole.length);
  }
  parts.push(plain(rest));
  return parts;
}

const plain = (text) => text.replace(/ {2,}\n|\\\n/g, "\n");

/** A link, or its text if the target is not an ordinary address. Images become links: nothing is loaded from elsewhere. */
function link(target, label) {
  const url = safeUrl(target);
  if (!url) return html`<span class="no-link" title=${target}>${label}</span>`;
  return html`<a href=${url} target="_blank" rel="noopener noreferrer nofollow">${label}</a>`;
}

/** @param {string} target */
export function safeUrl(target) {
  try {
    const url = new URL(target);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : "";
  } catch {
    return "";
  }
}
