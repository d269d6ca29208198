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
  const options = item.request.options ?? [];
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

/** One tool call of a request. */
function Call({ call }) {
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
