//! `musher inbox`: what waits for the user, across all sessions of the daemon.

use std::time::SystemTime;

use anyhow::anyhow;
use musher::wire::ToolConfirmationOutcome;
use musher::{Answers, Daemon, Decision, InboxItem, InboxRequest};
use serde_json::{Value, json};

use super::sessions::timestamp;
use crate::args::{Inbox, InboxAction};
use crate::daemon_client::connect;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::sanitize::sanitized;
use crate::style::Style;
use crate::styled::Styled;
use crate::view;

/// Maximum length of a title or a directory in a line.
const MAX_TITLE_LENGTH: usize = 200;
/// Minimum length of a shown id.
const MIN_ID_LENGTH: usize = 4;

pub(crate) async fn run(args: Inbox, printer: Printer) -> Result<Exit, Failure> {
    let daemon = connect(&args.daemon).await?;
    let outcome = act(&daemon, &args, printer).await;
    daemon.close().await;
    outcome
}

async fn act(daemon: &Daemon, args: &Inbox, printer: Printer) -> Result<Exit, Failure> {
    let items = daemon.inbox().await.map_err(|error| {
        let is_unsupported = error.is_unsupported();
        let failure = Failure::setup(error);
        if is_unsupported { failure.hint("only `musher daemon` has an inbox") } else { failure }
    })?;
    let (id, answer) = match &args.action {
        None => return list(&items, args.json, printer),
        Some(InboxAction::Allow(allow)) => (&allow.id, Answer::Allow { always: allow.always }),
        Some(InboxAction::Deny(deny)) => (&deny.id, Answer::Deny),
        Some(InboxAction::Answer(answer)) => (&answer.id, Answer::Texts(answer.answers.clone())),
    };
    let item = find(&items, id)?;
    match (&item.request, answer) {
        (InboxRequest::Permission(request), Answer::Allow { always: true }) => {
            let outcome = ToolConfirmationOutcome::ProceedAlways;
            if !request.offers(&outcome) {
                return Err(
                    Failure::setup(anyhow!("this request can only be allowed once")).hint("omit `--always`")
                );
            }
            daemon.answer_permission(item, Decision::from(outcome)).await?;
        }
        (InboxRequest::Permission(_), Answer::Allow { always: false }) => {
            daemon.answer_permission(item, Decision::allow_once()).await?;
        }
        (InboxRequest::Permission(_), Answer::Deny) => {
            daemon.answer_permission(item, Decision::deny()).await?;
        }
        (InboxRequest::Question(_), Answer::Deny) => daemon.answer_question(item, Answers::Declined).await?,
        (InboxRequest::Question(request), Answer::Texts(texts)) => {
            if request.questions.len() != texts.len() {
                let failure = anyhow!("{} answers for {} questions", texts.len(), request.questions.len());
                return Err(Failure::setup(failure).hint("give one answer for each question, quoted"));
            }
            let texts =
                request.questions.iter().zip(&texts).map(|(question, text)| {
                    match view::read_answer(question, text) {
                        view::Parsed::Value(answer) => answer,
                        view::Parsed::Invalid => text.clone(),
                    }
                });
            daemon.answer_question(item, Answers::Given(texts.collect())).await?;
        }
        (InboxRequest::Permission(_), Answer::Texts(_)) => {
            return Err(Failure::setup(anyhow!("`{id}` is a permission request"))
                .hint("`musher inbox allow` and `musher inbox deny` decide on it"));
        }
        (InboxRequest::Question(_), Answer::Allow { .. }) => {
            return Err(
                Failure::setup(anyhow!("`{id}` is a question")).hint("`musher inbox answer` answers it")
            );
        }
        (_, _) => return Err(Failure::setup(anyhow!("unknown kind of request"))),
    }
    Ok(Exit::Done)
}

/// The answer on the command line.
enum Answer {
    Allow { always: bool },
    Deny,
    Texts(Vec<String>),
}

fn list(items: &[InboxItem], is_json: bool, printer: Printer) -> Result<Exit, Failure> {
    if is_json {
        let items: Vec<Value> = items.iter().map(json).collect();
        printer.json(&serde_json::to_string_pretty(&items)?)?;
        return Ok(Exit::Done);
    }
    if items.is_empty() {
        printer.note("nothing waits for you");
        return Ok(Exit::Done);
    }
    let style = Style::of_stdout();
    for item in items {
        for line in lines(item, items, style, SystemTime::now()) {
            printer.data(line)?;
        }
    }
    printer.note("`musher inbox allow ID`, `deny ID` or `answer ID TEXT` answers one");
    Ok(Exit::Done)
}

/// Returns the lines about one request: where it comes from, and what is asked.
fn lines(item: &InboxItem, all: &[InboxItem], style: Style, now: SystemTime) -> Vec<Styled> {
    let age = item.created_at.map(|at| timestamp::ago(at, now)).unwrap_or_default();
    let place = item.cwd.as_ref().map(|cwd| sanitized(&cwd.to_string_lossy(), MAX_TITLE_LENGTH));
    let title = sanitized(item.title.as_deref().unwrap_or("untitled"), MAX_TITLE_LENGTH);
    let by = if item.subagent_session_id.is_some() { "  (subagent)" } else { "" };
    let rest = format!("  {age}  {}  {title}{by}", place.unwrap_or_default());
    let mut out = vec![style.notable(&shortened(&item.request_id, all)) + style.dim(&rest)];
    match &item.request {
        InboxRequest::Permission(request) => out.extend(view::permission(request, style)),
        InboxRequest::Question(request) => {
            for question in &request.questions {
                out.extend(view::question(question, style));
            }
        }
        _ => out.push("a kind of request that this version does not know".into()),
    }
    out
}

fn json(item: &InboxItem) -> Value {
    let (kind, subject) = match &item.request {
        InboxRequest::Permission(request) => ("permission", view::reason(request)),
        InboxRequest::Question(request) => {
            let questions: Vec<_> = request.questions.iter().map(|it| it.question.as_str()).collect();
            ("question", questions.join("; "))
        }
        _ => ("unknown", String::new()),
    };
    json!({
        "id": item.request_id,
        "kind": kind,
        "subject": subject,
        "session": item.session_id,
        "subagent": item.subagent_session_id,
        "cwd": item.cwd,
        "title": item.title,
        "created": item.created_at.and_then(timestamp::utc),
    })
}

/// Returns the shortest prefix of an id that no other request has.
fn shortened(id: &str, all: &[InboxItem]) -> String {
    let is_alone = |prefix: &str| all.iter().filter(|item| item.request_id.starts_with(prefix)).count() <= 1;
    let lengths = MIN_ID_LENGTH.min(id.len())..=id.len();
    let prefixes = lengths.filter_map(|length| id.get(..length));
    let found = prefixes.into_iter().find(|prefix| is_alone(prefix));
    sanitized(found.unwrap_or(id), MAX_TITLE_LENGTH)
}

fn find<'a>(items: &'a [InboxItem], wanted: &str) -> Result<&'a InboxItem, Failure> {
    let found: Vec<_> = items.iter().filter(|item| item.request_id.starts_with(wanted)).collect();
    match found[..] {
        [item] => Ok(item),
        [] => {
            Err(Failure::setup(anyhow!("no request `{wanted}` waits"))
                .hint("`musher inbox` lists the requests"))
        }
        _ => Err(Failure::setup(anyhow!("`{wanted}` is ambiguous: it matches {} requests", found.len()))),
    }
}
