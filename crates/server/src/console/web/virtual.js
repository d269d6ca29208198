// A list of which only the visible rows are in the page. Rows have any height; the view stays at the end while it is there.

import { html, useEffect, useLayoutEffect, useRef, useState } from "./html.js";

const ESTIMATE = 84;
const OVERSCAN = 900;
/** As close to the end counts as the end. */
const NEAR = 48;

/**
 * @param {{ rows: { key: string, message?: string }[], row: (row: any) => any, label: string, anchor?: string, tail?: any }} props
 * `anchor`: the row to show first, by its key or its message; `tail`: what is below all rows.
 */
export function VirtualList({ rows, row, label, anchor, tail }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const state = useRef({ heights: new Map(), isAtEnd: !anchor, asked: anchor ?? "", anchored: anchor ?? "", observer: /** @type {any} */ (null) }).current;
  const [, redraw] = useState(0);
  const [isAway, setAway] = useState(false);

  if ((anchor ?? "") !== state.asked) {
    state.asked = state.anchored = anchor ?? "";
    if (anchor) state.isAtEnd = false;
  }

  const height = (it) => state.heights.get(it.key) ?? ESTIMATE;
  const top = box.current?.scrollTop ?? 0;
  const view = box.current?.clientHeight ?? 800;
  let [first, before] = [0, 0];
  let [last, shown, total] = [-1, 0, 0];
  const start = state.isAtEnd ? Infinity : top - OVERSCAN;
  if (state.isAtEnd) {
    for (const it of rows) total += height(it);
    first = rows.length;
    while (first > 0 && shown < view + OVERSCAN) shown += height(rows[(first -= 1)]);
    before = total - shown;
    last = rows.length - 1;
  } else {
    for (let at = 0; at < rows.length; at += 1) {
      const size = height(rows[at]);
      if (total + size < start) {
        first = at + 1;
        before = total + size;
      }
      if (total < top + view + OVERSCAN) last = at;
      total += size;
    }
    for (let at = first; at <= last; at += 1) shown += height(rows[at]);
  }
  const after = Math.max(0, total - before - shown);

  useEffect(() => {
    state.observer = new ResizeObserver((entries) => {
      let [shift, changed] = [0, false];
      const edge = box.current?.getBoundingClientRect().top ?? 0;
      for (const entry of entries) {
        const target = /** @type {HTMLElement} */ (entry.target);
        const key = target.dataset.key;
        const size = target.offsetHeight;
        const known = state.heights.get(key) ?? ESTIMATE;
        if (!key || !target.isConnected || known === size) continue;
        state.heights.set(key, size);
        changed = true;
        // what is above the view must not move it
        if (target.getBoundingClientRect().top < edge) shift += size - known;
      }
      if (!changed || !box.current) return;
      if (shift && !state.isAtEnd) box.current.scrollTop += shift;
      redraw((tick) => tick + 1);
    });
    return () => state.observer.disconnect();
  }, []);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !state.observer) return;
    for (const child of element.querySelectorAll(":scope > [data-key]")) state.observer.observe(child);
  });

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const wanted = state.anchored && rows.find((it) => it.key === state.anchored || it.message === state.anchored);
    if (state.anchored && !wanted) {
      // the message is not there: it was compacted, or belongs to another session
      state.anchored = "";
      state.isAtEnd = true;
    }
    if (wanted) {
      const target = element.querySelector(`[data-key="${CSS.escape(wanted.key)}"]`);
      if (target) {
        target.scrollIntoView({ block: "start" });
        target.classList.add("target");
        state.anchored = "";
      } else {
        let offset = 0;
        for (const it of rows) {
          if (it === wanted) break;
          offset += height(it);
        }
        if (Math.abs(element.scrollTop - offset) > 1) element.scrollTop = offset;
        requestAnimationFrame(() => redraw((tick) => tick + 1));
      }
    } else if (state.isAtEnd) {
      element.scrollTop = element.scrollHeight;
    }
  });

  const scrolled = () => {
    const element = box.current;
    if (!element) return;
    state.isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR;
    setAway(!state.isAtEnd);
    redraw((tick) => tick + 1);
  };
  const toEnd = () => {
    state.isAtEnd = true;
    setAway(false);
    redraw((tick) => tick + 1);
  };
  return html`<div class="virtual">
    <div class="rows" ref=${box} onScroll=${scrolled} role="log" aria-label=${label} aria-live="off" tabindex="0">
      <div class="space" style=${{ height: `${before}px` }}></div>
      ${rows.slice(first, last + 1).map((it) => html`<div key=${it.key} data-key=${it.key} class="row">${row(it)}</div>`)}
      <div class="space" style=${{ height: `${after}px` }}></div>
      ${tail}
    </div>
    ${isAway && html`<button class="to-end" onClick=${toEnd}>↓ Latest</button>`}
  </div>`;
}
