//! `musher run`: one task with any agent, shown while it is done.
//!
//! Only wiring: the SDK drives the agent, `drive.rs` the turn, and `view.rs` renders the output.

mod attach;
mod session;

use std::time::Duration;

use anyhow::{Context as _, anyhow};
use clap::ValueEnum as _;
use musher::{Budget, Prompt, Session, TurnResult};

use super::stop::Stop;
use crate::args::{Level, OutputFormat, Run};
use crate::drive::{Approver, Drive, Output, TurnOutcome, Verdict, verdict};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::report::Report;
use crate::resolve::Choice;
use crate::terminal::{Answers, Screen, is_stdout_a_terminal};
use crate::view::{View, summary};

/// Time limit for the agent to exit.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(8);

pub(crate) async fn run(args: Run, printer: Printer) -> Result<Exit, Failure> {
    check_yes(&args)?;
    attach::check_stdin(&args)?;
    let text = crate::prompt::read(&args.prompt, args.file.as_deref())?;
    let attached = attach::read(&args)?;
    let choice = Choice::of(&args.agent)?;
    let mut signals = Stop::listen().context("cannot listen for signals")?;
    let session = tokio::select! {
        session = session::open(&args, &choice, printer) => session?,
        _signal = signals.next() => return Ok(Exit::Interrupted),
    };
    let wants_pieces = args.partial || !args.stream_json && !args.json;
    let prompt = limited(attached.with(session.send(text)), &args);
    let prompt = if wants_pieces { prompt.partial() } else { prompt };
    let outcome = turn(&args, &session, prompt, &mut signals, printer).await;
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

/// Refuses `--yes LEVEL`, which once set the autonomy level: the level must not become a prompt that approves everything.
fn check_yes(args: &Run) -> Result<(), Failure> {
    let level = args.prompt.first().filter(|word| args.yes && Level::from_str(word, false).is_ok());
    match level {
        Some(level) => Err(Failure::setup(anyhow!("unexpected level `{level}` after `--yes`"))
            .hint(format!("use `--auto {level}` to set the autonomy level; `--yes` approves every request"))),
        None => Ok(()),
    }
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
        Output::Human(match session.state().cwd {
            Some(folder) => view.at(folder),
            None => view,
        })
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
            end(args, &mut drive, &result, verdict(&result, &refused, was_stopped), printer)
        }
    }
}

/// Prints the result.
fn end(
    args: &Run,
    drive: &mut Drive,
    result: &TurnResult,
    verdict: Verdict,
    printer: Printer,
) -> Result<Exit, Failure> {
    let view = match &drive.output {
        Output::Machine(report) => {
            report.end(result, verdict.why.as_deref())?;
            return Ok(verdict.exit);
        }
        Output::Human(view) => view,
    };
    let tool_calls = view.tool_calls();
    let is_done = verdict.exit == Exit::Done;
    if args.schema.is_some() && is_done {
        let Some(output) = &result.structured_output else {
            return Err(anyhow!("the answer does not match the schema").into());
        };
        printer.json(output.text())?;
    } else if !is_live(args) && !result.text.is_empty() && (is_done || verdict.exit == Exit::Refused) {
        printer.exact(&result.text)?;
    }
    drive.screen.note(drive.screen.style().dim(&summary(result, tool_calls)));
    match verdict.why {
        None => Ok(verdict.exit),
        Some(why) => {
            let failure = Failure { error: anyhow!(why), hints: Vec::new(), exit: verdict.exit };
            Err(match verdict.hint {
                Some(hint) => failure.hint(hint),
                None => failure,
            })
        }
    }
}

/// The output format for programs, if one is requested.
fn form(args: &Run) -> Option<OutputFormat> {
    match (args.json, args.stream_json) {
        (true, _) => Some(OutputFormat::Json),
        (_, true) => Some(OutputFormat::StreamJson),
        (false, false) => None,
    }
}

/// Returns whether the answer is streamed to the terminal.
fn is_live(args: &Run) -> bool {
    args.schema.is_none() && is_stdout_a_terminal()
}

fn limited(prompt: Prompt, args: &Run) -> Prompt {
    let prompt = match args.timeout {
        Some(seconds) => prompt.timeout(Duration::from_secs(seconds)),
        None => prompt,
    };
    match args.budget_tokens {
        Some(tokens) => prompt.budget(Budget::default().tokens(tokens)),
        None => prompt,
    }
}
