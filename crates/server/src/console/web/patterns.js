// Patterns over the colours of charts, so that they can be read without colour. Each kind has one in all charts.

import { html } from "./html.js";

/** The pattern of each kind; a kind without one is plain. */
const KINDS = { cacheWrite: "dots", input: "rising", output: "upright", tool: "rising", wait: "dots" };

const SHAPES = {
  rising: html`<path d="M-2 10 L10 -2 M4 16 L16 4" />`,
  upright: html`<path d="M4 0 V12 M10 0 V12" />`,
  dots: html`<path d="M3 3 h2 v2 h-2 z M9 9 h2 v2 h-2 z" />`,
};

/** What the charts refer to; not visible itself. */
export function Patterns() {
  return html`<svg class="hidden" width="0" height="0" aria-hidden="true"><defs>${Object.entries(SHAPES).map(
    ([name, shape]) => html`<pattern id=${`pattern-${name}`} class="pattern" width="12" height="12" patternUnits="userSpaceOnUse">${shape}</pattern>`,
  )}</defs></svg>`;
}

/** A rectangle of a chart. @param {{ kind: string, class: string, title: string, x: number, y: number, width: number, height: number, rx?: number }} props */
export function Block({ kind, title, class: name, ...place }) {
  const pattern = KINDS[kind];
  return html`<g><rect ...${place} class=${`${name} ${kind}`}><title>${title}</title></rect>
    ${pattern && html`<rect ...${place} fill=${`url(#pattern-${pattern})`} class="over" />`}</g>`;
}

/** The entry of a kind in a legend. @param {{ kind: string, label: string }} props */
export function Key({ kind, label }) {
  return html`<span class="key"><svg width="14" height="14" aria-hidden="true"><${Block} kind=${kind} class="part span" title=${label} x=${0} y=${0} width=${14} height=${14} /></svg> ${label}</span> `;
}
