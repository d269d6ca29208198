//! `musher rehearse`: serves a scripted model until Ctrl-C.
//!
//! Only wiring: the model is the crate `musher-rehearse`.

use anyhow::Context as _;
use musher_rehearse::{Error, RecordedRequest, Script, Server};
use serde_json::json;

use super::stop::Stop;
use crate::args::Rehearse;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::sanitize::sanitized;

pub(crate) async fn run(args: Rehearse, printer: Printer) -> Result<Exit, Failure> {
    if args.schema {
        let schema = serde_json::to_string_pretty(&Script::schema())?;
        printer.json(&schema)?;
        return Ok(Exit::Done);
    }
    let script = match &args.script {
        Some(path) => Script::read(path),
        None => Script::tour(),
    };
    let script = script.map_err(explained)?;
    if args.check {
        return report_check(&args, &script, printer);
    }
    serve(&args, script, printer).await
}

fn report_check(args: &Rehearse, script: &Script, printer: Printer) -> Result<Exit, Failure> {
    let replies = script.replies.len();
    let has_otherwise = script.otherwise.is_some();
    if args.json {
        printer.json(&json!({"ok": true, "replies": replies, "otherwise": has_otherwise}).to_string())?;
    } else {
        let otherwise = if has_otherwise { " and a fallback" } else { "" };
        let noun = if replies == 1 { "reply" } else { "replies" };
        printer.note(format!("{} is valid: {replies} {noun}{otherwise}", name(args)));
    }
    Ok(Exit::Done)
}

async fn serve(args: &Rehearse, script: Script, printer: Printer) -> Result<Exit, Failure> {
    // Before anything is printed: the reader of the URL may stop us at once.
    let stop = Stop::listen().context("cannot listen for signals")?;
    let mut builder = Server::builder(script).on_request(move |request| printer.note(progress(request)));
    if let Some(directory) = &args.record {
        builder = builder.record_to(directory);
    }
    if args.allow_remote {
        builder = builder.allow_remote();
    }
    let server = builder.bind(&args.listen).map_err(explained)?;
    if args.json {
        printer.json(&described(&server))?;
    } else {
        printer.data(server.url())?;
        printer.note(invitation(args, &server));
    }
    stop.wait().await;
    server.shutdown().await;
    Ok(Exit::Done)
}

fn name(args: &Rehearse) -> String {
    args.script.as_ref().map_or_else(|| "the built-in tour".to_owned(), |path| path.display().to_string())
}

fn described(server: &Server) -> String {
    let url = server.url();
    let object = json!({
        "url": url,
        "env": {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "rehearsal",
            "OPENAI_BASE_URL": format!("{url}/v1"),
            "OPENAI_API_KEY": "rehearsal"
        }
    });
    object.to_string()
}

fn invitation(args: &Rehearse, server: &Server) -> String {
    let url = server.url();
    let models = &server.rehearsal().script().models;
    let model = models.first().map_or("rehearsal", String::as_str);
    let custom_model = json!({
        "model": model, "displayName": "Rehearsal (scripted)", "provider": "generic-chat-completion-api",
        "baseUrl": format!("{url}/v1"), "apiKey": "rehearsal"
    });
    format!(
        "\
Serving {script}. Responses are scripted; no AI model is involved. Point an agent at it:

  Anthropic  ANTHROPIC_BASE_URL={url} ANTHROPIC_API_KEY=rehearsal
  OpenAI     OPENAI_BASE_URL={url}/v1 OPENAI_API_KEY=rehearsal
  Droid      in settings.json: \"customModels\": [{custom_model}]

Press Ctrl-C to stop. Requests:",
        script = name(args),
    )
}

/// Describes a request in one line; most of it comes from outside.
fn progress(request: &RecordedRequest) -> String {
    let status = request.status.map_or_else(|| "no answer".to_owned(), |status| status.to_string());
    let asked = request.call.as_ref().map_or_else(String::new, |call| {
        format!("  turn {} call {}  \"{}\"", call.turn, call.call, sanitized(&call.prompt, 60))
    });
    let answered = match &request.reply {
        Some(reply) => format!("{} ({status})", sanitized(reply, 60)),
        None => status,
    };
    let path = sanitized(&request.path, 80);
    format!("{:>4}  {} {path}{asked}  -> {answered}", request.number, request.method)
}

/// Converts an error of the library to a failure with a hint.
fn explained(error: Error) -> Failure {
    let hint = match &error {
        Error::Script { .. } => {
            "docs/rehearse.md explains scripts; `musher rehearse --schema` prints their JSON schema"
        }
        Error::ReadScript(_) => "--script takes the path of a YAML or JSON file (default: the built-in tour)",
        Error::Listen { .. } => "--listen takes an IP address and a port; port 0 picks a free port",
        Error::NotLoopback(_) => "listen on 127.0.0.1, or add --allow-remote if that is what you want",
        Error::Record { .. } => "--record needs a writable directory",
        _ => return Failure::setup(error),
    };
    Failure::setup(error).hint(hint)
}
