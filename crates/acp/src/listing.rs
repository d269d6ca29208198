//! The sessions on disk, as an editor lists them: page by page, newest first.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, SystemTime};

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{ListSessionsRequest, ListSessionsResponse, SessionInfo};
use musher::StoredSession;

use crate::config::Config;

use crate::registry::explained;

/// How many sessions are on one page.
const PAGE: usize = 100;

/// Returns one page of the sessions, of one directory or of all.
pub(crate) async fn list(
    asked: &ListSessionsRequest,
    config: &Config,
) -> Result<ListSessionsResponse, Error> {
    let start = match &asked.cursor {
        Some(cursor) => {
            cursor.parse().map_err(|_bad| explained(&Error::invalid_params(), "invalid cursor"))?
        }
        None => 0_usize,
    };
    let found = stored(config, asked.cwd.as_deref(), start.saturating_add(PAGE + 1)).await?;
    Ok(page(found, start, config.additional_directories))
}

/// Returns the newest sessions, of one directory or of all: the agent's own, and those it would take over.
pub(crate) async fn stored(
    config: &Config,
    cwd: Option<&Path>,
    limit: usize,
) -> Result<Vec<StoredSession>, Error> {
    let listing = async |folder: Option<&Path>| {
        let listing = musher::list_sessions().used_only().limit(limit);
        let listing = match cwd {
            Some(cwd) => listing.cwd(cwd),
            None => listing.outside_cwd(),
        };
        let listing = match folder {
            Some(folder) => listing.sessions_dir(folder),
            None => listing,
        };
        listing.await.map_err(|error| explained(&Error::internal_error(), error.with_causes().to_string()))
    };
    let own = listing(config.sessions_dir.as_deref()).await?;
    let Some(foreign) = &config.foreign_sessions_dir else { return Ok(own) };
    Ok(merged(own, listing(Some(foreign)).await?, limit))
}

/// Returns both lists in one, newest first. What was taken over is the agent's own.
fn merged(mut own: Vec<StoredSession>, foreign: Vec<StoredSession>, limit: usize) -> Vec<StoredSession> {
    let taken: HashSet<_> = own.iter().map(|session| session.id.clone()).collect();
    own.extend(foreign.into_iter().filter(|session| !taken.contains(&session.id)));
    own.sort_by_key(|session| Reverse(session.modified));
    own.truncate(limit);
    own
}

fn page(found: Vec<StoredSession>, start: usize, with_directories: bool) -> ListSessionsResponse {
    let has_more = found.len() > start + PAGE;
    let shown = found.into_iter().skip(start).take(PAGE);
    let shown = shown.filter_map(|session| info(session, with_directories));
    let response = ListSessionsResponse::new(shown.collect::<Vec<_>>());
    if has_more { response.next_cursor((start + PAGE).to_string()) } else { response }
}

/// Returns the session for a list. One whose directory is not known cannot be opened by an editor.
fn info(session: StoredSession, with_directories: bool) -> Option<SessionInfo> {
    let title = session.session_title.unwrap_or(session.title);
    let info = SessionInfo::new(session.id, session.cwd?);
    let directories = if with_directories { session.additional_directories } else { Vec::new() };
    Some(info.additional_directories(directories).title(title).updated_at(timestamp(session.modified)))
}

/// Returns a time in the form of ISO 8601.
fn timestamp(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let (days, seconds) = (since / 86_400, since % 86_400);
    // civil from days: eras of 400 years, years that begin in March
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_printed_as_everybody_reads_them() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_794_767_242, "2026-11-15T18:27:22Z"),
        ] {
            assert_eq!(timestamp(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }
}
