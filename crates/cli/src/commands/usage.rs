//! `musher usage`: what the sessions on disk have spent, by day, model or project. No agent is started.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use musher_engine::store::Store;
use musher_engine::{Ledger, Spending};
use serde_json::{Map, Value, json};

use crate::args::{GroupBy, Usage};
use crate::embedded;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::sanitize::sanitized;
use crate::style::{Style, padded};
use crate::styled::Styled;
use crate::view::{dollars, grouped, percent};

const DAY: Duration = Duration::from_hours(24);
/// Maximum length of a shown key.
const MAX_KEY_LENGTH: usize = 200;

/// What was spent, by the keys of the groups.
type Groups = BTreeMap<Vec<String>, Spending>;

pub(crate) fn run(args: &Usage, printer: Printer) -> Result<Exit, Failure> {
    let first = args.days.map(|days| day(SystemTime::now() - DAY * (days - 1)));
    let groups = groups(&Store::open(embedded::home()?), &args.by, first.as_deref());
    if args.json {
        printer.json(&serde_json::to_string_pretty(&object(&groups, &args.by))?)?;
        return Ok(Exit::Done);
    }
    if groups.is_empty() {
        printer.note("no usage recorded");
        return Ok(Exit::Done);
    }
    for line in table(&groups, &args.by, Style::of_stdout()) {
        printer.data(line)?;
    }
    Ok(Exit::Done)
}

/// Adds up the ledgers of all sessions, from a day on. A subagent is a session of its own.
fn groups(store: &Store, by: &[GroupBy], first: Option<&str>) -> Groups {
    let mut groups = Groups::new();
    for session in store.list_with_archived(None, usize::MAX) {
        let ledger = Ledger::of_session(&session.settings(), &day(session.modified));
        let project = session.cwd.map(|cwd| cwd.to_string_lossy().into_owned()).unwrap_or_default();
        for (day, model, spending) in
            ledger.entries().filter(|(day, ..)| first.is_none_or(|first| *day >= first))
        {
            let key = |by: &GroupBy| match by {
                GroupBy::Day => day.to_owned(),
                GroupBy::Model => model.to_owned(),
                GroupBy::Project => project.clone(),
            };
            let group = groups.entry(by.iter().map(key).collect()).or_default();
            *group = group.plus(spending);
        }
    }
    groups
}

/// Returns the date of a moment in UTC.
fn day(at: SystemTime) -> String {
    Timestamp::try_from(at).map(|at| at.to_string().chars().take(10).collect()).unwrap_or_default()
}

fn total(groups: &Groups) -> Spending {
    groups.values().copied().fold(Spending::default(), Spending::plus)
}

fn object(groups: &Groups, by: &[GroupBy]) -> Value {
    let rows = groups.iter().map(|(keys, spending)| {
        let mut row = Map::new();
        for (by, key) in by.iter().zip(keys) {
            row.insert(by.name().to_owned(), key.as_str().into());
        }
        row.append(&mut figures(spending));
        Value::from(row)
    });
    json!({"rows": rows.collect::<Vec<_>>(), "total": figures(&total(groups))})
}

/// Tokens and cost, with the names of `run --json`.
pub(super) fn figures(spending: &Spending) -> Map<String, Value> {
    let usage = spending.usage;
    let object = json!({
        "calls": spending.calls,
        "input_tokens": usage.input,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_write,
        "output_tokens": usage.output,
        "reasoning_tokens": usage.thinking,
        "cost_usd": spending.cost.usd(),
        "unpriced_tokens": spending.cost.unpriced_tokens(),
        "estimated_tokens": spending.estimated_tokens,
    });
    if let Value::Object(object) = object { object } else { Map::new() }
}

/// Returns all input tokens, cached or not.
fn input(spending: &Spending) -> u64 {
    let usage = spending.usage;
    usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write)
}

fn table(groups: &Groups, by: &[GroupBy], style: Style) -> Vec<Styled> {
    let heads = by.iter().map(|by| by.name().to_owned());
    let heads: Vec<String> =
        heads.chain(["calls", "input", "cached", "output", "cost"].map(str::to_owned)).collect();
    let cells = |keys: Vec<String>, spending: &Spending| -> Vec<String> {
        let cached = format!("{}%", percent(spending.usage.cache_read, input(spending)));
        let figures = [
            grouped(spending.calls),
            grouped(input(spending)),
            cached,
            grouped(spending.usage.output),
            cost(spending),
        ];
        keys.iter().map(|key| sanitized(key, MAX_KEY_LENGTH)).chain(figures).collect()
    };
    let mut rows: Vec<Vec<String>> = groups.iter().map(|(keys, it)| cells(keys.clone(), it)).collect();
    let mut name = vec![String::new(); by.len()];
    if let Some(first) = name.first_mut() {
        "total".clone_into(first);
    }
    rows.push(cells(name, &total(groups)));
    let widest = |column: usize| {
        let widths = rows.iter().chain([&heads]).filter_map(|row| row.get(column));
        widths.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(widest).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            // names to the left, figures to the right
            if column < by.len() { padded(cell, *width) } else { format!("{cell:>width$}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let body = rows.iter().map(|row| Styled::from(line(row)));
    [style.dim(&line(&heads))].into_iter().chain(body).collect()
}

/// Returns what it cost: `$1.20`, `~$1.20` if a part is an estimate, `$1.20 +` if a part has no known price, or `unknown`.
pub(super) fn cost(spending: &Spending) -> String {
    let sign = if spending.estimated_tokens > 0 { "~" } else { "" };
    match (spending.cost.usd(), spending.cost.unpriced_tokens()) {
        (None, _) => "unknown".to_owned(),
        (Some(usd), 0) => format!("{sign}{}", dollars(usd)),
        (Some(usd), _) => format!("{sign}{} +", dollars(usd)),
    }
}

impl GroupBy {
    fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Model => "model",
            Self::Project => "project",
        }
    }
}
