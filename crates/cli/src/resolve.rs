//! Resolves arguments and environment variables: the agent, its path, and the directory of its sessions.
//!
//! Reads variables by the names listed here only, so that the list is the documentation.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use musher::Agent;
use musher::wire::TraceParent;
use musher_engine::Budget;
use musher_engine::store::Store;

use crate::args::{AgentArgs, SandboxArgs};
use crate::embedded;
use crate::exit::Failure;
use crate::hide::erase_keys;
use crate::variables;

/// The agent if `--agent` is absent.
pub(crate) const AGENT_VARIABLE: &str = "MUSHER_AGENT";

/// Where droid is, if not in `PATH`.
pub(crate) const DROID_VARIABLE: &str = "MUSHER_DROID";

/// Where Claude Code is, if not in `PATH`.
pub(crate) const CLAUDE_VARIABLE: &str = "MUSHER_CLAUDE";

/// The trace that a run belongs to, as W3C Trace Context writes it.
pub(crate) const TRACE_PARENT_VARIABLE: &str = "TRACEPARENT";

/// Where `musher` is, for a program that has no engine in it.
pub(crate) const ENGINE_VARIABLE: &str = "MUSHER_ENGINE";

/// Which agent to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The engine in this process.
    Engine,
    /// An existing program that speaks the Droid protocol.
    Program(PathBuf),
}

impl Choice {
    /// Returns the choice of the arguments, else of the environment, else the engine.
    pub(crate) fn of(args: &AgentArgs) -> Result<Self, Failure> {
        Self::read(args, &variables::value)
    }

    fn read(args: &AgentArgs, variable: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, Failure> {
        let named = args.agent.as_ref().map(OsString::from).or_else(|| variable(AGENT_VARIABLE));
        let Some(named) = named.filter(|named| named != "engine") else { return Ok(Self::Engine) };
        let wanted = if named == "droid" { variable(DROID_VARIABLE).unwrap_or(named) } else { named };
        match program(&wanted, variable("PATH").as_deref()) {
            Some(found) => Ok(Self::Program(found)),
            None => Err(missing(&wanted, variable("PATH").as_deref())),
        }
    }

    /// Returns the agent for the SDK. The scripted model exists only if `model` requests it.
    pub(crate) fn agent(&self, model: Option<&str>) -> Result<Agent, Failure> {
        match self {
            Self::Engine => {
                let environment = embedded::environment(model, None)?;
                erase_keys();
                Ok(embedded::agent(Arc::new(environment)))
            }
            Self::Program(program) => Ok(Agent::program(program)),
        }
    }

    /// Returns the same, with an engine that keeps to the budget and the sandbox. Other agents know no budget, and no sandbox of ours.
    pub(crate) fn agent_within(
        &self,
        model: Option<&str>,
        budget: Option<Budget>,
        sandbox: SandboxArgs,
    ) -> Result<Agent, Failure> {
        self.check_sandbox(sandbox)?;
        match self {
            Self::Engine => {
                let environment = embedded::environment(model, None)?.with_sandbox(sandbox.settings());
                erase_keys();
                let environment = match budget {
                    Some(budget) => environment.with_budget(budget),
                    None => environment,
                };
                Ok(embedded::agent(Arc::new(environment)))
            }
            Self::Program(_) => self.agent(model),
        }
    }

    /// Refuses arguments for a sandbox with an agent that has none of ours: it would run without.
    pub(crate) fn check_sandbox(&self, sandbox: SandboxArgs) -> Result<(), Failure> {
        if *self == Self::Engine || !sandbox.is_any() {
            return Ok(());
        }
        let failure = Failure::setup(anyhow!(
            "`--sandbox`, `--network` and `--require-sandbox` work only with the built-in agent"
        ));
        Err(failure.hint("other agents have their own settings for a sandbox"))
    }

    /// Returns where the agent keeps its sessions; `None` is the SDK's default, which is droid's.
    pub(crate) fn sessions_dir(&self) -> Result<Option<PathBuf>, Failure> {
        match self {
            Self::Engine => Ok(Some(Store::sessions_dir(embedded::environment(None, None)?.home()))),
            Self::Program(_) => Ok(None),
        }
    }
}

/// Returns the folder to work in: this one, or the one we are in.
pub(crate) fn working_directory(requested: Option<&Path>) -> Result<PathBuf, Failure> {
    #[expect(clippy::disallowed_methods, reason = "a task of one process, started where it shall work")]
    let here = std::env::current_dir().context("cannot find the working directory")?;
    let Some(cwd) = requested else { return Ok(here) };
    let cwd = here.join(cwd);
    if cwd.is_dir() {
        Ok(cwd)
    } else {
        Err(Failure::setup(anyhow!(
            "cannot use `{}` as the working directory: not a directory",
            cwd.display()
        )))
    }
}

/// Finds the executable with this name in `PATH`, or at this path.
pub(crate) fn program(named: &OsStr, folders: Option<&OsStr>) -> Option<PathBuf> {
    if Path::new(named).components().count() > 1 || Path::new(named).is_absolute() {
        return is_program(Path::new(named)).then(|| PathBuf::from(named));
    }
    let candidates = std::env::split_paths(folders?).map(|folder| folder.join(named));
    let with_ending = |path: PathBuf| if path.extension().is_some() { path } else { with_exe(path) };
    candidates.map(with_ending).find(|path| is_program(path))
}

pub(crate) fn with_exe(mut path: PathBuf) -> PathBuf {
    path.set_extension(std::env::consts::EXE_EXTENSION);
    path
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let Ok(metadata) = path.metadata() else { return false };
    metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// Returns the file that would be the program with this name, if it were executable.
pub(crate) fn not_executable(named: &OsStr, folders: Option<&OsStr>) -> Option<PathBuf> {
    if Path::new(named).components().count() > 1 {
        return Some(PathBuf::from(named)).filter(|path| path.is_file());
    }
    std::env::split_paths(folders?).map(|folder| folder.join(named)).find(|path| path.is_file())
}

fn missing(wanted: &OsStr, folders: Option<&OsStr>) -> Failure {
    let shown = wanted.display();
    if let Some(file) = not_executable(wanted, folders) {
        let file = file.display();
        return Failure::setup(anyhow!("cannot run `{file}`: the file is not executable"))
            .hint(format!("`chmod +x {file}` makes it executable"));
    }
    if Path::new(wanted).components().count() > 1 {
        let failure = Failure::setup(anyhow!("cannot find the program `{shown}`"));
        return failure.hint("`--agent engine` is built in and needs no program");
    }
    Failure::setup(anyhow!("cannot find `{shown}` in PATH"))
        .hint(format!("install it, or pass its path with `--agent /path/to/{shown}`"))
        .hint("`--agent engine` is built in and needs no program")
}

/// Returns the trace that a run belongs to, if the program that started us records one.
pub(crate) fn trace_parent() -> Option<TraceParent> {
    TraceParent::parse(variables::value(TRACE_PARENT_VARIABLE)?.to_str()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(agent: Option<&str>, variables: &[(&str, &str)]) -> Result<Choice, Failure> {
        let args = AgentArgs { agent: agent.map(str::to_owned), model: None };
        Choice::read(&args, &|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
        })
    }

    #[test]
    fn engine_is_the_agent_if_nothing_else_is_said() {
        assert_eq!(read(None, &[]).unwrap(), Choice::Engine);
        assert_eq!(read(Some("engine"), &[(AGENT_VARIABLE, "droid")]).unwrap(), Choice::Engine);
    }

    #[test]
    #[cfg(unix)]
    fn program_is_found_by_name_by_path_and_by_variable() {
        let sh = Choice::Program("/bin/sh".into());
        assert_eq!(read(Some("sh"), &[("PATH", "/nowhere:/bin")]).unwrap(), sh);
        assert_eq!(read(Some("/bin/sh"), &[]).unwrap(), sh);
        assert_eq!(read(None, &[(AGENT_VARIABLE, "/bin/sh")]).unwrap(), sh);
        assert_eq!(read(Some("droid"), &[(DROID_VARIABLE, "/bin/sh")]).unwrap(), sh);
    }

    #[test]
    fn program_that_is_not_there_is_named_with_what_to_do() {
        let failure = read(Some("droid"), &[("PATH", "/nowhere")]).unwrap_err();
        assert_eq!(failure.error.to_string(), "cannot find `droid` in PATH");
        assert!(failure.hints[0].contains("--agent /path/to/droid"), "{:?}", failure.hints);
        let failure = read(Some("/nowhere/droid"), &[]).unwrap_err();
        assert_eq!(failure.error.to_string(), "cannot find the program `/nowhere/droid`");
    }

    #[test]
    #[cfg(unix)]
    fn file_that_is_not_executable_is_not_a_program() {
        assert_eq!(program(OsStr::new("/etc/passwd"), None), None);
        assert_eq!(program(OsStr::new("/etc"), None), None);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("no-such-agent");
        fs_err::write(&file, "").unwrap();
        let (file, folder) = (file.to_str().unwrap(), folder.path().to_str().unwrap());
        for (agent, path) in [(file, "/bin"), ("no-such-agent", &*format!("/bin:{folder}"))] {
            let failure = read(Some(agent), &[("PATH", path)]).unwrap_err();
            assert_eq!(failure.error.to_string(), format!("cannot run `{file}`: the file is not executable"));
            assert_eq!(failure.hints, [format!("`chmod +x {file}` makes it executable")]);
        }
    }
}
