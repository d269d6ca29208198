//! One prompt, one result, nothing to close.

use std::future::{Future, IntoFuture};
use std::pin::Pin;

use tokio_util::sync::CancellationToken;

use crate::{Budget, Document, Image, Result, Session, SessionBuilder, TurnResult};

/// Runs one prompt in a session of its own, which is closed afterwards.
///
/// ```no_run
/// # async fn example() -> musher::Result<()> {
/// let answer = musher::run("What files are in this directory?").cwd("/workspace").await?;
/// println!("{}", answer.text);
/// # Ok(()) }
/// ```
pub fn run(prompt: impl Into<String>) -> Run {
    Run {
        prompt: prompt.into(),
        session: Session::builder(),
        images: Vec::new(),
        documents: Vec::new(),
        schema: None,
        cancel: None,
    }
}

/// The options of a one-shot run, which begins when it is awaited. See [`run`].
#[derive(Debug)]
#[must_use = "a run begins when it is awaited"]
pub struct Run {
    prompt: String,
    session: SessionBuilder,
    images: Vec<Image>,
    documents: Vec<Document>,
    schema: Option<serde_json::Value>,
    cancel: Option<CancellationToken>,
}

impl Run {
    /// Sets the directory to work in; the current one by default.
    pub fn cwd(self, cwd: impl AsRef<std::path::Path>) -> Self {
        self.session(|session| session.cwd(cwd))
    }

    /// Sets the model. The agent chooses one by default.
    pub fn model(self, id: impl Into<String>) -> Self {
        self.session(|session| session.model(id))
    }

    /// Sets any option of the session.
    ///
    /// ```no_run
    /// # async fn example() -> musher::Result<()> {
    /// use musher::Autonomy;
    /// let answer = musher::run("Run the tests.").session(|session| session.autonomy(Autonomy::Medium)).await?;
    /// # Ok(()) }
    /// ```
    pub fn session(mut self, change: impl FnOnce(SessionBuilder) -> SessionBuilder) -> Self {
        self.session = change(self.session);
        self
    }

    /// Adds a picture to the prompt.
    pub fn image(mut self, image: Image) -> Self {
        self.images.push(image);
        self
    }

    /// Adds a file to the prompt.
    pub fn document(mut self, document: Document) -> Self {
        self.documents.push(document);
        self
    }

    /// Sets the JSON schema of the answer. The answer is then a JSON object that matches it.
    pub fn output_schema(mut self, schema: serde_json::Value) -> Self {
        self.schema = Some(schema);
        self
    }

    /// Sets a token that interrupts the run when it is cancelled.
    pub fn cancel_token(mut self, token: CancellationToken) -> Self {
        self.cancel = Some(token);
        self
    }

    /// Sets the budget of the run, after which it is interrupted. There is no limit by default.
    pub fn budget(self, budget: Budget) -> Self {
        self.session(|session| session.budget(budget))
    }

    async fn go(self) -> Result<TurnResult> {
        let session = self.session.open().await?;
        let mut prompt = session.send(self.prompt);
        for image in self.images {
            prompt = prompt.image(image);
        }
        for document in self.documents {
            prompt = prompt.document(document);
        }
        if let Some(schema) = self.schema {
            prompt = prompt.output_schema(schema);
        }
        if let Some(token) = self.cancel {
            prompt = prompt.cancel_token(token);
        }
        let result = prompt.await;
        session.close().await?;
        result
    }
}

impl IntoFuture for Run {
    type Output = Result<TurnResult>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.go())
    }
}
