//! `musher run`: one task with any agent, shown while it is done.
//!
//! Wiring: the agent is driven through the SDK, the turn by `drive.rs`, and what is seen is made in `view.rs`.

mod attach;
mod session;

use std::time::Duration;

use anyhow::{Context as _, anyhow};
use musher::{Budget, Prompt, Session, TurnResult};

use super::stop::Stop;
use crate::args::{OutputFormat, Run};
use crate::drive::{Drive, Person, Shown, Verdict, Went, channel, verdict};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::report::Report;
use crate::resolve::Choice;
use crate::terminal::{Answers, Screen, is_stdout_a_terminal};
use crate::view::{View, summary};

/// How long an agent may take to say goodbye to a person who left.
const GOODBYE: Duration = Duration::from_secs(8);

pub(crate) async fn run(args: Run, printer: Printer) -> Result<Exit, Failure> {
    attach::check_stdin(&args)?;
    let text = crate::prompt::read(&args.prompt, args.prompt_file.as_deref())?;
    let attached = attach::read(&args)?;
    let choice = Choice::of(&args.agent)?;
    let mut signals = Stop::listen().context("cannot listen for signals")?;
    let (way, asks) = channel();
    let session = tokio::select! {
        session = session::open(&args, &choice, way, printer) => session?,
        _signal = signals.next() => return Ok(Exit::Interrupted),
    };
    let wants_pieces = args.partial || !args.stream_json && !args.json;
    let prompt = limited(attached.with(session.send(text)), &args);
    let prompt = if wants_pieces { prompt.partial() } else { prompt };
    let outcome = turn(&args, &session, prompt, asks, &mut signals, printer).await;
    let closing = async {
        // the agent of a person who leaves in a hurry ends with us
        drop(tokio::time::timeout(GOODBYE, session.close()).await);
    };
    tokio::select! {
        () = closing => {}
        _signal = signals.next() => {}
    }
    outcome
}

async fn turn(
    args: &Run,
    session: &Session,
    prompt: Prompt,
    asks: crate::drive::Asks,
    signals: &mut Stop,
    printer: Printer,
) -> Result<Exit, Failure> {
    let screen = Screen::new(printer);
    let shown = if let Some(form) = form(args) {
        Shown::Programs(Report::begin(form, session, printer).await?.with_partial(args.partial))
    } else {
        let view = View::new(screen.look(), is_live(args));
        Shown::People(match session.state().cwd {
            Some(folder) => view.at(folder),
            None => view,
        })
    };
    let person = Answers::at_terminal().map_or(Person::Absent, Person::There);
    let mut drive = Drive::new(screen, shown, person, asks);
    match drive.turn(prompt, signals).await? {
        Went::Left => Ok(Exit::Interrupted),
        Went::Ended { result, refused, was_stopped } => {
            end(args, &mut drive, &result, verdict(&result, &refused, was_stopped), printer)
        }
    }
}

/// Says what came of it.
fn end(
    args: &Run,
    drive: &mut Drive,
    result: &TurnResult,
    verdict: Verdict,
    printer: Printer,
) -> Result<Exit, Failure> {
    let view = match &drive.shown {
        Shown::Programs(report) => {
            report.end(result, verdict.why.as_deref())?;
            return Ok(verdict.exit);
        }
        Shown::People(view) => view,
    };
    let tool_calls = view.tool_calls();
    let is_done = verdict.exit == Exit::Done;
    if args.schema.is_some() && is_done {
        let Some(output) = &result.structured_output else {
            return Err(anyhow!("the agent gave no answer in the form of the schema").into());
        };
        printer.json(output.text())?;
    } else if !is_live(args) && !result.text.is_empty() && (is_done || verdict.exit == Exit::Refused) {
        printer.exact(&result.text)?;
    }
    drive.screen.note(drive.screen.look().dim(&summary(result, tool_calls)));
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

/// What programs are told, if it is for them.
fn form(args: &Run) -> Option<OutputFormat> {
    match (args.json, args.stream_json) {
        (true, _) => Some(OutputFormat::Json),
        (_, true) => Some(OutputFormat::StreamJson),
        (false, false) => None,
    }
}

/// Whether the answer is shown piece by piece: somebody looks, and wants no other form.
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
