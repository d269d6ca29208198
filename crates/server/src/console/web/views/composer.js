// Where prompts are written: send, queue, steer, interrupt, and attach images and files by choosing, dropping or pasting.

import { html, useRef, useState } from "../html.js";
import { attempt, sendPrompt, toast } from "../app.js";

const MAX_FILE = 8 * 1024 * 1024;
const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** Drafts survive a change of the view. */
const drafts = new Map();

/** Adds text to the draft of a session. */
export function addToDraft(id, text) {
  drafts.set(id, `${drafts.get(id) ? `${drafts.get(id)}\n\n` : ""}${text}`);
}

/** @param {{ session: import("../app.js").Open }} props */
export function Composer({ session }) {
  const [text, setText] = useState(drafts.get(session.id) ?? "");
  const [files, setFiles] = useState(/** @type {{ name: string, type: string, data: string, url: string }[]} */ ([]));
  const [isOver, setOver] = useState(false);
  const chooser = useRef(/** @type {HTMLInputElement | null} */ (null));
  const isWorking = session.transcript.state !== "idle";
  const write = (value) => {
    setText(value);
    drafts.set(session.id, value);
  };
  const add = async (list) => {
    const read = [];
    for (const file of list) {
      if (file.size > MAX_FILE) toast(`${file.name} is larger than 8 MiB`, "bad");
      else read.push(await readFile(file));
    }
    setFiles((before) => [...before, ...read]);
  };
  const send = async (placement) => {
    if (!text.trim() && !files.length) return;
    const images = files.filter((file) => IMAGES.includes(file.type));
    const documents = files.filter((file) => !IMAGES.includes(file.type));
    const extra = {
      placement,
      images: images.map((file) => ({ type: "base64", mediaType: file.type, data: file.data })),
      files: documents.map(toDocument),
      previews: images.map((file) => file.url),
    };
    const sent = text;
    write("");
    setFiles([]);
    await sendPrompt(session.id, sent, extra).catch(() => write(sent));
  };
  const key = (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      send(isWorking ? "end_of_turn" : undefined);
    } else if (event.key === "Escape" && isWorking) {
      interrupt(session.id);
    }
  };
  const drop = (event) => {
    event.preventDefault();
    setOver(false);
    add(event.dataTransfer.files);
  };
  return html`<form class=${`composer ${isOver ? "over" : ""}`} onSubmit=${(event) => (event.preventDefault(), send(isWorking ? "end_of_turn" : undefined))}
    onDragOver=${(event) => (event.preventDefault(), setOver(true))} onDragLeave=${() => setOver(false)} onDrop=${drop}>
    ${files.length > 0 && html`<ul class="attachments">${files.map((file, at) => html`<li>${IMAGES.includes(file.type) && html`<img src=${file.url} alt="" />`}${file.name}
      <button type="button" class="quiet" aria-label=${`Remove ${file.name}`} onClick=${() => setFiles(files.filter((_, other) => other !== at))}>✕</button></li>`)}</ul>`}
    <textarea aria-label="Prompt" rows="2" placeholder=${isWorking ? "Queue the next prompt, or steer this turn" : "What should the agent do?"} value=${text}
      onInput=${(event) => write(event.target.value)} onKeyDown=${key} onPaste=${(event) => event.clipboardData.files.length && add(event.clipboardData.files)}></textarea>
    <div class="composer-actions">
      <input ref=${chooser} type="file" multiple hidden onChange=${(event) => (add(event.target.files), (event.target.value = ""))} />
      <button type="button" class="quiet" onClick=${() => chooser.current?.click()}>Attach</button>
      <span class="grow dim hint">Enter sends, Shift+Enter starts a line${isWorking ? ", Esc interrupts" : ""}</span>
      ${isWorking && html`<button type="button" class="danger" onClick=${() => interrupt(session.id)}>Interrupt</button>
        <button type="button" onClick=${() => send("steer")} title="The agent reads it before its next step">Steer</button>`}
      <button class="primary">${isWorking ? "Queue" : "Send"}</button>
    </div>
  </form>`;
}

const interrupt = (sessionId) => attempt("daemon.interrupt_session", { sessionId });

/** @param {File} file */
async function readFile(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  const data = btoa(binary);
  const type = file.type || "text/plain";
  return { name: file.name, type, data, url: IMAGES.includes(type) ? `data:${type};base64,${data}` : "", text: isText(type) ? new TextDecoder().decode(bytes) : "" };
}

const isText = (type) => type !== "application/pdf" && !type.startsWith("image/");

function toDocument(file) {
  if (file.type === "application/pdf") return { type: "base64", mediaType: file.type, data: file.data, name: file.name };
  return { type: "text", mediaType: "text/plain", data: file.text, name: file.name };
}
