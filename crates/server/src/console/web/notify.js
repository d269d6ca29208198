// What is visible when the page is not: the count in the title and the icon, and notifications of the browser.

import { inbox } from "./app.js";
import { href } from "./router.js";

let known = null;

/** Shows how much waits, and announces what is new. */
export function watchInbox() {
  const update = () => {
    const { items } = inbox.value;
    document.title = `${items.length ? `(${items.length}) ` : ""}musher console`;
    drawIcon(items.length);
    const fresh = known ? items.filter((item) => !known.has(item.requestId)) : [];
    known = new Set(items.map((item) => item.requestId));
    if (document.hidden) fresh.forEach(announce);
  };
  inbox.watch(update);
}

function announce(item) {
  if (!("Notification" in globalThis) || Notification.permission !== "granted") return;
  const title = item.title || "An agent waits for you";
  const options = { body: item.kind === "permission" ? "Permission request" : "Question", tag: item.requestId, icon: "/console/icon.svg" };
  // phones know only notifications of the service worker, which also opens the inbox for them
  navigator.serviceWorker?.getRegistration("/console/").then((shell) => {
    if (shell) return shell.showNotification(title, options);
    const note = new Notification(title, options);
    note.onclick = () => {
      focus();
      location.hash = href("inbox");
    };
  }).catch(() => {});
}

/** Draws the count into the icon of the tab. */
function drawIcon(count) {
  const link = /** @type {HTMLLinkElement} */ (document.getElementById("favicon"));
  if (!count) {
    link.href = "/console/icon.svg";
    return;
  }
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 64;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.fillStyle = "#12303a";
  context.fillRect(0, 0, 64, 64);
  context.fillStyle = "#ffb454";
  context.beginPath();
  context.arc(32, 32, 28, 0, 7);
  context.fill();
  context.fillStyle = "#101418";
  context.font = "bold 38px sans-serif";
  context.textAlign = "center";
  context.fillText(count > 9 ? "9+" : String(count), 32, 46);
  link.href = canvas.toDataURL();
}

export const canAsk = () => "Notification" in globalThis && Notification.permission === "default";

/** Keeps the files of the page, so that it opens without the daemon. */
export function registerShell() {
  if (!("serviceWorker" in navigator)) return;
  // the only script address that is ever made from a text
  const policy = globalThis.trustedTypes?.createPolicy("musher", { createScriptURL: () => "/console/sw.js" });
  const url = policy ? policy.createScriptURL("") : "/console/sw.js";
  navigator.serviceWorker.addEventListener("message", () => (location.hash = href("inbox")));
  navigator.serviceWorker.register(/** @type {any} */ (url), { scope: "/console/" }).catch(() => {});
}
