//! `musher sessions search`: text in prompts, answers, calls and results.

use musher_engine::{Content, Message};
use serde_json::{Value, json};

use super::stores::{Found, SessionStores};
use super::transcript::{call_line, is_visible, role, text_of};
use crate::args::sessions::Search;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::sanitize::sanitized;
use crate::style::Style;
use crate::styled::Styled;

/// Maximum number of matches shown per session.
const MAX_SHOWN_MATCHES: usize = 3;
/// Characters of context before and after a match.
const CONTEXT_CHARACTERS: usize = 40;

/// A match.
#[derive(Debug, PartialEq, Eq)]
struct Match {
    message_id: String,
    role: &'static str,
    before: String,
    text: String,
    after: String,
}

pub(super) fn run(stores: &SessionStores, args: &Search, printer: Printer) -> Result<Exit, Failure> {
    let wanted = args.text.to_lowercase();
    if wanted.trim().is_empty() {
        return Err(Failure::setup(anyhow::anyhow!("missing search text")));
    }
    let style = Style::of_stdout();
    let mut found = Vec::new();
    for session in stores.all(args.cwd.as_deref(), args.filter.owner, args.filter.archived) {
        if found.len() >= args.limit {
            break;
        }
        // an unreadable session has no matches; `show` reports why
        let Ok(stored) = stores.store(&session).read(&session.summary.id) else { continue };
        let messages = stored.messages.iter().filter(|message| is_visible(message));
        let matches: Vec<Match> = messages.flat_map(|message| matches(message, &wanted)).collect();
        if matches.is_empty() && !session.title().to_lowercase().contains(&wanted) {
            continue;
        }
        if args.filter.json {
            found.push(json(&session, &matches));
        } else {
            print(&session, &matches, style, printer)?;
            found.push(Value::Null);
        }
    }
    if args.filter.json {
        printer.json(&serde_json::to_string_pretty(&found)?)?;
    } else if found.is_empty() {
        printer.note(format!("no sessions match `{}`", sanitized(&args.text, 80)));
    }
    Ok(if found.is_empty() { Exit::Failed } else { Exit::Done })
}

/// Returns the matches of one message, at most one per part.
fn matches(message: &Message, wanted: &str) -> Vec<Match> {
    let texts = message.content.iter().filter_map(|content| match content {
        Content::Text(text) => Some(text.clone()),
        Content::ToolUse(call) => {
            let (name, about) = call_line(call);
            Some(format!("{name} {about}"))
        }
        Content::ToolResult { for_client, .. } => Some(text_of(for_client)),
        _ => None,
    });
    let matches = texts.filter_map(|text| {
        let (before, text, after) = around(&text, wanted)?;
        Some(Match { message_id: message.id.clone(), role: role(message.role), before, text, after })
    });
    matches.collect()
}

/// Finds the text, ignoring case; returns the match with its context.
fn around(text: &str, wanted: &str) -> Option<(String, String, String)> {
    // character by character, since the lower case of a text may be longer than the text
    let wanted: Vec<char> = wanted.chars().collect();
    let characters: Vec<char> = text.chars().collect();
    let lower: Vec<(usize, char)> = characters
        .iter()
        .enumerate()
        .flat_map(|(index, character)| character.to_lowercase().map(move |lower| (index, lower)))
        .collect();
    let is_here = |window: &[(usize, char)]| window.iter().map(|(_, lower)| lower).eq(&wanted);
    let window = lower.windows(wanted.len()).find(|window| is_here(window))?;
    let (start, end) = (window.first()?.0, window.last()?.0 + 1);
    let line =
        |range: std::ops::Range<usize>| sanitized(&characters[range].iter().collect::<String>(), usize::MAX);
    let (from, to) =
        (start.saturating_sub(CONTEXT_CHARACTERS), (end + CONTEXT_CHARACTERS).min(characters.len()));
    let before = format!("{}{}", if from > 0 { "…" } else { "" }, line(from..start));
    let after = format!("{}{}", line(end..to), if to < characters.len() { "…" } else { "" });
    Some((before, line(start..end), after))
}

fn print(session: &Found, matches: &[Match], style: Style, printer: Printer) -> Result<(), Failure> {
    let id = style.notable(session.summary.id.as_str());
    printer.data(id + "  " + sanitized(session.title(), 80))?;
    for found in matches.iter().take(MAX_SHOWN_MATCHES) {
        let Match { role, before, text, after, .. } = found;
        printer.data(Styled::from(format!("  {role}: {before}")) + style.strong(text) + after.as_str())?;
    }
    if matches.len() > MAX_SHOWN_MATCHES {
        printer.data(style.dim(&format!("  {} more matches", matches.len() - MAX_SHOWN_MATCHES)))?;
    }
    Ok(())
}

fn json(session: &Found, matches: &[Match]) -> Value {
    let mut object = session.json();
    let places = matches.iter().map(|found| {
        let text = format!("{}{}{}", found.before, found.text, found.after);
        json!({"messageId": found.message_id, "role": found.role, "text": text})
    });
    object["matches"] = places.collect();
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_found_whatever_its_case_with_what_is_around_it() {
        let long = "x".repeat(60);
        let text = format!("{long} The\nMANGO is here {long}");
        let (before, found, after) = around(&text, "mango").unwrap();
        assert_eq!((before.chars().count(), found.as_str(), after.chars().count()), (41, "MANGO", 41));
        assert!(before.ends_with(" The "), "{before}");
        assert_eq!(around("İstanbul", "bul").unwrap().0, "İstan");
        assert_eq!(around("short", "longer than it"), None);
    }
}
