// What a session has changed: the working directory by git, or the edits of one turn. Lines get comments, which become the next prompt.

import { html, useEffect, useMemo, useState } from "../html.js";
import { attempt, toast } from "../app.js";
import { languageOf } from "../code.js";
import { Lines } from "../diff.js";
import { compare, hunks, parseEdits, parsePatch } from "../lines.js";
import { go } from "../router.js";
import { addToDraft } from "./composer.js";

export function Changes({ session }) {
  const [changes, setChanges] = useState(/** @type {any} */ (null));
  const [isSplit, setSplit] = useState(false);
  const [turn, setTurn] = useState("");
  const [comments, setComments] = useState(/** @type {Comment[]} */ ([]));
  const isWorking = session.transcript.state !== "idle";
  const load = () => attempt("console.get_changes", { sessionId: session.id }).then((result) => result && setChanges(result));
  // again when a turn has ended
  useEffect(() => void load(), [session.id, isWorking]);
  const turns = useMemo(() => editsByTurn(session.transcript.rows), [session.transcript.rows.length, isWorking]);
  const send = () => {
    addToDraft(session.id, comments.map((it) => `${it.path}:${it.line}\n> ${it.text.trim()}\n${it.comment}`).join("\n\n"));
    go("session", session.id, "transcript");
  };
  const decide = async (decision, file, hunk) => {
    const result = await attempt("console.decide_change", { sessionId: session.id, decision, patch: patchOf(file, hunk) });
    if (result) {
      setChanges(result);
      toast({ accept: "Accepted", revert: "Reverted", withdraw: "Not accepted any more" }[decision]);
    }
  };
  return html`<div class="changes">
    <div class="changes-bar">
      <label class="setting"><span>Show</span><select value=${turn} onChange=${(event) => setTurn(event.target.value)}>
        <option value="">Working directory (git)</option>
        ${turns.map((it) => html`<option value=${it.key}>${it.prompt}</option>`)}</select></label>
      <div class="chips" role="group" aria-label="Layout"><button class="chip" aria-pressed=${!isSplit} onClick=${() => setSplit(false)}>Unified</button>
        <button class="chip" aria-pressed=${isSplit} onClick=${() => setSplit(true)}>Side by side</button></div>
      ${!turn && html`<button class="quiet" onClick=${load}>Reload</button>`}
      ${comments.length > 0 && html`<button class="primary" onClick=${send}>Use ${comments.length} ${comments.length === 1 ? "comment" : "comments"} in the prompt</button>`}
    </div>
    ${turn
      ? html`<${TurnEdits} turn=${turns.find((it) => it.key === turn)} isSplit=${isSplit} comments=${comments} setComments=${setComments} />`
      : changes && html`<${WorkingDirectory} changes=${changes} isSplit=${isSplit} comments=${comments} setComments=${setComments} decide=${decide} session=${session} reload=${load} />`}
  </div>`;
}

/** @typedef {{ path: string, line: number, text: string, comment: string }} Comment */

function WorkingDirectory({ changes, isSplit, comments, setComments, decide, session, reload }) {
  const open = useMemo(() => parsePatch(changes.open ?? ""), [changes]);
  const accepted = useMemo(() => parsePatch(changes.accepted ?? ""), [changes]);
  if (!changes.isRepository) return html`<p class="empty">This directory is not in a git repository. Choose a turn to see its edits.</p>`;
  const shared = { isSplit, comments, setComments, decide };
  return html`
    ${changes.isTruncated && html`<p class="notice warn">The diff is larger than 4 MiB; the rest is not shown.</p>`}
    ${changes.moreNewFiles > 0 && html`<p class="notice warn">${changes.moreNewFiles} more new files are not shown.</p>`}
    ${!open.length && !accepted.length && html`<p class="empty big">No changes.</p>`}
    ${open.map((file) => html`<${File} key=${`o${file.path}`} file=${file} ...${shared} />`)}
    ${accepted.length > 0 && html`<h2>Accepted</h2>${accepted.map((file) => html`<${File} key=${`a${file.path}`} file=${file} isAccepted ...${shared} />`)}
      <${Commit} session=${session} reload=${reload} />`}
  `;
}

function Commit({ session, reload }) {
  const submit = async (event) => {
    event.preventDefault();
    const form = event.target;
    const message = String(new FormData(form).get("message") ?? "").trim();
    const made = message && (await attempt("console.commit", { sessionId: session.id, message }));
    if (!made) return;
    toast(`Committed ${made.commit}`);
    form.reset();
    reload();
  };
  return html`<form class="commit" onSubmit=${submit}><label>Commit message<textarea name="message" rows="2" required></textarea></label>
    <button class="primary">Commit accepted changes</button></form>`;
}

/** @param {{ file: any, isAccepted?: boolean, isSplit: boolean, comments: Comment[], setComments: (all: Comment[]) => void, decide?: any }} props */
function File({ file, isAccepted = false, isSplit, comments, setComments, decide }) {
  const [draft, setDraft] = useState(/** @type {any} */ (null));
  const lines = file.hunks.flatMap((hunk) => hunk.lines);
  const count = (kind) => lines.filter((line) => line.kind === kind).length;
  const what = file.isNew ? "new" : file.isDeleted ? "deleted" : file.before !== file.path ? `renamed from ${file.before}` : "";
  const can = decide && (!file.isBinary || file.canDecide);
  const buttons = (hunk, label) =>
    can && html`<span class="decide">${isAccepted
      ? html`<button class="quiet" onClick=${() => decide("withdraw", file, hunk)} aria-label=${`Do not accept ${label}`}>Withdraw</button>`
      : html`<button class="quiet" onClick=${() => decide("accept", file, hunk)} aria-label=${`Accept ${label}`}>Accept</button>
          <button class="quiet" onClick=${() => confirm(`Revert ${label}?`) && decide("revert", file, hunk)} aria-label=${`Revert ${label}`}>Revert</button>`}</span>`;
  const save = (event) => {
    event.preventDefault();
    const comment = String(new FormData(event.target).get("comment") ?? "").trim();
    if (comment) setComments([...comments, { path: file.path, line: draft.kind === "-" ? draft.before : draft.after, text: draft.text, comment }]);
    setDraft(null);
  };
  const after = (line) => html`
    ${comments.filter((it) => it.path === file.path && it.text === line.text && it.line === (line.kind === "-" ? line.before : line.after)).map((it) => html`<div class="comment">${it.comment}
      <button class="quiet" onClick=${() => setComments(comments.filter((other) => other !== it))}>Remove</button></div>`)}
    ${draft === line && html`<form class="comment" onSubmit=${save}><label>Comment for the agent<textarea name="comment" rows="2" autofocus></textarea></label>
      <button class="primary">Add</button> <button type="button" onClick=${() => setDraft(null)}>Cancel</button></form>`}`;
  return html`<figure class="code diff" data-file=${file.path}>
    <figcaption><span><span class="path">${file.path}</span> ${what && html`<span class="tag">${what}</span>`} <span class="t-add">+${count("+")}</span> <span class="t-del">−${count("-")}</span></span>${buttons(null, file.path)}</figcaption>
    ${file.isBinary ? html`<p class="dim pad">Binary file</p>` : html`<div class="scroll" tabindex="0" role="region" aria-label=${`Changes of ${file.path}`}>
      ${file.hunks.map((hunk, at) => html`<div class="hunk-head"><span class="dim">${hunk.head}</span>${file.hunks.length > 1 && buttons(hunk, `hunk ${at + 1} of ${file.path}`)}</div>
        <${Lines} lines=${hunk.lines} language=${languageOf(file.path)} isSplit=${isSplit} onLine=${setDraft} after=${after} />`)}</div>`}
  </figure>`;
}

/** A patch with one hunk of a file, or all of them. */
export function patchOf(file, hunk) {
  const hunks = hunk ? [hunk] : file.hunks;
  const body = hunks.map(({ head, lines }) => [head, ...lines.flatMap((line) => [`${line.kind}${line.text}`, ...(line.noNewline ? ["\\ No newline at end of file"] : [])])].join("\n"));
  return `${[...file.header, ...body].join("\n")}\n`;
}

/** The edits of each turn, from its tool calls. */
function editsByTurn(rows) {
  const turns = [];
  for (const row of rows) {
    if (row.kind === "user") turns.push({ key: row.key, prompt: (row.text ?? "").split("\n")[0].slice(0, 80), edits: [] });
    const tool = row.tool;
    if (tool && !tool.isError && tool.result !== null && ["Edit", "Create", "ApplyPatch"].includes(tool.name)) turns.at(-1)?.edits.push(tool);
  }
  return turns.filter((turn) => turn.edits.length);
}

function TurnEdits({ turn, ...shared }) {
  return turn?.edits.flatMap((tool) => filesOf(tool).map((file, at) => html`<${File} key=${`${tool.id}:${at}`} file=${file} ...${shared} />`));
}

/** What one call of a tool has edited. Lines of a patch are counted from its start, because their place in the file is not known. */
function filesOf({ name, input = {} }) {
  const text = (...names) => String(names.map((it) => input[it]).find((it) => typeof it === "string") ?? "");
  if (name === "ApplyPatch") return parseEdits(text("input", "patch"));
  const path = text("file_path", "path");
  const parts = hunks(compare(text("old_str", "old_string"), text("new_str", "new_string", "content")));
  return [{ path, before: path, isNew: name === "Create", isDeleted: false, isBinary: false, hunks: parts.map((lines) => ({ head: "", lines })) }];
}
