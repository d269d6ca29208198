// One request of an agent with everything that is needed to decide: the whole command, the diff, the plan or the questions.

import { html, useState, useRef } from "../html.js";
import { answer, deny, inbox } from "../app.js";
import { Code, languageOf } from "../code.js";
import { Diff } from "../diff.js";
import { age } from "../format.js";
import { Markdown } from "../markdown.js";
import { href } from "../router.js";
import { useStore } from "../store.js";

/** @typedef {import("../app.js").InboxItem} InboxItem */

/** @param {{ item: InboxItem, isCurrent?: boolean, showsSession?: boolean, denying?: boolean, onDenying?: (is: boolean) => void }} props */
export function RequestCard({ item, isCurrent = false, showsSession = true, denying, onDenying }) {
  const isBusy = useStore(inbox).answering.has(item.requestId);
  const title = item.kind === "permission" ? permissionTitle(item) : "The agent has a question";
  return html`<article class=${`request ${isCurrent ? "current" : ""}`} aria-label=${title} data-request=${item.requestId} tabindex=${isCurrent ? 0 : -1}>
    <header>
      <h2>${title}</h2>
      ${showsSession && html`<p class="dim">
        <a href=${href("session", item.sessionId)}>${item.title || "Session"}</a>
        ${item.subagentSessionId && html` · <span class="tag">subagent</span>`}
        ${item.cwd && html` · <span class="path">${item.cwd}</span>`} · ${age(item.createdAt)}</p>`}
    </header>
    ${item.kind === "permission"
      ? html`<${Permission} item=${item} isBusy=${isBusy} denying=${denying} onDenying=${onDenying} />`
      : html`<${Questions} item=${item} isBusy=${isBusy} />`}
  </article>`;
}

function permissionTitle(item) {
  const calls = item.request.toolUses ?? [];
  if (calls.length > 1) return `${calls.length} tool calls need permission`;
  const { details = {}, toolUse = {} } = calls[0] ?? {};
  switch (details.type ?? calls[0]?.confirmationType) {
    case "exec":
      return "Run this command?";
    case "edit":
    case "apply_patch":
      return `Edit ${details.fileName ?? "a file"}?`;
    case "create":
      return `Create ${details.fileName ?? "a file"}?`;
    case "exit_spec_mode":
      return "Approve this plan?";
    case "mcp_tool":
      return `Call ${details.actualToolName ?? details.toolName} of ${details.serverName ?? "an MCP server"}?`;
    default:
      return `Run ${toolUse.name ?? "this tool"}?`;
  }
}

function Permission({ item, isBusy, denying, onDenying }) {
  const [own, setOwn] = useState(false);
  const reason = useRef(null);
  const isDenying = denying ?? own;
  const setDenying = onDenying ?? setOwn;
  const options = choices(item.request.options ?? []);
  const choose = (value) => answer(item, { selectedOption: value });
  const submit = (event) => {
    event.preventDefault();
    deny(item, reason.current?.value.trim() ?? "");
    setDenying(false);
  };
  return html`
    ${(item.request.toolUses ?? []).map((call) => html`<${Call} call=${call} />`)}
    <div class="actions">
      ${options
        .filter((option) => option.value !== "cancel")
        .map((option, at) => html`<button class=${at ? "" : "primary"} disabled=${isBusy} data-option=${option.value} onClick=${() => choose(option.value)}>${option.label}</button>`)}
      <button class="danger" disabled=${isBusy} data-option="cancel" onClick=${() => choose("cancel")}>Deny</button>
      <button class="quiet" aria-expanded=${isDenying} onClick=${() => setDenying(!isDenying)}>Deny with a reason…</button>
    </div>
    ${isDenying && html`<form class="reason" onSubmit=${submit}>
      <label>What should the agent do instead?
        <input ref=${reason} type="text" autocomplete="off" autofocus /></label>
      <button class="danger" disabled=${isBusy}>Deny and send</button></form>`}
  `;
}

/** What each value does, and the words of an agent's label that say so. The value decides; a label is only text. */
const VALUES = {
  proceed_once: ["Yes", /^(yes|allow|approve|run|ok)\b(?!.*\b(always|ask)\b)/i],
  proceed_edit: ["Yes, with changes", /^(yes|allow|approve)\b(?!.*\b(always|ask)\b)/i],
  proceed_always: ["Yes, and don't ask again for calls of this risk", /^(yes|allow|always)\b.*\b(always|ask)\b/i],
  proceed_always_file: ["Yes, and always allow changes of this file", /^(yes|allow|always)\b.*\b(always|ask)\b/i],
  proceed_always_tools: ["Yes, and always allow this tool", /^(yes|allow|always)\b.*\b(always|ask)\b/i],
  proceed_always_server: ["Yes, and always allow every tool of this MCP server", /^(yes|allow|always)\b.*\b(always|ask)\b/i],
  proceed_auto_run_low: ["Yes, with autonomy low", /^(yes|proceed|allow)\b.*\blow\b/i],
  proceed_auto_run_medium: ["Yes, with autonomy medium", /^(yes|proceed|allow)\b.*\bmedium\b/i],
  proceed_auto_run_high: ["Yes, with autonomy high", /^(yes|proceed|allow)\b.*\bhigh\b/i],
  cancel: ["No", /^(no|cancel|deny|reject|stop|keep)\b/i],
};

/** The options, each value once, with a label that says what it does. */
export function choices(options) {
  const seen = new Set();
  const fresh = options.filter((option) => !seen.has(option.value) && seen.add(option.value));
  return fresh.map((option) => {
    const [label, honest] = VALUES[option.value] ?? [`Yes, in another way (${option.value})`, /^(yes|proceed|allow)\b/i];
    return honest.test(option.label ?? "") ? option : { ...option, label };
  });
}

/** What a request shows that the call itself does not do: the name of the part, and what the call has. */
export function mismatches(call) {
  const details = call.details ?? {};
  const input = call.toolUse?.input ?? {};
  const text = (...names) => names.map((name) => input[name]).find((it) => typeof it === "string");
  const parts = { exec: ["command", details.fullCommand, text("command")], create: ["content", details.content, text("content")] };
  const path = details.filePath && ["file", details.filePath, text("file_path", "path")];
  const isOther = ([, shown, real]) => typeof shown === "string" && typeof real === "string" && shown.trim() !== real.trim() && !shown.endsWith(`/${real}`);
  return [parts[details.type], path].filter((part) => part && isOther(part)).map(([name, , real]) => ({ name, real }));
}

/** One tool call of a request. */
function Call({ call }) {
  const other = mismatches(call);
  return html`<${Shown} call=${call} />${other.map(
    ({ name, real }) => html`<p class="problem" role="alert">The agent describes this call differently from what it runs. The ${name} of the call itself:</p><${Code} text=${real} language="sh" label=${name} />`,
  )}`;
}

/** What the agent says of a call. */
function Shown({ call }) {
  const details = call.details ?? {};
  const input = call.toolUse?.input ?? {};
  const risk = details.impactLevel && html`<p class="risk"><span class=${`tag risk-${details.impactLevel}`}>Risk: ${details.impactLevel}</span> ${details.riskLevelReason ?? ""}</p>`;
  switch (details.type) {
    case "exec":
      return html`<${Code} text=${details.fullCommand ?? ""} language="sh" label="command" />${risk}`;
    case "edit":
    case "apply_patch":
      return details.oldContent === undefined && details.patchContent
        ? html`<${Code} text=${details.patchContent} language="diff" />`
        : html`<${Diff} path=${details.filePath} before=${details.oldContent ?? ""} after=${details.newContent ?? ""} />`;
    case "create":
      return html`<${Code} text=${details.content ?? ""} language=${languageOf(details.fileName)} label=${details.filePath} />`;
    case "exit_spec_mode":
      return html`<div class="plan"><${Markdown} text=${details.plan ?? ""} /></div>`;
    case "sandbox_violation":
      return html`<p>${details.violatingToolName} wants to ${details.operationType} <code>${details.target}</code>. ${details.reason}</p>`;
    default:
      return html`<${Code} text=${JSON.stringify(input, null, 2)} language="json" label=${call.toolUse?.name} />${risk}`;
  }
}

function Questions({ item, isBusy }) {
  const questions = item.request.questions ?? [];
  const submit = (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const answers = questions.map(({ index, question }) => {
      const own = String(form.get(`own-${index}`) ?? "").trim();
      const chosen = form.getAll(`q-${index}`).map(String);
      return { index, question, answer: own || chosen.join(", ") };
    });
    answer(item, { cancelled: false, answers });
  };
  return html`<form class="questions" onSubmit=${submit}>
    ${questions.map(
      ({ index, question, options = [], multiSelect }) => html`<fieldset>
        <legend>${question}</legend>
        ${options.map((option) => html`<label class="choice"><input type=${multiSelect ? "checkbox" : "radio"} name=${`q-${index}`} value=${option} /> ${option}</label>`)}
        <label class="own">${options.length ? "Or something else" : "Answer"}<input type="text" name=${`own-${index}`} autocomplete="off" /></label>
      </fieldset>`,
    )}
    <div class="actions"><button class="primary" disabled=${isBusy}>Answer</button>
      <button type="button" class="danger" disabled=${isBusy} onClick=${() => deny(item, "")}>Cancel the question</button></div>
  </form>`;
}
