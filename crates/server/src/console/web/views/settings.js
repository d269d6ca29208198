// Model, effort, mode and autonomy of a session.

import { html } from "../html.js";
import { attempt } from "../app.js";

const MODES = { auto: "Do it", spec: "Plan first" };
const LEVELS = { off: "Read only", low: "Low", medium: "Medium", high: "High" };

/** @param {{ session: import("../app.js").Open }} props */
export function SettingsBar({ session }) {
  const { settings } = session.transcript;
  const model = session.models.find((it) => it.id === settings.modelId);
  const efforts = model?.supportedReasoningEfforts ?? [];
  const change = (name) => (event) => attempt("daemon.update_session_settings", { sessionId: session.id, [name]: event.target.value });
  const select = (label, name, options, value) => html`<label class="setting"><span>${label}</span><select onChange=${change(name)} value=${value}>
    ${options.map(([key, text]) => html`<option value=${key} selected=${key === value}>${text}</option>`)}</select></label>`;
  const models = session.models.map((it) => [it.id, it.shortDisplayName ?? it.displayName ?? it.id]);
  if (settings.modelId && !model) models.unshift([settings.modelId, settings.modelId]);
  return html`<div class="settings" role="group" aria-label="Settings">
    ${select("Model", "modelId", models, settings.modelId)}
    ${efforts.length > 1 && select("Effort", "reasoningEffort", efforts.map((it) => [it, it]), settings.reasoningEffort)}
    ${select("Mode", "interactionMode", Object.entries(MODES), settings.interactionMode ?? "auto")}
    ${select("Autonomy", "autonomyLevel", Object.entries(LEVELS), settings.autonomyLevel ?? "off")}
  </div>`;
}
