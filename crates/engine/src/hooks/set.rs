//! The hooks of a session: matching and running them.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use futures_util::future::join_all;
use musher_tools::{Ended, Sandbox};
use regex::Regex;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{About, HookEvent, HookOutcome, env_file, outcome, run_command};
use crate::config::{HookCommand, HookGroup, Problem};
use crate::{HookResult, HookRun};

/// The timeout of a hook that sets none.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);
/// The maximum timeout of a hook.
const MAX_TIMEOUT: Duration = Duration::from_hours(1);

/// The hooks of a session.
#[derive(Debug, Clone, Default)]
pub struct Hooks {
    hooks: Vec<Hook>,
}

#[derive(Debug, Clone)]
struct Hook {
    group: HookGroup,
    pattern: Pattern,
}

#[derive(Debug, Clone)]
enum Pattern {
    Everything,
    /// Plain names with bars between them.
    Names(Vec<String>),
    Regex(Regex),
}

/// Where hooks run.
#[derive(Debug, Clone, Default)]
pub struct Place {
    /// The root of the project: `MUSHER_PROJECT_DIR` and `FACTORY_PROJECT_DIR` of hooks.
    pub project: PathBuf,
    /// The environment; see [`musher_tools::command_environment`].
    pub environment: Vec<(OsString, OsString)>,
    /// What hooks may change and connect to; `None` if everything.
    pub sandbox: Option<Sandbox>,
}

/// The progress of a group of hooks.
#[derive(Debug, Clone)]
pub enum HookProgress {
    /// The group has started.
    Started(HookRun),
    /// The group has ended, with results.
    Completed(HookRun),
}

impl Hooks {
    /// Takes the configured groups. An invalid pattern matches everything, because a guard must not be skipped.
    pub fn new(groups: &[HookGroup]) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
        let hooks = groups.iter().map(|group| {
            let pattern = pattern(group.matcher.as_deref()).unwrap_or_else(|error| {
                let problem =
                    Problem::new("hooks", format!("invalid pattern, which matches everything: {error}"));
                problems.push(Problem { field: Some(format!("{}.matcher", group.event)), ..problem });
                Pattern::Everything
            });
            Hook { group: group.clone(), pattern }
        });
        let hooks = hooks.collect();
        (Self { hooks }, problems)
    }

    /// Returns whether any hook runs at an event. Check it before collecting the input of hooks.
    pub fn has_match(&self, event: &HookEvent<'_>) -> bool {
        self.hooks.iter().any(|hook| hook.matches(event))
    }

    /// Runs the hooks that match an event, group after group, and the commands of a group in parallel. Runs no more groups after one that
    /// blocks. `run` has the ids for clients. Reports the start and the end of each group to `listener` and waits for it, so a listener
    /// that cannot take more events holds up the hooks (back-pressure).
    pub async fn fire<Done: Future<Output = ()>>(
        &self,
        event: &HookEvent<'_>,
        about: &About<'_>,
        place: &Place,
        run: &HookRun,
        cancel: &CancellationToken,
        mut listener: impl FnMut(HookProgress) -> Done,
    ) -> HookOutcome {
        let mut all = HookOutcome::default();
        let matching: Vec<&Hook> = self.hooks.iter().filter(|hook| hook.matches(event)).collect();
        if matching.is_empty() {
            return all;
        }
        let mut place = place.clone();
        if let HookEvent::SessionStart { env_file: Some(file), .. } = event {
            place.environment.push((env_file::VARIABLE.into(), file.into()));
        }
        // with a line end, for hooks that read lines
        let input = format!("{}\n", event.input(about));
        for hook in matching {
            let mut run = HookRun {
                id: Uuid::new_v4().to_string(),
                event: event.name().to_owned(),
                matcher: event.shown_matcher().map(str::to_owned).or_else(|| hook.group.matcher.clone()),
                commands: hook.group.commands.iter().map(|one| (one.command.clone(), seconds(one))).collect(),
                order: u64::try_from(jiff::Timestamp::now().as_microsecond()).unwrap_or_default(),
                ..run.clone()
            };
            listener(HookProgress::Started(run.clone())).await;
            let commands = hook.group.commands.iter();
            let results = join_all(commands.map(|one| perform(one, &input, about, &place, cancel))).await;
            let wants = results.iter().map(|result| outcome(event.name(), result));
            let wants = wants.fold(HookOutcome::default(), HookOutcome::and);
            run.prevented = wants.prevents();
            run.results = results;
            for result in &mut run.results {
                result.suppress_output = wants.suppress_output;
            }
            listener(HookProgress::Completed(run)).await;
            all = all.and(wants);
            if all.prevents() || cancel.is_cancelled() {
                break;
            }
        }
        all
    }
}

impl Hook {
    fn matches(&self, event: &HookEvent<'_>) -> bool {
        if self.group.event != event.name() {
            return false;
        }
        let Some(subject) = event.subject() else { return true };
        // the other form in which tools of MCP servers are written in hooks
        let alias = subject.split_once("___").map(|(server, tool)| format!("mcp__{server}__{tool}"));
        let fits = |name: &str| match &self.pattern {
            Pattern::Everything => true,
            Pattern::Names(names) => names.iter().any(|one| one == name),
            Pattern::Regex(regex) => regex.is_match(name),
        };
        fits(subject) || alias.as_deref().is_some_and(fits)
    }
}

fn pattern(matcher: Option<&str>) -> Result<Pattern, String> {
    let Some(matcher) = matcher else { return Ok(Pattern::Everything) };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ' | '|');
    if matcher.chars().all(is_plain) {
        return Ok(Pattern::Names(matcher.split('|').map(|name| name.trim().to_owned()).collect()));
    }
    let regex = regex::RegexBuilder::new(matcher).size_limit(1 << 20).build();
    regex.map(Pattern::Regex).map_err(|error| error.to_string())
}

fn seconds(command: &HookCommand) -> Option<u64> {
    command.timeout.map(|timeout| timeout.as_secs())
}

async fn perform(
    command: &HookCommand,
    input: &str,
    about: &About<'_>,
    place: &Place,
    cancel: &CancellationToken,
) -> HookResult {
    let mut environment = place.environment.clone();
    for name in ["FACTORY_PROJECT_DIR", "MUSHER_PROJECT_DIR"] {
        environment.retain(|(own, _)| own != name);
        environment.push((name.into(), place.project.clone().into()));
    }
    let limit = command.timeout.unwrap_or(DEFAULT_TIMEOUT).min(MAX_TIMEOUT);
    let done = run_command(
        &command.command,
        about.cwd,
        &environment,
        input.as_bytes(),
        limit,
        place.sandbox.as_ref(),
        cancel,
    )
    .await;
    let mut result =
        HookResult { command: command.command.clone(), timeout: seconds(command), ..HookResult::default() };
    match done {
        Err(error) => result.stderr = format!("cannot start the hook: {error}"),
        Ok(output) => {
            result.stdout = output.stdout;
            result.stderr = output.stderr;
            match output.ended {
                Ended::Exited(code) => result.exit_code = Some(code),
                Ended::TimedOut => {
                    // writing to a string cannot fail
                    write!(result.stderr, "it took longer than {} seconds", limit.as_secs_f64()).ok();
                }
                _ => {}
            }
        }
    }
    result
}

#[cfg(test)]
mod tests;
