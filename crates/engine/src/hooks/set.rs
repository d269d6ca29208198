//! The hooks of a session: which fit a moment, and running them.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use futures_util::future::join_all;
use musher_tools::Ended;
use regex::Regex;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{About, HookOutcome, Moment, env_file, outcome, run_command};
use crate::config::{HookCommand, HookGroup, Problem};
use crate::{HookResult, HookRun};

/// The longest a hook may take if it does not say.
const USUAL: Duration = Duration::from_mins(1);
/// The longest it may take whatever it says.
const LONGEST: Duration = Duration::from_hours(1);

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
    /// The root of the project: told to hooks as `MUSHER_PROJECT_DIR` and `FACTORY_PROJECT_DIR`.
    pub project: PathBuf,
    /// The environment; see [`musher_tools::command_environment`].
    pub environment: Vec<(OsString, OsString)>,
}

/// How the run of a group goes.
#[derive(Debug, Clone)]
pub enum HookNews {
    /// It begins.
    Started(HookRun),
    /// It has ended; the results are there.
    Completed(HookRun),
}

impl Hooks {
    /// Takes the groups as they are configured. A pattern that cannot be understood fits everything: a guard must not fail to run.
    pub fn new(groups: &[HookGroup]) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
        let hooks = groups.iter().map(|group| {
            let pattern = pattern(group.matcher.as_deref()).unwrap_or_else(|error| {
                let problem = Problem::new(
                    "hooks",
                    format!("the pattern fits everything, for it has a mistake: {error}"),
                );
                problems.push(Problem { field: Some(format!("{}.matcher", group.event)), ..problem });
                Pattern::Everything
            });
            Hook { group: group.clone(), pattern }
        });
        let hooks = hooks.collect();
        (Self { hooks }, problems)
    }

    /// Whether any hook would run at a moment: who asks first need not collect what hooks are told.
    pub fn fit(&self, moment: &Moment<'_>) -> bool {
        self.hooks.iter().any(|hook| hook.fits(moment))
    }

    /// Runs the hooks that fit a moment, group after group, and the commands of a group together. No more groups are run after one that
    /// prevents something. `run` has the ids that clients want to see; each group is told to `listener` as it begins and ends, and the
    /// listener is waited for: whoever cannot take more news holds up the hooks.
    pub async fn fire<Told: Future<Output = ()>>(
        &self,
        moment: &Moment<'_>,
        about: &About<'_>,
        place: &Place,
        run: &HookRun,
        cancel: &CancellationToken,
        mut listener: impl FnMut(HookNews) -> Told,
    ) -> HookOutcome {
        let mut all = HookOutcome::default();
        let fitting: Vec<&Hook> = self.hooks.iter().filter(|hook| hook.fits(moment)).collect();
        if fitting.is_empty() {
            return all;
        }
        let mut place = place.clone();
        if let Moment::SessionStart { env_file: Some(file), .. } = moment {
            place.environment.push((env_file::VARIABLE.into(), file.into()));
        }
        // a line, for those who read lines
        let input = format!("{}\n", moment.input(about));
        for hook in fitting {
            let mut run = HookRun {
                id: Uuid::new_v4().to_string(),
                event: moment.name().to_owned(),
                matcher: moment.shown_matcher().map(str::to_owned).or_else(|| hook.group.matcher.clone()),
                commands: hook.group.commands.iter().map(|one| (one.command.clone(), seconds(one))).collect(),
                order: u64::try_from(jiff::Timestamp::now().as_microsecond()).unwrap_or_default(),
                ..run.clone()
            };
            listener(HookNews::Started(run.clone())).await;
            let commands = hook.group.commands.iter();
            let results = join_all(commands.map(|one| perform(one, &input, about, &place, cancel))).await;
            let wants = results.iter().map(|result| outcome(moment.name(), result));
            let wants = wants.fold(HookOutcome::default(), HookOutcome::and);
            run.prevented = wants.prevents();
            run.results = results;
            for result in &mut run.results {
                result.suppress_output = wants.suppress_output;
            }
            listener(HookNews::Completed(run)).await;
            all = all.and(wants);
            if all.prevents() || cancel.is_cancelled() {
                break;
            }
        }
        all
    }
}

impl Hook {
    fn fits(&self, moment: &Moment<'_>) -> bool {
        if self.group.event != moment.name() {
            return false;
        }
        let Some(subject) = moment.subject() else { return true };
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
    let limit = command.timeout.unwrap_or(USUAL).min(LONGEST);
    let done = run_command(&command.command, about.cwd, &environment, input.as_bytes(), limit, cancel).await;
    let mut result =
        HookResult { command: command.command.clone(), timeout: seconds(command), ..HookResult::default() };
    match done {
        Err(error) => result.stderr = format!("it cannot be started: {error}"),
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
