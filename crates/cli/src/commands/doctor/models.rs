//! The models of the engine, and which vendors have a key. Only the presence of a key is checked.

use std::collections::BTreeMap;
use std::path::Path;

use musher_engine::config::{Config, Problem};
use musher_model::{ModelEntry, Origin};

use super::check::Check;

const AREA: &str = "models";

pub(super) fn checks(config: &Config, problems: &[Problem]) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut by_variable: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for entry in config.models.entries() {
        match &entry.origin {
            Origin::Settings { file, .. } => checks.push(custom(entry, file)),
            Origin::Environment { variable } => {
                *by_variable.entry((&entry.vendor, variable)).or_default() += 1;
            }
            _ => {}
        }
    }
    for ((vendor, variable), models) in by_variable {
        let noun = if models == 1 { "model" } else { "models" };
        checks.push(Check::ok(AREA, vendor, format!("{models} {noun}, key from {variable}")));
    }
    for problem in problems.iter().filter(|problem| problem.file == Path::new("environment")) {
        checks.push(
            Check::error(AREA, "environment", &problem.message).advice("correct or unset the variable"),
        );
    }
    if checks.is_empty() {
        checks.push(Check::warning(AREA, "engine", "no model configured").advice(
            "set ANTHROPIC_API_KEY, OPENAI_API_KEY or another vendor's key, or add `customModels` to settings.json; \
             `musher run -m rehearsal` needs no model",
        ));
    }
    checks.extend(chosen(config));
    checks
}

fn custom(entry: &ModelEntry, file: &str) -> Check {
    let key = if entry.endpoint.key.is_some() { "with a key" } else { "without a key" };
    let host = host(&entry.endpoint.base_url);
    Check::ok(AREA, &entry.id, format!("{} at {host}, {key}, from {file}", entry.display_name))
}

/// Checks that the models named in settings exist.
fn chosen(config: &Config) -> Vec<Check> {
    let settings = &config.settings;
    let named = [("model", &settings.model), ("specModeModel", &settings.spec_model)];
    let missing = named.into_iter().filter_map(|(field, model)| {
        let model = model.as_deref().filter(|model| config.models.find(model).is_none())?;
        let check = Check::error(AREA, field, format!("unknown model `{model}` in the settings"));
        Some(check.advice("`musher doctor --settings` shows the file; choose a model listed here, or add it to `customModels`"))
    });
    missing.collect()
}

/// Returns only the host: an address may contain a key.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    host.rsplit_once('@').map_or(host, |(_, host)| host)
}

#[cfg(test)]
mod tests {
    #[test]
    fn of_an_address_only_the_host_is_shown() {
        for (url, expected) in [
            ("https://api.example.com/v1?key=secret", "api.example.com"),
            ("https://user:secret@host:8080/v1", "host:8080"),
            ("host", "host"),
        ] {
            assert_eq!(super::host(url), expected);
        }
    }
}
