//! Commands of the chat that need the session: what they ask the agent, and what they show. Each runs beside the chat.

use std::path::PathBuf;
use std::sync::Arc;

use musher::wire::{
    ExecuteRewindParams, GetRewindInfoParams, InteractionMode, ListModelsParams, ListToolsParams, Message,
    MessageRole, ReasoningEffort, UpdateSessionSettingsParams,
};
use musher::{Autonomy, Session};

use super::app::Purpose;
use super::picker::Item;
use super::shell::Opener;
use crate::view::grouped;
use crate::view::text::{Face, Line};

/// What a job leads to.
#[derive(Debug)]
pub(crate) enum Done {
    /// Lines to print.
    Lines(Vec<Line>),
    /// A list to choose from.
    Pick(Purpose, &'static str, Vec<Item>),
    /// Another session, what to say about it, and a text for the prompt.
    Switch(Session, String, Option<String>),
    /// The settings have changed.
    Settings,
    /// A prompt to send.
    Send(String),
    /// How full the context is, in percent.
    Context(u64),
    /// The commands of the agent.
    Commands(Vec<(String, String)>),
    /// The names of the files.
    Files(Vec<String>),
    /// A command of the user has ended: the command, its output, its exit code, and whether the model gets to know.
    Ran {
        command: String,
        output: String,
        code: Option<i32>,
        is_shared: bool,
    },
    /// A prompt for the turn that runs was refused: its id, and why.
    NotSent {
        id: String,
        error: String,
    },
    Nothing,
}

/// What a job works with.
#[derive(Debug, Clone)]
pub(crate) struct JobContext {
    pub(crate) session: Session,
    pub(crate) opener: Arc<dyn Opener>,
    pub(crate) cwd: PathBuf,
    /// The prompts of this chat: the id of the turn, and the text.
    pub(crate) prompts: Vec<(String, String)>,
}

type Outcome = anyhow::Result<Done>;

/// Runs a command.
pub(crate) async fn command(scene: JobContext, name: &'static str, argument: String) -> Outcome {
    let JobContext { session, .. } = &scene;
    match name {
        "model" if argument.is_empty() => {
            let listed = session.client().list_models(ListModelsParams::default()).await?;
            let items = listed.models.into_iter().map(|model| {
                let name = model.display_name.clone().unwrap_or_default();
                Item::new(model.id.clone(), model.id, name)
            });
            Ok(Done::Pick(Purpose::Model, "Model:", items.collect()))
        }
        "model" => settings(session, UpdateSessionSettingsParams { model_id: Some(argument), ..none() }).await,
        "effort" => {
            let effort = ReasoningEffort::from(argument.as_str());
            settings(session, UpdateSessionSettingsParams { reasoning_effort: Some(effort), ..none() }).await
        }
        "mode" if argument == "next" => next_mode(session).await,
        "mode" => {
            let mode = if matches!(argument.as_str(), "spec" | "plan") { InteractionMode::Spec } else { InteractionMode::Auto };
            settings(session, UpdateSessionSettingsParams { interaction_mode: Some(mode), ..none() }).await
        }
        "autonomy" => {
            let level = Autonomy::from(argument.as_str());
            settings(session, UpdateSessionSettingsParams { autonomy_level: Some(level), ..none() }).await
        }
        "new" => Ok(Done::Switch(scene.opener.new_session().await?, "new session".to_owned(), None)),
        "resume" if argument.is_empty() => {
            let current = session.id().to_string();
            let items = scene.opener.sessions().await?.into_iter().filter(|item| item.value != current).collect();
            Ok(Done::Pick(Purpose::Session, "Session:", items))
        }
        "resume" => Ok(Done::Switch(scene.opener.resume(argument).await?, "resumed".to_owned(), None)),
        "fork" => {
            let forked = session.fork().await?;
            Ok(Done::Switch(forked, "a copy of the session; the original stays as it is".to_owned(), None))
        }
        "compact" => {
            let mut compact = session.compact();
            if !argument.is_empty() {
                compact = compact.instructions(argument);
            }
            let compaction = compact.await?;
            let text = format!("{} messages became a summary", compaction.removed_messages);
            Ok(Done::Switch(compaction.session, text, None))
        }
        "rewind" => {
            let mut items: Vec<_> = prompts(&scene)
                .into_iter()
                .map(|(id, text)| Item::new(id, text.lines().next().unwrap_or_default().to_owned(), ""))
                .collect();
            items.reverse();
            if items.is_empty() { Ok(note("there is no earlier prompt")) } else { Ok(Done::Pick(Purpose::Rewind, "Edit the prompt:", items)) }
        }
        "rename" if argument.is_empty() => Ok(note("usage: /rename TITLE")),
        "rename" => {
            session.rename(argument).await?;
            Ok(Done::Settings)
        }
        "context" => context(session).await,
        "usage" => Ok(usage(session)),
        "status" => Ok(status(session)),
        "mcp" => {
            let servers = session.client().list_mcp_servers().await?.servers;
            let rows = servers.into_iter().map(|it| {
                let error = it.error.map(|error| format!("  {error}")).unwrap_or_default();
                let login = if it.requires_auth == Some(true) {
                    format!("  run `musher mcp login {}` in a terminal", it.name)
                } else {
                    String::new()
                };
                (it.name, format!("{}{error}{login}", it.status))
            });
            Ok(table("MCP servers", rows.collect()))
        }
        "tools" => {
            let tools = session.client().list_tools(ListToolsParams::default()).await?.tools;
            let rows = tools.into_iter().map(|it| {
                let runs = if it.currently_allowed == Some(true) { "runs" } else { "asks" };
                (it.llm_id, format!("{runs}  {}", it.display_name.unwrap_or_default()))
            });
            Ok(table("Tools", rows.collect()))
        }
        "skills" => {
            let skills = session.client().list_skills().await?.skills;
            let rows = skills.into_iter().map(|it| (it.name, it.description.unwrap_or_default()));
            Ok(table("Skills", rows.collect()))
        }
        "memory" => Ok(memory(&scene)),
        "diff" => run("git diff --stat HEAD && git --no-pager diff HEAD".to_owned(), scene.cwd, false).await,
        "review" => Ok(Done::Send(
            "Review the uncommitted changes of this repository (`git diff HEAD`, and new files). Look for mistakes, missing tests and \
             anything that is hard to understand. Do not change anything; list what you find, the most important first."
                .to_owned(),
        )),
        "export" => export(&scene, &argument),
        other => Ok(note(&format!("/{other} is not known"))),
    }
}

/// Does what the user has chosen from a list.
pub(crate) async fn chosen(scene: JobContext, purpose: Purpose, item: Item) -> Outcome {
    match purpose {
        Purpose::Model => command(scene, "model", item.value).await,
        Purpose::Effort => command(scene, "effort", item.value).await,
        Purpose::Mode => command(scene, "mode", item.value).await,
        Purpose::Autonomy => command(scene, "autonomy", item.value).await,
        Purpose::Session => command(scene, "resume", item.value).await,
        Purpose::Rewind => rewind_files(&scene, item.value).await,
        Purpose::RewindFiles => {
            let (id, files) = item.value.split_once(' ').unwrap_or((&item.value, ""));
            rewind(&scene, id, files == "files").await
        }
        Purpose::History | Purpose::Theme => Ok(Done::Nothing),
    }
}

/// Runs a command of the user.
pub(crate) async fn run(command: String, cwd: PathBuf, is_shared: bool) -> Outcome {
    let ran = super::outside::run(command.clone(), cwd).await?;
    Ok(Done::Ran { command, output: ran.output, code: ran.code, is_shared })
}

/// Reads the names of the files.
pub(crate) async fn files(cwd: PathBuf) -> Outcome {
    Ok(Done::Files(tokio::task::spawn_blocking(move || super::files::list(&cwd)).await?))
}

fn none() -> UpdateSessionSettingsParams {
    UpdateSessionSettingsParams::default()
}

async fn settings(session: &Session, changed: UpdateSessionSettingsParams) -> Outcome {
    let wanted = changed.model_id.clone();
    let state = session.update_settings(changed).await?;
    match wanted.filter(|wanted| state.settings.model_id.as_ref() != Some(wanted)) {
        Some(wanted) => Ok(note(&format!("unknown model `{wanted}`; /model lists the models"))),
        None => Ok(Done::Settings),
    }
}

/// Plan, then autonomy from off to high, then plan again.
async fn next_mode(session: &Session) -> Outcome {
    let now = session.state().settings;
    let is_spec = now.interaction_mode == Some(InteractionMode::Spec);
    let (mode, level) = match now.autonomy_level {
        _ if is_spec => (InteractionMode::Auto, Some(Autonomy::Off)),
        Some(Autonomy::Off) | None => (InteractionMode::Auto, Some(Autonomy::Low)),
        Some(Autonomy::Low) => (InteractionMode::Auto, Some(Autonomy::Medium)),
        Some(Autonomy::Medium) => (InteractionMode::Auto, Some(Autonomy::High)),
        _ => (InteractionMode::Spec, None),
    };
    settings(
        session,
        UpdateSessionSettingsParams { interaction_mode: Some(mode), autonomy_level: level, ..none() },
    )
    .await
}

/// Returns the prompts of the session: those before it was resumed, and those of this chat.
fn prompts(scene: &JobContext) -> Vec<(String, String)> {
    let history = scene.session.state().history;
    let earlier = history
        .iter()
        .filter(|message| is_prompt(message))
        .map(|message| (message.id.clone(), message.text()));
    earlier.chain(scene.prompts.iter().cloned()).collect()
}

fn is_prompt(message: &Message) -> bool {
    message.role == MessageRole::User && message.is_for_people() && !message.text().trim().is_empty()
}

/// Offers to restore files, if some have changed since the prompt.
async fn rewind_files(scene: &JobContext, message_id: String) -> Outcome {
    let session_id = scene.session.id().to_string();
    let info = scene
        .session
        .client()
        .get_rewind_info(GetRewindInfoParams::new(session_id, message_id.clone()))
        .await?;
    let names: Vec<_> = info.available_files.iter().map(|it| it.file_path.as_str()).collect();
    let created: Vec<_> = info.created_files.iter().map(|it| it.file_path.as_str()).collect();
    if names.is_empty() && created.is_empty() {
        return rewind(scene, &message_id, false).await;
    }
    let changed = [names, created].concat().join(", ");
    Ok(Done::Pick(
        Purpose::RewindFiles,
        "Files have changed since then:",
        vec![
            Item::new(format!("{message_id} keep"), "Keep the files as they are", ""),
            Item::new(format!("{message_id} files"), "Restore the files, too", changed),
        ],
    ))
}

async fn rewind(scene: &JobContext, message_id: &str, with_files: bool) -> Outcome {
    let text = prompts(scene).into_iter().find(|(id, _)| id == message_id).map(|(_, text)| text);
    let session_id = scene.session.id().to_string();
    let client = scene.session.client();
    let (mut restore, mut delete) = (Vec::new(), Vec::new());
    if with_files {
        let info = client.get_rewind_info(GetRewindInfoParams::new(session_id.clone(), message_id)).await?;
        (restore, delete) = (info.available_files, info.created_files);
    }
    let title = scene.session.state().title.unwrap_or_else(|| "Chat".to_owned());
    let params = ExecuteRewindParams::new(session_id, message_id, restore, delete, title);
    let rewound = client.execute_rewind(params).await?;
    let session = scene.opener.resume(rewound.new_session_id).await?;
    Ok(Done::Switch(session, "back before that prompt; the session as it was stays".to_owned(), text))
}

async fn context(session: &Session) -> Outcome {
    let found = session.client().get_context_breakdown().await?;
    let mut rows: Vec<_> = found
        .categories
        .unwrap_or_default()
        .into_iter()
        .map(|it| (it.name, format!("{:>9} tokens", grouped(it.tokens.get()))))
        .collect();
    rows.push(("used".to_owned(), format!("{:>9} tokens", grouped(found.used_tokens.get()))));
    rows.push(("free".to_owned(), format!("{:>9} tokens", grouped(found.free_tokens.get()))));
    Ok(table("Context", rows))
}

fn usage(session: &Session) -> Done {
    let Some(usage) = session.state().usage else { return note("no tokens were used yet") };
    let row = |name: &str, count: u64| (name.to_owned(), format!("{:>12}", grouped(count)));
    let optional = |name: &str, count: Option<u64>| count.map(|count| row(name, count));
    let mut rows = vec![row("input", usage.input_tokens)];
    rows.extend(optional("read from the cache", usage.cache_read_tokens));
    rows.extend(optional("written to the cache", usage.cache_creation_tokens));
    rows.push(row("output", usage.output_tokens));
    rows.extend(optional("of it reasoning", usage.thinking_tokens));
    table("Tokens of this session", rows)
}

fn status(session: &Session) -> Done {
    let state = session.state();
    let text = |value: Option<String>| value.unwrap_or_default();
    let settings = state.settings;
    table(
        "Session",
        vec![
            ("id".to_owned(), state.id.to_string()),
            ("title".to_owned(), text(state.title)),
            ("directory".to_owned(), state.cwd.map(|cwd| cwd.display().to_string()).unwrap_or_default()),
            ("model".to_owned(), text(settings.model_id)),
            ("effort".to_owned(), text(settings.reasoning_effort.map(|it| it.to_string()))),
            ("mode".to_owned(), text(settings.interaction_mode.map(|it| it.to_string()))),
            ("autonomy".to_owned(), text(settings.autonomy_level.map(|it| it.to_string()))),
        ],
    )
}

fn memory(scene: &JobContext) -> Done {
    let mut rows = Vec::new();
    for folder in scene.cwd.ancestors() {
        for name in ["AGENTS.md", "CLAUDE.md"] {
            let file = folder.join(name);
            if let Ok(text) = fs_err::read_to_string(&file) {
                rows.push((file.display().to_string(), format!("{} lines", text.lines().count())));
            }
        }
        if folder.join(".git").exists() {
            break;
        }
    }
    if rows.is_empty() {
        note("there is no AGENTS.md in this directory or above it")
    } else {
        table("Instructions", rows)
    }
}

fn export(scene: &JobContext, argument: &str) -> Outcome {
    let id = scene.session.id().to_string();
    let name =
        if argument.is_empty() { format!("chat-{}.md", &id[..id.len().min(8)]) } else { argument.to_owned() };
    let file = scene.cwd.join(name);
    let markdown = scene.opener.markdown(&id)?;
    fs_err::write(&file, markdown)?;
    Ok(note(&format!("written to {}", file.display())))
}

fn note(text: &str) -> Done {
    Done::Lines(vec![Line::new(text, Face::DIM)])
}

fn table(title: &str, rows: Vec<(String, String)>) -> Done {
    let mut lines = vec![Line::new(title, Face::STRONG)];
    if rows.is_empty() {
        lines.push(Line::new("  none", Face::DIM));
    }
    let width = rows.iter().map(|(name, _)| crate::style::columns(name)).max().unwrap_or_default().min(40);
    for (name, value) in rows {
        let name = crate::style::padded(&name, width);
        lines.push(
            Line::plain(&format!("  {name}  ")).with(value.lines().next().unwrap_or_default(), Face::DIM),
        );
    }
    Done::Lines(lines)
}
