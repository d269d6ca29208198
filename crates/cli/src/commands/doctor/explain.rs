//! `musher doctor --settings`: which file says what about which setting, and what of it counts.

use std::collections::BTreeMap;

use musher_engine::config::{Config, Source, Standing};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::look::{Look, padded};
use crate::printer::Printer;
use crate::sanitize::sanitized;
use crate::variables::{VARIABLES, Variable};

/// How much of a value is shown.
const LONGEST: usize = 300;

pub(super) fn run(config: &Config, is_json: bool, printer: Printer) -> Result<Exit, Failure> {
    let set: Vec<&Variable> =
        VARIABLES.iter().filter(|variable| std::env::var_os(variable.name).is_some()).collect();
    if is_json {
        let settings: Vec<Value> = config.sources.iter().map(json).collect();
        let names: Vec<&str> = set.iter().map(|variable| variable.name).collect();
        let object = json!({"settings": settings, "variables": names});
        printer.data(&serde_json::to_string_pretty(&object)?)?;
        return Ok(Exit::Done);
    }
    for line in report(&config.sources, &set, Look::of_stdout()) {
        printer.data(&line)?;
    }
    Ok(Exit::Done)
}

/// The settings by name; for each the places, the one that counts most first.
fn report(sources: &[Source], variables: &[&Variable], look: Look) -> Vec<String> {
    let mut by_setting: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for source in sources.iter().rev() {
        by_setting.entry(source.setting()).or_default().push(source);
    }
    let mut out = Vec::new();
    for (setting, sources) in by_setting {
        out.push(look.strong(setting));
        for source in sources {
            let value = sanitized(&source.value.to_string(), LONGEST);
            let file = sanitized(&source.file.to_string_lossy(), LONGEST);
            let word = padded(word(source.standing), 10);
            let word = match source.standing {
                Standing::Counts => look.good(&word),
                Standing::Overridden => look.dim(&word),
                Standing::Untrusted => look.notable(&word),
            };
            out.push(format!("  {word}  {value}  {}", look.dim(&file)));
        }
    }
    if out.is_empty() {
        out.push("no settings file says anything; everything is as it comes".to_owned());
    }
    out.push(String::new());
    if variables.is_empty() {
        out.push("no variable of the environment is set that musher knows".to_owned());
    }
    for Variable { name, meaning, otherwise } in variables {
        out.push(format!("{} is set: {meaning} (otherwise: {otherwise})", look.strong(name)));
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
