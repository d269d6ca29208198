//! The option `sandbox`, which has the fields of Claude Code, as the engine reads it. Pure.

use serde_json::{Value, json};

/// Returns the sandbox for the engine; `None` if none is asked for. The error is for the front end: a restriction that cannot be kept.
pub(super) fn of_engine(sandbox: &Value, notes: &mut Vec<String>) -> Result<Option<Value>, String> {
    let field = |snake: &str, camel: &str| {
        sandbox.get(snake).or_else(|| sandbox.get(camel)).filter(|it| !it.is_null())
    };
    if sandbox.get("enabled") != Some(&Value::Bool(true)) {
        return Ok(None);
    }
    if field("allow_unsandboxed_commands", "allowUnsandboxedCommands") == Some(&Value::Bool(false)) {
        return Err("this agent cannot do `sandbox.allow_unsandboxed_commands: false`: what the user approves runs without the \
                    sandbox"
            .to_owned());
    }
    for (snake, camel) in [
        ("auto_allow_bash_if_sandboxed", "autoAllowBashIfSandboxed"),
        ("excluded_commands", "excludedCommands"),
        ("ignore_violations", "ignoreViolations"),
    ] {
        if field(snake, camel).is_some() {
            notes.push(format!(
                "ignored the option `sandbox.{snake}`: the engine asks about what the sandbox denies"
            ));
        }
    }
    let is_local = field("network", "network").is_some_and(|network| {
        ["allow_local_binding", "allowLocalBinding"]
            .iter()
            .any(|key| network.get(key) == Some(&Value::Bool(true)))
    });
    let mode = sandbox.get("mode").cloned().unwrap_or_else(|| "workspace-write".into());
    let network = if is_local { "local" } else { "off" };
    Ok(Some(json!({"mode": mode, "network": network, "required": true})))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enabled_sandbox_is_required_and_loosening_is_ignored() {
        let read = |sandbox: Value| {
            let mut notes = Vec::new();
            of_engine(&sandbox, &mut notes).map(|engine| (engine, notes.len()))
        };
        let expected =
            |mode: &str, network: &str| json!({"mode": mode, "network": network, "required": true});
        assert_eq!(read(json!({"enabled": false, "autoAllowBashIfSandboxed": true})), Ok((None, 0)));
        assert_eq!(read(json!({"enabled": true})), Ok((Some(expected("workspace-write", "off")), 0)));
        let options =
            json!({"enabled": true, "excludedCommands": ["git"], "network": {"allowLocalBinding": true}});
        assert_eq!(read(options), Ok((Some(expected("workspace-write", "local")), 1)));
        let options = json!({"enabled": true, "mode": "read-only", "ignore_violations": {}});
        assert_eq!(read(options), Ok((Some(expected("read-only", "off")), 1)));
        assert!(read(json!({"enabled": true, "allow_unsandboxed_commands": false})).is_err());
    }
}
