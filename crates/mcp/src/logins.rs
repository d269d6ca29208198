//! Logins of the user at the servers of a session.

use tokio::sync::mpsc;

use super::manager::Mcp;
use super::oauth::{Login, LoginInput, PendingLogin};
use super::pool::{ActiveLogin, Entry, State};
use crate::Error;

/// How a login has ended, if not well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoginFailure {
    /// The server cannot be logged in to.
    Impossible(String),
    /// It was cancelled.
    Cancelled,
    /// It has failed, for this reason.
    Failed(String),
}

impl Mcp {
    /// Logs the user in to a server, and connects to it. Calls `on_pending` once the URL that the user has to open is known. Another
    /// login at the same server is cancelled.
    pub async fn authenticate(
        &self,
        name: &str,
        on_pending: impl AsyncFnOnce(PendingLogin),
    ) -> Result<(), LoginFailure> {
        let (input, mut inputs) = mpsc::channel(4);
        let cancel = self.pool.root.child_token();
        let (auth, id) = {
            let mut servers = self.pool.lock();
            let entry = servers.iter_mut().find(|entry| entry.server.name == name);
            let entry = entry.ok_or_else(|| LoginFailure::Impossible("Server not found".to_owned()))?;
            let Some(auth) = entry.auth.clone() else {
                let why = "it is a program, has a token in its headers, does not use https, or `oauth` is off in mcp.json";
                return Err(LoginFailure::Impossible(format!(
                    "the server `{name}` does not use OAuth: {why}"
                )));
            };
            let id = entry.login.as_ref().map_or(0, |login| login.id + 1);
            let login = ActiveLogin { id, pending: None, input, cancel: cancel.clone() };
            if let Some(old) = entry.login.replace(login) {
                old.cancel.cancel();
            }
            (auth, id)
        };
        let login = async {
            let callback = self.pool.options.login_callback.clone();
            let started = Login::begin(auth, name, callback).await?;
            self.with_login(name, id, |entry| {
                if let Some(login) = &mut entry.login {
                    login.pending = Some(started.pending.clone());
                }
            });
            on_pending(started.pending).await;
            started.login.finish(&mut inputs).await
        };
        let outcome = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(LoginFailure::Cancelled),
            done = login => done.map_err(LoginFailure::Failed),
        };
        self.with_login(name, id, |entry| entry.login = None);
        outcome?;
        self.pool.reconnect(name);
        self.settled_where(|entry| entry.server.name == name).await;
        let servers = self.pool.lock();
        match servers.iter().find(|entry| entry.server.name == name).map(|entry| &entry.state) {
            Some(State::Failed(why)) => {
                Err(LoginFailure::Failed(format!("logged in, but cannot connect: {why}")))
            }
            Some(State::NeedsLogin) => {
                Err(LoginFailure::Failed("the server does not accept the login that was made".to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// Submits the code of a login. Returns whether the login waits for it.
    pub fn submit_code(&self, name: &str, code: &str, state: &str) -> bool {
        self.submit(name, LoginInput::Code { code: code.to_owned(), state: state.to_owned(), issuer: None })
    }

    /// Submits the failure of a login. Returns whether the login waits for it.
    pub fn submit_error(&self, name: &str, error: &str, description: Option<String>, state: &str) -> bool {
        let input = LoginInput::Error { error: error.to_owned(), description, state: state.to_owned() };
        self.submit(name, input)
    }

    /// Submits what a user has pasted: the address that the browser ended at, or only the code. Returns whether a login waits for it.
    pub fn submit_pasted(&self, name: &str, text: &str) -> bool {
        let state = {
            let servers = self.pool.lock();
            let entry = servers.iter().find(|entry| entry.server.name == name);
            let pending = entry.and_then(|entry| entry.login.as_ref()?.pending.as_ref());
            pending.map(|pending| pending.state.clone())
        };
        let input = state.and_then(|state| LoginInput::of_paste(text, &state));
        input.is_some_and(|input| self.submit(name, input))
    }

    fn submit(&self, name: &str, input: LoginInput) -> bool {
        let servers = self.pool.lock();
        let entry = servers.iter().find(|entry| entry.server.name == name);
        let Some(login) = entry.and_then(|entry| entry.login.as_ref()) else { return false };
        let is_expected = login.pending.as_ref().is_some_and(|pending| pending.state == input.state());
        is_expected && login.input.try_send(input).is_ok()
    }

    /// Cancels the login at a server, if one waits.
    pub fn cancel_authentication(&self, name: &str) {
        let servers = self.pool.lock();
        let entry = servers.iter().find(|entry| entry.server.name == name);
        if let Some(login) = entry.and_then(|entry| entry.login.as_ref()) {
            login.cancel.cancel();
        }
    }

    /// Deletes the login at a server, revokes it if the server offers that, and connects again.
    pub async fn clear_authentication(&self, name: &str) -> Result<(), Error> {
        let auth = {
            let servers = self.pool.lock();
            let entry = servers.iter().find(|entry| entry.server.name == name);
            entry.ok_or_else(|| Error::Failed("Server not found".to_owned()))?.auth.clone()
        };
        let Some(auth) = auth else { return Ok(()) };
        let had_tokens = auth.has_tokens();
        auth.clear().await.map_err(Error::Failed)?;
        if had_tokens {
            self.pool.reconnect(name);
        }
        Ok(())
    }

    /// Connects again to servers that the user has logged in to elsewhere. Returns whether there are some.
    pub fn resume_after_login(&self) -> bool {
        self.pool.resume_after_login()
    }

    /// Changes the entry of a server if this login is still the one that waits.
    fn with_login(&self, name: &str, id: u64, change: impl FnOnce(&mut Entry)) {
        {
            let mut servers = self.pool.lock();
            let entry = servers.iter_mut().find(|entry| entry.server.name == name);
            if let Some(entry) =
                entry.filter(|entry| entry.login.as_ref().is_some_and(|login| login.id == id))
            {
                change(entry);
            }
        }
        self.pool.changed();
    }
}
