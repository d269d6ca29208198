// State that views watch. A change is announced once per frame, however many messages caused it.
import { useState, useLayoutEffect } from "./html.js";

/**
 * @template T
 * @typedef {{ value: T, version: number, watch: (callback: () => void) => () => void, changed: () => void }} Store
 */

/**
 * Creates a store. Change its value in place, then call `changed`.
 * @template T
 * @param {T} value
 * @returns {Store<T>}
 */
export function store(value) {
  const watchers = new Set();
  let isPlanned = false;
  const announce = () => {
    isPlanned = false;
    for (const watcher of [...watchers]) watcher();
  };
  return {
    value,
    /** Counts the changes. */
    version: 0,
    watch(callback) {
      watchers.add(callback);
      return () => watchers.delete(callback);
    },
    changed() {
      this.version += 1;
      if (isPlanned) return;
      isPlanned = true;
      // a page in the background gets no frames
      if (document.hidden) setTimeout(announce, 50);
      else requestAnimationFrame(announce);
    },
  };
}

/**
 * Renders the calling component again when the store changes.
 * @template T
 * @param {Store<T>} it
 * @returns {T}
 */
export function useStore(it) {
  const [, setTick] = useState(0);
  const seen = it.version;
  useLayoutEffect(() => {
    const redraw = () => setTick((tick) => tick + 1);
    // what has changed since the component was rendered was announced before it watched
    if (it.version !== seen) redraw();
    return it.watch(redraw);
  }, [it]);
  return it.value;
}
