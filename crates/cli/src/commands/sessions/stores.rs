//! The session stores of musher and of droid, and finding a session by its id or a prefix of it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use musher_engine::store::{Store, StoreError, Summary};
use musher_engine::{SessionId, Spending, Usage};
use serde_json::{Value, json};

use super::super::usage::figures;
use super::timestamp;
use crate::args::sessions::Owner;
use crate::embedded;
use crate::exit::{Exit, Failure};
use crate::sanitize::sanitized;

/// Maximum number of sessions listed for an ambiguous id.
const MAX_CANDIDATES: usize = 5;
/// Minimum similarity of a suggested session.
const MIN_SIMILARITY: f64 = 0.8;

/// The stores of the user.
#[derive(Debug)]
pub(super) struct SessionStores {
    pub(super) ours: Store,
    /// `None` if our home is droid's: then all sessions are ours.
    pub(super) droids: Option<(PathBuf, Store)>,
}

/// A session that was found.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) owner: Owner,
    pub(super) summary: Summary,
}

impl SessionStores {
    /// Opens the stores that the environment names.
    pub(super) fn of_user() -> Result<Self, Failure> {
        let (home, droids) = (embedded::home()?, embedded::factory_home());
        let same = |one: &Path, other: &Path| {
            let real = |path: &Path| fs_err::canonicalize(path).ok();
            one == other || (real(one).is_some() && real(one) == real(other))
        };
        let droids = droids.filter(|droids| !same(droids, &home));
        Ok(Self { ours: Store::open(home), droids: droids.map(|home| (home.clone(), Store::open(home))) })
    }

    /// Returns the store that has the session.
    pub(super) fn store(&self, found: &Found) -> &Store {
        match (&self.droids, found.owner) {
            (Some((_, store)), Owner::Droid) => store,
            _ => &self.ours,
        }
    }

    /// Returns the store of the session if it may be changed there.
    pub(super) fn store_to_change(&self, found: &Found) -> Result<&Store, Failure> {
        if found.owner == Owner::Musher {
            return Ok(&self.ours);
        }
        let id = &found.summary.id;
        Err(Failure::setup(anyhow!("cannot change session {id}: it belongs to droid"))
            .hint(format!("`musher sessions fork {id}` copies it to musher's sessions"))
            .hint(format!(
                "set {}=~/.factory to let musher use droid's files as its own",
                embedded::HOME_VARIABLE
            )))
    }

    /// Returns all sessions, newest first. A session imported from droid counts as ours.
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

    /// Finds a session by its id or an unambiguous prefix.
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
                let failure = Failure::setup(anyhow!(
                    "ambiguous session `{}`: it matches {} sessions",
                    sanitized(given, 64),
                    several.len()
                ));
                let named = several.iter().take(MAX_CANDIDATES);
                Err(named.fold(failure, |failure, session| failure.hint(session.line())))
            }
        }
    }
}

fn unknown(given: &str, all: &[Found]) -> Failure {
    let failure = Failure::setup(anyhow!("unknown session `{}`", sanitized(given, 64)));
    let likeness = |session: &Found| {
        let id = session.summary.id.as_str();
        let beginning = &id[..id.floor_char_boundary(given.len())];
        let title = session.title().to_lowercase();
        strsim::jaro_winkler(given, beginning).max(strsim::jaro_winkler(&given.to_lowercase(), &title))
    };
    let likely = all.iter().map(|session| (likeness(session), session));
    let closest = likely
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .filter(|(likeness, _)| *likeness >= MIN_SIMILARITY);
    let failure = match closest {
        Some((_, session)) => failure.hint(format!("did you mean {}", session.line())),
        None => failure,
    };
    if all.is_empty() {
        return failure.hint("no sessions yet; `musher run` creates one");
    }
    failure.hint("`musher sessions list --all` lists all sessions")
}

impl Found {
    /// Returns the title that the user gave, or that was generated.
    pub(super) fn title(&self) -> &str {
        self.summary.session_title.as_deref().unwrap_or(&self.summary.title)
    }

    /// Returns the session in a hint.
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
            "created": timestamp::utc(summary.created),
            "modified": timestamp::utc(summary.modified),
            "isArchived": summary.is_archived,
            "usage": self.spending().map(|spending| figures(&spending)),
        })
    }

    /// Returns what the session and its subagents have spent, if anything.
    pub(super) fn spending(&self) -> Option<Spending> {
        let spending = Spending::of_session(&self.summary.settings());
        (spending.usage != Usage::default()).then_some(spending)
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

/// Converts an error of the store to a failure with a hint.
pub(super) fn explained(error: StoreError) -> Failure {
    match &error {
        StoreError::Locked { .. } => Failure { exit: Exit::Failed, ..Failure::setup(error) }
            .hint("wait until its turn has ended; it can be read and forked meanwhile"),
        StoreError::NoMessage { .. } => {
            Failure::setup(error).hint("`musher sessions show ID --json` lists the message ids")
        }
        _ => Failure { exit: Exit::Failed, ..Failure::setup(error) },
    }
}

/// Returns a new unique id.
pub(super) fn new_id() -> SessionId {
    SessionId::random()
}
