// The WebSocket to the daemon: calls, notifications, requests of agents, and how a lost connection is made again.

import { store } from "./store.js";

const VERSION = "1.0.0";
const FIRST_PAUSE = 250;
const MAX_PAUSE = 5000;
const TIMEOUT = 60_000;

/**
 * The calls of the page: those of the protocol, and those that only this page makes. A result also has what the daemon adds.
 * @typedef {import("./types.d.ts").Calls & {
 *   "daemon.list_inbox": { params: {}, result: { items: import("./app.js").InboxItem[] } },
 *   "daemon.answer_inbox": { params: { requestId: string, result: object }, result: { accepted: boolean } },
 *   "console.list_sessions": { params: {}, result: { sessions: import("./app.js").Summary[], homedir?: string } },
 *   "console.search": { params: { query: string }, result: { hits: { sessionId: string, messageId: string, text: string }[], isComplete: boolean } },
 *   "console.get_usage": { params: {}, result: { rows: any[] } },
 *   "console.get_turns": { params: {}, result: { turns: import("./types.d.ts").AgentTurnCompleted[] } },
 *   "console.get_changes": { params: {}, result: GitChanges },
 *   "console.decide_change": { params: { decision: string, patch: string }, result: GitChanges },
 *   "console.commit": { params: { message: string }, result: { commit: string } },
 * }} Calls
 * @typedef {{ isRepository: boolean, open?: string, accepted?: string, isTruncated?: boolean, moreNewFiles?: number }} GitChanges
 * @typedef {{ sessionId?: string, token?: string, machineId?: string, afterSequence?: number }} Address
 * @typedef {{ sessionId?: string, lastSequence?: number, missedEvents?: number }} Extras
 */

/** @typedef {"connecting" | "open" | "lost" | "logged-out"} State */

/** An error that the daemon has answered with. */
export class CallError extends Error {
  /** @param {{ code: number, message: string }} error */
  constructor(error) {
    super(error.message);
    this.code = error.code;
  }
}

/** The connection was lost before the answer came. */
export class LostError extends Error {}

export class Connection {
  constructor() {
    /** @type {import("./store.js").Store<{ state: State, attempt: number, version: string, homedir: string, since: number }>} */
    this.status = store({ state: "connecting", attempt: 0, version: "", homedir: "", since: Date.now() });
    this.pending = new Map();
    this.pause = FIRST_PAUSE;
    /** When the daemon has last sent something. */
    this.heard = Date.now();
    /** @type {WebSocket | undefined} */
    this.socket = undefined;
    /** @type {(message: any) => void} */
    this.onNotification = () => {};
    /** Runs after each connection; what it loads replaces what was missed. */
    this.onOpen = () => {};
    addEventListener("online", () => this.retryNow());
    // a socket notices only after minutes that its network is gone
    addEventListener("offline", () => this.drop());
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/console/socket`);
    this.socket = socket;
    let wasOpen = false;
    socket.onopen = () => {
      wasOpen = true;
      this.pause = FIRST_PAUSE;
      this.set("open");
      this.onOpen();
    };
    socket.onmessage = (event) => {
      this.heard = Date.now();
      this.receive(JSON.parse(event.data));
    };
    socket.onclose = () => this.closed(socket, wasOpen);
  }

  /** Reports a lost connection, and plans the next attempt. */
  async closed(socket, wasOpen) {
    if (socket !== this.socket) return;
    this.socket = undefined;
    for (const [, call] of this.pending) call.reject(new LostError("The connection to the daemon was lost"));
    this.pending.clear();
    if (!wasOpen && (await isRefused())) return this.set("logged-out");
    this.status.value.attempt += 1;
    this.set("lost");
    this.timer = setTimeout(() => this.connect(), this.pause);
    this.pause = Math.min(this.pause * 2, MAX_PAUSE);
  }

  /** Gives up the connection, and makes a new one. */
  drop() {
    const socket = this.socket;
    if (!socket || this.status.value.state !== "open") return;
    socket.close();
    // a dead socket does not say that it is closed
    this.closed(socket, true);
  }

  retryNow() {
    if (this.status.value.state !== "lost") return;
    clearTimeout(this.timer);
    this.pause = FIRST_PAUSE;
    this.connect();
  }

  /** @param {State} state */
  set(state) {
    if (this.status.value.state !== state) this.status.value.since = Date.now();
    this.status.value.state = state;
    if (state === "open") this.status.value.attempt = 0;
    this.status.changed();
  }

  receive(message) {
    if (message.type === "response") {
      const call = this.pending.get(message.id);
      this.pending.delete(message.id);
      if (!call) return;
      clearTimeout(call.timer);
      if (message.error) call.reject(new CallError(message.error));
      else call.resolve(message.result);
    } else if (message.type === "notification") {
      if (message.method === "daemon.connection_status") {
        this.status.value.version = message.params.droidCLIVersion;
        this.status.value.homedir = message.params.homedir;
        this.status.changed();
      } else {
        this.onNotification(message);
      }
    }
    // requests of agents are in the inbox, too, which has those of all sessions
  }

  /**
   * Calls a method of the daemon.
   * @template {keyof Calls} M
   * @param {M} method
   * @param {Calls[M]["params"] & Address} params
   * @param {{ id?: string, timeout?: number }} [options]
   * @returns {Promise<Calls[M]["result"] & Extras>}
   */
  call(method, params, options = {}) {
    const id = options.id ?? uuid();
    return new Promise((resolve, reject) => {
      if (this.status.value.state !== "open") return reject(new LostError("There is no connection to the daemon"));
      const timer = setTimeout(() => {
        this.pending.delete(id);
        reject(new Error(`The daemon did not answer ${method} in time`));
        if (Date.now() - this.heard > TIMEOUT) this.drop();
      }, options.timeout ?? TIMEOUT);
      this.pending.set(id, { resolve, reject, timer });
      const envelope = { jsonrpc: "2.0", factoryApiVersion: VERSION, type: "request", id, method, params };
      this.socket?.send(JSON.stringify(envelope));
    });
  }
}

/** Whether the daemon is there and does not accept the cookie. */
async function isRefused() {
  try {
    const answer = await fetch("/console/status", { cache: "no-store" });
    return answer.status === 401;
  } catch {
    return false;
  }
}

export const connection = new Connection();

/** Returns a random id. Only pages of this machine or with TLS have `crypto.randomUUID`. */
export function uuid() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const digits = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-a${digits.slice(17, 20)}-${digits.slice(20)}`;
}
