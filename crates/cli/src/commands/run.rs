//! `musher run`: one task with any agent, shown while it is done.
//!
//! Only wiring: the SDK drives the agent, `drive.rs` the turn, and `view.rs` renders the output.

mod attach;
mod session;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use clap::ValueEnum as _;
use musher::{Budget, Prompt, Session, TurnResult};

use super::stop::Stop;
use crate::args::{Level, OutputFormat, Run, TaskFormat};
use crate::drive::{Approver, Drive, Output, TurnExit, TurnOutcome, is_of_model, turn_exit};
use crate::exit::{Exit, Failure};
use crate::models;
use crate::printer::Printer;
use crate::report::Report;
use crate::resolve::{Choice, trace_parent};
use crate::task::{Deadline, refused};
use crate::terminal::{Answers, Screen, is_stdout_a_terminal, renders};
use crate::view::{View, summary};

/// Time limit for the agent to exit.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(8);

pub(crate) async fn run(args: Run, printer: Printer) -> Result<Exit, Failure> {
    check_yes(&args)?;
    if args.partial && form(&args) != Some(OutputFormat::StreamJson) {
        return Err(Failure::setup(anyhow!("cannot use `--partial` without `--stream-json`")));
    }
    let deadline = Deadline::start(&args.limits);
    attach::check_stdin(&args)?;
    let text = crate::prompt::read(&args.prompt, args.file.as_deref())?;
    let attached = attach::read(&args)?;
    let choice = if args.daemon { Choice::Engine } else { Choice::of(&args.agent)? };
    check_budget(&args, &choice)?;
    let mut signals = Stop::listen().context("cannot listen for signals")?;
    let session = tokio::select! {
        session = deadline.opening(session::open(&args, &choice, printer)) => session?,
        _signal = signals.next() => return Ok(Exit::Interrupted),
    };
    if args.detach {
        return detach(attached.with(session.send(text)), session, printer).await;
    }
    let wants_pieces = args.partial || form(&args).is_none();
    let prompt = deadline.limited(attached.with(session.send(text)), &args.limits);
    let prompt = match args.limits.budget.budget_tokens {
        // the engine has its own budget, which covers subagents and is checked before each call
        Some(tokens) if choice != Choice::Engine => prompt.budget(Budget::default().tokens(tokens)),
        _ => prompt,
    };
    let prompt = if wants_pieces { prompt.partial() } else { prompt };
    let prompt = match trace_parent() {
        Some(parent) => prompt.trace_parent(parent),
        None => prompt,
    };
    let outcome = turn(&args, &session, prompt, &mut signals, printer).await;
    if args.daemon {
        // the daemon keeps it
        session.detach().await;
        return outcome;
    }
    let closing = async {
        // after a second Ctrl-C the agent ends with this process
        drop(tokio::time::timeout(CLOSE_TIMEOUT, session.close()).await);
    };
    tokio::select! {
        () = closing => {}
        _signal = signals.next() => {}
    }
    outcome
}

/// Sends the prompt to the daemon, and leaves the turn to it.
async fn detach(prompt: Prompt, session: Session, printer: Printer) -> Result<Exit, Failure> {
    let turn = prompt.start().await.map_err(refused)?;
    printer.data(session.id().as_str())?;
    session.detach().await;
    drop(turn);
    Ok(Exit::Done)
}

/// Refuses `--yes LEVEL`, which once set the autonomy level: the level must not become a prompt that approves everything.
fn check_yes(args: &Run) -> Result<(), Failure> {
    let level = args.prompt.first().filter(|word| args.yes && Level::from_str(word, false).is_ok());
    match level {
        Some(level) => Err(Failure::setup(anyhow!("unexpected level `{level}` after `--yes`"))
            .hint(format!("use `--auto {level}` to set the autonomy level; `--yes` approves every request"))),
        None => Ok(()),
    }
}

/// Refuses a budget in US dollars for an agent whose prices are unknown.
fn check_budget(args: &Run, choice: &Choice) -> Result<(), Failure> {
    if args.limits.budget.budget_usd.is_none() || *choice == Choice::Engine {
        return Ok(());
    }
    let failure = Failure::setup(anyhow!("`--budget-usd` works only with the built-in agent"));
    Err(failure.hint("use `--budget-tokens` with other agents"))
}

async fn turn(
    args: &Run,
    session: &Session,
    prompt: Prompt,
    signals: &mut Stop,
    printer: Printer,
) -> Result<Exit, Failure> {
    let screen = Screen::new(printer);
    let output = if let Some(form) = form(args) {
        Output::Machine(Report::begin(form, session, printer).await?.with_partial(args.partial))
    } else {
        let view = View::new(screen.style(), is_live(args));
        let view = if is_live(args) && renders() { view.with_markdown() } else { view };
        Output::Human(Box::new(match session.state().cwd {
            Some(folder) => view.at(folder),
            None => view,
        }))
    };
    let approver = if args.yes {
        Approver::AllowAll
    } else {
        Answers::at_terminal().map_or(Approver::DenyAll, Approver::Terminal)
    };
    let mut drive = Drive::new(screen, output, approver);
    match drive.turn(prompt, signals).await? {
        TurnOutcome::Abandoned => Ok(Exit::Interrupted),
        TurnOutcome::Ended { result, refused, was_stopped } => {
            let mut turn_exit = turn_exit(&result, &refused, was_stopped);
            if is_of_model(&result.end) {
                turn_exit.hint = turn_exit.hint.or(place(args, session)?.map(Into::into));
            }
            end(args, &mut drive, &result, turn_exit, printer)
        }
    }
}

/// Says where the model of a session is, if the engine is the agent.
fn place(args: &Run, session: &Session) -> Result<Option<String>, Failure> {
    let Some(engine) = session::engine(args, &Choice::of(&args.agent)?)? else { return Ok(None) };
    let state = session.state();
    let name = state.settings.model_id.unwrap_or_default();
    Ok(state.cwd.and_then(|cwd| models::place(&engine, Path::new(&cwd), &name)))
}

/// Prints the result.
fn end(
    args: &Run,
    drive: &mut Drive,
    result: &TurnResult,
    turn_exit: TurnExit,
    printer: Printer,
) -> Result<Exit, Failure> {
    let view = match &drive.output {
        Output::Machine(report) => {
            report.end(result, turn_exit.why.as_deref())?;
            return Ok(turn_exit.exit);
        }
        Output::Human(view) => view,
    };
    let tool_calls = view.tool_calls();
    let is_done = turn_exit.exit == Exit::Done;
    if args.schema.is_some() && is_done {
        let Some(output) = &result.structured_output else {
            return Err(anyhow!("the answer does not match the schema").into());
        };
        printer.json(output.text())?;
    } else if !is_live(args) && !result.text.is_empty() && (is_done || turn_exit.exit == Exit::Refused) {
        printer.exact(&result.text)?;
    }
    drive.screen.note(drive.screen.style().dim(&summary(result, tool_calls)));
    match turn_exit.why {
        None => Ok(turn_exit.exit),
        Some(why) => {
            let failure = Failure { error: anyhow!(why), hints: Vec::new(), exit: turn_exit.exit };
            Err(match turn_exit.hint {
                Some(hint) => failure.hint(hint),
                None => failure,
            })
        }
    }
}

/// Returns the output format for programs, if one is requested.
fn form(args: &Run) -> Option<OutputFormat> {
    match args.output_format {
        _ if args.json => Some(OutputFormat::Json),
        _ if args.stream_json => Some(OutputFormat::StreamJson),
        Some(TaskFormat::Json) => Some(OutputFormat::Json),
        Some(TaskFormat::StreamJson) => Some(OutputFormat::StreamJson),
        Some(TaskFormat::Text) | None => None,
    }
}

/// Returns whether the answer is streamed to the terminal.
fn is_live(args: &Run) -> bool {
    args.schema.is_none() && is_stdout_a_terminal()
}
