//! `cargo xtask`: the commands for developing this project, the same locally and in CI.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for developers, whose output is for reading"
)]
#![allow(clippy::disallowed_methods, reason = "runs cargo and friends, and waits for them")]

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};

mod book;
mod capture;
mod cargo;
mod ci;
mod console_types;
mod fuzz;
mod language;
mod layers;
mod model_bench;
mod models;
mod packages;
mod peers;
mod programs;
mod prose;
mod quick_start;
mod screenshot;
mod terms;
mod tidy;
mod wire_check;

/// The developer commands of this project
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Run every check, quickest first; stop at the first failure
    Ci,
    /// Build the guide as a book, and check its pages and its search
    Book,
    /// Write the types of the protocol for the page of the console
    ConsoleTypes,
    /// Check the crate graph against the table of allowed edges
    Layers,
    /// Check that every published crate has the fields and files that docs.rs and the registry require
    Packages,
    /// Check file headers, white space, words and documents; show the longest files
    Tidy,
    /// Check that the protocol types read and print recorded traffic
    WireCheck {
        /// Capture files, or directories with capture files
        #[arg(default_value = "fixtures/wire")]
        paths: Vec<PathBuf>,
    },
    /// Fuzz the frame parser (needs a nightly toolchain)
    Fuzz {
        /// How long to fuzz, in seconds
        #[arg(long, default_value_t = 30)]
        seconds: u32,
    },
    /// Compare requests, cache and tool results with the real droid, with a scripted model
    ModelBench {
        /// The program `musher` to measure (default: build it)
        #[arg(long, value_name = "PATH")]
        program: Option<PathBuf>,
    },
    /// Write the catalog of models from a public snapshot
    Models {
        /// A copy of the list in the snapshot (default: fetch it)
        #[arg(long, value_name = "FILE")]
        list: Option<PathBuf>,
    },
    /// Run the first line of the README in a clean checkout
    QuickStart,
    /// Write the picture of the README from a run of `musher demo`
    Screenshot(screenshot::ScreenshotArgs),
    /// Record a session of the chat for the README and the guide
    Cast(screenshot::cast::CastArgs),
    Peers(peers::PeersArgs),
    Capture(capture::CaptureArgs),
}

fn main() -> Result<()> {
    match Cli::parse().task {
        Task::Ci => ci::run(),
        Task::Book => book::run(),
        Task::ConsoleTypes => console_types::write(),
        Task::Layers => layers::run(),
        Task::Packages => packages::run(),
        Task::Tidy => tidy::run(),
        Task::WireCheck { paths } => wire_check::run(&paths),
        Task::Fuzz { seconds } => fuzz::run(seconds),
        Task::ModelBench { program } => model_bench::run(program),
        Task::Models { list } => models::run(list),
        Task::QuickStart => quick_start::run(),
        Task::Screenshot(args) => screenshot::run(&args),
        Task::Cast(args) => screenshot::cast::run(&args),
        Task::Peers(args) => peers::run(&args),
        Task::Capture(args) => capture::run(&args),
    }
}
