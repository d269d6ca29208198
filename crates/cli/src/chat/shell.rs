//! Connects a chat with a session, the terminal and the clock. Decides nothing: `app` does.
//!
//! One loop owns everything. Keys come first, then the events of the turn; the screen is drawn at once after a key, and else at most
//! once per frame.

mod follow; // turns that other clients have begun

use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use musher::wire::AddUserMessage;
use musher::{
    CancellationToken, Event, PendingRequest, Prompt, Requests, Session, SessionState, Turn, TurnResult,
};
use serde_json::Value;
use tokio::sync::mpsc;
use uuid::Uuid;

use super::app::{Action, App, Edited, Purpose, Status};
use super::attachments;
use super::history::{Draft, History};
use super::job::{self, Done, JobContext};
use super::jobs::Jobs;
use super::keymap::Keymap;
use super::keys::{Input, Parser};
use super::outside;
use super::painter::{Paint, Painter};
use super::picker::Item;
use super::transcript::Transcript;
use super::tty::{self, Tty, Typed};
use crate::commands::stop::{Signal, Stop};
use crate::exit::Exit;
use crate::style::{Style, Theme};
use crate::view::text::{Face, Line};
use follow::Following;

/// How often the screen is drawn while text streams in.
const FRAME: Duration = Duration::from_millis(16);
/// How often what moves by itself is drawn.
const TICK: Duration = Duration::from_millis(100);
/// How long Escape may be the beginning of a sequence.
const ESCAPE_TIMEOUT: Duration = Duration::from_millis(30);
/// How long the session may take to close.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(8);
/// How often the draft is kept on disk.
const DRAFT_INTERVAL: Duration = Duration::from_secs(1);
/// Messages of an earlier conversation that are shown.
const MAX_SHOWN_HISTORY: usize = 12;

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Opens sessions for a chat.
pub(crate) trait Opener: fmt::Debug + Send + Sync {
    /// Opens a new session in the same directory.
    fn new_session(&self) -> Boxed<anyhow::Result<Session>>;
    /// Opens an existing session.
    fn resume(&self, id: String) -> Boxed<anyhow::Result<Session>>;
    /// Returns the sessions of the directory, newest first.
    fn sessions(&self) -> Boxed<anyhow::Result<Vec<Item>>>;
    /// Returns a session as Markdown.
    fn markdown(&self, id: &str) -> anyhow::Result<String>;
}

/// A session that is open, and whether it existed before.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) session: Session,
    pub(crate) is_resumed: bool,
}

/// What a chat begins with.
#[derive(Debug)]
pub(crate) struct Chat {
    pub(crate) opened: Opened,
    pub(crate) opener: Arc<dyn Opener>,
    pub(crate) cwd: PathBuf,
    /// Where history, drafts and settings of chats are.
    pub(crate) home: PathBuf,
    /// The first prompt.
    pub(crate) prompt: Option<String>,
    /// Whether a daemon keeps the session when the chat ends, with the turn that runs.
    pub(crate) is_kept: bool,
}

struct Shell {
    app: App,
    painter: Painter,
    style: Style,
    tty: Tty,
    typed: mpsc::Receiver<Typed>,
    parser: Parser,
    /// When the parser got the beginning of a sequence.
    waits_since: Option<Instant>,
    opener: Arc<dyn Opener>,
    session: Session,
    is_kept: bool,
    following: Following,
    requests: Requests,
    /// Whether the subscription still gives requests.
    has_requests: bool,
    turn: Option<Turn>,
    starting: Option<(String, Boxed<musher::Result<Turn>>)>,
    /// Cancels the turn that runs or starts.
    cancel: CancellationToken,
    jobs: Jobs,
    prompts: Vec<(String, String)>,
    /// Pictures and documents for the next prompt.
    attached: Vec<PathBuf>,
    cwd: PathBuf,
    draft: Draft,
    draft_saved: Instant,
    painted: Option<Instant>,
    is_dirty: bool,
    title: String,
    state: SessionState,
    is_over: bool,
}

/// Runs a chat until the user leaves it.
pub(crate) async fn run(chat: Chat, mut stop: Stop) -> anyhow::Result<Exit> {
    let (tty, typed) = Tty::open()?;
    let mut shell = Shell::new(chat, tty, typed);
    let exit = shell.live(&mut stop).await;
    shell.leave();
    let Shell { tty, session, is_kept, app, turn, requests, .. } = shell;
    drop(tty);
    // a second Ctrl-C leaves the agent to end with this process
    tokio::select! {
        () = end(session, is_kept, (app, turn, requests)) => {}
        _ = stop.next() => {}
    }
    exit
}

/// Leaves a session. One in a daemon first: a request that is dropped would be denied, and a turn interrupted.
async fn end<T>(session: Session, is_kept: bool, rest: T) {
    if is_kept {
        drop(tokio::time::timeout(CLOSE_TIMEOUT, session.detach()).await);
        drop(rest);
    } else {
        drop(rest);
        drop(tokio::time::timeout(CLOSE_TIMEOUT, session.close()).await);
    }
}

impl Shell {
    fn new(chat: Chat, tty: Tty, typed: mpsc::Receiver<Typed>) -> Self {
        let now = Instant::now();
        let (columns, _) = tty::size();
        let settings = fs_err::read_to_string(chat.home.join("chat.json")).ok();
        let parsed = settings.map(|text| serde_json::from_str::<Value>(&text));
        let (settings, broken) = match parsed {
            None => (Value::Null, None),
            Some(Ok(value)) => (value, None),
            Some(Err(error)) => (Value::Null, Some(error.to_string())),
        };
        let (keymap, mut problems) = Keymap::read(&settings);
        problems.extend(broken);
        let folder = chat.home.join("chat");
        let transcript = Transcript::new(Some(chat.cwd.clone()));
        let mut app = App::new(transcript, History::open(&folder), keymap, now, columns);
        for problem in problems {
            app.transcript.problem(&format!("chat.json: {problem}"), columns);
        }
        let mut draft = Draft::of(&folder, &chat.cwd);
        if let Some(text) = draft.read() {
            app.set_draft(&text);
        }
        let (theme, unknown) = Theme::read(&settings);
        if let Some(unknown) = unknown {
            app.transcript.problem(&format!("chat.json: {unknown}"), columns);
        }
        let style = Style::of_stdout().with_theme(theme);
        let session = chat.opened.session;
        let (requests, state) = (session.requests(), session.state());
        let following = Following::new(&session);
        let mut shell = Self {
            app,
            painter: Painter::new(style, reflows()),
            style,
            tty,
            typed,
            parser: Parser::default(),
            waits_since: None,
            opener: chat.opener,
            session,
            is_kept: chat.is_kept,
            following,
            requests,
            has_requests: true,
            turn: None,
            starting: None,
            cancel: CancellationToken::new(),
            jobs: Jobs::default(),
            prompts: Vec::new(),
            attached: Vec::new(),
            cwd: chat.cwd,
            draft,
            draft_saved: now,
            painted: None,
            is_dirty: true,
            title: String::new(),
            state,
            is_over: false,
        };
        shell.greet(chat.opened.is_resumed, columns);
        shell.list_commands();
        if let Some(prompt) = chat.prompt {
            shell.app.send(prompt);
        }
        shell
    }

    fn greet(&mut self, is_resumed: bool, columns: usize) {
        if is_resumed {
            self.show_history(columns);
        }
        self.learn();
    }

    /// The end of the conversation so far.
    fn show_history(&mut self, columns: usize) {
        let state = self.session.state();
        let shown: Vec<_> =
            state.history.iter().filter(|it| it.is_for_people() && !it.text().trim().is_empty()).collect();
        let from = shown.len().saturating_sub(MAX_SHOWN_HISTORY);
        if from > 0 {
            self.app.note(&format!("… {from} earlier messages"));
        }
        let now = Instant::now();
        for message in &shown[from..] {
            match message.role {
                musher::wire::MessageRole::User => self.app.transcript.prompt(&message.text(), columns),
                musher::wire::MessageRole::Assistant => {
                    self.app.transcript.event(&Event::Assistant(Arc::clone(message)), now, columns);
                }
                _ => {}
            }
        }
        let title = state.title.unwrap_or_else(|| state.id.to_string());
        let text = format!("── resumed: {title} ──");
        self.app.transcript.block([Line::new(&text, Face::DIM)]);
        self.app.transcript.gap();
    }

    async fn live(&mut self, stop: &mut Stop) -> anyhow::Result<Exit> {
        let mut resized = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::window_change())?;
        let mut ticker = tokio::time::interval(FRAME);
        ticker.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            self.app.at(Instant::now());
            self.act().await?;
            if self.is_over {
                return Ok(Exit::Done);
            }
            let is_free = self.turn.is_none() && self.starting.is_none();
            self.following.begin(&self.session, is_free);
            self.paint_if_due()?;
            let needs_tick = self.is_dirty
                || self.app.is_animated()
                || self.waits_since.is_some()
                || self.following.is_waiting()
                || !self.is_draft_saved();
            tokio::select! {
                biased;
                signal = stop.next() => {
                    if signal != Signal::Interrupt {
                        return Ok(signal.into());
                    }
                    // raw mode gives no signal for Ctrl-C, so another program sent it
                    self.app.input(Input::Key(super::keys::Key::ctrl('c')));
                    self.is_dirty = true;
                }
                typed = self.typed.recv() => match typed {
                    Some(Typed::Bytes(bytes)) => self.bytes(&bytes)?,
                    Some(Typed::NothingLeft) => {
                        self.app.nothing_left();
                        self.paint()?;
                    }
                    Some(Typed::Paused) => {}
                    Some(Typed::Closed) | None => return Ok(Exit::HungUp),
                },
                _ = resized.recv() => {
                    self.app.resized(tty::size().0);
                    self.paint()?;
                }
                event = next(&mut self.turn), if self.turn.is_some() => self.event(event),
                started = begin(&mut self.starting), if self.starting.is_some() => self.started(started),
                done = self.jobs.next(), if !self.jobs.is_empty() => self.done(done),
                request = self.requests.next(), if self.has_requests => match request {
                    Some(request) => self.request(request),
                    None => self.has_requests = false,
                },
                noticed = self.following.next() => self.noticed(noticed),
                _ = ticker.tick(), if needs_tick => {}
            }
        }
    }

    fn request(&mut self, request: PendingRequest) {
        self.app.requested(request);
        self.is_dirty = true;
    }

    fn bytes(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        let inputs = self.parser.feed(bytes);
        self.waits_since = self.parser.is_waiting().then(Instant::now);
        self.inputs(inputs)
    }

    fn inputs(&mut self, inputs: Vec<Input>) -> anyhow::Result<()> {
        self.app.at(Instant::now());
        for input in inputs {
            self.app.input(match input {
                Input::Paste(text) if self.app.is_writing() => {
                    Input::Paste(attachments::pasted(&text, &self.cwd).unwrap_or(text))
                }
                input => input,
            });
        }
        self.paint()
    }

    fn event(&mut self, event: Option<musher::Result<Event>>) {
        self.is_dirty = true;
        match event {
            Some(Ok(Event::Result(result))) if self.following.is_followed && is_empty(&result) => {
                self.turn_ended();
            }
            Some(Ok(event)) => {
                self.app.event(&event);
                if matches!(event, Event::Settings(_) | Event::Title(_) | Event::Result(_)) {
                    self.learn();
                }
                if matches!(event, Event::Result(_)) {
                    self.turn_ended();
                    self.measure_context();
                }
            }
            Some(Err(error)) => {
                self.app.transcript.problem(&explained(&error), tty::size().0);
                self.turn_ended();
            }
            None => self.turn_ended(),
        }
    }

    fn turn_ended(&mut self) {
        self.turn = None;
        self.following.ended();
        self.app.ended();
    }

    fn started(&mut self, (prompt, started): (String, musher::Result<Turn>)) {
        self.is_dirty = true;
        match started {
            Ok(turn) => {
                self.app.own_prompt(turn.id());
                self.prompts.push((turn.id().to_owned(), prompt));
                self.turn = Some(turn);
            }
            Err(error) => {
                self.app.transcript.problem(&explained(&error), tty::size().0);
                self.app.ended();
            }
        }
    }

    fn done(&mut self, done: anyhow::Result<Done>) {
        self.is_dirty = true;
        self.app.set_working(self.jobs.label());
        let columns = tty::size().0;
        match done {
            Ok(Done::Lines(lines)) => {
                self.app.transcript.block(lines.into_iter().flat_map(|line| line.wrapped(columns, 2)));
                self.app.transcript.gap();
            }
            Ok(Done::Pick(purpose, title, items)) => self.app.pick(purpose, title, items),
            Ok(Done::Settings) => self.learn(),
            Ok(Done::Send(text)) => self.app.send(text),
            Ok(Done::Files(files)) => self.app.set_files(files),
            Ok(Done::Switch(session, note, draft)) => self.switch(session, &note, draft),
            Ok(Done::Ran { command, output, code, is_shared }) => {
                self.ran(&command, &output, code, is_shared);
            }
            Ok(Done::Context(percent)) => self.app.status.context = Some(percent),
            Ok(Done::Commands(commands)) => self.app.set_commands(commands),
            Ok(Done::NotSent { id, error }) => {
                self.app.transcript.problem(&error, columns);
                self.app.not_joined(&id);
            }
            Ok(Done::Nothing) => {}
            Err(error) => self.app.transcript.problem(&error.to_string(), columns),
        }
    }

    fn ran(&mut self, command: &str, output: &str, code: Option<i32>, is_shared: bool) {
        let mut lines = vec![Line::new("$ ", Face::DIM).with(command, Face::STRONG)];
        // the terminal wraps long lines, and gives them back whole when they are copied
        lines.extend(output.lines().map(|line| Line::plain(&format!("  {line}"))));
        if code != Some(0) {
            let text =
                code.map_or_else(|| "ended by a signal".to_owned(), |code| format!("exit code {code}"));
            lines.push(Line::new(&format!("  {text}"), Face::BAD));
        }
        self.app.transcript.block(lines);
        self.app.transcript.gap();
        if is_shared {
            let text = format!("I ran `{command}`. Its output:\n\n```\n{}\n```\n", output.trim_end());
            self.app.tell_later(text);
        }
    }

    fn switch(&mut self, session: Session, note: &str, draft: Option<String>) {
        let requests = session.requests();
        self.following = Following::new(&session);
        let old = std::mem::replace(&mut self.session, session);
        let old_requests = std::mem::replace(&mut self.requests, requests);
        tokio::spawn(end(old, self.is_kept, old_requests));
        self.has_requests = true;
        self.prompts.clear();
        self.app.status.cost = 0.0;
        self.app.forget_grants();
        if note == "resumed" {
            self.show_history(tty::size().0);
        } else {
            self.app.note(note);
        }
        if let Some(draft) = draft {
            self.app.set_draft(&draft);
        }
        self.learn();
        self.measure_context();
    }

    /// Does what the app wants.
    async fn act(&mut self) -> anyhow::Result<()> {
        for action in self.app.actions() {
            self.is_dirty = true;
            match action {
                Action::Start(text) => self.start(text),
                Action::Join(text) => self.join(text),
                Action::Interrupt => self.cancel.cancel(),
                Action::CancelJob => self.cancel_job(),
                Action::Quit => self.is_over = true,
                Action::Suspend => self.suspend().await?,
                Action::ClearScreen => {
                    self.painter.forget();
                    tty::write(&Paint::commands("\u{1b}[H\u{1b}[2J"))?;
                }
                Action::Edit(what, text) => self.edit(what, text).await?,
                Action::Page(lines) => {
                    let (style, cwd) = (self.style, self.cwd.clone());
                    let shown = self.outside(move || outside::page(&lines, style, &cwd)).await?;
                    if let Err(error) = shown {
                        self.app.transcript.problem(&error.to_string(), tty::size().0);
                    }
                }
                Action::Run(command, is_shared) => {
                    let work = job::run(command.clone(), self.cwd.clone(), is_shared);
                    self.jobs.command(format!("!{command}"), work);
                    self.app.set_working(self.jobs.label());
                }
                Action::Arm => self.tty.ask_whether_nothing_is_left(),
                Action::Command("editor", _) => {
                    let text = self.app.draft();
                    self.edit(Edited::Prompt, text).await?;
                }
                Action::Command("thinking", _) => {
                    let thought = self.app.transcript.last_thought().to_owned();
                    let lines: Vec<_> =
                        thought.trim().lines().map(|line| Line::new(line, Face::DIM)).collect();
                    self.done(Ok(Done::Lines(if lines.is_empty() {
                        vec![Line::new("no thoughts yet", Face::DIM)]
                    } else {
                        lines
                    })));
                }
                Action::Command("image", path) => self.attach(&path),
                Action::Chosen(Purpose::Theme, item) => self.set_theme(&item.value),
                Action::Command("theme", name) => self.set_theme(&name),
                Action::Command(name, argument) => {
                    let label = (name != "mode").then(|| format!("/{name}"));
                    self.jobs.call(label, job::command(self.scene(), name, argument));
                    self.app.set_working(self.jobs.label());
                }
                Action::Chosen(purpose, item) => {
                    self.jobs.call(None, job::chosen(self.scene(), purpose, item));
                }
                Action::ListFiles => self.jobs.call(None, job::files(self.cwd.clone())),
                Action::Notify(text) => tty::write(&Paint::notification(&text))?,
            }
        }
        Ok(())
    }

    fn cancel_job(&mut self) {
        if let Some(label) = self.jobs.cancel() {
            self.app.transcript.block([Line::new(&format!("stopped: {label}"), Face::DIM)]);
            self.app.transcript.gap();
        }
        self.app.set_working(self.jobs.label());
    }

    fn scene(&self) -> JobContext {
        JobContext {
            session: self.session.clone(),
            opener: Arc::clone(&self.opener),
            cwd: self.cwd.clone(),
            prompts: self.prompts.clone(),
        }
    }

    fn set_theme(&mut self, name: &str) {
        let Some(theme) = Theme::named(name) else {
            return self.app.notice(format!("unknown theme `{name}` (known: {})", Theme::names()));
        };
        self.style = self.style.with_theme(theme);
        self.painter.set_style(self.style);
    }

    fn attach(&mut self, path: &str) {
        let path = self.cwd.join(path.trim_start_matches('@').trim_matches('"'));
        if path.is_file() {
            self.app.notice(format!("attached {}", path.display()));
            self.attached.push(path);
        } else {
            self.app.notice(format!("cannot attach {}: not a file", path.display()));
        }
    }

    fn start(&mut self, text: String) {
        self.app.begun(&text);
        self.cancel = CancellationToken::new();
        let text_to_send = self.app.with_told(&text);
        let prompt = self.session.send(text_to_send).partial().ask_on_stream();
        let prompt = self.attached(prompt.cancel_token(self.cancel.clone()), &text);
        self.starting = Some((text, Box::pin(prompt.start())));
    }

    /// Adds the pictures and documents that a prompt mentions, and those that wait for one.
    fn attached(&mut self, mut prompt: Prompt, text: &str) -> Prompt {
        let mentioned = attachments::mentioned(text).into_iter().map(|path| self.cwd.join(path));
        let files: Vec<_> = mentioned.chain(self.attached.drain(..)).collect();
        for file in files {
            prompt = attachments::attach(prompt, &file).unwrap_or_else(|(prompt, error)| {
                self.app.transcript.problem(&error, tty::size().0);
                prompt
            });
        }
        prompt
    }

    /// Sends a prompt to the turn that runs: the agent reads it with its next step.
    fn join(&mut self, text: String) {
        let id = Uuid::new_v4().to_string();
        let text_to_send = self.app.with_told(&text);
        let mut prompt = self.attached(self.session.send(text_to_send), &text);
        let mut params = prompt.params_mut().clone();
        params.message_id = Some(id.clone());
        let client = self.session.client().clone();
        self.app.joins(id.clone(), text);
        self.jobs.call(None, async move {
            let sent = client.call::<AddUserMessage>(&params).await;
            Ok(sent.map_or_else(|error| Done::NotSent { id, error: explained(&error) }, |_| Done::Nothing))
        });
    }

    async fn edit(&mut self, what: Edited, text: String) -> anyhow::Result<()> {
        let cwd = self.cwd.clone();
        match self.outside(move || outside::edit(&text, &cwd)).await? {
            Ok(text) => self.app.edited(what, &text),
            Err(error) => self.app.transcript.problem(&error.to_string(), tty::size().0),
        }
        Ok(())
    }

    /// Lends the terminal to something else. The session continues meanwhile.
    async fn outside<T: Send + 'static>(
        &mut self,
        job: impl FnOnce() -> std::io::Result<T> + Send + 'static,
    ) -> anyhow::Result<std::io::Result<T>> {
        self.tty.pause();
        while let Some(typed) = self.typed.recv().await {
            match typed {
                Typed::Paused => break,
                Typed::Bytes(bytes) => {
                    for input in self.parser.feed(&bytes) {
                        self.app.input(input);
                    }
                }
                Typed::NothingLeft => self.app.nothing_left(),
                Typed::Closed => {
                    self.is_over = true;
                    break;
                }
            }
        }
        tty::write(&self.painter.clear(tty::size().0))?;
        self.tty.leave();
        let outcome = tokio::task::spawn_blocking(job).await?;
        self.tty.enter()?;
        self.tty.resume();
        self.app.resized(tty::size().0);
        Ok(outcome)
    }

    async fn suspend(&mut self) -> anyhow::Result<()> {
        let stopped = self.outside(|| {
            // the group, as the terminal would do
            rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)?;
            Ok(())
        });
        drop(stopped.await?);
        Ok(())
    }

    /// Reads the state of the session.
    fn learn(&mut self) {
        self.state = self.session.state();
        let settings = &self.state.settings;
        let text = |value: Option<String>| value.unwrap_or_default();
        let home = std::env::home_dir();
        let folder = match home
            .and_then(|home| self.cwd.strip_prefix(home).ok().map(|it| format!("~/{}", it.display())))
        {
            Some(below) => below.trim_end_matches('/').to_owned(),
            None => self.cwd.display().to_string(),
        };
        self.app.status = Status {
            model: text(settings.model_id.clone()),
            effort: text(
                settings
                    .reasoning_effort
                    .as_ref()
                    .map(ToString::to_string)
                    .filter(|it| it != "none" && it != "off"),
            ),
            mode: text(settings.interaction_mode.as_ref().map(ToString::to_string)),
            autonomy: text(settings.autonomy_level.as_ref().map(ToString::to_string)),
            folder,
            title: text(self.state.title.clone()),
            ..self.app.status.clone()
        };
    }

    /// Asks the agent how full the context is.
    fn measure_context(&mut self) {
        let session = self.session.clone();
        self.jobs.call(None, async move {
            let stats = session.client().get_context_stats().await;
            Ok(stats.map_or(Done::Nothing, |stats| {
                Done::Context(crate::view::percent(stats.used.get(), stats.limit.get()))
            }))
        });
    }

    fn list_commands(&mut self) {
        let session = self.session.clone();
        self.jobs.call(None, async move {
            let listed = session.client().list_commands().await;
            let commands = listed.map(|listed| listed.commands).unwrap_or_default();
            Ok(Done::Commands(
                commands.into_iter().map(|it| (it.name, it.description.unwrap_or_default())).collect(),
            ))
        });
    }

    fn is_draft_saved(&self) -> bool {
        !self.draft.differs(&self.app.draft())
    }

    fn paint_if_due(&mut self) -> anyhow::Result<()> {
        let now = Instant::now();
        if self.waits_since.is_some_and(|since| now - since >= ESCAPE_TIMEOUT) {
            self.waits_since = None;
            let inputs = self.parser.flush();
            return self.inputs(inputs);
        }
        if now - self.draft_saved >= DRAFT_INTERVAL && !self.is_draft_saved() {
            self.draft_saved = now;
            self.draft.save(&self.app.draft());
        }
        let since = self.painted.map_or(Duration::MAX, |painted| now - painted);
        if self.is_dirty && since >= FRAME || self.app.is_animated() && since >= TICK {
            self.paint()?;
        }
        Ok(())
    }

    fn paint(&mut self) -> anyhow::Result<()> {
        let (columns, rows) = tty::size();
        let frame = self.app.frame(columns, rows);
        tty::write(&self.painter.paint(&frame, columns))?;
        self.set_title()?;
        self.is_dirty = false;
        self.painted = Some(Instant::now());
        Ok(())
    }

    /// The title of the window, and whether the terminal shows that something runs.
    fn set_title(&mut self) -> anyhow::Result<()> {
        let mark = if self.app.is_asking() {
            "? "
        } else if self.app.is_busy() {
            "… "
        } else {
            ""
        };
        let name = if self.app.status.title.is_empty() { "musher" } else { &self.app.status.title };
        let title = format!("{mark}{name}");
        if title != self.title {
            tty::write(&Paint::title(&title, self.app.is_busy()))?;
            self.title = title;
        }
        Ok(())
    }

    /// The last words, and the terminal as it was.
    fn leave(&mut self) {
        if !self.is_kept {
            self.cancel.cancel();
        }
        self.draft.save(&self.app.draft());
        let columns = tty::size().0;
        // a terminal that is gone needs nothing
        drop(tty::write(&self.painter.clear(columns)));
        drop(tty::write(&Paint::title("", false)));
        if !self.prompts.is_empty() {
            let command = if self.is_kept { "attach" } else { "chat --session" };
            let text = format!("To continue: musher {command} {}", self.session.id());
            let frame =
                super::painter::Frame { finished: vec![Line::new(&text, Face::DIM)], ..Default::default() };
            drop(tty::write(&self.painter.paint(&frame, columns)));
        }
    }
}

/// Returns whether the terminal wraps its lines again when its width changes. Nearly all do; these few set a variable of their own.
fn reflows() -> bool {
    let is = |name: &str, start: &str| std::env::var(name).is_ok_and(|value| value.starts_with(start));
    let is_screen = is("TERM", "screen") && std::env::var_os("TMUX").is_none();
    std::env::var_os("XTERM_VERSION").is_none()
        && !is("TERM", "rxvt")
        && !is("TERM", "linux")
        && !is("TERM", "vt")
        && !is_screen
}

/// Returns whether nothing happened in a turn: it was over before it was followed.
fn is_empty(result: &TurnResult) -> bool {
    result.messages.is_empty() && result.errors.is_empty()
}

/// Returns the error with its causes that say more.
fn explained(error: &musher::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

async fn next(turn: &mut Option<Turn>) -> Option<musher::Result<Event>> {
    match turn {
        Some(turn) => turn.next().await,
        None => std::future::pending().await,
    }
}

async fn begin(
    starting: &mut Option<(String, Boxed<musher::Result<Turn>>)>,
) -> (String, musher::Result<Turn>) {
    let Some((_, start)) = starting else { return std::future::pending().await };
    let started = start.await;
    let prompt = starting.take().map(|(prompt, _)| prompt).unwrap_or_default();
    (prompt, started)
}
