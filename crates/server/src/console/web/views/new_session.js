// The form for a new session.

import { html, useState, useRef, useEffect } from "../html.js";
import { attempt, sendPrompt, sessions } from "../app.js";
import { uuid } from "../connection.js";
import { go } from "../router.js";

export function NewSession({ onClose }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  useEffect(() => dialog.current?.showModal(), []);
  const directories = [...new Set(sessions.value.list.map((it) => it.cwd).filter(Boolean))].slice(0, 30);
  const models = [...new Set(sessions.value.list.map((it) => it.model).filter(Boolean))];
  const submit = async (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const value = (name) => String(form.get(name) ?? "").trim();
    setBusy(true);
    setProblem("");
    const checked = await attempt("daemon.validate_working_directory", { workingDirectory: value("cwd") });
    if (!checked?.isValid) {
      setBusy(false);
      return setProblem(checked?.error ?? "The directory cannot be checked");
    }
    const params = { sessionId: uuid(), machineId: "console", cwd: checked.resolvedPath, token: "cookie" };
    if (value("model")) params.modelId = value("model");
    if (value("mode") === "spec") params.interactionMode = "spec";
    params.autonomyLevel = value("autonomy");
    if (form.has("worktree")) params.worktree = true;
    if (value("sandbox")) params.sandbox = value("sandbox");
    const made = await attempt("daemon.initialize_session", params);
    setBusy(false);
    if (!made) return;
    go("session", made.sessionId);
    if (value("prompt")) sendPrompt(made.sessionId, value("prompt")).catch(() => {});
  };
  return html`<dialog ref=${dialog} onClose=${onClose} aria-labelledby="new-title"><form onSubmit=${submit} class="new-session">
    <h2 id="new-title">New session</h2>
    <label>Directory<input name="cwd" required list="directories" autocomplete="off" spellcheck="false" defaultValue=${directories[0] ?? ""} /></label>
    <datalist id="directories">${directories.map((it) => html`<option value=${it}></option>`)}</datalist>
    <label>Prompt<textarea name="prompt" rows="4" placeholder="What should the agent do?"></textarea></label>
    <div class="columns">
      <label>Model<input name="model" list="models" placeholder="from settings" autocomplete="off" /></label>
      <datalist id="models">${models.map((it) => html`<option value=${it}></option>`)}</datalist>
      <label>Mode<select name="mode"><option value="auto">Do it</option><option value="spec">Plan first</option></select></label>
      <label>Autonomy<select name="autonomy"><option value="off">Off: read only</option><option value="low" selected>Low</option><option value="medium">Medium</option><option value="high">High</option></select></label>
      <label>Sandbox<select name="sandbox"><option value="">from settings</option><option value="workspace-write">Write in the workspace</option><option value="read-only">Read only</option><option value="off">Off</option></select></label>
    </div>
    <label class="choice"><input type="checkbox" name="worktree" /> Work in a git worktree of its own, on a new branch</label>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <div class="actions"><button class="primary" disabled=${isBusy}>Start</button><button type="button" onClick=${() => dialog.current?.close()}>Cancel</button></div>
  </form></dialog>`;
}
