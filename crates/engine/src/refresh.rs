//! Asks the vendors that have a key which models they have, and keeps their answers in our home, where [`Config`] finds them.

use std::io;
use std::path::Path;

use futures_util::future::join_all;
use musher_model::{Refreshed, list_models};
use serde_json::Value;

use crate::Environment;
use crate::config::{REFRESHED_FILE, edit_json};
use crate::cost::today;

/// What came of asking a vendor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VendorList {
    /// The name of the vendor.
    pub vendor: String,
    /// The number of models it named, or why it named none.
    pub outcome: Result<usize, String>,
}

/// Asks all vendors that have a key, at the same time. The list of a vendor that does not answer stays as it is.
///
/// # Errors
///
/// Fails if the file cannot be written.
pub async fn refresh_models(environment: &Environment, cwd: &Path) -> io::Result<Vec<VendorList>> {
    let (config, _problems) = environment.config(cwd);
    let http = &environment.models.http;
    let asked = config
        .models
        .endpoints()
        .map(async |(vendor, endpoint)| (vendor.to_owned(), list_models(http, endpoint).await));
    let mut lists = Vec::new();
    let mut answers = Vec::new();
    for (vendor, answer) in join_all(asked).await {
        let outcome = match answer {
            Ok(rows) => {
                let count = rows.len();
                answers.push((vendor.clone(), rows));
                Ok(count)
            }
            Err(error) => Err(error.to_string()),
        };
        lists.push(VendorList { vendor, outcome });
    }
    if !answers.is_empty() {
        let path = environment.home().join(REFRESHED_FILE);
        edit_json(&path, |map| {
            let mut refreshed = Refreshed::read(&Value::Object(map.clone())).unwrap_or_default();
            for (vendor, rows) in answers {
                refreshed.set(&vendor, &today(), rows);
            }
            if let Value::Object(new) = refreshed.to_value() {
                *map = new;
            }
        })?;
    }
    Ok(lists)
}
