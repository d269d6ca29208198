//! `--list-tools`: the tools, and whether each requires approval.

use std::sync::Arc;

use musher::Session;
use musher::wire::{ListToolsParams, ToolInfo};
use musher_engine::Environment;

use super::session;
use crate::args::{Exec, OutputFormat};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

pub(super) async fn list(
    args: &Exec,
    environment: Arc<Environment>,
    printer: Printer,
) -> Result<Exit, Failure> {
    let opened: Session = session::open_with_any_model(args, environment, printer).await?;
    let listed = opened.client().list_tools(ListToolsParams::default()).await;
    opened.close().await?;
    let mut tools = listed?.tools;
    tools.retain(|tool| tool.id != session::NO_QUESTIONS);
    if args.output_format == OutputFormat::Text {
        return text(args, &tools, printer);
    }
    printer.json(&serde_json::to_string(&tools)?)?;
    Ok(Exit::Done)
}

fn text(args: &Exec, tools: &[ToolInfo], printer: Printer) -> Result<Exit, Failure> {
    let level = match args.auto {
        _ if args.skip_permissions_unsafe => "everything".to_owned(),
        Some(level) => format!("{level:?}").to_lowercase(),
        None => "read-only".to_owned(),
    };
    printer.data(format!("Autonomy: {level}"))?;
    for (category, title) in [("read", "Read"), ("edit", "Edit"), ("execute", "Execute")] {
        let of_it: Vec<_> = tools
            .iter()
            .filter(|tool| tool.category.as_ref().is_some_and(|it| it.as_str() == category))
            .collect();
        if of_it.is_empty() {
            continue;
        }
        printer.data(format!("\n{title}"))?;
        for tool in of_it {
            let runs = if tool.currently_allowed == Some(true) { "runs" } else { "requires approval" };
            printer.data(format!("  {:<20} {:<22} {runs}", tool.llm_id, tool.id))?;
        }
    }
    Ok(Exit::Done)
}
