//! The tools that a client enables, disables, restricts and lists: by id or by the name that the model uses.

use musher_engine::{
    Autonomy, Command, Event, LoadSession, NewSession, Reply, SettingsChange, ToolEntry, ToolFilter,
};
use serde_json::json;

use crate::scripted::{calls, text};
use crate::stage::{Stage, is_idle};

#[expect(clippy::unnecessary_wraps, reason = "the fields are optional")]
fn some(texts: &[&str]) -> Option<Vec<String>> {
    Some(texts.iter().map(|text| (*text).to_owned()).collect())
}

fn offered(stage: &Stage) -> Vec<String> {
    stage.model.requests().pop().unwrap().tools.into_iter().map(|tool| tool.name).collect()
}

fn problems(events: &[Event]) -> Vec<String> {
    let text = |event: &Event| match event {
        Event::Problem { message, name: Some(name), .. } if name == "SettingsProblem" => {
            Some(message.clone())
        }
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

async fn listed(stage: &mut Stage, filter: ToolFilter) -> Result<Vec<ToolEntry>, String> {
    let command_id = stage.submit(Command::ListTools(Box::new(filter)));
    match stage.outcome(&command_id).await {
        Ok(Reply::Tools(tools)) => Ok(tools),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.to_string()),
    }
}

#[tokio::test]
async fn tool_lists_of_a_new_session_accept_ids_and_names_in_any_case() {
    for (settings, there, gone) in [
        (
            SettingsChange { disabled_tools: some(&["Execute"]), ..SettingsChange::default() },
            "Read",
            "Execute",
        ),
        (
            SettingsChange { disabled_tools: some(&["execute"]), ..SettingsChange::default() },
            "Read",
            "Execute",
        ),
        (
            SettingsChange { disabled_tools: some(&["execute-cli"]), ..SettingsChange::default() },
            "Read",
            "Execute",
        ),
        (SettingsChange { restricted_tools: some(&["Read"]), ..SettingsChange::default() }, "Read", "Grep"),
        (
            SettingsChange { restricted_tools: some(&["read-cli"]), ..SettingsChange::default() },
            "Read",
            "Grep",
        ),
        (
            SettingsChange { enabled_tools: some(&["FetchUrl"]), ..SettingsChange::default() },
            "FetchUrl",
            "ApplyPatch",
        ),
    ] {
        let mut stage =
            Stage::open_with([text("ok")], NewSession { settings, ..NewSession::default() }).await;
        stage.say("go");
        let events = stage.until(is_idle).await;
        let offered = offered(&stage);
        assert!(offered.contains(&there.to_owned()) && !offered.contains(&gone.to_owned()), "{offered:?}");
        assert_eq!(problems(&events), [""; 0]);
    }
}

#[tokio::test]
async fn tool_disabled_by_name_during_a_session_is_refused_when_called() {
    let mut stage = Stage::open([
        calls("", &[("Execute", json!({"command": "touch x", "riskLevel": "low"}))]),
        text("ok"),
    ])
    .await;
    let settings = SettingsChange {
        disabled_tools: some(&["Execute"]),
        autonomy: Some(Autonomy::High),
        ..SettingsChange::default()
    };
    let command_id = stage.submit(Command::ChangeSettings(Box::new(settings)));
    stage.reply(&command_id).await;
    stage.say("go");
    let seen = stage.until_idle().await.join("\n");
    assert!(seen.contains("Not found: Execute"), "{seen}");
    assert!(!stage.work.path().join("x").exists());
}

#[tokio::test]
async fn name_that_matches_no_tool_is_reported_and_restricts_all_the_same() {
    let settings = SettingsChange {
        restricted_tools: some(&["Reed"]),
        disabled_tools: some(&["WebSearch"]),
        ..SettingsChange::default()
    };
    let mut stage = Stage::empty([text("ok")]);
    let cwd = stage.work.path().to_owned();
    let create = Command::Create(Box::new(NewSession { cwd, settings, ..NewSession::default() }));
    stage.submit(create);
    let events = stage.until(|event| matches!(event, Event::Reply { .. })).await;
    assert_eq!(problems(&events), ["initialize_session: unknown tools: `Reed`"]);
    let Some(Event::Reply { outcome: Ok(Reply::Created(created)), .. }) = events.last() else { panic!() };
    let session = created.id.as_str().to_owned();

    stage.say("go");
    stage.until_idle().await;
    assert_eq!(offered(&stage), [""; 0]);

    let settings =
        SettingsChange { enabled_tools: some(&["Nope", "WebSearch"]), ..SettingsChange::default() };
    stage.submit(Command::ChangeSettings(Box::new(settings.clone())));
    let events = stage.until(|event| matches!(event, Event::Reply { .. })).await;
    let text = "unknown tools: `Nope`; tools that are not available: `WebSearch`";
    assert_eq!(problems(&events), [format!("update_session_settings: {text}")]);

    let mut other = Stage::at(stage.home.clone(), stage.work.clone(), []);
    other.submit(Command::Load(Box::new(LoadSession { id: session, settings, ..LoadSession::default() })));
    let events = other.until(|event| matches!(event, Event::Reply { .. })).await;
    assert_eq!(problems(&events), [format!("load_session: {text}")]);
}

#[tokio::test]
async fn tools_are_listed_before_a_session_is_opened_and_for_the_settings_in_the_question() {
    let mut stage = Stage::empty([]);
    let allowed = |tools: &[ToolEntry]| -> Vec<String> {
        tools.iter().filter(|tool| tool.currently_allowed).map(|tool| tool.name.clone()).collect()
    };
    for is_open in [false, true] {
        if is_open {
            stage.create(NewSession::default()).await;
        }
        let all = listed(&mut stage, ToolFilter::default()).await.unwrap();
        assert_eq!(all.len(), 17);
        assert!(all.iter().all(|tool| tool.schema.is_none()));
        assert!(!allowed(&all).contains(&"Edit".to_owned()));
        let settings = SettingsChange { autonomy: Some(Autonomy::High), ..SettingsChange::default() };
        let high = listed(&mut stage, ToolFilter { settings, ..ToolFilter::default() }).await.unwrap();
        assert!(allowed(&high).contains(&"Edit".to_owned()));
        let settings =
            SettingsChange { restricted_tools: some(&["grep_tool_cli"]), ..SettingsChange::default() };
        let one = listed(&mut stage, ToolFilter { settings, ..ToolFilter::default() }).await.unwrap();
        assert_eq!((one.len(), allowed(&one)), (17, vec!["Grep".to_owned()]));

        let filter = ToolFilter {
            ids: some(&["Edit", "fetch_url", "ApplyPatch"]),
            schemas: true,
            ..ToolFilter::default()
        };
        let named = listed(&mut stage, filter).await.unwrap();
        let ids: Vec<&str> = named.iter().map(|tool| tool.id.as_str()).collect();
        assert_eq!(ids, ["apply-patch-cli", "edit-cli", "fetch_url"]);
        for tool in &named {
            let schema = tool.schema.as_ref().unwrap();
            assert_eq!(schema["type"], json!("object"), "{schema}");
            assert!(schema["properties"].as_object().is_some_and(|fields| !fields.is_empty()), "{schema}");
        }
        assert!(!allowed(&named).contains(&"ApplyPatch".to_owned()), "this model edits with another tool");
    }
}

#[tokio::test]
async fn list_of_tools_is_refused_for_a_name_that_matches_nothing() {
    let mut stage = Stage::empty([]);
    for is_open in [false, true] {
        if is_open {
            stage.create(NewSession::default()).await;
        }
        let ids = ToolFilter { ids: some(&["Read", "Nope"]), ..ToolFilter::default() };
        assert_eq!(listed(&mut stage, ids).await.unwrap_err(), "Unknown tool identifier(s): Nope");
        let settings = SettingsChange { disabled_tools: some(&["Never"]), ..SettingsChange::default() };
        let disabled = ToolFilter { settings, ..ToolFilter::default() };
        assert_eq!(listed(&mut stage, disabled).await.unwrap_err(), "Unknown tool identifier(s): Never");
        // a tool of droid: nothing to disable
        let settings = SettingsChange { disabled_tools: some(&["web_search"]), ..SettingsChange::default() };
        assert!(listed(&mut stage, ToolFilter { settings, ..ToolFilter::default() }).await.is_ok());
    }
}
