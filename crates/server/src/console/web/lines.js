// The difference of two texts, line by line. Pure.

/** @typedef {{ kind: " " | "+" | "-", text: string, before: number, after: number }} Line */

const MAX_CELLS = 4_000_000;

/**
 * Compares two texts. If they are too long to compare, everything between their common ends counts as changed.
 * @param {string} before @param {string} after @returns {Line[]}
 */
export function compare(before, after) {
  const [one, other] = [split(before), split(after)];
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < one.length - start && end < other.length - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const [a, b] = [one.slice(start, one.length - end), other.slice(start, other.length - end)];
  const middle = a.length * b.length > MAX_CELLS ? replaced(a, b) : shortest(a, b);
  const same = (text) => /** @type {const} */ ([" ", text]);
  const all = [...one.slice(0, start).map(same), ...middle, ...one.slice(one.length - end).map(same)];
  let [x, y] = [0, 0];
  return all.map(([kind, text]) => {
    if (kind !== "+") x += 1;
    if (kind !== "-") y += 1;
    return { kind, text, before: x, after: y };
  });
}

const split = (text) => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));
const replaced = (a, b) => [...a.map((text) => ["-", text]), ...b.map((text) => ["+", text])];

/** The longest common subsequence, by the table of lengths. */
function shortest(a, b) {
  const width = b.length + 1;
  const table = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      table[i * width + j] = a[i] === b[j] ? table[(i + 1) * width + j + 1] + 1 : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
    }
  }
  const lines = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push([" ", a[i]]);
      i += 1;
      j += 1;
    } else if (i < a.length && (j === b.length || table[(i + 1) * width + j] >= table[i * width + j + 1])) {
      lines.push(["-", a[i++]]);
    } else {
      lines.push(["+", b[j++]]);
    }
  }
  return lines;
}

/**
 * The changed lines with some around them, in hunks.
 * @param {Line[]} lines @returns {Line[][]}
 */
export function hunks(lines, around = 3) {
  const keep = new Set();
  lines.forEach((line, at) => {
    if (line.kind !== " ") for (let near = at - around; near <= at + around; near += 1) keep.add(near);
  });
  /** @type {Line[][]} */
  const found = [];
  let isOpen = false;
  lines.forEach((line, at) => {
    if (!keep.has(at)) return void (isOpen = false);
    if (!isOpen) found.push([]);
    isOpen = true;
    found.at(-1).push(line);
  });
  return found;
}

/**
 * Reads a unified diff of git: its files with their hunks.
 * @param {string} text
 * @returns {{ path: string, before: string, isNew: boolean, isDeleted: boolean, isBinary: boolean, canDecide: boolean, header: string[], hunks: { head: string, lines: Line[] }[] }[]}
 */
export function parsePatch(text) {
  const files = [];
  let file = null;
  let hunk = null;
  let [x, y] = [0, 0];
  let [leftX, leftY] = [0, 0];
  for (const line of text.split("\n")) {
    if (hunk && (leftX > 0 || leftY > 0 || line.startsWith("\\"))) {
      const kind = /** @type {any} */ (line[0] ?? " ");
      if (kind === "\\") {
        hunk.lines.at(-1).noNewline = true;
        continue;
      }
      if (kind === "+" || kind === "-" || kind === " ") {
        if (kind !== "+") (x += 1), (leftX -= 1);
        if (kind !== "-") (y += 1), (leftY -= 1);
        hunk.lines.push({ kind, text: line.slice(1), before: x, after: y });
        continue;
      }
    }
    if (line.startsWith("diff --git ")) {
      const path = pathOf(line);
      file = { path, before: path, isNew: false, isDeleted: false, isBinary: false, canDecide: false, header: [line], hunks: [] };
      files.push(file);
      hunk = null;
      continue;
    }
    if (!file) continue;
    const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (head) {
      [x, y] = [Number(head[1]) - 1, Number(head[3]) - 1];
      [leftX, leftY] = [Number(head[2] ?? 1), Number(head[4] ?? 1)];
      hunk = { head: line, lines: [] };
      file.hunks.push(hunk);
      continue;
    }
    if (hunk) continue;
    file.header.push(line);
    if (line.startsWith("new file")) file.isNew = true;
    if (line.startsWith("deleted file")) file.isDeleted = true;
    if (line.startsWith("Binary files")) file.isBinary = true;
    // its lines stay in the header, so that the file can be accepted and reverted as a whole
    if (line === "GIT binary patch") file.isBinary = file.canDecide = true;
    if (line.startsWith("rename from ")) file.before = unquoted(line.slice("rename from ".length));
    if (line.startsWith("rename to ")) file.path = unquoted(line.slice("rename to ".length));
  }
  return files;
}

/**
 * Reads a patch of the ApplyPatch tool: files with sections of context, removed and added lines.
 * @param {string} text
 */
export function parseEdits(text) {
  const files = [];
  let [x, y] = [0, 0];
  for (const line of text.split("\n")) {
    const [, action, path = ""] = /^\*\*\* (Add|Update|Delete) File: (.*)$/.exec(line) ?? [];
    const file = files.at(-1);
    if (action) {
      files.push({ path, before: path, isNew: action === "Add", isDeleted: action === "Delete", isBinary: false, hunks: [] });
      [x, y] = [0, 0];
    } else if (file && line.startsWith("*** Move to: ")) {
      file.path = line.slice("*** Move to: ".length);
    } else if (file && line.startsWith("@@")) {
      file.hunks.push({ head: line, lines: [] });
    } else if (file && !line.startsWith("***") && /^[-+ ]/.test(line)) {
      if (!file.hunks.length) file.hunks.push({ head: "", lines: [] });
      const kind = line[0];
      if (kind !== "+") x += 1;
      if (kind !== "-") y += 1;
      file.hunks.at(-1).lines.push({ kind, text: line.slice(1), before: x, after: y });
    }
  }
  return files;
}

/** The path in `diff --git a/PATH b/PATH`. Both are the same, unless the file is renamed, which other lines say. */
function pathOf(line) {
  const rest = line.slice("diff --git ".length);
  if (rest.startsWith('"')) return unquoted(rest.slice(rest.indexOf(' "') + 1)).replace(/^b\//, "");
  return rest.slice((rest.length + 1) / 2).replace(/^b\//, "");
}

const ESCAPES = { n: "\n", t: "\t", r: "\r", a: "\x07", b: "\b", f: "\f", v: "\v" };

/** A path that git has put in quotes. */
function unquoted(path) {
  if (!path.startsWith('"')) return path;
  return path.slice(1, -1).replace(/\\([0-7]{3}|.)/g, (_, it) => (it.length === 3 ? String.fromCharCode(parseInt(it, 8)) : (ESCAPES[it] ?? it)));
}
