//! `musher acp`: serves the editor that started it until the editor is gone.
//!
//! Only wiring: the sessions are the crate `musher-acp`. Stdout belongs to the protocol.

use std::path::Path;

use anyhow::{Context as _, anyhow};
use musher_acp::Config;
use musher_rpc::{Limits, MAX_LINE_LIMIT, stdio_lines};

use super::stop::Stop;
use crate::args::Acp;
use crate::exit::{Exit, Failure};

pub(crate) async fn run(args: Acp) -> Result<Exit, Failure> {
    if args.agent == Path::new("engine") {
        let failure = Failure::setup(anyhow!("the built-in engine does not exist yet"));
        return Err(failure.hint("use `--agent droid`, or the path of an agent"));
    }
    let stop = Stop::listen().context("cannot listen for signals")?;
    let mut config = Config::new(musher::Agent::program(&args.agent));
    config.model = args.model;
    config.sessions_dir = args.sessions_dir;
    // prompts have pictures in them
    let limits = Limits { line: MAX_LINE_LIMIT, ..Limits::default() };
    let editor = stdio_lines(limits).context("cannot serve stdin and stdout")?;
    musher_acp::serve(config, editor, stop.wait()).await.context("the editor's side failed")?;
    Ok(Exit::Done)
}
