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
use musher::{Agent, Daemon, ErrorKind, Session};

use super::stop::Stop;
use crate::args;
use crate::chat::{self, Item, Opened, Opener};
use crate::daemon_client;
use crate::drive::{Approver, Drive, Output, TurnOutcome, turn_exit};
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
    let args::Chat { prompt, options } = args;
    let prompt = Some(prompt.join(" ")).filter(|prompt| !prompt.trim().is_empty());
    let mut model = options.agent.model.clone();
    let scene = loop {
        let scene = tokio::select! {
            scene = Box::pin(open(&options, model.as_deref(), printer)) => scene?,
            _signal = stop.next() => return Ok(Exit::Interrupted),
        };
        let has_model = scene.opened.session.state().settings.model_id.is_some_and(|model| !model.is_empty());
        if has_model || scene.opener.choice != Choice::Engine || scene.opener.daemon.is_some() {
            break scene;
        }
        scene.opened.session.close().await?;
        if !wants_scripted(printer) {
            return Ok(Exit::Setup);
        }
        model = Some(embedded::REHEARSAL.to_owned());
    };
    let requested = options.agent.model.as_deref();
    let is_engine = scene.opener.choice == Choice::Engine && scene.opener.daemon.is_none();
    let engine = is_engine.then(|| embedded::environment(requested, None)).transpose()?;
    let OpenedChat { opened, opener, cwd } = scene;
    let session = models::checked(requested, opened.session, engine.as_ref()).await?;
    let opened = Opened { session, ..opened };
    Box::pin(talk(OpenedChat { opened, opener, cwd }, prompt, stop, printer)).await
}

/// Chats in a session of a daemon, which keeps it. Only for a terminal that is not dumb.
pub(super) async fn in_daemon(
    daemon: Daemon,
    session: Session,
    stop: Stop,
    printer: Printer,
) -> Result<Exit, Failure> {
    let cwd = match session.state().cwd {
        Some(cwd) => cwd,
        None => working_directory(None)?,
    };
    let settings = UpdateSessionSettingsParams::default();
    let opener = Sessions {
        choice: Choice::Engine,
        agent: daemon.agent(),
        daemon: Some(daemon),
        cwd: cwd.clone(),
        settings,
    };
    let opened = Opened { session, is_resumed: true };
    talk(OpenedChat { opened, opener, cwd }, None, stop, printer).await
}

async fn talk(
    scene: OpenedChat,
    prompt: Option<String>,
    mut stop: Stop,
    printer: Printer,
) -> Result<Exit, Failure> {
    let OpenedChat { opened, opener, cwd } = scene;
    let daemon = opener.daemon.clone();
    let is_kept = daemon.is_some();
    let exit = if is_dumb() {
        plain(opened.session, prompt, cwd, is_kept, &mut stop, printer).await
    } else {
        let home = embedded::home()?;
        let opener = Arc::new(opener);
        Ok(chat::run(chat::Chat { opened, opener, cwd, home, prompt, is_kept }, stop).await?)
    };
    if let Some(daemon) = daemon {
        daemon.close().await;
    }
    exit
}

struct OpenedChat {
    opened: Opened,
    opener: Sessions,
    cwd: PathBuf,
}

async fn open(
    args: &args::ChatOptions,
    model: Option<&str>,
    printer: Printer,
) -> Result<OpenedChat, Failure> {
    let agent = args::AgentArgs { model: model.map(str::to_owned), ..args.agent.clone() };
    let choice = if args.daemon { Choice::Engine } else { Choice::of(&agent)? };
    let mut cwd = working_directory(args.cwd.as_deref())?;
    let settings = UpdateSessionSettingsParams {
        model_id: model.map(str::to_owned),
        autonomy_level: args.auto.map(Into::into),
        interaction_mode: args.use_spec.then_some(InteractionMode::Spec),
        ..UpdateSessionSettingsParams::default()
    };
    let daemon =
        if args.daemon { Some(daemon_client::connect_or_start(&args.daemon_args).await?) } else { None };
    let agent = match &daemon {
        Some(daemon) => daemon.agent(),
        None => choice.agent(model)?,
    };
    let mut opener = Sessions { agent, choice, daemon, cwd: cwd.clone(), settings };
    let id = match (&args.session, args.continue_session) {
        (Some(id), _) => Some(opener.whole_id(id).await?),
        (None, true) => Some(task::newest(args.cwd.as_deref(), &opener.choice).await?),
        (None, false) => None,
    };
    if id.is_none() && opener.choice == Choice::Engine && opener.daemon.is_none() {
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
    Ok(OpenedChat { opened: Opened { session, is_resumed }, opener, cwd })
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

pub(super) fn is_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty())
}

/// Returns a chat without commands to the terminal: lines in, lines out.
async fn plain(
    session: Session,
    first: Option<String>,
    cwd: PathBuf,
    is_kept: bool,
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
                if let Some(why) = turn_exit(&result, &refused, was_stopped).why {
                    printer.note(style.bad(&why));
                }
            }
        }
    }
    if is_kept {
        session.detach().await;
    } else {
        session.close().await?;
    }
    Ok(Exit::Done)
}

/// Opens sessions of one agent in one directory.
#[derive(Debug, Clone)]
struct Sessions {
    choice: Choice,
    agent: Agent,
    /// The daemon that has the sessions.
    daemon: Option<Daemon>,
    cwd: PathBuf,
    settings: UpdateSessionSettingsParams,
}

impl Sessions {
    async fn create(&self) -> musher::Result<Session> {
        let builder = match &self.daemon {
            Some(daemon) => daemon.session(),
            None => Session::builder().agent(self.agent.clone()),
        };
        let mut builder = builder.cwd(&self.cwd);
        let params = builder.params_mut();
        params.model_id.clone_from(&self.settings.model_id);
        params.autonomy_level.clone_from(&self.settings.autonomy_level);
        params.interaction_mode.clone_from(&self.settings.interaction_mode);
        builder.open().await
    }

    async fn reopen(&self, id: &str) -> musher::Result<Session> {
        match &self.daemon {
            Some(daemon) => daemon.resume(id).open().await,
            None => Session::resume(id).agent(self.agent.clone()).open().await,
        }
    }

    async fn list(&self) -> anyhow::Result<Vec<musher::StoredSession>> {
        let mut list = musher::list_sessions().used_only().cwd(&self.cwd).limit(MAX_SESSIONS);
        if let Some(folder) = self.choice.sessions_dir().map_err(|failure| failure.error)? {
            list = list.sessions_dir(folder);
        }
        Ok(list.await?)
    }

    /// Returns the id that begins so, if it is only one of this directory.
    async fn whole_id(&self, start: &str) -> Result<String, Failure> {
        if let Some(daemon) = &self.daemon {
            return daemon_client::find(daemon, Some(start)).await;
        }
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
