//! The methods of `query.call`: their arguments, the call to the agent, and the part of its response that is returned.

use musher_claude::{Call, Extra, Json, PermissionMode};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A method with its arguments.
#[derive(Debug, PartialEq)]
pub(crate) enum Query {
    /// Answered from what the agent reported when it started.
    Stored(Stored),
    /// Answered by a call to the agent.
    Ask(Call, ResultPart),
}

/// A value that the agent reported when it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stored {
    Models,
    Commands,
    Account,
}

/// The part of a response that is returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResultPart {
    Nothing,
    Whole,
    McpServers,
}

impl Query {
    /// Parses a method and its arguments; the error is for the front end.
    pub(crate) fn parse(method: &str, args: &[Json]) -> Result<Self, String> {
        let first = args.first();
        match method {
            "supportedModels" => Ok(Self::Stored(Stored::Models)),
            "supportedCommands" => Ok(Self::Stored(Stored::Commands)),
            "accountInfo" => Ok(Self::Stored(Stored::Account)),
            "mcpServerStatus" => Ok(Self::Ask(Call::McpStatus, ResultPart::McpServers)),
            "setModel" => {
                let model = optional(first, "setModel takes the name of a model, or no argument")?;
                Ok(Self::Ask(Call::SetModel(model), ResultPart::Nothing))
            }
            "setPermissionMode" => {
                let name: Option<String> = optional(first, "setPermissionMode takes a mode")?;
                let name = name.ok_or("setPermissionMode takes a mode")?;
                // an old CLI would accept any name
                let mode = PermissionMode::named(&name)
                    .ok_or_else(|| format!("unknown permission mode `{name}`"))?;
                Ok(Self::Ask(Call::SetPermissionMode(mode), ResultPart::Nothing))
            }
            "setMaxThinkingTokens" => {
                let tokens = optional(first, "setMaxThinkingTokens takes a number or null")?;
                Ok(Self::Ask(Call::SetMaxThinkingTokens(tokens), ResultPart::Nothing))
            }
            "rewindFiles" => rewind(args),
            other => Err(format!("unknown method `{other}`")),
        }
    }
}

fn rewind(args: &[Json]) -> Result<Query, String> {
    #[derive(Default, Deserialize)]
    struct Options {
        #[serde(alias = "dryRun")]
        dry_run: Option<bool>,
    }
    const USAGE: &str = "rewindFiles takes the id of a user message, and optionally {dry_run: boolean}";
    let user_message_id: Option<String> = optional(args.first(), USAGE)?;
    let user_message_id = user_message_id.ok_or(USAGE)?;
    let options: Options = optional(args.get(1), USAGE)?.unwrap_or_default();
    let call = Call::RewindFiles { user_message_id, dry_run: options.dry_run.unwrap_or_default() };
    Ok(Query::Ask(call, ResultPart::Whole))
}

fn optional<T: DeserializeOwned>(arg: Option<&Json>, usage: &str) -> Result<Option<T>, String> {
    arg.filter(|arg| !arg.is_null()).map(|arg| arg.to().map_err(|_shape| usage.to_owned())).transpose()
}

impl ResultPart {
    /// Returns the part of a response for the front end.
    pub(crate) fn of(self, answer: Json) -> Json {
        match self {
            Self::Nothing => Json::null(),
            Self::Whole => answer,
            Self::McpServers => {
                let fields: Extra = answer.to().unwrap_or_default();
                fields.get("mcpServers").cloned().unwrap_or_else(|| Json::from(serde_json::json!([])))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn parse(method: &str, args: Value) -> Result<Query, String> {
        let Value::Array(args) = args else { panic!("not a list") };
        Query::parse(method, &args.into_iter().map(Json::from).collect::<Vec<_>>())
    }

    #[test]
    fn every_method_has_its_call() {
        let ask = |call, give| Ok(Query::Ask(call, give));
        assert_eq!(parse("supportedModels", json!([])), Ok(Query::Stored(Stored::Models)));
        assert_eq!(parse("supportedCommands", json!([])), Ok(Query::Stored(Stored::Commands)));
        assert_eq!(parse("accountInfo", json!([])), Ok(Query::Stored(Stored::Account)));
        assert_eq!(parse("mcpServerStatus", json!([])), ask(Call::McpStatus, ResultPart::McpServers));
        assert_eq!(
            parse("setModel", json!(["m"])),
            ask(Call::SetModel(Some("m".to_owned())), ResultPart::Nothing)
        );
        assert_eq!(parse("setModel", json!([])), ask(Call::SetModel(None), ResultPart::Nothing));
        let plan = Call::SetPermissionMode(PermissionMode::Plan);
        assert_eq!(parse("setPermissionMode", json!(["plan"])), ask(plan, ResultPart::Nothing));
        assert_eq!(
            parse("setMaxThinkingTokens", json!([5])),
            ask(Call::SetMaxThinkingTokens(Some(5)), ResultPart::Nothing)
        );
        assert_eq!(
            parse("setMaxThinkingTokens", json!([null])),
            ask(Call::SetMaxThinkingTokens(None), ResultPart::Nothing)
        );
        for options in [json!({"dry_run": true}), json!({"dryRun": true})] {
            let call = Call::RewindFiles { user_message_id: "u".to_owned(), dry_run: true };
            assert_eq!(parse("rewindFiles", json!(["u", options])), ask(call, ResultPart::Whole));
        }
    }

    #[test]
    fn unknown_methods_and_invalid_arguments_are_reported() {
        for (method, args) in [
            ("noSuchMethod", json!([])),
            ("setModel", json!([1])),
            ("setPermissionMode", json!([])),
            ("setPermissionMode", json!(["sometimes"])),
            ("setMaxThinkingTokens", json!(["many"])),
            ("setMaxThinkingTokens", json!([-1])),
            ("rewindFiles", json!([])),
            ("rewindFiles", json!(["u", {"dry_run": 1}])),
        ] {
            assert!(parse(method, args.clone()).is_err(), "{method} {args}");
        }
    }

    #[test]
    fn server_status_returns_only_the_list() {
        let answer = Json::from(json!({"mcpServers": [{"name": "a"}], "more": 1}));
        assert_eq!(ResultPart::McpServers.of(answer).text(), r#"[{"name":"a"}]"#);
        assert_eq!(ResultPart::McpServers.of(Json::empty_object()).text(), "[]");
    }
}
