//! The work of a chat beside its turn: calls of the session one after the other, and commands of the user, which delay no call.

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use super::job::Done;

type Outcome = anyhow::Result<Done>;
type Work = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// The jobs that run or wait.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    calls: VecDeque<Job>,
    commands: VecDeque<Job>,
}

struct Job {
    /// What the user has asked for; `None` if the chat needs it by itself.
    label: Option<String>,
    work: Work,
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Job").field(&self.label).finish()
    }
}

impl Jobs {
    /// Adds a call of the session.
    pub(super) fn call(
        &mut self,
        label: Option<String>,
        work: impl Future<Output = Outcome> + Send + 'static,
    ) {
        self.calls.push_back(Job { label, work: Box::pin(work) });
    }

    /// Adds a shell command of the user.
    pub(super) fn command(&mut self, label: String, work: impl Future<Output = Outcome> + Send + 'static) {
        self.commands.push_back(Job { label: Some(label), work: Box::pin(work) });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.commands.is_empty()
    }

    /// Returns what runs for the user.
    pub(super) fn label(&self) -> Option<&str> {
        let mut labels = self.commands.iter().chain(&self.calls).map(|job| job.label.as_deref());
        labels.find_map(|label| label)
    }

    /// Ends what [`Jobs::label`] names, and returns its name. Dropping a job ends its processes.
    pub(super) fn cancel(&mut self) -> Option<String> {
        if let Some(job) = self.commands.pop_front() {
            return job.label;
        }
        let at = self.calls.iter().position(|job| job.label.is_some())?;
        self.calls.remove(at)?.label
    }

    /// Waits for the next job that ends. Dropping this future loses nothing.
    pub(super) async fn next(&mut self) -> Outcome {
        poll_fn(|context| {
            for queue in [&mut self.commands, &mut self.calls] {
                let Some(job) = queue.front_mut() else { continue };
                if let Poll::Ready(done) = job.work.as_mut().poll(context) {
                    queue.pop_front();
                    return Poll::Ready(done);
                }
            }
            Poll::Pending
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn forever() -> Outcome {
        std::future::pending().await
    }

    #[tokio::test]
    async fn command_that_runs_delays_no_call_and_can_be_cancelled() {
        let mut jobs = Jobs::default();
        jobs.command("!sleep".to_owned(), forever());
        jobs.call(None, async { Ok(Done::Nothing) });
        assert_eq!(jobs.label(), Some("!sleep"));
        assert!(matches!(jobs.next().await, Ok(Done::Nothing)));
        assert_eq!(jobs.cancel().as_deref(), Some("!sleep"));
        assert!(jobs.is_empty() && jobs.cancel().is_none());
    }

    #[test]
    fn only_what_the_user_asked_for_is_cancelled() {
        let mut jobs = Jobs::default();
        jobs.call(None, forever());
        jobs.call(Some("/compact".to_owned()), forever());
        assert_eq!(jobs.cancel().as_deref(), Some("/compact"));
        assert_eq!(jobs.cancel(), None);
        assert!(!jobs.is_empty());
    }
}
