//! Durations of single calls: ten reads, ten commands, a search of this workspace.
//!
//! `cargo bench -p musher-tools`. For comparison, droid 0.225.2 was measured at 19 ms per read and 35 ms per command.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use std::path::Path;

use divan::Bencher;
use musher_tools::{Context, Registry, Workspace, command_environment};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

fn main() {
    divan::main();
}

fn run_all(bencher: Bencher<'_, '_>, name: &str, inputs: &[Value]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scratch = tempfile::tempdir().unwrap();
    let context = Context::new(Workspace::open(root).unwrap(), scratch.path())
        .with_environment(command_environment(std::env::vars_os(), &[], &[]));
    let tools = Registry::builtin();
    let tool = tools.get(name).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    bencher.bench(|| {
        runtime.block_on(async {
            for input in inputs {
                let input = input.as_object().unwrap().clone();
                let output = tool.run(input, &context, CancellationToken::new()).await;
                assert!(!output.is_error, "{}", output.model_text());
            }
        });
    });
}

#[divan::bench]
fn ten_reads(bencher: Bencher<'_, '_>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/catalog.rs");
    run_all(bencher, "Read", &vec![json!({"file_path": path}); 10]);
}

#[divan::bench]
fn ten_commands(bencher: Bencher<'_, '_>) {
    let input = json!({"command": "echo hi", "riskLevel": "low", "riskLevelReason": "a benchmark"});
    run_all(bencher, "Execute", &vec![input; 10]);
}

#[divan::bench]
fn one_search(bencher: Bencher<'_, '_>) {
    run_all(bencher, "Grep", &[json!({"pattern": "fn \\w+_of", "output_mode": "content"})]);
}

#[divan::bench]
fn one_listing(bencher: Bencher<'_, '_>) {
    run_all(bencher, "Glob", &[json!({"patterns": "**/*.rs"})]);
}
