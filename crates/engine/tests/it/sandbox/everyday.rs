//! Everyday work passes in the sandbox, without network and without permission requests: builds and tests with the real programs.

use std::ffi::OsString;

use musher_engine::{Autonomy, SandboxMode, SandboxNetwork, SandboxSettings};

use super::{Place, at, execute, unattended};
use crate::stage::Stage;

/// The variables with which this test's own programs are found: cargo is in the user's home.
fn variables() -> Vec<(OsString, OsString)> {
    let names = ["PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"];
    names.into_iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?))).collect()
}

/// Writes files and runs a command in the sandbox. Returns what happened.
async fn work(files: &[(&str, &str)], command: &str) -> (Place, String) {
    let place = Place::new();
    for (name, content) in files {
        let path = place.work(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, content).unwrap();
    }
    let sandbox = SandboxSettings {
        mode: Some(SandboxMode::WorkspaceWrite),
        network: Some(SandboxNetwork::Off),
        is_required: true,
        ..SandboxSettings::default()
    };
    let mut stage: Stage = place
        .stage(&[execute(command)], unattended(Autonomy::High), |it| {
            it.with_sandbox(sandbox).with_variables(variables())
        })
        .await;
    stage.say("Work.");
    let seen = stage.until_idle().await.join("\n");
    assert!(seen.contains("call_0 done"), "{command}: {seen}");
    (place, seen)
}

#[tokio::test]
async fn make_and_gcc_build_and_run_a_program() {
    let makefile = "program: main.c\n\tgcc -Wall -o $@ $<\ncheck: program\n\t./program | grep -q works\n";
    let main = "#include <stdio.h>\nint main(void) { puts(\"works\"); return 0; }\n";
    let (place, _) = work(&[("Makefile", makefile), ("main.c", main)], "make && make check").await;
    assert!(place.work("program").exists());
}

#[tokio::test]
async fn cargo_builds_and_tests_a_crate() {
    let manifest = "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let lib = "/// ```\n/// assert_eq!(tiny::two(), 2);\n/// ```\npub fn two() -> u32 { 2 }\n\
               #[test] fn two_is_two() { std::fs::write(std::env::temp_dir().join(\"x\"), \"y\").unwrap(); assert_eq!(two(), 2); }\n";
    let (place, seen) = work(
        &[("Cargo.toml", manifest), ("src/lib.rs", lib)],
        "cargo build --offline && cargo test --offline 2>&1",
    )
    .await;
    assert!(place.work("target/debug/libtiny.rlib").exists());
    let result = seen.split("call_0 done").nth(1).unwrap();
    assert_eq!(result.matches("1 passed").count(), 2, "the test and the documentation test: {seen}");
}

#[tokio::test]
async fn npm_runs_the_tests_of_a_package() {
    let package = r#"{"name": "tiny", "version": "1.0.0", "scripts": {"test": "node --test test.js"}}"#;
    let test = "const { test } = require('node:test'); const assert = require('node:assert');\n\
                test('adds', () => assert.equal(1 + 1, 2));\n";
    work(&[("package.json", package), ("test.js", test)], "npm test").await;
}

#[tokio::test]
async fn pytest_runs_tests_with_temporary_files() {
    let test = "def test_writes(tmp_path):\n    (tmp_path / 'x').write_text('y')\n    assert (tmp_path / 'x').read_text() == 'y'\n";
    let (_, seen) = work(&[("test_tiny.py", test)], "/usr/bin/pytest -q").await;
    assert!(seen.contains("1 passed"), "{seen}");
}

#[tokio::test]
async fn service_that_runs_programs_outside_is_named_as_the_reason() {
    let place = Place::new();
    let makefile = "all:\n\t@echo 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?' >&2; exit 1\n";
    fs_err::write(place.work("Makefile"), makefile).unwrap();
    let mut stage = place.stage(&[execute("make")], at(Autonomy::Medium), |it| it).await;
    stage.say("Start it.");
    let events = stage.until(crate::stage::is_question).await;
    let why = super::reason(events.last().unwrap());
    assert!(
        why.contains("a service that would run programs outside of the sandbox, such as Docker"),
        "{why}"
    );
}
