//! What the arguments that `run` and `exec` share mean: settings of the session, limits of the turn, and the session to continue.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use musher::Prompt;
use musher::wire::{InteractionMode, ReasoningEffort, RpcError, UpdateSessionSettingsParams};

use crate::args::{Level, LimitArgs, ModeArgs};
use crate::exit::{Exit, Failure};
use crate::resolve::{Choice, working_directory};

/// Returns the settings of the arguments.
pub(crate) fn settings(
    mode: &ModeArgs,
    model: Option<&str>,
    auto: Option<Level>,
) -> Result<UpdateSessionSettingsParams, Failure> {
    let list = |tools: &[String]| (!tools.is_empty()).then(|| tools.to_vec());
    Ok(UpdateSessionSettingsParams {
        model_id: model.map(str::to_owned),
        reasoning_effort: mode.reasoning_effort.as_deref().map(effort).transpose()?,
        autonomy_level: auto.map(Into::into),
        interaction_mode: mode.use_spec.then_some(InteractionMode::Spec),
        spec_mode_model_id: mode.spec_model.clone(),
        spec_mode_reasoning_effort: mode.spec_reasoning_effort.as_deref().map(effort).transpose()?,
        restrict_tool_ids: list(&mode.only_tools),
        enabled_tool_ids: list(&mode.add_tools),
        disabled_tool_ids: list(&mode.remove_tools),
        ..UpdateSessionSettingsParams::default()
    })
}

/// Refuses names that match no tool of the engine.
pub(crate) fn check_tools(
    mode: &ModeArgs,
    environment: &musher_engine::Environment,
    cwd: &Path,
) -> Result<(), Failure> {
    let all: Vec<_> =
        [&mode.only_tools, &mode.add_tools, &mode.remove_tools].into_iter().flatten().cloned().collect();
    let unknown = environment.unknown_tools(cwd, &all);
    if unknown.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = unknown.iter().map(|name| format!("`{name}`")).collect();
    Err(Failure::setup(anyhow!("unknown tool {}", names.join(", ")))
        .hint("`musher exec --list-tools` lists the tools"))
}

fn effort(word: &str) -> Result<ReasoningEffort, Failure> {
    match ReasoningEffort::from(word) {
        ReasoningEffort::Unrecognized(_) => {
            let failure = Failure::setup(anyhow!("unknown reasoning effort `{word}`"));
            Err(failure.hint(format!("use one of {}", ReasoningEffort::KNOWN.join(", "))))
        }
        known => Ok(known),
    }
}

/// Returns the id of the newest session of a directory.
pub(crate) async fn newest(cwd: Option<&Path>, choice: &Choice) -> Result<String, Failure> {
    let cwd = working_directory(cwd)?;
    let mut list = musher::list_sessions().used_only().cwd(&cwd).limit(1);
    if let Some(folder) = choice.sessions_dir()? {
        list = list.sessions_dir(folder);
    }
    let found = list.await.context("cannot list the sessions")?;
    let Some(session) = found.into_iter().next() else {
        let failure = Failure::setup(anyhow!("no session to continue in `{}`", cwd.display()));
        return Err(failure.hint("omit `--continue` to start a new session"));
    };
    Ok(session.id)
}

/// The time limit of a task, from its start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    begun: Instant,
    limit: Option<Duration>,
}

impl Deadline {
    pub(crate) fn start(limits: &LimitArgs) -> Self {
        Self { begun: Instant::now(), limit: limits.timeout.map(Duration::from_secs) }
    }

    /// Waits for the session to be opened, until the deadline.
    pub(crate) async fn opening<T>(
        self,
        opening: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let Some(left) = self.left() else { return opening.await };
        let late = |_elapsed| {
            let error = anyhow!("stopped: exceeded `--timeout` before the agent was ready");
            Failure { exit: Exit::Failed, ..Failure::setup(error) }
        };
        tokio::time::timeout(left, opening).await.map_err(late)?
    }

    fn left(self) -> Option<Duration> {
        Some(self.limit?.saturating_sub(self.begun.elapsed()))
    }

    /// Gives a prompt what is left of the time, and whether it waits for the session.
    pub(crate) fn limited(self, prompt: Prompt, limits: &LimitArgs) -> Prompt {
        let prompt = match self.left() {
            // at once would say nothing about the reason
            Some(left) => prompt.timeout(left.max(Duration::from_millis(1))),
            None => prompt,
        };
        if limits.wait { prompt.wait_for_session() } else { prompt }
    }
}

/// Maps the refusal of a prompt: an invalid prompt is a usage error, and a session that runs in another process is named with it.
pub(crate) fn refused(error: musher::Error) -> Failure {
    if let Some(process) = running_in(&error) {
        return Failure::from(anyhow!("the session is running in process {process}"))
            .hint("`--wait` waits until its turn has ended")
            .hint("`musher sessions fork` copies the session");
    }
    if error.is_invalid_input() { Failure::setup(error) } else { error.into() }
}

/// Returns the process that runs a turn of the session, if that is why the agent refused.
fn running_in(error: &musher::Error) -> Option<u64> {
    let mut causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    let refusal = causes.find_map(|cause| cause.downcast_ref::<RpcError>())?;
    refusal.data.as_ref()?.to_value().ok()?.get("runningInProcess")?.as_u64()
}
