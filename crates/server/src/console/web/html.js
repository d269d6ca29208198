// The view library, under one name. All modules import it from here.
import { h, render, Fragment } from "./vendor/preact.js";
import htm from "./vendor/htm.js";

export { render, Fragment, h };
export { useState, useEffect, useLayoutEffect, useMemo, useRef, useCallback } from "./vendor/hooks.js";
export const html = htm.bind(h);
