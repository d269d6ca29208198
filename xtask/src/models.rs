//! `cargo xtask models`: writes the models of each vendor file from a public snapshot, with its date.
//!
//! The snapshot is `LiteLLM`'s list of prices and limits, which its package on `PyPI` carries (MIT; each row names the vendor's page). It is not
//! models.dev, the other public list, because no package registry has a dated, unchangeable version of that one: a version of a package can
//! be fetched again years later, and gives the same files. Only facts are
//! taken: ids, limits, modalities, prices, the day of retirement and the page. Efforts follow from the family of a model
//! (`crates/model/src/family.rs`), because those of the snapshot are incomplete. The address of a vendor and the like stay as they are in
//! the file. To update, change [`VERSION`] and [`DATE`] and run it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use crate::ci::succeed;

/// The version of the package, and the day it was published.
const VERSION: &str = "1.109.1";
const DATE: &str = "2026-11-12";

/// The list in the package.
const LIST: &str = "litellm/model_prices_and_context_window_backup.json";

/// The page of the snapshot's own that some rows name instead of the vendor's.
const GENERIC_PAGE: &str = "https://docs.litellm.ai/";

/// The vendors' pages of models, for rows that name none.
const PAGES: [(&str, &str); 3] = [
    ("openai", "https://developers.openai.com/api/docs/pricing"),
    ("groq", "https://console.groq.com/docs/models"),
    ("mistral", "https://docs.mistral.ai/getting-started/models/models_overview/"),
];

/// Our vendors with the prefix of their models in the snapshot, and the `litellm_provider` that owns them.
const VENDORS: [(&str, &str, &str); 10] = [
    ("anthropic", "", "anthropic"),
    ("openai", "", "openai"),
    ("gemini", "gemini/", "gemini"),
    ("deepseek", "deepseek/", "deepseek"),
    ("mistral", "mistral/", "mistral"),
    ("xai", "xai/", "xai"),
    ("groq", "groq/", "groq"),
    ("moonshot", "moonshot/", "moonshot"),
    ("together", "together_ai/", "together_ai"),
    ("fireworks", "fireworks_ai/accounts/fireworks/models/", "fireworks_ai"),
];

/// Words in names of models that are not for coding with tools, and of variants of others.
const OTHER_KINDS: [&str; 39] = [
    "audio",
    "realtime",
    "tts",
    "transcribe",
    "image",
    "search",
    "live",
    "robotics",
    "research",
    "computer",
    "embed",
    "ocr",
    "exp",
    "veo",
    "lyria",
    "omni",
    "learnlm",
    "guard",
    "safeguard",
    "moderation",
    "voxtral",
    "multi",
    "ft:",
    "daybreak",
    "vibe",
    "code-fim",
    "beta",
    "non-reasoning",
    "experimental",
    "vision",
    "labs",
    "moonshot-v1",
    "gv2",
    "customtools",
    "gemma",
    "rosalind",
    "-law",
    "-cyber",
    "chat-latest",
];

/// Families that current ones have replaced, by the beginning of the name.
const REPLACED: [&str; 19] = [
    "gpt-3",
    "gpt-4",
    "o1",
    "o3",
    "o4",
    "gemini-2.0",
    "gemini-exp",
    "gemma",
    "grok-2",
    "grok-3",
    "open-mi",
    "mistral-tiny",
    "pixtral",
    "deepseek-v3",
    "deepseek-r1",
    "deepseek-coder",
    "ministral",
    "grok-code",
    "grok-4.20",
];

/// The windows of `OpenAI`'s models that are larger than their input limit. The snapshot has either of the two numbers.
const OPENAI_WINDOWS: [u64; 2] = [400_000, 1_050_000];

/// Writes the files, from a copy of the list if one is given.
pub(crate) fn run(list: Option<PathBuf>) -> Result<()> {
    let list = match list {
        Some(list) => list,
        None => download()?,
    };
    let snapshot: BTreeMap<String, Value> = serde_json::from_str(&fs_err::read_to_string(list)?)?;
    for (vendor, prefix, owner) in VENDORS {
        let path = PathBuf::from(format!("crates/model/src/vendors/{vendor}.json"));
        let models = models(&snapshot, prefix, owner, vendor)?;
        if models.is_empty() {
            bail!("the snapshot has no models of {vendor}");
        }
        let count = models.len();
        write(&path, models)?;
        println!("{vendor}: {count} models");
    }
    Ok(())
}

/// Fetches the package and unpacks the list.
fn download() -> Result<PathBuf> {
    let folder = Path::new("target/models");
    fs_err::create_dir_all(folder)?;
    let requirement = format!("litellm=={VERSION}");
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--dest"]).arg(folder);
    succeed(pip.arg(requirement)).context("cannot fetch the snapshot")?;
    let wheels = fs_err::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
    let is_wheel = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.starts_with(&format!("litellm-{VERSION}-"))
    };
    let wheel =
        wheels.into_iter().find(is_wheel).context("the package is not where pip should have put it")?;
    let mut unpack = Command::new("python3");
    succeed(unpack.args(["-m", "zipfile", "-e"]).arg(wheel).arg(folder))?;
    Ok(folder.join(LIST))
}

/// Returns the rows of a vendor, sorted so that newer versions come first.
fn models(snapshot: &BTreeMap<String, Value>, prefix: &str, owner: &str, vendor: &str) -> Result<Vec<Value>> {
    let mut found: BTreeMap<String, &Value> = BTreeMap::new();
    for (name, row) in snapshot {
        let Some(id) = name.strip_prefix(prefix).filter(|_| row["litellm_provider"] == owner) else {
            continue;
        };
        if is_listed(id, row, vendor) {
            found.insert(id.to_owned(), row);
        }
    }
    // a dated name is left out if the name without date is there
    let ids: Vec<String> = found.keys().cloned().collect();
    found.retain(|id, _| !ids.iter().any(|other| dated_variant(other, id)));
    let rows: Result<Vec<Value>> = found.into_iter().map(|(id, row)| model(&id, row, vendor)).collect();
    let mut rows = rows?;
    rows.sort_by_key(|row| std::cmp::Reverse(natural(row["model"].as_str().unwrap_or_default())));
    Ok(rows)
}

fn is_listed(id: &str, row: &Value, vendor: &str) -> bool {
    let flag = |name: &str| row[name].as_bool() == Some(true);
    let name = id.rsplit('/').next().unwrap_or(id);
    let is_current = row["deprecation_date"].as_str().is_none_or(|date| date > DATE);
    let is_hosted = ["together", "fireworks"].contains(&vendor);
    let mode = row["mode"].as_str().unwrap_or_default();
    ["chat", "responses"].contains(&mode)
        && flag("supports_function_calling")
        && row["max_input_tokens"].is_number()
        && row["max_output_tokens"].is_number()
        && row["input_cost_per_token"].is_number()
        // hosts keep old open models for long
        && (!is_hosted || flag("supports_reasoning"))
        && is_current
        && !OTHER_KINDS.iter().any(|kind| name.contains(kind))
        && !(REPLACED.iter().any(|family| name.starts_with(family)))
}

/// Whether `id` is `other` with a date or a build number behind it.
fn dated_variant(other: &str, id: &str) -> bool {
    let rest = id.strip_prefix(other).and_then(|rest| rest.strip_prefix(['-', '@']));
    rest.is_some_and(|rest| {
        !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit() || c == '-') && rest.len() >= 4
    })
}

/// A key that sorts numbers in a name by their value.
fn natural(id: &str) -> Vec<(u64, String)> {
    let mut key = Vec::new();
    for part in id.split(['-', '.', '/', '_']) {
        key.push((part.parse().unwrap_or(0), part.to_owned()));
    }
    key
}

fn model(id: &str, row: &Value, vendor: &str) -> Result<Value> {
    let number = |key: &str| row[key].as_u64();
    let flag = |name: &str| row[name].as_bool() == Some(true);
    let mut model = Map::new();
    model.insert("model".to_owned(), full_id(id, vendor).into());
    model.insert("displayName".to_owned(), display_name(id).into());
    let (input, output) = (number("max_input_tokens").unwrap_or(0), number("max_output_tokens").unwrap_or(0));
    let total = OPENAI_WINDOWS.iter().find(|window| [input, input + output].contains(window));
    match total.filter(|_| vendor == "openai") {
        Some(window) => {
            model.insert("contextWindow".to_owned(), (*window).into());
            model.insert("maxInputTokens".to_owned(), (window - output).into());
        }
        None => drop(model.insert("contextWindow".to_owned(), input.into())),
    }
    model.insert("maxOutputTokens".to_owned(), output.min(input).into());
    let kinds = [("text", true), ("image", flag("supports_vision")), ("pdf", flag("supports_pdf_input"))];
    let kinds: Vec<&str> = kinds.iter().filter(|(_, reads)| *reads).map(|(kind, _)| *kind).collect();
    model.insert("input".to_owned(), json!(kinds));
    if flag("supports_native_structured_output") || vendor == "openai" && flag("supports_response_schema") {
        model.insert("nativeSchema".to_owned(), true.into());
    }
    model.insert("price".to_owned(), price(row));
    if let Some(date) = row["deprecation_date"].as_str() {
        model.insert("retires".to_owned(), date.into());
    }
    model.insert("source".to_owned(), page(row, vendor).with_context(|| format!("{vendor}/{id}"))?.into());
    Ok(Value::Object(model))
}

/// The vendor's page with the limits and the price of a model.
fn page<'a>(row: &'a Value, vendor: &str) -> Result<&'a str> {
    let of_vendor = || PAGES.iter().find(|(name, _)| *name == vendor).map(|(_, page)| *page);
    let own = row["source"].as_str().filter(|source| !source.starts_with(GENERIC_PAGE));
    own.or_else(of_vendor).context("the row names no page of the vendor: add one to PAGES")
}

/// The name at the vendor: the prefix of the snapshot is sometimes a part of it.
fn full_id(id: &str, vendor: &str) -> String {
    if vendor == "fireworks" { format!("accounts/fireworks/models/{id}") } else { id.to_owned() }
}

/// The price per million tokens, with its steps.
fn price(row: &Value) -> Value {
    const RATES: [(&str, &str); 5] = [
        ("input", "input_cost_per_token"),
        ("output", "output_cost_per_token"),
        ("cacheRead", "cache_read_input_token_cost"),
        ("cacheWrite", "cache_creation_input_token_cost"),
        ("cacheWriteLong", "cache_creation_input_token_cost_above_1hr"),
    ];
    // without the noise of the conversion
    let million = |rate: f64| json!((rate * 1e12).round() / 1e6);
    let mut price = Map::new();
    for (name, key) in RATES {
        if let Some(rate) =
            row[key].as_f64().filter(|rate| *rate > 0.0 || ["input", "output"].contains(&name))
        {
            price.insert(name.to_owned(), million(rate));
        }
    }
    let mut steps: Vec<(u64, Map<String, Value>)> = Vec::new();
    for thousands in step_sizes(row) {
        let suffix = format!("_above_{thousands}k_tokens");
        let mut step = Map::new();
        for (name, key) in RATES {
            if let Some(rate) = row[format!("{key}{suffix}")].as_f64().filter(|rate| *rate > 0.0) {
                step.insert(name.to_owned(), million(rate));
            }
        }
        if step.contains_key("input") && step.contains_key("output") {
            steps.push((thousands * 1000, step));
        }
    }
    if !steps.is_empty() {
        let steps = steps.into_iter().map(|(above, mut step)| {
            step.insert("above".to_owned(), above.into());
            Value::Object(step)
        });
        price.insert("steps".to_owned(), steps.collect());
    }
    Value::Object(price)
}

/// The lengths of prompts at which a price changes, in thousands of tokens. Keys of other kinds have more words, such as `_batches`.
fn step_sizes(row: &Value) -> BTreeSet<u64> {
    let keys = row.as_object().into_iter().flatten().map(|(key, _)| key);
    let size = |key: &String| {
        let rest = key.strip_prefix("input_cost_per_token_above_")?;
        rest.strip_suffix("k_tokens")?.parse().ok()
    };
    keys.filter_map(size).collect()
}

/// A name for display, from the id: `claude-opus-5-5` is `Claude Opus 5.5`.
fn display_name(id: &str) -> String {
    let name = id.rsplit('/').next().unwrap_or(id);
    let mut words: Vec<String> = Vec::new();
    for part in name.split(['-', '_']) {
        let is_number = part.chars().all(|c| c.is_ascii_digit());
        match words.last_mut() {
            // 5-5 is a version, 2512 is none
            Some(last) if is_number && part.len() < 3 && last.chars().all(|c| c.is_ascii_digit()) => {
                last.push('.');
                last.push_str(part);
            }
            _ => words.push(word(part)),
        }
    }
    let text = words.join(" ");
    ["GPT", "GLM"]
        .iter()
        .fold(text, |text, family| text.replace(&format!("{family} "), &format!("{family}-")))
}

fn word(part: &str) -> String {
    match part {
        "gpt" | "glm" | "oss" => part.to_ascii_uppercase(),
        "deepseek" => "DeepSeek".to_owned(),
        "xai" => "xAI".to_owned(),
        _ => {
            let part = with_points(part);
            let mut chars = part.chars();
            let first = chars.next().map(|c| c.to_ascii_uppercase());
            first.into_iter().chain(chars).collect()
        }
    }
}

/// `v4p1` as `v4.1`: hosts write versions so.
fn with_points(part: &str) -> String {
    let bytes = part.as_bytes();
    let is_digit =
        |index: Option<usize>| index.and_then(|index| bytes.get(index)).is_some_and(u8::is_ascii_digit);
    let point = |(index, c): (usize, char)| {
        let is_point = c == 'p' && is_digit(index.checked_sub(1)) && is_digit(index.checked_add(1));
        if is_point { '.' } else { c }
    };
    part.char_indices().map(point).collect()
}

/// Replaces the models of a vendor file, and leaves everything else.
fn write(path: &Path, models: Vec<Value>) -> Result<()> {
    let mut vendor: Map<String, Value> = serde_json::from_str(&fs_err::read_to_string(path)?)?;
    vendor.shift_remove("models");
    vendor.shift_remove("snapshot");
    let source = format!("LiteLLM {VERSION}, model_prices_and_context_window.json");
    vendor.insert("snapshot".to_owned(), json!({"source": source, "date": DATE}));
    vendor.insert("models".to_owned(), models.into());
    fs_err::write(path, serde_json::to_string_pretty(&vendor)? + "\n")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_for_display_follow_from_ids() {
        for (id, name) in [
            ("claude-opus-5-5", "Claude Opus 5.5"),
            ("gpt-6.1-sol", "GPT-6.1 Sol"),
            ("openai/gpt-oss-120b", "GPT-OSS 120b"),
            ("deepseek-v4-pro", "DeepSeek V4 Pro"),
            ("mistral-large-2512", "Mistral Large 2512"),
            ("accounts/fireworks/models/glm-5p3-flash", "GLM-5.3 Flash"),
        ] {
            assert_eq!(display_name(id), name);
        }
    }

    #[test]
    fn row_has_the_limits_and_price_steps_of_the_snapshot() {
        let row = json!({
            "max_input_tokens": 1_050_000, "max_output_tokens": 128_000, "supports_vision": true,
            "input_cost_per_token": 5e-6, "output_cost_per_token": 3e-5, "cache_read_input_token_cost": 5e-7,
            "input_cost_per_token_above_272k_tokens": 1e-5, "output_cost_per_token_above_272k_tokens": 4.5e-5,
            "source": "https://vendor/prices"});
        let expected = json!({
            "model": "gpt-5.5", "displayName": "GPT-5.5", "contextWindow": 1_050_000, "maxInputTokens": 922_000,
            "maxOutputTokens": 128_000, "input": ["text", "image"],
            "price": {"input": 5.0, "output": 30.0, "cacheRead": 0.5,
                      "steps": [{"input": 10.0, "output": 45.0, "above": 272_000}]},
            "source": "https://vendor/prices"});
        assert_eq!(model("gpt-5.5", &row, "openai").unwrap(), expected);
    }

    #[test]
    fn price_has_a_step_for_every_length_in_the_keys() {
        let row = json!({
            "input_cost_per_token": 1e-7, "output_cost_per_token": 5e-7,
            "cache_creation_input_token_cost_above_1hr": 2e-7,
            "input_cost_per_token_above_512k_tokens": 1e-6, "output_cost_per_token_above_512k_tokens": 5e-6,
            "input_cost_per_token_above_100k_tokens": 5e-7, "output_cost_per_token_above_100k_tokens": 2.5e-6,
            "cache_creation_input_token_cost_above_1hr_above_100k_tokens": 1e-6,
            "input_cost_per_token_above_64k_tokens_batches": 1e-8, "output_cost_per_token_above_64k_tokens_batches": 1e-8,
            "input_cost_per_token_above_32k_tokens_priority": 1e-8});
        let expected = json!([
            {"input": 0.5, "output": 2.5, "cacheWriteLong": 1.0, "above": 100_000},
            {"input": 1.0, "output": 5.0, "above": 512_000}]);
        assert_eq!(price(&row)["steps"], expected);
    }

    #[test]
    fn row_names_a_page_of_its_vendor() {
        let generic = json!({"source": "https://docs.litellm.ai/docs/provider_registration/"});
        assert_eq!(page(&generic, "groq").unwrap(), "https://console.groq.com/docs/models");
        assert_eq!(
            page(&json!({"source": "https://vendor/prices"}), "groq").unwrap(),
            "https://vendor/prices"
        );
        page(&json!({}), "moonshot").unwrap_err();
    }

    #[test]
    fn dated_names_are_variants_and_versions_are_not() {
        assert!(dated_variant("claude-opus-4-5", "claude-opus-4-5-20251101"));
        assert!(dated_variant("gpt-5", "gpt-5-2025-08-07"));
        assert!(!dated_variant("claude-opus-5", "claude-opus-5-5"));
        assert!(!dated_variant("gpt-5", "gpt-5-mini"));
    }
}
