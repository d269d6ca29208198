//! Test helper: a process that starts a program and waits to be killed. Usage: `musher-process-host kill|interrupt|keep|foreign SCRIPT`.
//!
//! The program is a shell that runs the script with inherited output. A line on stdin makes the helper reap it and print `reaped`. With
//! `foreign`, the helper starts no program, but prints the shell commands that mark a program which the test starts itself.

use std::io::{self, Write as _};
use std::process::Stdio;

use musher_process::{Command, Mark, ParentDeath, Streams, start_guard};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, script] = arguments.as_slice() else { return Err(io::Error::other("expected two arguments")) };
    let command = Command::new("bash").args(["-c", script]);
    let command = match mode.as_str() {
        "kill" => command,
        "interrupt" => command.on_parent_death(ParentDeath::Interrupt),
        "keep" => command.keep_descendants(),
        "foreign" => return print_mark_and_wait(),
        unknown => return Err(io::Error::other(format!("unknown mode `{unknown}`"))),
    };
    let streams = Streams { stdout: Stdio::inherit(), ..Streams::null() };
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let child = runtime.block_on(command.spawn(streams))?;
    let mut line = String::new();
    while io::stdin().read_line(&mut line)? > 0 {
        child.reap()?;
        print_line("reaped")?;
    }
    Ok(())
}

fn print_mark_and_wait() -> io::Result<()> {
    let mark = Mark::random();
    let (name, value) = mark.variable();
    start_guard();
    print_line(&format!("export {name}='{value}'\n{}ready", mark.shell_commands()))?;
    io::stdin().read_line(&mut String::new())?;
    Ok(())
}

fn print_line(text: &str) -> io::Result<()> {
    #[expect(clippy::disallowed_methods, reason = "the test reads this")]
    let mut stdout = io::stdout();
    writeln!(stdout, "{text}")
}
