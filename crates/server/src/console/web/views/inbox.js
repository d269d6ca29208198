// Everything that waits for a person, oldest first. Keys: j and k move, y approves once, n denies, r denies with a reason, Enter opens.

import { html, useState, useLayoutEffect } from "../html.js";
import { answer, deny, inbox } from "../app.js";
import { canAsk } from "../notify.js";
import { go } from "../router.js";
import { useStore } from "../store.js";
import { RequestCard } from "./request.js";

export function Inbox() {
  const { items } = useStore(inbox);
  const [current, setCurrent] = useState("");
  const [denying, setDenying] = useState("");
  const [, setAsked] = useState(false);
  const at = Math.max(0, items.findIndex((item) => item.requestId === current));
  const item = items[at];
  // before the page is painted: a key pressed at sight must count
  useLayoutEffect(() => {
    const press = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const move = { j: 1, k: -1 }[event.key];
      if (move) {
        const next = items[Math.min(items.length - 1, Math.max(0, at + move))];
        if (!next) return;
        setCurrent(next.requestId);
        /** @type {HTMLElement | null} */ (document.querySelector(`[data-request="${CSS.escape(next.requestId)}"]`))?.focus();
      } else if (event.key === "y" && item?.kind === "permission") {
        const first = item.request.options?.find((option) => option.value !== "cancel");
        if (first) answer(item, { selectedOption: first.value });
      } else if (event.key === "n" && item) {
        deny(item, "");
      } else if (event.key === "r" && item) {
        setDenying(item.requestId);
      } else if (event.key === "Enter" && item && event.target.closest?.("article") === event.target) {
        go("session", item.sessionId);
      } else return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
  const ask = async () => {
    await Notification.requestPermission();
    setAsked(true);
  };
  return html`<section class="page">
    <div class="title-row"><h1>Inbox</h1>${canAsk() && html`<button class="quiet" onClick=${ask}>Notify me</button>`}</div>
    ${items.length
      ? html`<p class="dim keys"><kbd>j</kbd> <kbd>k</kbd> move · <kbd>y</kbd> approve once · <kbd>n</kbd> deny · <kbd>r</kbd> deny with a reason · <kbd>Enter</kbd> open the session</p>`
      : html`<div class="empty"><p class="big">Nothing waits for you.</p><p class="dim">Permission requests and questions of all agents and their subagents appear here.</p></div>`}
    <div class="requests">${items.map(
      (it) => html`<${RequestCard} key=${it.requestId} item=${it} isCurrent=${it === item} denying=${denying === it.requestId}
        onDenying=${(is) => setDenying(is ? it.requestId : "")} />`,
    )}</div>
  </section>`;
}

/** @param {any} target */
export const isTyping = (target) => /^(INPUT|TEXTAREA|SELECT)$/.test(target?.tagName ?? "");
