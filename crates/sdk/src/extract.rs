//! Answers as Rust values: the schema is derived from the type, and the answer is also checked by deserializing it.

use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;

use crate::{Error, Prompt, Result, Session};

impl Session {
    /// Sends a prompt whose answer is deserialized into a `T`.
    ///
    /// ```no_run
    /// # async fn example(session: musher::Session) -> musher::Result<()> {
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Review { verdict: String, risks: Vec<String> }
    ///
    /// let review: Review = session.extract("Review the last commit.").retries(2).await?;
    /// println!("{} ({} risks)", review.verdict, review.risks.len());
    /// # Ok(()) }
    /// ```
    pub fn extract<T: DeserializeOwned + JsonSchema + Send + 'static>(
        &self,
        prompt: impl Into<String>,
    ) -> Extract<T> {
        Extract { session: self.clone(), prompt: prompt.into(), retries: 1, wanted: PhantomData }
    }
}

/// A prompt whose answer becomes a `T`. Await it.
#[derive(Debug)]
#[must_use = "the prompt is sent when it is awaited"]
pub struct Extract<T> {
    session: Session,
    prompt: String,
    retries: usize,
    wanted: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned + JsonSchema + Send + 'static> Extract<T> {
    /// Sets how often to ask again, with the error, if the answer does not match the schema; once by default.
    pub fn retries(mut self, times: usize) -> Self {
        self.retries = times;
        self
    }

    async fn go(self) -> Result<T> {
        // droid refuses the newer dialect, which is the default
        let schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<T>().to_value();
        let ask = |text: String| -> Prompt { self.session.send(text).output_schema(schema.clone()) };
        let mut failure = match attempt(ask(self.prompt.clone())).await {
            Err(failure) if is_about_the_output(&failure) => failure,
            other => return other,
        };
        for _ in 0..self.retries {
            let again = format!(
                "Your answer could not be used: {}\nAnswer again, in the form asked for.",
                failure.with_causes()
            );
            failure = match attempt(ask(again)).await {
                Err(failure) if is_about_the_output(&failure) => failure,
                other => return other,
            };
        }
        Err(failure)
    }
}

async fn attempt<T: DeserializeOwned>(prompt: Prompt) -> Result<T> {
    prompt.await?.ok()?.read_output()
}

fn is_about_the_output(error: &Error) -> bool {
    matches!(error.kind(), crate::ErrorKind::Output { .. })
}

impl<T: DeserializeOwned + JsonSchema + Send + 'static> IntoFuture for Extract<T> {
    type Output = Result<T>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.go())
    }
}
