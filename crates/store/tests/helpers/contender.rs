//! Test helper: a process that shares a session with others. Usage: `musher-store-contender HOME SESSION NAME`.
//!
//! Opens the session, then takes its lease again and again, and writes a turn of three messages each time. Prints the id of each message
//! after it is written. Ends when it is killed or its stdin is closed.

use std::error::Error;
use std::io::{self, Read as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use musher_message::{Content, Message, Role};
use musher_store::{Acquired, Purpose, Record, SessionId, Store, StoreError};

static IS_OVER: AtomicBool = AtomicBool::new(false);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [home, session, name] = arguments.as_slice() else { return Err("expected three arguments".into()) };
    std::thread::spawn(|| {
        io::stdin().read_to_end(&mut Vec::new()).ok();
        IS_OVER.store(true, Ordering::Release);
    });
    let attached = Store::open(home).attach(&SessionId::new(session)?)?;
    let mut released = attached.released;
    let mut last = attached.session.messages.last().map(|message| message.id.clone());
    #[expect(clippy::disallowed_methods, reason = "the test reads this")]
    let mut stdout = io::stdout();
    let mut turn = 0;
    while !IS_OVER.load(Ordering::Acquire) {
        let mut log = match released.acquire(Purpose::Turn) {
            Ok(Acquired::Unchanged(log)) => *log,
            Ok(Acquired::Changed(loaded)) => {
                last = loaded.session.messages.last().map(|message| message.id.clone());
                loaded.log
            }
            Err(StoreError::Locked { .. }) => {
                std::thread::sleep(Duration::from_millis(1));
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        turn += 1;
        for (step, role) in [Role::User, Role::Assistant, Role::User].into_iter().enumerate() {
            let id = format!("{name}-{turn}-{step}");
            let mut message = Message::new(id.clone(), role, vec![Content::Text("x".repeat(step * 3000))]);
            message.parent_id = last.replace(id.clone());
            log.append(&Record::Message(Box::new(message)))?;
            writeln!(stdout, "{id}")?;
        }
        if turn % 3 == 0 {
            log.set_title(&format!("{name}-{turn}"), true)?;
        }
        released = log.release();
    }
    Ok(())
}
