//! `musher exec`: the built-in agent on one task, or as a server of the Droid protocol.
//!
//! Only wiring: the agent is the crate `musher-engine`, the protocol `musher-server`. The plain forms drive it through the SDK, like
//! every other client.

mod protocol;
mod session;
mod task;
mod tools;

use std::sync::Arc;

use anyhow::anyhow;

use crate::args::{Exec, InputFormat, OutputFormat};
use crate::embedded;
use crate::exit::{Exit, Failure};
use crate::hide::erase_keys;
use crate::printer::Printer;

pub(crate) async fn run(mut args: Exec, printer: Printer) -> Result<Exit, Failure> {
    if args.json {
        args.output_format = OutputFormat::Json;
    } else if args.stream_json {
        args.output_format = OutputFormat::StreamJson;
    }
    let environment = embedded::environment(args.model.as_deref(), args.settings.as_deref())?;
    let environment = environment.with_sandbox(args.sandbox.settings());
    erase_keys();
    let environment = match args.limits.budget.budget() {
        Some(budget) => environment.with_budget(budget),
        None => environment,
    };
    let environment = Arc::new(environment);
    let speaks = (args.input_format, args.output_format);
    if let (Some(InputFormat::StreamJsonrpc), _) | (_, OutputFormat::StreamJsonrpc) = speaks {
        if speaks != (Some(InputFormat::StreamJsonrpc), OutputFormat::StreamJsonrpc) {
            let failure =
                Failure::setup(anyhow!("`--input-format` and `--output-format` must both be stream-jsonrpc"));
            return Err(failure.hint("use `--input-format stream-jsonrpc --output-format stream-jsonrpc`"));
        }
        return protocol::serve(environment, args.skip_permissions_unsafe).await;
    }
    if args.list_tools {
        return tools::list(&args, environment, printer).await;
    }
    task::run(args, environment, printer).await
}
