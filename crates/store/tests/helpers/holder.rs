//! Test helper: a process that opens a session, appends a message and waits to be killed. Usage: `musher-store-holder HOME SESSION`.
//!
//! Prints `held` after the message is written. Exits when its stdin is closed, so that it cannot outlive the test.

use std::error::Error;
use std::io::{self, Write as _};

use musher_message::{Content, Message, Role};
use musher_store::{Record, SessionId, Store};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [home, session] = arguments.as_slice() else { return Err("expected two arguments".into()) };
    let mut loaded = Store::open(home).load(&SessionId::new(session)?)?;
    let message = Message::new("held", Role::User, vec![Content::Text("Mine.".to_owned())]);
    loaded.log.append(&Record::Message(Box::new(message)))?;
    #[expect(clippy::disallowed_methods, reason = "the test reads this")]
    let mut stdout = io::stdout();
    writeln!(stdout, "held")?;
    io::stdin().read_line(&mut String::new())?;
    Ok(())
}
