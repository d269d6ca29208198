//! `musher chat`, and `musher` alone: opens a session and chats in the terminal.
//!
//! Only wiring: `chat/` is the chat. On a dumb terminal it reads lines and shows each turn as `musher run` does.

use std::future::Future;
use std::io::{self, BufRead as _};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use musher::wire::{InteractionMode, UpdateSessionSettingsParams};
use musher::{Agent, ErrorKind, Session};

use super::stop::Stop;
use crate::args;
use crate::chat::{self, Item, Opened, Opener};
use crate::drive::{Approver, Drive, Output, TurnOutcome, verdict};
use crate::embedded;
use crate::exit::{Exit, Failure};
use crate::models;
use crate::printer::Printer;
use crate::resolve::{Choice, working_directory};
use crate::task;
use crate::terminal::{Answers, Screen};
use crate::view::View;

/// Maximum number of sessions in a list.
const MAX_SESSIONS: usize = 200;

pub(crate) async fn run(args: args::Chat, printer: Printer) -> Result<Exit, Failure> {
    if !chat::is_terminal() {
        let failure = Failure::setup(anyhow!("cannot chat: stdin and stdout must be a terminal"));
        return Err(failure.hint("`musher run PROMPT` runs one task without a terminal"));
    }
    let mut stop = Stop::listen().context("cannot listen for signals")?;
    let mut model = args.agent.model.clone();
    let scene = loop {
        let scene = tokio::select! {
            scene = open(&args, model.as_deref(), printer) => scene?,
            _signal = stop.next() => return Ok(Exit::Interrupted),
        };
        let has_model = scene.opened.session.state().settings.model_id.is_some_and(|model| !model.is_empty());
        if has_model || scene.opener.choice != Choice::Engine {
            break scene;
        }
        scene.opened.session.close().await?;
        if !wants_scripted(printer) {
            return Ok(Exit::Setup);
        }
        model = Some(embedded::REHEARSAL.to_owned());
    };
    let Scene { opened, opener, cwd } = scene;
    let requested = args.agent.model.as_deref();
    let is_engine = opener.choice == Choice::Engine;
    let engine = is_engine.then(|| embedded::environment(requested, None)).transpose()?;
    let session = models::checked(requested, opened.session, engine.as_ref()).await?;
    let opened = Opened { session, ..opened };
    let prompt = Some(args.prompt.join(" ")).filter(|prompt| !prompt.trim().is_empty());
    if is_dumb() {
        return plain(opened.session, prompt, cwd, &mut stop, printer).await;
    }
    let home = embedded::home()?;
    Ok(chat::run(chat::Chat { opened, opener: Arc::new(opener), cwd, home, prompt }, stop).await?)
}

struct Scene {
    opened: Opened,
    opener: Sessions,
    cwd: PathBuf,
}

async fn open(args: &args::Chat, model: Option<&str>, printer: Printer) -> Result<Scene, Failure> {
    let agent = args::AgentArgs { model: model.map(str::to_owned), ..args.agent.clone() };
    let choice = Choice::of(&agent)?;
    let mut cwd = working_directory(args.cwd.as_deref())?;
    let settings = UpdateSessionSettingsParams {
        model_id: model.map(str::to_owned),
        autonomy_level: args.auto.map(Into::into),
        interaction_mode: args.plan.then_some(InteractionMode::Spec),
        ..UpdateSessionSettingsParams::default()
    };
    let mut opener = Sessions { agent: choice.agent(model)?, choice, cwd: cwd.clone(), settings };
    let id = match (&args.session, args.continue_session) {
        (Some(id), _) => Some(opener.whole_id(id).await?),
        (None, true) => Some(task::newest(args.cwd.as_deref(), &opener.choice).await?),
        (None, false) => None,
    };
    if id.is_none() && opener.choice == Choice::Engine {
        let environment = embedded::environment(model, None)?;
        embedded::check_settings(&environment, &cwd, printer)?;
    }
    let is_resumed = id.is_some();
    let session = match id {
        None => opener.create().await.map_err(Failure::setup)?,
        Some(id) => {
            let opened = opener.reopen(&id).await;
            let session = opened.map_err(|error| match error.kind() {
                ErrorKind::SessionNotFound { .. } => Failure::setup(anyhow!("unknown session `{id}`"))
                    .hint("`musher sessions` lists the sessions"),
                _ => Failure::setup(error),
            })?;
            if opener.settings != UpdateSessionSettingsParams::default() {
                session.update_settings(opener.settings.clone()).await?;
            }
            session
        }
    };
    if let Some(folder) = session.state().cwd {
        cwd = folder;
    }
    opener.cwd.clone_from(&cwd);
    Ok(Scene { opened: Opened { session, is_resumed }, opener, cwd })
}

/// Explains how to get a model, and asks whether to use the scripted one.
fn wants_scripted(printer: Printer) -> bool {
    printer.note("No model is set up. Set a key such as ANTHROPIC_API_KEY or OPENAI_API_KEY, and start `musher` again;");
    printer.note("a model on your own machine is a `customModels` entry in settings.json. `musher doctor` checks the setup.");
    printer.note(
        "Press Enter to try the chat with scripted replies, which need no account, or Ctrl-C to leave.",
    );
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).is_ok_and(|count| count > 0)
}

fn is_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty())
}

/// A chat without commands to the terminal: lines in, lines out.
async fn plain(
    session: Session,
    first: Option<String>,
    cwd: PathBuf,
    stop: &mut Stop,
    printer: Printer,
) -> Result<Exit, Failure> {
    let screen = Screen::new(printer);
    let style = screen.style();
    let Some(answers) = Answers::at_terminal() else {
        return Err(Failure::setup(anyhow!("cannot chat: stderr must be a terminal")));
    };
    let view = View::new(style, true).at(cwd);
    let mut drive = Drive::new(screen, Output::Human(Box::new(view)), Approver::Terminal(answers));
    let mut next = first;
    loop {
        let text = if let Some(text) = next.take() {
            text
        } else {
            tokio::select! {
                line = drive.line("> ") => match line {
                    Some(line) => line.trim().to_owned(),
                    None => break,
                },
                _signal = stop.next() => break,
            }
        };
        match text.as_str() {
            "" => continue,
            "/quit" | "/exit" => break,
            _ => {}
        }
        match drive.turn(session.send(text).partial(), stop).await? {
            TurnOutcome::Abandoned => break,
            TurnOutcome::Ended { result, refused, was_stopped } => {
                if let Some(why) = verdict(&result, &refused, was_stopped).why {
                    printer.note(style.bad(&why));
                }
            }
        }
    }
    session.close().await?;
    Ok(Exit::Done)
}

/// Opens sessions of one agent in one directory.
#[derive(Debug, Clone)]
struct Sessions {
    choice: Choice,
    agent: Agent,
    cwd: PathBuf,
    settings: UpdateSessionSettingsParams,
}

impl Sessions {
    async fn create(&self) -> musher::Result<Session> {
        let mut builder = Session::builder().agent(self.agent.clone()).cwd(&self.cwd);
        let params = builder.params_mut();
        params.model_id.clone_from(&self.settings.model_id);
        params.autonomy_level.clone_from(&self.settings.autonomy_level);
        params.interaction_mode.clone_from(&self.settings.interaction_mode);
        builder.open().await
    }

    async fn reopen(&self, id: &str) -> musher::Result<Session> {
        Session::resume(id).agent(self.agent.clone()).open().await
    }

    async fn list(&self) -> anyhow::Result<Vec<musher::StoredSession>> {
        let mut list = musher::list_sessions().used_only().cwd(&self.cwd).limit(MAX_SESSIONS);
        if let Some(folder) = self.choice.sessions_dir().map_err(|failure| failure.error)? {
            list = list.sessions_dir(folder);
        }
        Ok(list.await?)
    }

    /// The id that begins so, if it is only one of this directory.
    async fn whole_id(&self, start: &str) -> Result<String, Failure> {
        let found = self.list().await.unwrap_or_default();
        let mut fitting = found.into_iter().map(|it| it.id).filter(|id| id.starts_with(start));
        match (fitting.next(), fitting.next()) {
            (Some(id), None) => Ok(id),
            _ => Ok(start.to_owned()),
        }
    }
}

type Boxed<T> = Pin<Box<dyn Future<Output = anyhow::Result<T>> + Send>>;

impl Opener for Sessions {
    fn new_session(&self) -> Boxed<Session> {
        let sessions = self.clone();
        Box::pin(async move { Ok(sessions.create().await?) })
    }

    fn resume(&self, id: String) -> Boxed<Session> {
        let sessions = self.clone();
        Box::pin(async move { Ok(sessions.reopen(&id).await?) })
    }

    fn sessions(&self) -> Boxed<Vec<Item>> {
        let sessions = self.clone();
        Box::pin(async move {
            let found = sessions.list().await?;
            let item = |it: musher::StoredSession| {
                let title = it.session_title.unwrap_or(it.title);
                let detail = format!("{}, {} messages", super::sessions::ago(it.modified), it.message_count);
                Item::new(it.id, title, detail)
            };
            Ok(found.into_iter().map(item).collect())
        })
    }

    fn markdown(&self, id: &str) -> anyhow::Result<String> {
        super::sessions::markdown(id).map_err(|failure| failure.error)
    }
}
