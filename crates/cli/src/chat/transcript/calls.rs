//! Tool calls: those that run, with the end of their output, and the block of each that ended.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Instant;

use musher::wire::{ToolExecutionPhase, ToolExecutionPhaseChanged, ToolProgressType, ToolProgressUpdate};
use musher::{ToolCall, ToolOutcome};
use serde_json::Value;

use super::seconds;
use crate::view;
use crate::view::text::{Face, Line};

/// Lines of live output of one call.
const LIVE_LINES: usize = 4;
/// Lines of the output of a command that ended well, and of one that failed.
const KEPT_LINES: usize = 3;
const KEPT_LINES_OF_FAILURE: usize = 12;
/// Steps of a subagent that are shown while it works.
const LIVE_STEPS: usize = 3;

/// The calls that run.
#[derive(Debug)]
pub(super) struct Calls {
    folder: Option<PathBuf>,
    running: Vec<Running>,
}

#[derive(Debug)]
struct Running {
    id: String,
    name: String,
    input: Value,
    since: Instant,
    is_executing: bool,
    is_shown: bool,
    output: Vec<String>,
    steps: VecDeque<String>,
    step_count: usize,
}

impl Calls {
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, running: Vec::new() }
    }

    /// The change of this call was shown before.
    pub(super) fn has_shown(&mut self, id: &str) {
        if let Some(call) = self.running.iter_mut().find(|it| it.id == id) {
            call.is_shown = true;
        }
    }

    pub(super) fn rewritten(&mut self, id: &str, input: Value) {
        if let Some(call) = self.running.iter_mut().find(|it| it.id == id) {
            call.input = input;
        }
    }

    pub(super) fn is_running(&self) -> bool {
        !self.running.is_empty()
    }

    pub(super) fn doing(&self) -> String {
        match self.running.as_slice() {
            [one] if one.is_executing => "running".to_owned(),
            [_] => "checking".to_owned(),
            several => format!("{} calls", several.len()),
        }
    }

    pub(super) fn begin(&mut self, call: &ToolCall, input: Value, now: Instant) {
        if let Some(known) = self.running.iter_mut().find(|it| it.id == call.id) {
            known.input = input;
            return;
        }
        let (id, name) = (call.id.clone(), call.name.clone());
        let (output, steps) = (Vec::new(), VecDeque::new());
        self.running.push(Running {
            id,
            name,
            input,
            since: now,
            is_executing: false,
            is_shown: false,
            output,
            steps,
            step_count: 0,
        });
    }

    /// The time of a call begins when it runs, not when the user was asked.
    pub(super) fn phase(&mut self, phase: &ToolExecutionPhaseChanged, now: Instant) {
        let Some(call) = self.running.iter_mut().find(|it| it.id == phase.tool_use_id) else { return };
        if phase.phase == ToolExecutionPhase::Executing {
            (call.is_executing, call.since) = (true, now);
        }
    }

    pub(super) fn output(&mut self, progress: &ToolProgressUpdate) {
        let Some(call) = self.running.iter_mut().find(|it| it.id == progress.tool_use_id) else { return };
        let update = &progress.update;
        let Some(text) = update.full_output.as_deref().or(update.text.as_deref()) else { return };
        let lines = text.lines().filter(|line| !line.trim().is_empty()).collect::<Vec<_>>();
        let from = lines.len().saturating_sub(LIVE_LINES);
        call.output = lines[from..].iter().map(|&line| line.to_owned()).collect();
    }

    pub(super) fn subagent(&mut self, progress: &ToolProgressUpdate) {
        let Some(call) = self.running.iter_mut().find(|it| it.id == progress.tool_use_id) else { return };
        let update = &progress.update;
        let name = update.tool_name.as_deref().unwrap_or_default();
        let step = match &update.kind {
            Some(ToolProgressType::ToolCall) => {
                call.step_count += 1;
                let input = update.parameters.as_ref().map(view::input).unwrap_or_default();
                view::title(name, &input, self.folder.as_deref())
            }
            Some(ToolProgressType::Message) => {
                update.text.as_deref().and_then(|text| text.lines().next()).unwrap_or_default().to_owned()
            }
            _ => return,
        };
        call.steps.push_back(step);
        while call.steps.len() > LIVE_STEPS {
            call.steps.pop_front();
        }
    }

    /// Returns the block of a call that ended; `None` if it ended before.
    pub(super) fn end(&mut self, outcome: &ToolOutcome, now: Instant, width: usize) -> Option<Vec<Line>> {
        let at = self.running.iter().position(|it| it.id == outcome.tool_use_id);
        let call = at.map(|at| self.running.remove(at))?;
        let text = outcome.text();
        let (mark, face) = if outcome.is_error { ("✗ ", Face::BAD) } else { ("✓ ", Face::GOOD) };
        let title = view::title(&call.name, &call.input, self.folder.as_deref());
        let mut beside = Vec::new();
        let told = view::told(&call.name, &call.input, &text, outcome.is_error);
        let is_command = call.name == "Execute";
        if is_command {
            beside.extend(
                view::exit_code(&text).filter(|code| code != "0").map(|code| format!("exit code {code}")),
            );
            let count = view::command_output(&text).lines().count();
            if count > KEPT_LINES {
                beside.push(format!("{count} lines"));
            }
        } else if !told.is_empty() {
            beside.push(told);
        }
        if call.step_count > 0 {
            beside.push(format!("{} steps", call.step_count));
        }
        let time = now - call.since;
        if time.as_millis() >= 500 {
            beside.push(seconds(time));
        }
        let beside = if beside.is_empty() { String::new() } else { format!("  {}", beside.join(" · ")) };
        let room = width.saturating_sub(2);
        // how it ended matters more than the end of a long title
        let kept = crate::style::columns(&beside).min(room * 2 / 3);
        let title = Line::plain(&title).cut(room.saturating_sub(kept).max(8));
        let mut head = Line::new(mark, face);
        let left = room.saturating_sub(title.width());
        head.append(title);
        head.append(Line::new(&beside, if outcome.is_error { Face::BAD } else { Face::DIM }).cut(left));
        let mut lines = vec![head];
        if is_command {
            let count = if outcome.is_error { KEPT_LINES_OF_FAILURE } else { KEPT_LINES };
            lines.extend(tail(view::command_output(&text), count, width));
        } else if !outcome.is_error && !call.is_shown {
            lines.extend(view::diff_of_result(&text, width));
        }
        Some(lines)
    }

    /// Lines about the calls that never ended.
    pub(super) fn abandon(&mut self, now: Instant, width: usize) -> Vec<Line> {
        let line = |call: Running| {
            let title = view::title(&call.name, &call.input, self.folder.as_deref());
            let line = Line::new("✗ ", Face::BAD).with(&title, Face::PLAIN);
            line.with(&format!("  stopped after {}", seconds(now - call.since)), Face::DIM).cut(width)
        };
        self.running.drain(..).map(line).collect()
    }

    /// Returns the calls that run, each with its own time and the end of its output.
    pub(super) fn live(&self, now: Instant, width: usize, rows: usize) -> Vec<Line> {
        let mut out = Vec::new();
        let per_call = (rows / self.running.len().max(1)).saturating_sub(1);
        for call in self.running.iter().take(rows) {
            let title = view::title(&call.name, &call.input, self.folder.as_deref());
            let time = if call.is_executing { seconds(now - call.since) } else { String::new() };
            let room = width.saturating_sub(time.len() + 4);
            let mut head = Line::new("● ", Face::NOTABLE);
            head.append(Line::plain(&title).cut(room));
            head.push(&format!("  {time}"), Face::DIM);
            out.push(head);
            let steps = call.steps.iter().map(|step| format!("  └ {step}"));
            let output = call.output.iter().map(|line| format!("  {line}"));
            let inside: Vec<_> = steps.chain(output).collect();
            let from = inside.len().saturating_sub(per_call.min(LIVE_LINES));
            out.extend(inside[from..].iter().map(|line| Line::new(line, Face::DIM).cut(width)));
        }
        let hidden = self.running.len().saturating_sub(rows);
        if hidden > 0 {
            out.pop();
            out.push(Line::new(&format!("  … {} more calls", hidden + 1), Face::DIM));
        }
        out
    }
}

/// Returns the last lines of an output.
fn tail(text: &str, count: usize, width: usize) -> Vec<Line> {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let from = lines.len().saturating_sub(count);
    lines[from..].iter().map(|line| Line::new(&format!("  {line}"), Face::DIM).cut(width)).collect()
}
