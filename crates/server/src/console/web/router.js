// The address of each view, in the fragment: `#/session/ID/changes`. The server never sees it.
import { store } from "./store.js";

/** @typedef {{ view: string, id: string, tab: string, anchor: string }} Route */

/** @returns {Route} */
function parse() {
  const [, view = "", id = "", tab = "", anchor = ""] = location.hash.split("/").map(decode);
  return { view: view || "sessions", id, tab, anchor };
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

export const route = store({ current: parse() });

addEventListener("hashchange", () => {
  route.value.current = parse();
  route.changed();
});

/** @param {...string} parts */
export const href = (...parts) => `#/${parts.map(encodeURIComponent).join("/")}`;

/** @param {...string} parts */
export function go(...parts) {
  location.hash = href(...parts);
}
