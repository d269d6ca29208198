// Starts the page: logs in, connects, and shows the view of the address.

import { html, render, useEffect } from "./html.js";
import { start, inbox, toasts } from "./app.js";
import { connection } from "./connection.js";
import { logIn } from "./login.js";
import { registerShell, watchInbox } from "./notify.js";
import { href, route } from "./router.js";
import { useStore } from "./store.js";
import { Costs } from "./views/costs.js";
import { Inbox } from "./views/inbox.js";
import { Session } from "./views/session.js";
import { Sessions } from "./views/sessions.js";
import { Patterns } from "./patterns.js";

const VIEWS = { sessions: Sessions, inbox: Inbox, costs: Costs, session: Session };

function App({ refusal }) {
  const { current } = useStore(route);
  const { state } = useStore(connection.status);
  const View = VIEWS[current.view] ?? Sessions;
  useEffect(() => {
    document.querySelector("main")?.focus({ preventScroll: true });
  }, [current.view, current.id]);
  if (state === "logged-out") return html`<${LoggedOut} refusal=${refusal} />`;
  return html`
    <a class="skip" href="#main" onClick=${skip}>Skip to content</a>
    <${Header} view=${current.view} />
    <${Notice} />
    <main id="main" tabindex="-1"><${View} route=${current} key=${current.view + current.id} /></main>
    <${Toasts} />
    <${Patterns} />
  `;
}

function skip(event) {
  event.preventDefault();
  document.querySelector("main")?.focus();
}

function Header({ view }) {
  const count = useStore(inbox).items.length;
  const item = (name, label, extra) =>
    html`<a href=${href(name)} aria-current=${view === name || (name === "sessions" && view === "session") ? "page" : undefined}>${label}${extra}</a>`;
  const badge = count ? html`<span class="badge">${count}<span class="hidden"> waiting</span></span>` : null;
  return html`<header class="top">
    <a class="brand" href=${href("sessions")} aria-label="musher console"><svg viewBox="0 0 64 64" width="26" height="26" aria-hidden="true"><rect width="64" height="64" rx="14" class="brand-back" /><path d="M12 46h40c5 0 7-4 7-8" class="brand-sled" /><path d="M17 46V20l15 15 15-15v26" class="brand-m" /></svg><span>musher</span></a>
    <nav aria-label="Main">${item("sessions", "Sessions")}${item("inbox", "Inbox", badge)}${item("costs", "Cost")}</nav>
    <button class="quiet log-out" onClick=${logOut}>Log out</button>
  </header>`;
}

async function logOut() {
  await fetch("/console/logout", { method: "POST" });
  location.reload();
}

/** Says that the connection is lost. */
function Notice() {
  const { state, attempt } = useStore(connection.status);
  return html`<div class="notice-area" role="status">${state === "lost" && html`<p class="lost">
    Connection to the daemon lost; trying again${attempt > 1 ? ` (attempt ${attempt})` : ""}. What you missed is replayed.
    <button class="quiet" onClick=${() => connection.retryNow()}>Try now</button></p>`}</div>`;
}

function LoggedOut({ refusal }) {
  return html`<main class="center" id="main" tabindex="-1"><div class="card">
    <h1>musher console</h1>
    <p>${refusal === "refused" ? "This link was used already, or is too old." : "This browser is not logged in."}</p>
    <p>Run this command to open the console:</p>
    <pre tabindex="0" class="plain">musher console</pre>
  </div></main>`;
}

function Toasts() {
  const { list } = useStore(toasts);
  return html`<div class="toasts" role="status">${list.map((it) => html`<p key=${it.id} class=${`toast ${it.tone}`}>${it.text}</p>`)}</div>`;
}

const refusal = await logIn();
start();
watchInbox();
const root = document.getElementById("app");
root.replaceChildren();
render(html`<${App} refusal=${refusal} />`, root);
registerShell();
