//! `musher attach`: a session in the daemon, watched and continued. Leaving it stops nothing. In a terminal it is a chat.

use musher::wire::MessageRole;
use musher::{Session, Turn};

use super::stop::Stop;
use crate::args::Attach;
use crate::chat;
use crate::daemon_client::{connect, find};
use crate::drive::{Approver, Drive, Output, TurnOutcome, turn_exit};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::sanitize::sanitized;
use crate::terminal::{Answers, Screen, is_stdout_a_terminal};
use crate::view::{View, summary};
use anyhow::{Context as _, anyhow};

/// Maximum length of a message of the past.
const MAX_PAST: usize = 2000;

pub(crate) async fn run(args: Attach, printer: Printer) -> Result<Exit, Failure> {
    let mut signals = Stop::listen().context("cannot listen for signals")?;
    let daemon = connect(&args.daemon).await?;
    let id = find(&daemon, args.session.as_deref()).await?;
    let session = daemon.resume(id).open().await.map_err(Failure::setup)?;
    if chat::is_terminal() && !super::chat::is_dumb() {
        return Box::pin(super::chat::in_daemon(daemon, session, signals, printer)).await;
    }
    let outcome = watch(&session, &mut signals, printer).await;
    session.detach().await;
    daemon.close().await;
    outcome
}

async fn watch(session: &Session, signals: &mut Stop, printer: Printer) -> Result<Exit, Failure> {
    let screen = Screen::new(printer);
    let style = screen.style();
    let state = session.state();
    let title = state.title.unwrap_or_default();
    screen_note(printer, style.dim(&format!("session {}  {}", state.id, sanitized(&title, 200))));
    let last_prompt = state.history.iter().rposition(|it| it.role == MessageRole::User && it.is_for_people());
    for message in state.history.iter().skip(last_prompt.unwrap_or_default()).filter(|it| it.is_for_people())
    {
        let text = sanitized(&message.text(), MAX_PAST);
        match message.role {
            MessageRole::User if !text.is_empty() => screen_note(printer, style.strong(&format!("> {text}"))),
            MessageRole::Assistant if !text.is_empty() => screen_note(printer, text.as_str().into()),
            _ => {}
        }
    }
    let approver = Answers::at_terminal().map_or(Approver::LeaveOpen, Approver::Terminal);
    let can_type = matches!(approver, Approver::Terminal(_));
    let view = View::new(style, is_stdout_a_terminal());
    let view = match state.cwd {
        Some(folder) => view.at(folder),
        None => view,
    };
    let mut drive = Drive::new(screen, Output::Human(Box::new(view)), approver);
    let mut exit = Exit::Done;
    if let Some(turn) = session.follow().partial().ask_on_stream().await? {
        match follow(&mut drive, turn, signals, printer).await? {
            Some(ended) => exit = ended,
            None => return Ok(Exit::Done),
        }
    }
    if !can_type {
        return Ok(exit);
    }
    loop {
        let Some(text) = drive.typed_prompt(signals).await else { return Ok(exit) };
        let outcome = drive.turn(session.send(text).partial(), signals).await?;
        match shown(&mut drive, outcome, printer) {
            Some(ended) => exit = ended,
            None => return Ok(Exit::Done),
        }
    }
}

async fn follow(
    drive: &mut Drive,
    turn: Turn,
    signals: &mut Stop,
    printer: Printer,
) -> Result<Option<Exit>, Failure> {
    let outcome = drive.follow(turn, signals).await?;
    Ok(shown(drive, outcome, printer))
}

/// Shows how a turn ended; `None` if the user left.
fn shown(drive: &mut Drive, outcome: TurnOutcome, printer: Printer) -> Option<Exit> {
    let TurnOutcome::Ended { result, refused, was_stopped } = outcome else { return None };
    let turn_exit = turn_exit(&result, &refused, was_stopped);
    if !is_stdout_a_terminal() && !result.text.is_empty() {
        printer.exact(&result.text).ok()?;
    }
    let tool_calls = match &drive.output {
        Output::Human(view) => view.tool_calls(),
        Output::Machine(_) => 0,
    };
    drive.screen.note(drive.screen.style().dim(&summary(&result, tool_calls)));
    if let Some(why) = turn_exit.why {
        printer.failure(&Failure {
            error: anyhow!(why),
            hints: turn_exit.hint.into_iter().map(Into::into).collect(),
            exit: turn_exit.exit,
        });
    }
    Some(turn_exit.exit)
}

fn screen_note(printer: Printer, line: crate::styled::Styled) {
    printer.note(line);
}
