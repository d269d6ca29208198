//! Titles: the first words of the user, and later a better one, made by a small call of the model.

use std::time::Duration;

use musher_model::{Message as ModelMessage, Request, RetryPolicy, Usage};

use super::actor::Actor;
use super::children::{FromSession, Input};
use super::prompt::title_of;
use super::side_call;
use super::state::sum;
use crate::Happening;
use crate::event::TitleCause;
use crate::models::Model;

/// The most tokens of a title.
const TITLE_TOKENS: u64 = 32;
/// A title that takes longer is not worth it.
const PATIENCE: Duration = Duration::from_secs(30);
/// So much of the first message is shown for it.
const SHOWN: usize = 2000;
const LONGEST: usize = 80;

impl Actor {
    /// The first message gives the session its title. It is told when the turn is over.
    pub(super) fn first_title(&mut self, text: &str) {
        let Some(session) = &mut self.session else { return };
        let is_first = session.messages.iter().filter(|message| is_users(message)).count() == 1;
        let title = title_of(text);
        if session.is_title_manual || !is_first || title.is_empty() {
            return;
        }
        session.title = Some(title.clone());
        if let Err(error) = session.log().and_then(|log| log.set_title(&title, false)) {
            tracing::warn!(%error, "the title was not saved");
        }
        session.new_title = Some(title);
    }

    /// Tells the title of the first message, and begins to look for a better one.
    pub(super) fn tell_title(&mut self) {
        let Some(title) = self.session.as_mut().and_then(|session| session.new_title.take()) else { return };
        self.emit(Happening::Title { title: title.clone(), cause: TitleCause::FirstMessage, ticket: None });
        let model = self.session.as_ref().and_then(super::state::Session::model);
        let (Some(session), Some(model)) = (&self.session, model) else { return };
        if !(self.environment.makes_titles && model.makes_titles) || session.is_title_manual {
            return;
        }
        let said = session.messages.iter().find(|message| is_users(message)).map(|message| message.text());
        let said = said.unwrap_or(title).chars().take(SHOWN).collect::<String>();
        let (number, inputs, cancel) = (session.number, self.inputs.clone(), session.cancel.clone());
        tokio::spawn(async move {
            let asked = tokio::time::timeout(PATIENCE, ask(model, &said));
            let asked = tokio::select! {
                () = cancel.cancelled() => return,
                asked = asked => asked,
            };
            if let Ok(Some((title, usage))) = asked {
                let what = FromSession::Title { title, usage };
                inputs.send(Input::Session { session: number, what }).await.ok();
            }
        });
    }

    /// The model made a title. One the user gave meanwhile stays.
    pub(super) fn titled(&mut self, title: String, usage: Usage) {
        let Some(session) = &mut self.session else { return };
        session.usage = sum(session.usage, usage);
        if session.is_title_manual {
            return;
        }
        if let Err(error) = session.log().and_then(|log| log.set_title(&title, false)) {
            tracing::warn!(%error, "the title was not saved");
        }
        session.title = Some(title.clone());
        self.emit(Happening::Title { title, cause: TitleCause::Model, ticket: None });
    }
}

fn is_users(message: &crate::Message) -> bool {
    message.role == crate::Role::User && message.visibility == crate::Visibility::Both
}

async fn ask(model: Model, said: &str) -> Option<(String, Usage)> {
    let prompt = format!(
        "Write a title of three to seven words for a conversation that begins with the message below. Answer with the title and nothing \
         else.\n\n{said}"
    );
    let mut request = Request::new(model.name, vec![ModelMessage::user(prompt)]);
    request.max_output_tokens = Some(TITLE_TOKENS);
    let (text, used) = side_call::ask(model.provider, request, RetryPolicy::never()).await.ok()?;
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    let title: String = line.trim().trim_matches(['"', '*', '#', '.', ' ']).chars().take(LONGEST).collect();
    (!title.is_empty()).then_some((title, used))
}
