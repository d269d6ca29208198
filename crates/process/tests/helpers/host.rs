//! Test helper: a process that starts a program and waits to be killed. Usage: `musher-process-host kill|interrupt|keep|foreign SCRIPT`.
//!
//! The program is a shell with the script, whose output is ours. A line on stdin makes us reap it, and we say `reaped`. With `foreign` we
//! start nothing, and print the lines of shell that mark a program which the test starts itself.

use std::io::{self, Write as _};
use std::process::Stdio;

use musher_process::{Command, Mark, ParentDeath, Streams, start_guard};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, script] = arguments.as_slice() else { return Err(io::Error::other("two arguments expected")) };
    let command = Command::new("bash").args(["-c", script]);
    let command = match mode.as_str() {
        "kill" => command,
        "interrupt" => command.on_parent_death(ParentDeath::Interrupt),
        "keep" => command.keep_remains(),
        "foreign" => return stand_by(),
        unknown => return Err(io::Error::other(format!("unknown mode `{unknown}`"))),
    };
    let streams = Streams { stdout: Stdio::inherit(), ..Streams::null() };
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let child = runtime.block_on(command.spawn(streams))?;
    let mut line = String::new();
    while io::stdin().read_line(&mut line)? > 0 {
        child.reap()?;
        say("reaped")?;
    }
    Ok(())
}

fn stand_by() -> io::Result<()> {
    let mark = Mark::random();
    let (name, value) = mark.variable();
    start_guard();
    say(&format!("export {name}='{value}'\n{}ready", mark.shell_commands()))?;
    io::stdin().read_line(&mut String::new())?;
    Ok(())
}

fn say(text: &str) -> io::Result<()> {
    #[expect(clippy::disallowed_methods, reason = "the test reads this")]
    let mut stdout = io::stdout();
    writeln!(stdout, "{text}")
}
