//! `musher doctor --settings`: each setting with the files that set it, and the value in effect.

use std::collections::BTreeMap;

use musher_engine::BrokenSettings;
use musher_engine::config::{Config, Problem, Source, Standing};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::sanitize::sanitized;
use crate::style::{Style, padded};
use crate::styled::Styled;
use crate::variables::{VARIABLES, Variable};

/// Maximum length of a shown value.
const MAX_LENGTH: usize = 300;

pub(super) fn run(
    config: &Config,
    problems: &[Problem],
    is_json: bool,
    printer: Printer,
) -> Result<Exit, Failure> {
    let broken = BrokenSettings::among(problems);
    if let Some(broken) = &broken {
        printer.note(broken.to_string());
    }
    let exit = if broken.is_none() { Exit::Done } else { Exit::Failed };
    let set: Vec<&Variable> = VARIABLES.iter().filter(|variable| variable.is_set()).collect();
    if is_json {
        let settings: Vec<Value> = config.sources.iter().map(json).collect();
        let names: Vec<&str> = set.iter().map(|variable| variable.name).collect();
        let object = json!({"settings": settings, "variables": names});
        printer.json(&serde_json::to_string_pretty(&object)?)?;
        return Ok(exit);
    }
    for line in report(&config.sources, &set, Style::of_stdout()) {
        printer.data(line)?;
    }
    Ok(exit)
}

/// Returns the settings by name; for each its sources, highest precedence first.
fn report(sources: &[Source], variables: &[&Variable], style: Style) -> Vec<Styled> {
    let mut by_setting: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for source in sources.iter().rev() {
        by_setting.entry(source.setting()).or_default().push(source);
    }
    let mut out = Vec::new();
    for (setting, sources) in by_setting {
        out.push(style.strong(setting));
        for source in sources {
            let value = sanitized(&source.value.to_string(), MAX_LENGTH);
            let file = sanitized(&source.file.to_string_lossy(), MAX_LENGTH);
            let word = padded(word(source.standing), 10);
            let word = match source.standing {
                Standing::Counts => style.good(&word),
                Standing::Overridden => style.dim(&word),
                Standing::Untrusted => style.notable(&word),
            };
            out.push(Styled::from("  ") + word + format!("  {value}  ") + style.dim(&file));
        }
    }
    if out.is_empty() {
        out.push("no settings files found; using defaults".into());
    }
    out.push(Styled::default());
    if variables.is_empty() {
        out.push("no musher environment variables are set".into());
    }
    for Variable { name, meaning, otherwise } in variables {
        out.push(style.strong(name) + format!(" is set: {meaning} (default: {otherwise})"));
    }
    out
}

fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Counts => "counts",
        Standing::Overridden => "overridden",
        Standing::Untrusted => "untrusted",
    }
}

fn json(source: &Source) -> Value {
    json!({
        "setting": source.setting(),
        "field": source.field,
        "value": source.value,
        "file": source.file.to_string_lossy(),
        "standing": word(source.standing),
    })
}
