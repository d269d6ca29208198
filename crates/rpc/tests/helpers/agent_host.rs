//! Test helper: a process that starts an agent and waits to be killed. Usage: `musher-rpc-agent-host kill|interrupt SCRIPT`.
//!
//! The agent is a shell with the script, and inherits our environment. Once it has said something we print `ready`. A line on stdin makes
//! us close it and print `ended`.

use std::io::{self, Write as _};

use musher_rpc::{Child, Launch, ParentDeath};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [parent_death, script] = arguments.as_slice() else { return Err("two arguments expected".into()) };
    let parent_death = match parent_death.as_str() {
        "kill" => ParentDeath::Kill,
        "interrupt" => ParentDeath::Interrupt,
        unknown => return Err(format!("unknown end `{unknown}`").into()),
    };
    let launch = Launch::new("sh").args(["-c", script]).on_parent_death(parent_death);
    let (child, mut connection) = Child::spawn(launch).await?;
    connection.incoming.recv().await?;
    say("ready")?;
    while read_line().await? {
        child.close().await;
        say("ended")?;
    }
    Ok(())
}

/// Waits for a line on stdin. Returns whether there was one.
async fn read_line() -> io::Result<bool> {
    let read = || io::stdin().read_line(&mut String::new());
    Ok(tokio::task::spawn_blocking(read).await.map_err(io::Error::other)?? > 0)
}

fn say(word: &str) -> io::Result<()> {
    #[expect(clippy::disallowed_methods, reason = "the test reads this")]
    let mut stdout = io::stdout();
    writeln!(stdout, "{word}")
}
