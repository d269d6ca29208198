//! The agent's process behind a session: started, started again with the history, and listened to.

use std::path::PathBuf;

use agent_client_protocol::Error;
use musher::{Decision, Permission, PermissionHandler, QuestionHandler, Questions, Reply};

use super::{Process, Session, lock, opening_error};
use crate::desk::not_absolute;
use crate::editor::Editor;

impl Session {
    /// The agent's process; a new one with the history if the old one is gone.
    pub(super) async fn process(&self) -> musher::Result<musher::Session> {
        if let Some(process) = self.running_process() {
            if !is_over(&process) {
                return Ok(process);
            }
            self.lose();
        }
        let id = match &*lock(&self.process) {
            Process::Gone(state) => state.id.clone(),
            Process::Running(_) | Process::None => self.id().0.to_string(),
        };
        tracing::warn!(session = %id, "the agent is gone: starting it again");
        let process = self.reopen(id).await?;
        self.follow(process.clone());
        Ok(process)
    }

    /// The process, if it is not known to be gone.
    pub(super) fn running_process(&self) -> Option<musher::Session> {
        match &*lock(&self.process) {
            Process::Running(process) => Some(process.clone()),
            Process::None | Process::Gone(_) => None,
        }
    }

    /// Gives the process up; the next prompt starts another one.
    pub(super) fn lose(&self) {
        let mut process = lock(&self.process);
        if let Process::Running(lost) = &*process {
            *process = Process::Gone(Box::new(lost.state()));
        }
    }

    /// Starts the agent with a new session.
    pub(super) async fn start(&self, cwd: PathBuf) -> Result<musher::Session, Error> {
        if !cwd.is_absolute() {
            return Err(not_absolute(&cwd));
        }
        let mut builder = musher::Session::builder()
            .agent(self.agent())
            .cwd(cwd)
            .on_permission(self.permission_handler())
            .on_question(self.question_handler());
        builder = self.given.servers.iter().cloned().fold(builder, musher::SessionBuilder::mcp_server);
        builder.params_mut().additional_directories = self.directories();
        if let Some(model) = self.desk.model() {
            builder = builder.model(model);
        }
        let process = builder.open().await.map_err(|error| opening_error(&error))?;
        if !has_model(&process) {
            process.close().await.ok();
            return Err(self.desk.no_model());
        }
        Ok(process)
    }

    /// Starts the agent with a session on disk.
    pub(super) async fn reopen(&self, id: String) -> musher::Result<musher::Session> {
        let mut builder = musher::Session::resume(id)
            .agent(self.agent())
            .on_permission(self.permission_handler())
            .on_question(self.question_handler());
        builder.params_mut().additional_directories = self.directories();
        self.given.servers.iter().cloned().fold(builder, musher::ResumeBuilder::mcp_server).open().await
    }

    /// The agent of this session.
    fn agent(&self) -> musher::Agent {
        self.desk.agents().of(Editor::new(self.this.clone(), &self.desk.client()))
    }

    /// Further folders of the workspace, as the agent is told.
    fn directories(&self) -> Option<Vec<String>> {
        let folders = self.given.directories.as_ref()?;
        Some(folders.iter().map(|folder| folder.to_string_lossy().into_owned()).collect())
    }

    /// Takes over a process, and tells the editor what changes in it on its own: mode, options, title.
    pub(super) fn follow(&self, process: musher::Session) {
        let mut states = process.watch_state();
        {
            // the editor learns the first state from the answer to its request
            let state = states.borrow_and_update().clone();
            if let Some(model) = &state.settings.model_id {
                self.first_model.get_or_init(|| model.clone());
            }
            let mut told = lock(&self.told);
            if told.mode.is_none() {
                told.mode = Some(crate::modes::current(&state.settings));
                told.options = self.options(&state);
            }
        }
        *lock(&self.process) = Process::Running(process);
        let this = self.this.clone();
        let link = self.desk.link.clone();
        tokio::spawn(async move {
            while states.changed().await.is_ok() {
                // only the last state counts, so a slow editor is told less
                link.room().await;
                let Some(session) = this.upgrade() else { return };
                let state = states.borrow_and_update().clone();
                session.tell_state(&state);
            }
        });
    }

    fn permission_handler(&self) -> impl PermissionHandler {
        let this = self.this.clone();
        move |asked: Permission| {
            let this = this.clone();
            async move {
                match this.upgrade() {
                    Some(session) => session.ask_permission(asked).await,
                    None => Decision::deny(),
                }
            }
        }
    }

    fn question_handler(&self) -> impl QuestionHandler {
        let this = self.this.clone();
        move |asked: Questions| {
            let this = this.clone();
            async move {
                match this.upgrade() {
                    Some(session) => session.ask_questions(asked).await,
                    None => Reply::Declined,
                }
            }
        }
    }
}

/// Whether there is a model to ask. An agent without any opens a session all the same.
pub(super) fn has_model(process: &musher::Session) -> bool {
    process.state().settings.model_id.is_none_or(|model| !model.is_empty())
}

/// Whether the agent behind a session has ended.
fn is_over(process: &musher::Session) -> bool {
    process.watch_state().has_changed().is_err()
}
