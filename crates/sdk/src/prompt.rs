//! A prompt and its options. A prompt that is sent becomes a turn.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use musher_wire::{AddUserMessage, AddUserMessageParams, Json, Method, OutputFormat, TraceParent};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::schema_check;
use crate::session::{Command, NewTurn, TurnLimits};
use crate::turn::queue;
use crate::{Budget, Document, Error, Image, Result, Session, Turn, TurnResult};

/// How long a prompt waits for the turn of another process, if it waits.
const SESSION_TIMEOUT: Duration = Duration::from_hours(24);

/// A prompt. Await it for the result, or [`start`](Prompt::start) it to follow the turn.
#[derive(Debug)]
#[must_use = "a prompt is sent when it is awaited or started"]
pub struct Prompt {
    session: Session,
    params: AddUserMessageParams,
    wants_partial: bool,
    asks_on_stream: bool,
    limits: TurnLimits,
    cancel: CancellationToken,
    trace_parent: Option<TraceParent>,
}

impl Prompt {
    pub(crate) fn new(session: Session, text: String) -> Self {
        let setup = &session.handle.setup;
        let limits =
            TurnLimits { timeout: setup.turn_timeout, stall: setup.stall_timeout, budget: setup.budget };
        let params = AddUserMessageParams::new(text);
        let cancel = CancellationToken::new();
        Self {
            session,
            params,
            wants_partial: false,
            asks_on_stream: false,
            limits,
            cancel,
            trace_parent: None,
        }
    }

    /// Adds a picture to the prompt.
    pub fn image(mut self, image: Image) -> Self {
        self.params.images.get_or_insert_default().push(image.0);
        self
    }

    /// Adds a file to the prompt.
    pub fn document(mut self, document: Document) -> Self {
        self.params.files.get_or_insert_default().push(document.0);
        self
    }

    /// Sets the JSON schema of the answer. The answer is then a JSON object that matches it.
    pub fn output_schema(mut self, mut schema: serde_json::Value) -> Self {
        // droid refuses every schema that names a dialect other than draft 7, even if its content is valid
        if let Some(fields) = schema.as_object_mut() {
            fields.remove("$schema");
        }
        self.params.output_format = Some(OutputFormat::json_schema(schema));
        self
    }

    /// Adds the partial events to the stream: text as it is written, progress of tools, token counts, states.
    pub fn partial(mut self) -> Self {
        self.wants_partial = true;
        self
    }

    /// Emits the agent's requests on the stream of the turn, as [`Event::Permission`](crate::Event::Permission) and
    /// [`Event::Question`](crate::Event::Question), instead of calling the handlers.
    ///
    /// The agent waits until the request is answered or dropped, so keep no unanswered requests: an event that is ignored is dropped, which
    /// denies the request. Requests that come when no turn runs go to [`Session::requests`] or the handlers.
    ///
    /// ```no_run
    /// # async fn example(session: musher::Session) -> musher::Result<()> {
    /// use musher::{Answers, Event};
    ///
    /// let mut turn = session.send("Run the tests.").ask_on_stream().start().await?;
    /// while let Some(event) = turn.next().await {
    ///     match event? {
    ///         Event::Permission(pending) => match pending.request().commands() {
    ///             Some(commands) if commands.iter().all(|it| it.starts_with(&["cargo", "test"])) => pending.allow_once(),
    ///             _ => pending.deny(),
    ///         },
    ///         Event::Question(pending) => pending.answer(Answers::Given(vec!["As you like".to_owned()])),
    ///         Event::Result(result) => println!("{}", result.text),
    ///         _ => {}
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    pub fn ask_on_stream(mut self) -> Self {
        self.asks_on_stream = true;
        self
    }

    /// Sets a token that interrupts the turn when it is cancelled.
    pub fn cancel_token(mut self, token: CancellationToken) -> Self {
        self.cancel = token;
        self
    }

    /// Sets the time limit of the turn, after which it is interrupted. The session's limit by default.
    pub fn timeout(mut self, after: Duration) -> Self {
        self.limits.timeout = Some(after);
        self
    }

    /// Sets how long the turn may make no progress before it is interrupted. The session's limit by default.
    pub fn stall_timeout(mut self, after: Duration) -> Self {
        self.limits.stall = Some(after);
        self
    }

    /// Sets the budget of the turn, after which it is interrupted. The session's budget by default.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.limits.budget = budget;
        self
    }

    /// Sets the id of the message and of the turn; a random one by default.
    pub fn message_id(mut self, id: impl Into<String>) -> Self {
        self.params.message_id = Some(id.into());
        self
    }

    /// Sets the trace that the turn belongs to: the agent gets it as `traceparent` and continues it, if it records traces.
    pub fn trace_parent(mut self, parent: TraceParent) -> Self {
        self.trace_parent = Some(parent);
        self
    }

    /// Waits while another process runs a turn of the session; by default such a prompt is refused. Only the engine knows this.
    pub fn wait_for_session(mut self) -> Self {
        self.params.wait_for_session = Some(true);
        self
    }

    /// Returns all options in the wire's form, to set those that have no method here.
    pub fn params_mut(&mut self) -> &mut AddUserMessageParams {
        &mut self.params
    }

    /// Sends the prompt once no other turn runs, and returns when the agent has accepted it.
    ///
    /// # Errors
    ///
    /// Fails if the schema is invalid, the session is closed, or the agent refuses the prompt.
    pub async fn start(mut self) -> Result<Turn> {
        if let Some(format) = &self.params.output_format {
            check_schema(&format.schema)?;
        }
        let permit = self.wait_in_line().await?;
        if self.session.handle.setup.cancel.is_cancelled() {
            return Err(Error::session("it was cancelled"));
        }
        let turn_id = self.params.message_id.get_or_insert_with(|| Uuid::new_v4().to_string()).clone();
        let params = Json::new(&self.params).map_err(|error| Error::invalid_input(error.to_string()))?;
        let (sender, events) = queue();
        let over = CancellationToken::new();
        let new = NewTurn {
            turn_id: turn_id.clone(),
            wants_output: self.params.output_format.is_some(),
            wants_partial: self.wants_partial,
            asks_on_stream: self.asks_on_stream,
            limits: self.limits,
            events: sender,
            cancel: self.cancel.clone(),
            follows: None,
            permit,
            over: over.clone().drop_guard(),
        };
        let handle = Arc::clone(&self.session.handle);
        // the session must know the turn before the agent does
        let is_sent = handle.commands.send(Command::Begin(Box::new(new))).await.is_ok();
        if !is_sent {
            return Err(self.gone().await);
        }
        let turn = Turn {
            id: turn_id.clone(),
            events,
            cancel: self.cancel,
            result: None,
            is_over: false,
            _session: handle,
        };
        let handle = &self.session.handle;
        let peer = handle.client.peer();
        let peer = self.trace_parent.map_or_else(|| peer.clone(), |parent| peer.with_meta(parent.to_meta()));
        // the turn of another process can take hours; the limits of this turn apply meanwhile
        let waits = self.params.wait_for_session == Some(true);
        let timeout = if waits { SESSION_TIMEOUT } else { AddUserMessage::TIMEOUT };
        match peer.request_watched(AddUserMessage::NAME, params, timeout).await {
            Ok((_, watch)) => {
                // a droid without a session first accepts the prompt and refuses it afterwards
                let commands = handle.commands.downgrade();
                tokio::spawn(async move {
                    let error = tokio::select! {
                        error = watch => Error::from(error),
                        () = over.cancelled() => return,
                    };
                    if let Some(commands) = commands.upgrade() {
                        commands.send(Command::Refused { turn_id, error }).await.ok();
                    }
                });
                Ok(turn)
            }
            Err(error) => {
                let refused = Command::Refused { turn_id, error: Error::session("the prompt was refused") };
                handle.commands.send(refused).await.ok();
                Err(error.into())
            }
        }
    }

    async fn wait_in_line(&self) -> Result<OwnedSemaphorePermit> {
        let handle = &self.session.handle;
        let turns = Arc::clone(&handle.turns);
        if handle.setup.rejects_while_busy {
            return turns.try_acquire_owned().map_err(|_busy| Error::session("another turn is running"));
        }
        tokio::select! {
            permit = turns.acquire_owned() => permit.map_err(|_closed| Error::session("it is closed")),
            () = handle.commands.closed() => Err(self.gone().await),
        }
    }

    /// Returns why the session no longer answers.
    async fn gone(&self) -> Error {
        Error::closed(self.session.handle.client.peer().closed().await)
    }
}

impl IntoFuture for Prompt {
    type Output = Result<TurnResult>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async { self.start().await?.finish().await })
    }
}

fn check_schema(schema: &Json) -> Result<()> {
    let checked =
        schema.to_value().map_err(|error| error.to_string()).and_then(|schema| schema_check::check(&schema));
    checked.map_err(|why| Error::invalid_input(format!("the output schema is invalid: {why}")))
}
