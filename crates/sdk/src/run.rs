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

/// A one-shot run. Await it.
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
    /// The directory to work in.
    pub fn cwd(self, cwd: impl AsRef<std::path::Path>) -> Self {
        self.session(|session| session.cwd(cwd))
    }

    /// The model.
    pub fn model(self, id: impl Into<String>) -> Self {
        self.session(|session| session.model(id))
    }

    /// Any option of a session.
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

    /// Adds a picture.
    pub fn image(mut self, image: Image) -> Self {
        self.images.push(image);
        self
    }

    /// Adds a file.
    pub fn document(mut self, document: Document) -> Self {
        self.documents.push(document);
        self
    }

    /// The answer must be a JSON object that fits this schema.
    pub fn output_schema(mut self, schema: serde_json::Value) -> Self {
        self.schema = Some(schema);
        self
    }

    /// The run is interrupted when this is cancelled.
    pub fn cancel_token(mut self, token: CancellationToken) -> Self {
        self.cancel = Some(token);
        self
    }

    /// How much the run may use.
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
