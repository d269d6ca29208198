//! What vendors said when they were asked for their models: kept in a file between runs, and added to the catalog.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::row::Row;

/// The models that vendors named, with the day they were asked.
///
/// ```
/// use musher_model::Refreshed;
/// use serde_json::json;
///
/// let mut refreshed = Refreshed::default();
/// refreshed.set("ollama", "2026-11-19", vec![json!({"model": "qwen3:8b", "contextWindow": 40960})]);
/// let again = Refreshed::read(&refreshed.to_value()).expect("it was just written");
/// assert_eq!(again.vendors().collect::<Vec<_>>(), [("ollama", "2026-11-19", 1)]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Refreshed {
    vendors: BTreeMap<String, List>,
}

#[derive(Debug, Clone, Default)]
struct List {
    date: String,
    rows: Vec<Row>,
    /// The rows as they were given, so that they are written as they are.
    values: Vec<Value>,
}

#[derive(Deserialize)]
struct File {
    vendors: BTreeMap<String, Stored>,
}

#[derive(Deserialize)]
struct Stored {
    date: String,
    models: Vec<Value>,
}

impl Refreshed {
    /// Reads the form that [`to_value`](Self::to_value) writes. Rows of another version are left out.
    ///
    /// # Errors
    ///
    /// Fails if the value has another form.
    pub fn read(value: &Value) -> Result<Self, serde_json::Error> {
        let file = File::deserialize(value)?;
        let mut refreshed = Self::default();
        for (vendor, Stored { date, models }) in file.vendors {
            refreshed.set(&vendor, &date, models);
        }
        Ok(refreshed)
    }

    /// Replaces the models of a vendor: rows as [`list_models`](crate::list_models) returns them.
    pub fn set(&mut self, vendor: &str, date: &str, models: Vec<Value>) {
        let mut list = List { date: date.to_owned(), ..List::default() };
        for value in models {
            if let Ok(row) = Row::deserialize(&value)
                && !row.id().is_empty()
            {
                list.rows.push(row);
                list.values.push(value);
            }
        }
        self.vendors.insert(vendor.to_owned(), list);
    }

    /// Returns the serial form.
    pub fn to_value(&self) -> Value {
        let vendors: Map<String, Value> = self
            .vendors
            .iter()
            .map(|(vendor, list)| (vendor.clone(), json!({"date": list.date, "models": list.values})))
            .collect();
        json!({ "vendors": vendors })
    }

    /// Returns the vendors that were asked: name, date and number of models.
    pub fn vendors(&self) -> impl Iterator<Item = (&str, &str, usize)> {
        self.vendors.iter().map(|(vendor, list)| (vendor.as_str(), list.date.as_str(), list.rows.len()))
    }

    pub(super) fn rows(&self, vendor: &str) -> impl Iterator<Item = &Row> {
        self.vendors.get(vendor).into_iter().flat_map(|list| &list.rows)
    }
}
