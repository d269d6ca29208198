//! Approved plans: their files, and the texts for the model.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use musher_tools::ToolOutput;
use serde_json::json;

/// The maximum number of plans with the same name on one day.
const MAX_SAME_NAME: usize = 1000;
const MAX_SLUG: usize = 60;

/// An approved plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) text: String,
    pub(crate) title: Option<String>,
    pub(crate) is_edited: bool,
}

impl Plan {
    /// Saves the plan to a new file, named after the day and its title. Never replaces a file.
    pub(crate) fn save(&self, folder: &Path) -> std::io::Result<PathBuf> {
        fs_err::create_dir_all(folder)?;
        let day = jiff::Zoned::now().date();
        let name = format!("{day}-{}", self.slug());
        for number in 0..MAX_SAME_NAME {
            let suffix = if number == 0 { String::new() } else { format!("-{number}") };
            let path = folder.join(format!("{name}{suffix}.md"));
            let opened = fs_err::OpenOptions::new().write(true).create_new(true).open(&path);
            match opened {
                Ok(mut file) => return file.write_all(self.text.as_bytes()).map(|()| path),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(std::io::Error::new(std::io::ErrorKind::AlreadyExists, format!("too many plans named {name}")))
    }

    /// Returns the result of the call. Clients match on its fields.
    pub(crate) fn output(&self, saved: &std::io::Result<PathBuf>, is_new_session: bool) -> ToolOutput {
        let message = if is_new_session {
            "Specification has been approved and saved. Start implementation in a new session."
        } else {
            "Spec mode exited. The user approved the plan. Continue with the implementation."
        };
        let mut result = json!({"approved": true, "message": message});
        match saved {
            Ok(path) => result["filePath"] = json!(path),
            Err(error) => result["saveError"] = json!(error.to_string()),
        }
        if is_new_session {
            result["handoff"] = json!({"plan": self.text, "title": self.title, "isNewSession": true});
        }
        result["isEdited"] = json!(self.is_edited);
        if self.is_edited {
            result["editStatus"] = json!("complete");
        }
        let text = result.to_string();
        let for_model = if self.is_edited {
            format!("{text}\n\nThe user changed the plan. It is now:\n\n{}", self.text)
        } else {
            text.clone()
        };
        ToolOutput::two(text, for_model)
    }

    /// Returns the prompt of the new session.
    pub(crate) fn prompt(&self, transcript: &Path) -> String {
        format!(
            "Implement the following plan:\n\n{}\n\nIf you need details of the planning session, such as code or messages it found, \
             read its log: {}",
            self.text,
            transcript.display()
        )
    }

    /// Returns the title or the first heading as a file name.
    fn slug(&self) -> String {
        let heading = || {
            self.text.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty())
        };
        let title = self.title.as_deref().filter(|title| !title.trim().is_empty()).or_else(heading);
        let mut slug = String::new();
        for c in title.unwrap_or("plan").chars().flat_map(char::to_lowercase) {
            if c.is_ascii_alphanumeric() {
                slug.push(c);
            } else if !slug.is_empty() && !slug.ends_with('-') {
                slug.push('-');
            }
            if slug.len() >= MAX_SLUG {
                break;
            }
        }
        let slug = slug.trim_end_matches('-');
        if slug.is_empty() { "plan".to_owned() } else { slug.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(title: Option<&str>) -> Plan {
        let text = "# Plan\n1. Create a file.\n".to_owned();
        Plan { text, title: title.map(str::to_owned), is_edited: false }
    }

    #[test]
    fn plans_of_one_day_and_name_are_numbered() {
        let folder = tempfile::tempdir().unwrap();
        let day = jiff::Zoned::now().date();
        let name =
            |plan: &Plan| plan.save(folder.path()).unwrap().file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(name(&plan(Some("Small: plan!"))), format!("{day}-small-plan.md"));
        assert_eq!(name(&plan(Some("Small plan"))), format!("{day}-small-plan-1.md"));
        assert_eq!(name(&plan(None)), format!("{day}-plan.md"));
    }

    #[test]
    fn result_has_the_fields_clients_know() {
        let saved = Ok(PathBuf::from("/specs/a.md"));
        assert_eq!(
            plan(Some("T")).output(&saved, false).client_text(),
            r#"{"approved":true,"message":"Spec mode exited. The user approved the plan. Continue with the implementation.","filePath":"/specs/a.md","isEdited":false}"#
        );
        let handed = plan(Some("T")).output(&saved, true).client_text();
        assert!(
            handed.contains(
                r##""handoff":{"plan":"# Plan\n1. Create a file.\n","title":"T","isNewSession":true}"##
            ),
            "{handed}"
        );
    }
}
