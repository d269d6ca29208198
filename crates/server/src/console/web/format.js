// How numbers, times and paths are shown.

/** @type {[string, number][]} */
const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
];

/** How long ago something was: `3 min`. */
export function age(at, now = Date.now()) {
  const passed = Math.max(0, now - at);
  for (const [unit, size] of UNITS) if (passed >= size) return `${Math.floor(passed / size)} ${unit}`;
  return "now";
}

export function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60 ? `${minutes} min ${Math.round((ms % 60_000) / 1000)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function tokens(count) {
  if (count < 1000) return String(count);
  if (count < 1_000_000) return `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** Money, or what is known of it. @param {number | null | undefined} usd */
export function money(usd, unpriced = 0) {
  if (usd === null || usd === undefined) return unpriced ? "unknown" : "–";
  const text = usd === 0 ? "$0" : usd < 0.01 ? "<$0.01" : `$${usd.toFixed(2)}`;
  return unpriced ? `${text} +` : text;
}

/** A path with the home directory shortened. */
export function shortPath(path, home) {
  if (!path) return "";
  return home && (path === home || path.startsWith(`${home}/`)) ? `~${path.slice(home.length)}` : path;
}

export const time = (at) => (at ? new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }) : "");

/** What a session does, in words. */
export const STATES = {
  idle: "Idle",
  working: "Working",
  waiting: "Waiting for you",
  failed: "Failed",
};

/** @param {import("./app.js").Summary} session @param {Set<string>} waiting */
export function stateOf(session, waiting) {
  if (waiting.has(session.sessionId) || session.workingState === "waiting_for_tool_confirmation") return "waiting";
  if (session.workingState && session.workingState !== "idle") return "working";
  return isFailure(session.lastTurnReason) ? "failed" : "idle";
}

/** Ends of turns that are not a failure. */
const FINE = ["", "completed", "cancelled", "permission_rejected", "spec_handoff"];

/** Whether a turn that ended for this reason has failed. @param {string | undefined} reason */
export const isFailure = (reason) => !FINE.includes(reason ?? "");

/** How full the context is, or nothing if that is not known. @param {number | undefined} used @param {number | undefined} limit */
export const share = (used, limit) => (used && limit ? `${Math.min(100, Math.round((used / limit) * 100))}%` : "");
