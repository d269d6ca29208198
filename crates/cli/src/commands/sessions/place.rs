//! Where sessions are, and which one is meant: by its id, or by the beginning of it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use musher_engine::SessionId;
use musher_engine::store::{Store, StoreError, Summary};
use serde_json::{Value, json};

use super::when;
use crate::args::sessions::Owner;
use crate::embedded;
use crate::exit::{Exit, Failure};
use crate::sanitize::sanitized;

/// So many sessions are named when it is not clear which one is meant.
const NAMED_AT_MOST: usize = 5;
/// From here on a name is close enough to be what was meant.
const CLOSE: f64 = 0.8;

/// The sessions of the user.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) ours: Store,
    /// Not there if our home is droid's: then all are ours.
    pub(super) droids: Option<(PathBuf, Store)>,
}

/// A session that was found.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) owner: Owner,
    pub(super) summary: Summary,
}

impl Place {
    /// The homes that the environment names.
    pub(super) fn of_user() -> Result<Self, Failure> {
        let (home, droids) = (embedded::home()?, embedded::factory_home());
        let same = |one: &Path, other: &Path| {
            let real = |path: &Path| fs_err::canonicalize(path).ok();
            one == other || (real(one).is_some() && real(one) == real(other))
        };
        let droids = droids.filter(|droids| !same(droids, &home));
        Ok(Self { ours: Store::open(home), droids: droids.map(|home| (home.clone(), Store::open(home))) })
    }

    /// The store that has the session.
    pub(super) fn store(&self, found: &Found) -> &Store {
        match (&self.droids, found.owner) {
            (Some((_, store)), Owner::Droid) => store,
            _ => &self.ours,
        }
    }

    /// The store that has the session, if it may be changed there.
    pub(super) fn store_to_change(&self, found: &Found) -> Result<&Store, Failure> {
        if found.owner == Owner::Musher {
            return Ok(&self.ours);
        }
        let id = &found.summary.id;
        Err(Failure::setup(anyhow!("session {id} is droid's, and musher does not change droid's files"))
            .hint(format!("`musher sessions fork {id}` copies it into your own sessions"))
            .hint(format!(
                "with {}=~/.factory musher works on droid's files as its own",
                embedded::HOME_VARIABLE
            )))
    }

    /// All sessions, newest first. One that was taken over from droid is ours.
    pub(super) fn all(&self, cwd: Option<&Path>, of: Option<Owner>, with_archived: bool) -> Vec<Found> {
        let list = |store: &Store, owner| {
            let sessions = if with_archived {
                store.list_with_archived(cwd, usize::MAX)
            } else {
                store.list(cwd, usize::MAX)
            };
            sessions.into_iter().map(move |summary| Found { owner, summary }).collect::<Vec<_>>()
        };
        let mut found = list(&self.ours, Owner::Musher);
        if let Some((_, store)) = &self.droids {
            let taken: HashSet<_> = found.iter().map(|session| session.summary.id.clone()).collect();
            let theirs = list(store, Owner::Droid);
            found.extend(theirs.into_iter().filter(|session| !taken.contains(&session.summary.id)));
        }
        found.retain(|session| of.is_none_or(|of| session.owner == of));
        found.sort_by(|a, b| {
            b.summary.modified.cmp(&a.summary.modified).then_with(|| a.summary.id.cmp(&b.summary.id))
        });
        found
    }

    /// The session that is meant.
    pub(super) fn find(&self, given: &str) -> Result<Found, Failure> {
        let all = self.all(None, None, true);
        let is_prefix =
            |session: &&Found| session.summary.id.as_str().starts_with(given) && !given.is_empty();
        if let Some(exact) = all.iter().find(|session| session.summary.id.as_str() == given) {
            return Ok(exact.clone());
        }
        let fitting: Vec<_> = all.iter().filter(is_prefix).collect();
        match fitting.as_slice() {
            [one] => Ok((*one).clone()),
            [] => Err(unknown(given, &all)),
            several => {
                let failure =
                    Failure::setup(anyhow!("`{}` fits {} sessions", sanitized(given, 64), several.len()));
                let named = several.iter().take(NAMED_AT_MOST);
                Err(named.fold(failure, |failure, session| failure.hint(session.line())))
            }
        }
    }
}

fn unknown(given: &str, all: &[Found]) -> Failure {
    let failure = Failure::setup(anyhow!("there is no session `{}`", sanitized(given, 64)));
    let likeness = |session: &Found| {
        let id = session.summary.id.as_str();
        let beginning = &id[..id.floor_char_boundary(given.len())];
        let title = session.title().to_lowercase();
        strsim::jaro_winkler(given, beginning).max(strsim::jaro_winkler(&given.to_lowercase(), &title))
    };
    let likely = all.iter().map(|session| (likeness(session), session));
    let closest =
        likely.max_by(|(one, _), (other, _)| one.total_cmp(other)).filter(|(likeness, _)| *likeness >= CLOSE);
    let failure = match closest {
        Some((_, session)) => failure.hint(format!("the closest is {}", session.line())),
        None => failure,
    };
    if all.is_empty() {
        return failure.hint("there are no sessions yet; `musher exec` makes one");
    }
    failure.hint("`musher sessions list --all` shows all there are")
}

impl Found {
    /// The name people gave it, or that was made for it.
    pub(super) fn title(&self) -> &str {
        self.summary.session_title.as_deref().unwrap_or(&self.summary.title)
    }

    /// The session in a hint.
    fn line(&self) -> String {
        format!("{}  {}", self.summary.id, sanitized(self.title(), 60))
    }

    pub(super) fn json(&self) -> Value {
        let summary = &self.summary;
        json!({
            "id": summary.id.as_str(),
            "title": self.title(),
            "of": self.owner.name(),
            "cwd": summary.cwd.as_ref().map(|cwd| cwd.to_string_lossy()),
            "parent": summary.parent,
            "created": when::utc(summary.created),
            "modified": when::utc(summary.modified),
            "isArchived": summary.is_archived,
        })
    }
}

impl Owner {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Musher => "musher",
            Self::Droid => "droid",
        }
    }
}

/// An error of the store with what can be done about it.
pub(super) fn explained(error: StoreError) -> Failure {
    match &error {
        StoreError::Locked { .. } => Failure { exit: Exit::Failed, ..Failure::setup(error) }
            .hint("close it there first; reading works meanwhile"),
        StoreError::NoMessage { .. } => {
            Failure::setup(error).hint("`musher sessions show ID --json` has the ids of messages")
        }
        _ => Failure { exit: Exit::Failed, ..Failure::setup(error) },
    }
}

/// An id nobody has.
pub(super) fn new_id() -> SessionId {
    SessionId::random()
}
