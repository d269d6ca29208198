//! Operations of a session that have options: fork, compact, enter spec mode. Each is sent when it is awaited.

use std::future::IntoFuture;
use std::pin::Pin;

use musher_wire::{
    CompactSessionParams, ForkSessionParams, InteractionMode, ReasoningEffort, Tag,
    UpdateSessionSettingsParams,
};

use super::{Session, SessionState};
use crate::Result;

type Boxed<T> = Pin<Box<dyn Future<Output = Result<T>> + Send>>;

impl Session {
    /// Forks the session, and opens the fork with an agent of its own. This session stays usable.
    ///
    /// ```no_run
    /// # async fn example(session: musher::Session) -> musher::Result<()> {
    /// let copy = session.fork().title("Another way").await?;
    /// copy.send("Try it with less code.").await?;
    /// copy.close().await
    /// # }
    /// ```
    pub fn fork(&self) -> Fork {
        Fork { session: self.clone(), params: ForkSessionParams::default() }
    }

    /// Compacts the conversation into a new session, and opens it with an agent of its own. This session does not change.
    ///
    /// ```no_run
    /// # async fn example(session: musher::Session) -> musher::Result<()> {
    /// let compaction = session.compact().instructions("Keep the names of all functions.").await?;
    /// println!("{} messages replaced", compaction.removed_messages);
    /// # Ok(()) }
    /// ```
    pub fn compact(&self) -> Compact {
        Compact { session: self.clone(), params: CompactSessionParams::default() }
    }

    /// Enters spec mode, in which the agent plans and asks before it changes anything, and returns the state.
    ///
    /// ```no_run
    /// # async fn example(session: musher::Session) -> musher::Result<()> {
    /// session.enter_spec_mode().model("a-model-that-plans").await?;
    /// # Ok(()) }
    /// ```
    pub fn enter_spec_mode(&self) -> EnterSpecMode {
        let params = UpdateSessionSettingsParams {
            interaction_mode: Some(InteractionMode::Spec),
            ..UpdateSessionSettingsParams::default()
        };
        EnterSpecMode { session: self.clone(), params }
    }
}

/// A fork of a session, created when this is awaited. See [`Session::fork`].
#[derive(Debug, Clone)]
#[must_use = "the session is copied when this is awaited"]
pub struct Fork {
    session: Session,
    params: ForkSessionParams,
}

impl Fork {
    /// Sets the title of the fork. The agent chooses one by default.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.params.title = Some(title.into());
        self
    }

    /// Adds a tag to the fork.
    pub fn tag(mut self, tag: Tag) -> Self {
        self.params.tags.get_or_insert_default().push(tag);
        self
    }
}

impl IntoFuture for Fork {
    type Output = Result<Session>;
    type IntoFuture = Boxed<Session>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let forked = self.session.client().fork_session(self.params).await?;
            self.session.open_sibling(forked.new_session_id).await
        })
    }
}

/// A compaction of a session, done when this is awaited. See [`Session::compact`].
#[derive(Debug, Clone)]
#[must_use = "the session is compacted when this is awaited"]
pub struct Compact {
    session: Session,
    params: CompactSessionParams,
}

impl Compact {
    /// Sets instructions for the model on what to keep in the summary.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.params.custom_instructions = Some(instructions.into());
        self
    }
}

impl IntoFuture for Compact {
    type Output = Result<Compaction>;
    type IntoFuture = Boxed<Compaction>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let compacted = self.session.client().compact_session(self.params).await?;
            let removed_messages = compacted.removed_count.map_or(0, |count| count.get());
            let session = self.session.open_sibling(compacted.new_session_id).await?;
            Ok(Compaction { session, removed_messages })
        })
    }
}

/// A session that was compacted.
#[derive(Debug)]
#[non_exhaustive]
pub struct Compaction {
    /// The new session, which begins with the summary.
    pub session: Session,
    /// The number of messages that the summary replaces.
    pub removed_messages: u64,
}

/// A change to spec mode, done when this is awaited. See [`Session::enter_spec_mode`].
#[derive(Debug, Clone)]
#[must_use = "spec mode is entered when this is awaited"]
pub struct EnterSpecMode {
    session: Session,
    params: UpdateSessionSettingsParams,
}

impl EnterSpecMode {
    /// Sets the model for planning; the session's model by default.
    pub fn model(mut self, id: impl Into<String>) -> Self {
        self.params.spec_mode_model_id = Some(id.into());
        self
    }

    /// Sets the reasoning effort for planning; the session's effort by default.
    pub fn reasoning_effort(mut self, effort: ReasoningEffort) -> Self {
        self.params.spec_mode_reasoning_effort = Some(effort);
        self
    }
}

impl IntoFuture for EnterSpecMode {
    type Output = Result<SessionState>;
    type IntoFuture = Boxed<SessionState>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.session.update_settings(self.params).await })
    }
}
