// Code with highlighting: a small lexer that knows comments, strings, numbers and keywords of common languages.

import { html, useState } from "./html.js";

const MAX_HIGHLIGHTED = 60_000;

const KEYWORDS = new Set(
  ("as async await break case catch class const continue crate def default del do done elif else end enum esac except export extends " +
    "extern false fi final finally fn for from func function global go goto if impl implements import in instanceof interface is " +
    "lambda let local loop match mod module move mut new nil None not null or override package pass private protected pub public " +
    "raise ref return self Self static struct super switch then this throw trait True true False try type typeof undefined union unsafe " +
    "use using var void where while with yield").split(" "),
);

/** Languages whose comments start with `#`. */
const HASH = /^(sh|bash|zsh|shell|console|py|python|rb|ruby|toml|yaml|yml|make|makefile|dockerfile|r|perl|conf|ini)$/i;

/** @param {{ text: string, language?: string, label?: string }} props */
export function Code({ text, language = "", label }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard?.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return html`<figure class="code">
    <figcaption><span>${label ?? language}</span><button class="quiet" onClick=${copy}>${isCopied ? "Copied" : "Copy"}</button></figcaption>
    <pre tabindex="0" role="region" aria-label=${`Code ${language}`}><code>${highlight(text, language)}</code></pre>
  </figure>`;
}

/** @param {string} text @param {string} language */
export function highlight(text, language) {
  if (text.length > MAX_HIGHLIGHTED || /^(text|txt|plain|)$/i.test(language)) return text;
  if (/^(diff|patch)$/i.test(language)) return text.split("\n").map((line) => html`<span class=${diffClass(line)}>${line}${"\n"}</span>`);
  const comment = HASH.test(language) ? "#.*" : /^(sql|lua|hs|haskell)$/i.test(language) ? "--.*" : "\\/\\/.*|\\/\\*[\\s\\S]*?\\*\\/";
  const token = new RegExp(
    `(${comment})|("(?:[^"\\\\\\n]|\\\\.)*"|'(?:[^'\\\\\\n]|\\\\.)*'|\`(?:[^\`\\\\]|\\\\.)*\`)|\\b(\\d[\\w.]*)\\b|\\b([A-Za-z_][\\w]*)(?=(\\()?)`,
    "g",
  );
  const parts = [];
  let last = 0;
  for (const found of text.matchAll(token)) {
    const [whole, note, string, number, word, isCall] = found;
    const kind = note ? "c" : string ? "s" : number ? "n" : KEYWORDS.has(word) ? "k" : isCall ? "f" : "";
    if (!kind) continue;
    if (found.index > last) parts.push(text.slice(last, found.index));
    parts.push(html`<span class=${`t-${kind}`}>${whole}</span>`);
    last = found.index + whole.length;
  }
  parts.push(text.slice(last));
  return parts;
}

const diffClass = (line) => (/^\+/.test(line) ? "t-add" : /^-/.test(line) ? "t-del" : /^@@/.test(line) ? "t-k" : "");

/** The language of a file, by its ending. @param {string} path */
export const languageOf = (path) => /\.([A-Za-z0-9]+)$/.exec(path ?? "")?.[1]?.toLowerCase() ?? "";
