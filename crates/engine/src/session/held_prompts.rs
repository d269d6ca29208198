//! Prompts that wait for the turn of another process, because their client asked for that. They are in no log yet.

use std::time::Duration;

use super::actor::Actor;
use super::tasks::SessionInput;
use crate::Error;
use crate::command::{CommandId, Prompt, Reply};

/// How often to try again. Storage cannot tell when a lease is released.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);

impl Actor {
    /// Takes a prompt. If another process runs a turn of the session, holds the prompt until then, or refuses it.
    pub(super) fn take_or_hold_prompt(
        &mut self,
        id: &CommandId,
        prompt: Prompt,
    ) -> Result<Option<Reply>, Error> {
        let waiting = prompt.waits_for_session.then(|| prompt.clone());
        // prompts keep their order
        let taken = if self.held_prompts.is_empty() || waiting.is_none() {
            self.take_prompt(id, prompt)
        } else {
            self.hold(id.clone(), prompt);
            return Ok(None);
        };
        match (taken, waiting) {
            (Err(Error::Running(error)), Some(prompt))
                if self.held_prompts.len() < self.environment.limits.queued_prompts =>
            {
                tracing::info!(%error, "a prompt waits for another process");
                self.hold(id.clone(), prompt);
                Ok(None)
            }
            (taken, _) => taken.map(|()| Some(Reply::Done)),
        }
    }

    fn hold(&mut self, id: CommandId, prompt: Prompt) {
        self.held_prompts.push_back((id, prompt));
        if self.held_prompts.len() == 1 {
            self.retry_later();
        }
    }

    fn retry_later(&self) {
        let Some(session) = &self.session else { return };
        let (sender, closed) = (self.sender_of(session), session.cancelled().clone());
        tokio::spawn(async move {
            tokio::select! {
                () = closed.cancelled() => {}
                () = tokio::time::sleep(RETRY_INTERVAL) => { sender.send(SessionInput::RetryHeldPrompts).await; }
            }
        });
    }

    /// Takes the prompts that wait, if the other process has ended its turn.
    pub(super) fn retry_held_prompts(&mut self) {
        while let Some((id, prompt)) = self.held_prompts.pop_front() {
            match self.take_prompt(&id, prompt.clone()) {
                Err(Error::Running(_)) => {
                    self.held_prompts.push_front((id, prompt));
                    return self.retry_later();
                }
                taken => self.reply(id, taken.map(|()| Reply::Done)),
            }
        }
    }

    /// Refuses the prompts that wait: the client interrupts them, or leaves the session.
    pub(super) fn refuse_held_prompts(&mut self) {
        for (id, _) in std::mem::take(&mut self.held_prompts) {
            let error = Error::Invalid("interrupted while it waited for another process".to_owned());
            self.reply(id, Err(error));
        }
    }
}
