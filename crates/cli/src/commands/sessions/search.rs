//! `musher sessions search`: text in prompts, answers, calls and results.

use std::collections::VecDeque;
use std::ops::Range;

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
        let Ok(reading) = stores.store(&session).read_messages(&session.summary.id) else { continue };
        let messages = reading.messages().map_while(Result::ok).filter(is_visible);
        let (mut matches, mut count) = (Vec::new(), 0);
        for found in messages.flat_map(|message| matches_in(&message, &wanted)) {
            count += 1;
            if args.filter.json || count <= MAX_SHOWN_MATCHES {
                matches.push(found);
            }
        }
        if matches.is_empty() && !session.title().to_lowercase().contains(&wanted) {
            continue;
        }
        if args.filter.json {
            found.push(json(&session, &matches));
        } else {
            print(&session, &matches, count, style, printer)?;
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
fn matches_in(message: &Message, wanted: &str) -> Vec<Match> {
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

/// Finds the text, ignoring case; returns the match with its context. Takes no memory for the rest of the text.
fn around(text: &str, wanted: &str) -> Option<(String, String, String)> {
    // character by character, since the lower case of a text may be longer than the text
    let wanted: Vec<char> = wanted.chars().collect();
    let lower = text
        .char_indices()
        .flat_map(|(at, character)| character.to_lowercase().map(move |lower| (at, character, lower)));
    let mut window = VecDeque::with_capacity(wanted.len() + 1);
    for character in lower {
        window.push_back(character);
        if window.len() > wanted.len() {
            window.pop_front();
        }
        if window.iter().map(|(_, _, lower)| lower).eq(&wanted) {
            break;
        }
    }
    if !window.iter().map(|(_, _, lower)| lower).eq(&wanted) {
        return None;
    }
    let (start, (last, character, _)) = (window.front()?.0, *window.back()?);
    let end = last + character.len_utf8();
    let from = text[..start].char_indices().rev().nth(CONTEXT_CHARACTERS - 1).map_or(0, |(at, _)| at);
    let to = text[end..].char_indices().nth(CONTEXT_CHARACTERS).map_or(text.len(), |(at, _)| end + at);
    let line = |range: Range<usize>| sanitized(&text[range], usize::MAX);
    let before = format!("{}{}", if from > 0 { "…" } else { "" }, line(from..start));
    let after = format!("{}{}", line(end..to), if to < text.len() { "…" } else { "" });
    Some((before, line(start..end), after))
}

fn print(
    session: &Found,
    matches: &[Match],
    count: usize,
    style: Style,
    printer: Printer,
) -> Result<(), Failure> {
    let id = style.notable(session.summary.id.as_str());
    printer.data(id + "  " + sanitized(session.title(), 80))?;
    for found in matches {
        let Match { role, before, text, after, .. } = found;
        printer.data(Styled::from(format!("  {role}: {before}")) + style.strong(text) + after.as_str())?;
    }
    if count > matches.len() {
        printer.data(style.dim(&format!("  {} more matches", count - matches.len())))?;
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
