//! `musher demo`: the built-in agent fixes a failing test in a temporary repository, offline.
//!
//! Everything is real but the model, which follows `demo/script.yaml`.

mod repository;

use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use musher::Session;
use musher_rehearse::Script;

use super::stop::Stop;
use crate::args::Demo;
use crate::drive::{Approver, Drive, Output, TurnExit, TurnOutcome, turn_exit};
use crate::embedded;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::terminal::{Answers, Screen, renders};
use crate::view::{View, between, summary};
use repository::{FAULTY, Repository};

const SCRIPT: &str = include_str!("demo/script.yaml");
const PROMPT: &str = "The test fails. Find out why, and fix it.";

pub(crate) async fn run(args: Demo, printer: Printer) -> Result<Exit, Failure> {
    let mut signals = Stop::listen().context("cannot listen for signals")?;
    let repository = Repository::create().map_err(Failure::setup)?;
    let shown = show(&args, &repository, &mut signals, printer).await;
    if args.keep {
        let folder = repository.keep();
        printer.note(format!("\nKept: {}", folder.display()));
    }
    shown
}

async fn show(
    args: &Demo,
    repository: &Repository,
    signals: &mut Stop,
    printer: Printer,
) -> Result<Exit, Failure> {
    let screen = Screen::new(printer);
    let style = screen.style();
    let title = |text: &str| printer.note(style.strong(text));
    printer.note("The agent, its tools and its permission requests are real. Responses are");
    printer.note("scripted; no AI model, account or network is involved.");
    title(&format!("\nRepository with a failing test: {}", repository.path().display()));
    let before = repository.test()?;
    printer.note(style.dim("$ sh test.sh") + "\n" + style.bad(before.output.trim_end()));
    if before.passed {
        return Err(anyhow!("the demo test unexpectedly passed; is `sh` a POSIX shell?").into());
    }

    title(&format!("\nmusher run \"{PROMPT}\""));
    // a quoted text of YAML, so that any path is right in it
    let folder = serde_json::to_string(&repository.path())?;
    let script = SCRIPT.replace("FOLDER", folder.trim_matches('"'));
    let environment = embedded::scripted(repository.home(), Script::parse("demo", &script)?);
    let session = Session::builder()
        .agent(embedded::agent(Arc::new(environment)))
        .cwd(repository.path())
        .model(embedded::REHEARSAL)
        .open()
        .await?;
    let approver = match Answers::at_terminal() {
        Some(answers) if !args.yes => Approver::Terminal(answers),
        _ => Approver::AllowAll,
    };
    let view = View::new(style, true).at(repository.path());
    let view = if renders() { view.with_markdown() } else { view };
    let mut drive = Drive::new(screen, Output::Human(Box::new(view)), approver);
    let outcome = drive.turn(session.send(PROMPT).partial(), signals).await;
    session.close().await?;
    let TurnOutcome::Ended { result, refused, was_stopped } = outcome? else { return Ok(Exit::Interrupted) };
    if let Output::Human(view) = &drive.output {
        drive.screen.note(style.dim(&summary(&result, view.tool_calls())));
    }
    let TurnExit { exit, why, .. } = turn_exit(&result, &refused, was_stopped);
    if let Some(why) = why {
        let failure = Failure { error: anyhow!(why), hints: Vec::new(), exit };
        return Err(failure.hint("`musher demo --yes` approves everything"));
    }

    title("\nChanges");
    let after = fs_err::read_to_string(repository.program())?;
    for line in between(FAULTY, &after, style) {
        printer.note(line);
    }
    let test = repository.test()?;
    let painted =
        if test.passed { style.good(test.output.trim_end()) } else { style.bad(test.output.trim_end()) };
    printer.note(style.dim("$ sh test.sh") + "\n" + painted);
    if !test.passed {
        return Err(anyhow!("the test still fails").into());
    }
    next_steps(args, repository, &result.session_id, printer, &title);
    Ok(Exit::Done)
}

fn next_steps(args: &Demo, repository: &Repository, session: &str, printer: Printer, title: &dyn Fn(&str)) {
    // without `--keep` the file is deleted when the demo ends
    if let Some(records) = repository.session_file(session).filter(|_| args.keep) {
        title("\nSession saved to");
        printer.note(format!("{}", records.display()));
    }
    title("\nNext steps");
    if args.keep {
        let (home, cwd) = (repository.home(), repository.path());
        printer.note(format!(
            "  cd {} && MUSHER_HOME={} musher run --continue --model rehearsal \"thanks\"",
            cwd.display(),
            home.display()
        ));
    } else {
        printer.note("  musher demo --keep                Keep the repository and the session");
    }
    printer.note("  export ANTHROPIC_API_KEY=...      Use an AI model (or set OPENAI_API_KEY)");
    printer.note("  musher run \"explain this repo\"    Your own task; asks before it changes anything");
}
