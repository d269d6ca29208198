//! One or more prompts in one session; the events go to the report.

use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use musher::{CancellationToken, Event, Prompt, Session, TurnEnd, TurnResult};
use musher_engine::Environment;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::session;
use crate::args::{Exec, InputFormat};
use crate::commands::stop::Stop;
use crate::drive::{NO_ANSWER, has_no_answer, is_of_model};
use crate::exit::{Exit, Failure};
use crate::models;
use crate::printer::Printer;
use crate::prompt;
use crate::report::Report;
use crate::resolve::trace_parent;
use crate::task::{Deadline, refused};

pub(super) async fn run(
    args: Exec,
    environment: Arc<Environment>,
    printer: Printer,
) -> Result<Exit, Failure> {
    let stop = Stop::listen().context("cannot listen for signals")?;
    let is_stopped = CancellationToken::new();
    let told = is_stopped.clone();
    let listening = tokio::spawn(async move {
        stop.wait().await;
        told.cancel();
    });
    let outcome = if args.input_format == Some(InputFormat::StreamJson) {
        many(&args, environment, printer, &is_stopped).await
    } else {
        one(&args, environment, printer, &is_stopped).await
    };
    listening.abort();
    outcome
}

async fn one(
    args: &Exec,
    environment: Arc<Environment>,
    printer: Printer,
    is_stopped: &CancellationToken,
) -> Result<Exit, Failure> {
    let deadline = Deadline::start(&args.limits);
    let prompt = prompt::read(&args.prompt, args.file.as_deref())?;
    let session = deadline.opening(session::open(args, Arc::clone(&environment), printer)).await?;
    let place = place(&environment, &session);
    let mut report = Report::begin(args.output_format, &session, printer).await?;
    let prompt = deadline.limited(session.send(prompt), &args.limits);
    let outcome = turn(prompt, &mut report, place.as_deref(), is_stopped).await;
    session.close().await?;
    outcome
}

/// Runs one prompt per line until the input ends.
async fn many(
    args: &Exec,
    environment: Arc<Environment>,
    printer: Printer,
    is_stopped: &CancellationToken,
) -> Result<Exit, Failure> {
    let opening = session::open(args, Arc::clone(&environment), printer);
    let session = Deadline::start(&args.limits).opening(opening).await?;
    let place = place(&environment, &session);
    let mut report = Report::begin(args.output_format, &session, printer).await?;
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut exit = Exit::Done;
    loop {
        let line = tokio::select! {
            line = lines.next_line() => line?,
            () = is_stopped.cancelled() => {
                exit = Exit::Interrupted;
                break;
            }
        };
        let Some(line) = line else { break };
        if line.trim().is_empty() {
            continue;
        }
        match said(&line) {
            Some(prompt) => {
                let prompt = Deadline::start(&args.limits).limited(session.send(prompt), &args.limits);
                exit = turn(prompt, &mut report, place.as_deref(), is_stopped).await?;
            }
            None => {
                report.error("cli", "invalid input line: expected a JSON object with text in `content`")?;
            }
        }
        if exit == Exit::Interrupted {
            break;
        }
    }
    session.close().await?;
    Ok(exit)
}

/// Returns the text of a line, in each of the forms clients write.
fn said(line: &str) -> Option<String> {
    let value: Value = serde_json::from_str(line).ok()?;
    let content = value.get("content").or_else(|| value.get("message")?.get("content"));
    let content = content.or_else(|| value.get("text"))?;
    if let Some(text) = content.as_str() {
        return Some(text.to_owned());
    }
    let blocks = content.as_array()?.iter().filter_map(|block| block.get("text")?.as_str());
    Some(blocks.collect::<Vec<_>>().join("\n")).filter(|text| !text.is_empty())
}

/// Says where the model of a session is.
fn place(environment: &Environment, session: &Session) -> Option<String> {
    let state = session.state();
    models::place(environment, &state.cwd?, &state.settings.model_id?)
}

async fn turn(
    prompt: Prompt,
    report: &mut Report,
    place: Option<&str>,
    is_stopped: &CancellationToken,
) -> Result<Exit, Failure> {
    let prompt = prompt.cancel_token(is_stopped.clone());
    let prompt = match trace_parent() {
        Some(parent) => prompt.trace_parent(parent),
        None => prompt,
    };
    let mut turn = prompt.start().await.map_err(refused)?;
    while let Some(event) = turn.next().await {
        match event? {
            Event::Result(result) => {
                report.end(&result, failure(&result).as_deref())?;
                if let Some(place) = place.filter(|_| is_of_model(&result.end)) {
                    report.hint(place);
                }
                return Ok(match result.end {
                    TurnEnd::Completed if has_no_answer(&result) => Exit::Failed,
                    TurnEnd::Completed | TurnEnd::HandedOver => Exit::Done,
                    TurnEnd::Interrupted(_) if is_stopped.is_cancelled() => Exit::Interrupted,
                    TurnEnd::Failed(musher::FailureKind::Refusal) => Exit::ModelRefused,
                    _ => Exit::Failed,
                });
            }
            event => report.event(&event)?,
        }
    }
    Err(anyhow!("the turn ended without a result").into())
}

/// Returns why the task was not done, with a hint.
fn failure(result: &TurnResult) -> Option<String> {
    let reason = match &result.end {
        TurnEnd::Completed if has_no_answer(result) => return Some(NO_ANSWER.to_owned()),
        TurnEnd::Completed | TurnEnd::HandedOver => return None,
        TurnEnd::Interrupted(musher::StoppedBy::Denied) => Some("permission_rejected"),
        TurnEnd::Interrupted(musher::StoppedBy::Timeout) => {
            return Some("stopped: exceeded `--timeout`".to_owned());
        }
        TurnEnd::Interrupted(musher::StoppedBy::Budget) => {
            return Some("stopped: exceeded `--budget-tokens`".to_owned());
        }
        TurnEnd::Interrupted(_) => return Some("the task was interrupted".to_owned()),
        TurnEnd::Failed(
            musher::FailureKind::Execution(reason) | musher::FailureKind::StructuredOutput(reason),
        ) => Some(reason.as_str()),
        _ => None,
    };
    if reason == Some("permission_rejected") {
        return Some(
            "permission denied (not interactive); allow more with `--auto low`, `medium` or `high`"
                .to_owned(),
        );
    }
    let told = result.errors.last().map(|error| error.message.clone());
    Some(told.unwrap_or_else(|| format!("the task failed ({})", reason.unwrap_or("unknown"))))
}

#[cfg(test)]
mod tests {
    use super::said;

    #[test]
    fn line_of_input_is_text_in_one_of_the_known_places() {
        for line in [
            r#"{"role":"user","content":"Hello"}"#,
            r#"{"type":"user","message":{"role":"user","content":"Hello"}}"#,
            r#"{"role":"user","content":[{"type":"text","text":"Hello"}]}"#,
            r#"{"text":"Hello"}"#,
        ] {
            assert_eq!(said(line).as_deref(), Some("Hello"), "{line}");
        }
        for line in ["Hello", "{}", r#"{"content":7}"#, r#"{"content":[]}"#] {
            assert_eq!(said(line), None, "{line}");
        }
    }
}
