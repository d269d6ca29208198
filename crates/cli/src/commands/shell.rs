//! `musher completions` and `musher man`: generated from the definition of the command line.

use anyhow::Context as _;
use clap::CommandFactory as _;

use crate::args::{Args, Completions, Man};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

pub(crate) fn completions(args: &Completions, printer: Printer) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "musher", &mut script);
    printer.exact(String::from_utf8_lossy(&script).trim_end())?;
    Ok(Exit::Done)
}

pub(crate) fn man(args: &Man, printer: Printer) -> Result<Exit, Failure> {
    if let Some(folder) = &args.output {
        let failed = || format!("cannot write the pages to `{}`", folder.display());
        fs_err::create_dir_all(folder).with_context(failed)?;
        clap_mangen::generate_to(Args::command(), folder).with_context(failed)?;
        printer.note(format!("wrote the pages to {}", folder.display()));
        return Ok(Exit::Done);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(Args::command()).render(&mut page)?;
    printer.exact(String::from_utf8_lossy(&page).trim_end())?;
    Ok(Exit::Done)
}
