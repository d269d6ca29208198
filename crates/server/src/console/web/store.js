// State that views watch. A change is announced once per frame, however many messages caused it.
import { useState, useEffect } from "./html.js";

/**
 * @template T
 * @typedef {{ value: T, watch: (callback: () => void) => () => void, changed: () => void }} Store
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
    watch(callback) {
      watchers.add(callback);
      return () => watchers.delete(callback);
    },
    changed() {
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
  useEffect(() => it.watch(() => setTick((tick) => tick + 1)), [it]);
  return it.value;
}
