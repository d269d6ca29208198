//! `musher demo`: the built-in agent fixes a failing test in a temporary repository, offline.
//!
//! Everything is real but the model, which follows `demo/script.yaml`.

mod repository;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use musher::Session;
use musher_rehearse::Script;

use super::stop::Stop;
use crate::args::Demo;
use crate::drive::{Drive, Person, Shown, Verdict, Went, channel, handlers, verdict};
use crate::embedded;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::terminal::{Answers, Screen};
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
    let look = screen.look();
    let title = |text: &str| printer.note(look.strong(text));
    printer.note("No account and no network: the agent, its tools and its questions are real, but the model");
    printer.note("follows a script. There is no intelligence in it.");
    title(&format!("\nA repository with a failing test, in {}", repository.path().display()));
    let before = repository.test()?;
    printer.note(look.dim("$ sh test.sh") + "\n" + look.bad(before.output.trim_end()));
    if before.is_well {
        return Err(anyhow!("the test should fail, and does not: is `sh` a usual one?").into());
    }

    title(&format!("\nmusher run \"{PROMPT}\""));
    // a quoted text of YAML, so that any path is right in it
    let folder = serde_json::to_string(&repository.path())?;
    let script = SCRIPT.replace("FOLDER", folder.trim_matches('"'));
    let environment = embedded::scripted(repository.home(), Script::parse("demo", &script)?);
    let (way, asks) = channel();
    let (on_permission, on_question) = handlers(way);
    let session = Session::builder()
        .agent(embedded::agent(Arc::new(environment)))
        .cwd(repository.path())
        .model(embedded::REHEARSAL)
        .on_permission(on_permission)
        .on_question(on_question)
        .open()
        .await?;
    let person = match Answers::at_terminal() {
        Some(answers) if !args.yes => Person::There(answers),
        _ => Person::SaysYes,
    };
    let mut drive =
        Drive::new(screen, Shown::People(View::new(look, true).at(repository.path())), person, asks);
    let went = drive.turn(session.send(PROMPT).partial(), signals).await;
    session.close().await?;
    let Went::Ended { result, refused, was_stopped } = went? else { return Ok(Exit::Interrupted) };
    if let Shown::People(view) = &drive.shown {
        drive.screen.note(look.dim(&summary(&result, view.tool_calls())));
    }
    let Verdict { exit, why, .. } = verdict(&result, &refused, was_stopped);
    if let Some(why) = why {
        let failure = Failure { error: anyhow!(why), hints: Vec::new(), exit };
        return Err(failure.hint("`musher demo --yes` only shows it"));
    }

    title("\nWhat has changed");
    let after = fs_err::read_to_string(repository.program())?;
    for line in between(FAULTY, &after, look) {
        printer.note(line);
    }
    let test = repository.test()?;
    let painted =
        if test.is_well { look.good(test.output.trim_end()) } else { look.bad(test.output.trim_end()) };
    printer.note(look.dim("$ sh test.sh") + "\n" + painted);
    if !test.is_well {
        return Err(anyhow!("the test still fails").into());
    }
    how_to_go_on(args, repository, &result.session_id, printer, &title);
    Ok(Exit::Done)
}

fn how_to_go_on(args: &Demo, repository: &Repository, session: &str, printer: Printer, title: &dyn Fn(&str)) {
    title("\nThe session is on disk, as every session is");
    let records = repository.session_file(session);
    let shown = records.as_deref().unwrap_or(Path::new("(not found)"));
    printer.note(format!("{}", shown.display()));
    title("\nHow to go on");
    if args.keep {
        let (home, cwd) = (repository.home(), repository.path());
        printer.note(format!(
            "  cd {} && MUSHER_HOME={} musher run --continue --model rehearsal \"thanks\"",
            cwd.display(),
            home.display()
        ));
    } else {
        printer.note("  musher demo --keep                     leaves all of it for you to look at");
    }
    printer.note("  export ANTHROPIC_API_KEY=...           or OPENAI_API_KEY: a model that thinks");
    printer.note(
        "  musher run \"what does this project do?\"  your own task; it asks before it changes anything",
    );
}
