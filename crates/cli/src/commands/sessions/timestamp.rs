//! Timestamps for users and for programs.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Formats a timestamp for programs: `2026-11-15T21:20:58.769Z`.
pub(crate) fn utc(at: SystemTime) -> Option<String> {
    Timestamp::try_from(at).ok().map(|at| format!("{at:.3}"))
}

/// Returns the same for milliseconds since 1970.
pub(super) fn utc_of_ms(at: i64) -> Option<String> {
    Timestamp::from_millisecond(at).ok().map(|at| format!("{at:.3}"))
}

/// Formats a timestamp for users, in their time zone: `2026-11-15 22:20 CET`.
pub(crate) fn local(at: SystemTime) -> Option<String> {
    in_zone(at, TimeZone::system())
}

fn in_zone(at: SystemTime, zone: TimeZone) -> Option<String> {
    let at = Timestamp::try_from(at).ok()?.to_zoned(zone);
    Some(at.strftime("%Y-%m-%d %H:%M %Z").to_string())
}

/// Formats a timestamp for users: `5 min ago`. A moment in the future counts as now, because clocks differ.
pub(crate) fn ago(at: SystemTime, now: SystemTime) -> String {
    let seconds = now.duration_since(at).unwrap_or(Duration::ZERO).as_secs();
    match seconds {
        0..60 => "now".to_owned(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        86_400..2_592_000 => format!("{} d ago", seconds / 86_400),
        _ => utc(at).map_or_else(|| "long ago".to_owned(), |text| text[..10].to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_told_as_people_say_them() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_hours(100 * 24);
        for (seconds, expected) in [
            (0, "now"),
            (59, "now"),
            (60, "1 min ago"),
            (7300, "2 h ago"),
            (3 * 86_400, "3 d ago"),
            (99 * 86_400, "1970-01-02"),
        ] {
            assert_eq!(ago(now - Duration::from_secs(seconds), now), expected);
        }
        assert_eq!(ago(now + Duration::from_secs(9), now), "now");
        assert_eq!(utc(now).as_deref(), Some("1970-04-11T00:00:00.000Z"));
        assert_eq!(in_zone(now, TimeZone::UTC).as_deref(), Some("1970-04-11 00:00 UTC"));
        let east = TimeZone::posix("EET-2").unwrap();
        assert_eq!(in_zone(now, east).as_deref(), Some("1970-04-11 02:00 EET"));
    }
}
