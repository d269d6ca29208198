//! The cost of a sandbox: starts the same shell with and without it, in turns, and prints the difference.
//!
//! Run it with `cargo bench -p musher-process`.
#![allow(clippy::expect_used, clippy::print_stdout, reason = "a benchmark")]

use std::path::Path;
use std::time::{Duration, Instant};

use musher_process::{Command, Layers, Network, Sandbox, Streams};

const ROUNDS: usize = 200;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(compare());
}

async fn compare() {
    let folder = tempfile::tempdir().expect("a directory");
    let (work, temp) = (folder.path().join("work"), folder.path().join("temp"));
    for path in [&work, &work.join(".git"), &temp] {
        fs_err::create_dir(path).expect("a directory");
    }
    let all = Layers::available();
    let read_only = || Sandbox::read_only().temp(&temp);
    let workspace = || Sandbox::writable([&work]).protect([work.join(".git")]).temp(&temp);
    let variants = [
        ("no sandbox", None),
        ("read-only", Some(read_only())),
        (
            "read-only, Landlock and seccomp alone",
            Some(read_only().layers(Layers { namespaces: false, ..all })),
        ),
        ("workspace-write, network off", Some(workspace())),
        ("workspace-write, network local", Some(workspace().network(Network::Local))),
    ];
    let mut times: Vec<Vec<Duration>> = variants.iter().map(|_| Vec::new()).collect();
    // in turns, so that a busy machine slows all of them down
    for _ in 0..ROUNDS {
        for ((_, sandbox), times) in variants.iter().zip(&mut times) {
            times.push(run(sandbox.clone(), &work).await);
        }
    }
    println!("{all}; median of {ROUNDS} commands each");
    let medians: Vec<Duration> = times.iter_mut().map(|times| median(times)).collect();
    let Some(plain) = medians.first().map(Duration::as_secs_f64) else { return };
    for ((name, _), median) in variants.iter().zip(&medians) {
        let seconds = median.as_secs_f64();
        println!(
            "{name:40} {:6.2} ms  {:+6.2} ms  {:5.2}x",
            seconds * 1e3,
            (seconds - plain) * 1e3,
            seconds / plain
        );
    }
}

async fn run(sandbox: Option<Sandbox>, cwd: &Path) -> Duration {
    let command = Command::new("/bin/sh").args(["-c", ":"]).cwd(cwd).sandbox(sandbox).keep_descendants();
    let started = Instant::now();
    let child = command.spawn(Streams::null()).await.expect("a shell");
    assert!(child.reap().expect("its end").success());
    started.elapsed()
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
