// The offline shell: keeps the files of this version, so that the page opens without the daemon and says so.
// Never keeps anything of a session.
const NAME = "musher-{{hash}}";
const FILES = ["/console/", "{{files}}"];

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(FILES)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  const old = (names) => names.filter((name) => name.startsWith("musher-") && name !== NAME);
  event.waitUntil(
    caches.keys().then((names) => Promise.all(old(names).map((name) => caches.delete(name)))).then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== "GET" || url.origin !== location.origin) return;
  if (url.pathname.startsWith("/console/a/")) {
    event.respondWith(caches.match(event.request).then((kept) => kept ?? fetch(event.request)));
  } else if (url.pathname === "/console/") {
    // the newest page if the daemon answers, else the one that is kept
    event.respondWith(fetch(event.request).catch(() => caches.match("/console/")));
  }
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const show = async () => {
    const [page] = await self.clients.matchAll({ type: "window" });
    if (!page) return self.clients.openWindow("/console/#/inbox");
    await page.focus();
    page.postMessage("inbox");
  };
  event.waitUntil(show());
});
