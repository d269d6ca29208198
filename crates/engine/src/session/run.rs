//! Runs calls: built-in tools in tasks of their own, tools of the engine here.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use musher_model::ToolUse;
use musher_tools::{Access, Progress, ToolOutput};
use serde_json::Value;
use uuid::Uuid;

use super::actor::Actor;
use super::children::{Back, FromTurn};
use super::offer;
use super::plan::Plan;
use super::turn::{Consent, now_ms};
use crate::context::note_reminder;
use crate::event::Question;
use crate::{Autonomy, Choice, Happening, ask_user};

/// So much of the output of a command is shown while it runs.
const SHOWN_TAIL: usize = 8192;

impl Actor {
    /// Runs a call that may run.
    pub(super) fn run_call(&mut self, index: usize, call: ToolUse, access: Access, consent: Option<Consent>) {
        match call.name.as_str() {
            "AskUser" => self.ask_user(index, &call),
            "ExitSpecMode" => self.exit_spec_mode(index, &call, consent),
            "ToolSearch" => {
                let output = self.tool_search(&call);
                self.ran(index, output);
            }
            "Skill" => {
                let output = self.skill(&call);
                self.ran(index, output);
            }
            "Task" => self.task(index, &call),
            "TaskOutput" => self.task_output(index, &call),
            "TaskStop" => self.task_stop(index, &call),
            _ => self.run_in_task(index, call, access),
        }
    }

    pub(super) fn call_done(&mut self, index: usize, output: ToolOutput) {
        self.with_turn(|turn, effects| turn.done(index, output, effects));
    }

    fn run_in_task(&mut self, index: usize, call: ToolUse, access: Access) {
        self.keep_files(&call);
        self.find_notes(&call);
        let Some(session) = &self.session else { return };
        if let Some(tool) = session.mcp.find(&call.name) {
            let mcp = session.mcp.clone();
            let Some((back, cancel)) = self.child() else { return };
            return back.clone().spawn(async move {
                let output = mcp.call(&tool.server, &tool.name, call.input, &cancel).await;
                back.send(FromTurn::Done { index, output }).await;
            });
        }
        let Some(tool) = self.environment.tools.get(&call.name).cloned() else {
            let text = format!("{} is not available here", call.name);
            return self.call_done(index, ToolOutput::error(&text, &text));
        };
        let context = session.tools.clone().with_access(access);
        let Some((back, cancel)) = self.child() else { return };
        let context = context.with_progress(watch(&call, back.clone()));
        back.clone().spawn(async move {
            let output = tool.run(call.input, &context, cancel).await;
            back.send(FromTurn::Done { index, output }).await;
        });
    }

    /// Looks for notes of the folders a call is about; they are told before the model is asked the next time.
    fn find_notes(&mut self, call: &ToolUse) {
        let Some(tool) = self.environment.tools.get(&call.name) else { return };
        let Some(session) = &mut self.session else { return };
        let given = ["file_path", "directory_path", "path", "folder"];
        let given =
            given.iter().filter_map(|key| call.input.get(*key)).filter_map(Value::as_str).map(PathBuf::from);
        for path in tool.paths(&call.input).into_iter().chain(given) {
            session.new_notes.extend(session.notes.read(&path).iter().map(note_reminder));
        }
    }

    fn skill(&self, call: &ToolUse) -> ToolOutput {
        let name = call.input.get("skill").and_then(Value::as_str).unwrap_or_default();
        let skill = self.session.as_ref().and_then(|session| session.library.skill(name));
        match skill.filter(|skill| skill.is_enabled && skill.is_model_invocable) {
            Some(skill) => ToolOutput::text(skill.activation()),
            None => ToolOutput::error("Failed to load skill", &format!("Skill \"{name}\" not found")),
        }
    }

    /// The plan was agreed to: it is kept, and carried out here or in a new session.
    fn exit_spec_mode(&mut self, index: usize, call: &ToolUse, consent: Option<Consent>) {
        let Some(session) = &self.session else { return };
        let text = |key: &str| call.input.get(key).and_then(Value::as_str).map(str::to_owned);
        let edited = consent.as_ref().and_then(|consent| consent.edited_plan.clone());
        let plan = Plan {
            is_edited: edited.is_some(),
            text: edited.or_else(|| text("plan")).unwrap_or_default(),
            title: text("title"),
        };
        let folder = session.config.settings.spec_save_dir.as_ref().map(|folder| session.cwd.join(folder));
        let saved = plan.save(&folder.unwrap_or_else(|| self.environment.home.join("specs")));
        let autonomy = consent.and_then(|consent| new_session(consent.choice));
        let output = plan.output(&saved, autonomy.is_some());
        match autonomy {
            None => self.ran(index, output),
            Some(autonomy) => {
                self.with_turn(|turn, effects| turn.hand_over(index, output, effects));
                self.begin_handed_over(&plan, autonomy);
            }
        }
    }

    fn ask_user(&mut self, index: usize, call: &ToolUse) {
        let text = call.input.get("questionnaire").and_then(Value::as_str).unwrap_or_default();
        match ask_user::parse(text) {
            Err(problem) => {
                let for_model = format!("The questionnaire cannot be read: {problem}");
                self.call_done(index, ToolOutput::error("Invalid AskUser parameters", &for_model));
            }
            Ok(questions) => {
                let id = Uuid::new_v4().to_string();
                let question = Question::Ask { id, tool_call_id: call.id.clone(), questions };
                self.with_turn(|turn, effects| turn.ask(index, question, effects));
            }
        }
    }

    fn tool_search(&mut self, call: &ToolUse) -> ToolOutput {
        let Some(session) = &mut self.session else { return ToolOutput::cancelled() };
        let query = call.input.get("query").and_then(Value::as_str).unwrap_or_default();
        let found = offer::search(query, &self.environment.tools, &session.settings.tools);
        if found.is_empty() {
            return ToolOutput::text("No matching tools found");
        }
        let mut text = String::from("These tools can be called now:\n");
        for spec in found {
            // writing to a String cannot fail
            let _ = write!(text, "\n## {}\n{}\n{}\n", spec.name, spec.description, spec.schema);
            session.loaded_tools.insert(spec.name);
        }
        ToolOutput::text(text)
    }
}

/// Tells how a call goes. What is not taken at once is left out: the next news has all of it.
fn watch(call: &ToolUse, back: Back) -> impl Fn(Progress) + Send + Sync + 'static {
    let (id, name) = (call.id.clone(), call.name.clone());
    // held for a few instructions only, never across an await
    let tail: Arc<Mutex<String>> = Arc::default();
    move |progress| {
        let full = {
            let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
            tail.push_str(&progress.text);
            let cut = tail.ceil_char_boundary(tail.len().saturating_sub(SHOWN_TAIL));
            tail.drain(..cut);
            tail.clone()
        };
        let mut last: Vec<&str> = full.lines().rev().take(2).collect();
        last.reverse();
        let what = Happening::ToolProgress {
            id: id.clone(),
            name: name.clone(),
            text: last.join("\n"),
            full_output: (!full.is_empty()).then_some(full.clone()),
            terminal: progress.terminal,
            at_ms: now_ms(),
        };
        back.try_send(FromTurn::Progress(Box::new(what)));
    }
}

/// The autonomy of the new session that carries out a plan, if one does.
fn new_session(choice: Choice) -> Option<Autonomy> {
    match choice {
        Choice::ProceedNewSession => Some(Autonomy::Off),
        Choice::ProceedNewSessionLow => Some(Autonomy::Low),
        Choice::ProceedNewSessionMedium => Some(Autonomy::Medium),
        Choice::ProceedNewSessionHigh => Some(Autonomy::High),
        _ => None,
    }
}
