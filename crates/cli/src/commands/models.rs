//! `musher models`: the models there are, with limits, efforts and prices. Asks vendors only with `--refresh`.

use musher_engine::refresh_models;
use musher_model::{Catalog, ModelEntry, Origin, PriceStep, Rates, known_models, snapshot};
use serde_json::{Value, json};

use crate::args::Models;
use crate::embedded;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::sanitize::sanitized;
use crate::style::{Style, padded};
use crate::styled::Styled;

/// Maximum length of a shown name.
const MAX_NAME_LENGTH: usize = 100;
const HEADS: [&str; 6] = ["model", "window", "answer", "reads", "efforts", "price"];
/// The columns with figures, which are aligned to the right.
const FIGURES: [usize; 2] = [1, 2];

pub(crate) async fn run(args: Models, printer: Printer) -> Result<Exit, Failure> {
    let environment = embedded::environment(None, None)?;
    let cwd = fs_err::canonicalize(".")?;
    let mut is_complete = true;
    if args.refresh {
        for list in refresh_models(&environment, &cwd).await? {
            let vendor = list.vendor;
            match list.outcome {
                Ok(count) => printer.note(format!("{vendor}: {count} models")),
                Err(error) => {
                    is_complete = false;
                    printer.note(format!(
                        "warning: {vendor} did not name its models: {}",
                        sanitized(&error, 500)
                    ));
                }
            }
        }
    }
    let (config, problems) = environment.config(&cwd);
    for problem in problems {
        printer.note(format!("warning: {problem}"));
    }
    // what was just fetched is what the user wants to see
    let models = models(&config.models, args.all || args.refresh, args.query.as_deref());
    if args.json {
        printer.json(&serde_json::to_string_pretty(&object(&models))?)?;
    } else if models.is_empty() {
        printer.note(match (&args.query, args.all) {
            (Some(query), _) => format!("no model matches `{}`; `--all` shows those without a key", sanitized(query, 100)),
            (None, _) => "no model has a key; set one such as ANTHROPIC_API_KEY, or see the catalog with `musher models --all`".to_owned(),
        });
    } else {
        for line in table(&models, Style::of_stdout()) {
            printer.data(line)?;
        }
    }
    Ok(if is_complete { Exit::Done } else { Exit::Failed })
}

/// A model, and whether it can be used.
struct ModelRow {
    entry: ModelEntry,
    is_available: bool,
}

fn models(catalog: &Catalog, all: bool, query: Option<&str>) -> Vec<ModelRow> {
    let mut shown: Vec<ModelRow> =
        catalog.entries().iter().map(|entry| ModelRow { entry: entry.clone(), is_available: true }).collect();
    if all {
        shown.extend(catalog.refreshed_entries().map(|entry| ModelRow { entry, is_available: true }));
        let with_key: Vec<&str> = catalog.vendors().collect();
        let others = known_models().filter(|entry| !with_key.contains(&entry.vendor.as_str()));
        shown.extend(others.map(|entry| ModelRow { entry, is_available: false }));
    }
    let query = query.unwrap_or_default().to_lowercase();
    let matches = |text: &str| text.to_lowercase().contains(&query);
    shown.retain(|model| {
        matches(&model.entry.listed_id)
            || matches(&full_name(&model.entry))
            || matches(&model.entry.display_name)
    });
    shown
}

/// Returns the name with its vendor.
fn full_name(entry: &ModelEntry) -> String {
    format!("{}/{}", entry.vendor, entry.model)
}

fn object(models: &[ModelRow]) -> Value {
    let catalog = snapshot().map(|snapshot| json!({"source": snapshot.source, "date": snapshot.date}));
    let models: Vec<Value> = models.iter().map(row).collect();
    json!({"catalog": catalog, "models": models})
}

fn row(model: &ModelRow) -> Value {
    let entry = &model.entry;
    let efforts: Vec<Value> = entry.efforts.iter().map(|effort| json!(effort)).collect();
    json!({
        "id": entry.listed_id,
        "vendor": entry.vendor,
        "model": entry.model,
        "display_name": entry.display_name,
        "available": model.is_available,
        "context_window": entry.context_window,
        "max_input_tokens": entry.input_limit(),
        "max_output_tokens": entry.max_output_tokens,
        "input": reads(entry),
        "reasoning": entry.endpoint.options.reasoning,
        "efforts": efforts,
        "price": entry.price,
        "retires": entry.retires,
        "source": entry.source,
    })
}

/// Returns what a model reads. Nothing but text is certain if it is not in the catalog.
fn reads(entry: &ModelEntry) -> Vec<&str> {
    match entry.input.as_slice() {
        [] if entry.endpoint.takes_images && matches!(entry.origin, Origin::Settings { .. }) => {
            vec!["text", "image"]
        }
        [] => vec!["text"],
        kinds => kinds.iter().map(String::as_str).collect(),
    }
}

fn table(models: &[ModelRow], style: Style) -> Vec<Styled> {
    let rows: Vec<Vec<String>> = models.iter().map(|model| cells(&model.entry)).collect();
    let heads: Vec<String> = HEADS.iter().map(|head| (*head).to_owned()).collect();
    let widest = |column: usize| {
        let cells = rows.iter().chain([&heads]).filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(widest).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            if FIGURES.contains(&column) { format!("{cell:>width$}") } else { padded(cell, *width) }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let body = rows.iter().zip(models).map(|(row, model)| {
        let line = line(row);
        if model.is_available { Styled::from(line) } else { style.dim(&line) }
    });
    [style.dim(&line(&heads))].into_iter().chain(body).collect()
}

fn cells(entry: &ModelEntry) -> Vec<String> {
    let tokens = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), short);
    // a model without a key has no id yet
    let name = match entry.endpoint.key {
        None if entry.source.is_some() => full_name(entry),
        _ => entry.listed_id.clone(),
    };
    let efforts: Vec<&str> = entry
        .efforts
        .iter()
        .map(|effort| if effort.name() == "none" { "off" } else { effort.name() })
        .collect();
    let price = entry.price.as_ref().map(|price| {
        let steps = price
            .steps
            .iter()
            .map(|step: &PriceStep| format!(", above {} {}", short(step.above), rates(&step.rates)));
        [rates(&price.rates)].into_iter().chain(steps).collect::<String>()
    });
    let retires = entry.retires.as_deref().map(|date| format!(" (until {date})")).unwrap_or_default();
    let or_none = |text: String| if text.is_empty() { "-".to_owned() } else { text };
    vec![
        sanitized(&name, MAX_NAME_LENGTH),
        tokens(entry.context_window),
        tokens(entry.max_output_tokens),
        reads(entry).join(","),
        or_none(efforts.join(",")),
        sanitized(&(price.unwrap_or_else(|| "unknown".to_owned()) + &retires), MAX_NAME_LENGTH),
    ]
}

/// `$4 / $20`, per million tokens of input and output.
fn rates(rates: &Rates) -> String {
    format!("${} / ${}", rates.input, rates.output)
}

/// `1M`, `922k`, `1.05M`.
fn short(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..1_000_000 => format!("{}k", tokens / 1_000),
        _ => {
            let hundredths = tokens / 10_000;
            let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
            format!("{}M", text.trim_end_matches('0').trim_end_matches('.'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_tokens_are_short() {
        for (tokens, text) in [
            (999, "999"),
            (8192, "8k"),
            (922_000, "922k"),
            (1_000_000, "1M"),
            (1_050_000, "1.05M"),
            (1_048_576, "1.04M"),
        ] {
            assert_eq!(short(tokens), text);
        }
    }
}
