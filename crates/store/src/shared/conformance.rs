//! What every implementation of the shared state promises, as checks. An implementation runs [`check`] in its tests.
//!
//! A check returns a description of the first broken promise.

use super::{Events, Inbox, InboxItem, Ledger, PromptQueue, QueuedPrompt, Receipt, Spent};
use crate::{SessionId, StoreError};

/// Why an implementation fails.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A promise is broken.
    #[error("broken promise: {0}")]
    Broken(&'static str),
    /// The implementation returned an error.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Checks an implementation. `open` returns a handle on the same, initially empty, storage each time, as after a restart.
pub fn check<S: Events + PromptQueue + Inbox + Ledger>(open: impl Fn() -> S) -> Result<(), Failure> {
    events(&open)?;
    prompts(&open)?;
    inbox(&open)?;
    ledger(&open)
}

fn ensure(holds: bool, promise: &'static str) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err(Failure::Broken(promise)) }
}

/// Checks that events are numbered without gaps, and read from any position, also after a restart.
pub fn events<S: Events>(open: impl Fn() -> S) -> Result<(), Failure> {
    let session = SessionId::random();
    let texts: Vec<String> = (1..=300).map(|number| format!("{{\"n\":{number}}}")).collect();
    let refs: Vec<&str> = texts.iter().map(String::as_str).collect();
    {
        let log = open().open_events(&session)?;
        ensure(log.last() == 0 && log.read(0, 1000)?.is_empty(), "a new session has no events")?;
        ensure(log.append(&refs[..100])? == 100, "append returns the last sequence")?;
        ensure(log.append(&[])? == 100, "appending nothing changes nothing")?;
        log.rest();
        ensure(log.append(&refs[100..200])? == 200, "sequences continue after a rest")?;
    }
    let log = open().open_events(&session)?;
    ensure(log.last() == 200, "events survive a restart")?;
    ensure(log.append(&refs[200..])? == 300, "sequences continue after a restart")?;
    for start in [0, 1, 99, 100, 101, 250, 299, 300] {
        let mut after = start;
        loop {
            let events = log.read(after, 100)?;
            if events.is_empty() {
                break;
            }
            for event in events {
                after += 1;
                let expected = usize::try_from(after - 1).ok().and_then(|at| texts.get(at));
                let is_next = event.sequence == after && Some(&event.payload) == expected;
                ensure(is_next, "reading returns every event once, in order, with its payload")?;
            }
        }
        ensure(after == 300, "reading ends at the last event")?;
    }
    ensure(log.read(400, 100)?.is_empty(), "there are no events after the last one")?;
    let other = open().open_events(&SessionId::random())?;
    ensure(other.last() == 0, "sessions do not share events")?;
    drop(log);
    open().remove_events(&session)?;
    ensure(open().open_events(&session)?.last() == 0, "removed events are gone")
}

/// Checks that a prompt is accepted once, and stays until it is delivered, also after a restart.
pub fn prompts<S: PromptQueue>(open: impl Fn() -> S) -> Result<(), Failure> {
    let (session, other) = (SessionId::random(), SessionId::random());
    let prompt =
        |id: &str| QueuedPrompt { message_id: id.to_owned(), request: format!("{{\"text\":\"{id}\"}}") };
    {
        let queue = open();
        for id in ["a", "b", "c"] {
            ensure(queue.accept(&session, &prompt(id))? == Receipt::New, "a new prompt is accepted")?;
        }
        ensure(queue.accept(&session, &prompt("a"))? == Receipt::Duplicate, "a prompt is accepted once")?;
        ensure(queue.accept(&other, &prompt("a"))? == Receipt::New, "sessions do not share prompts")?;
        queue.delivered(&session, "a")?;
        queue.rejected(&session, "b")?;
        queue.delivered(&other, "a")?;
    }
    let queue = open();
    ensure(queue.accept(&session, &prompt("a"))? == Receipt::Duplicate, "a delivered prompt stays known")?;
    ensure(queue.accept(&session, &prompt("c"))? == Receipt::Duplicate, "a waiting prompt stays known")?;
    ensure(queue.waiting(&session)? == [prompt("c")], "only undelivered prompts wait")?;
    ensure(queue.sessions_with_waiting()? == [session.clone()], "sessions with waiting prompts are found")?;
    ensure(queue.accept(&session, &prompt("b"))? == Receipt::New, "a rejected prompt can be sent again")?;
    ensure(queue.waiting(&session)? == [prompt("c"), prompt("b")], "prompts wait in their order")
}

/// Checks that spending is counted by session and by day, also after a restart.
pub fn ledger<S: Ledger>(open: impl Fn() -> S) -> Result<(), Failure> {
    let (one, other) = (SessionId::random(), SessionId::random());
    let (first, second) = ("2001-01-01", "2001-01-02");
    let amount = |tokens, nanos| Spent { tokens, nanos };
    {
        let ledger = open();
        let nothing = (Spent::default(), Spent::default());
        ensure(ledger.spent(&one, first)? == nothing, "nothing is spent at the beginning")?;
        ledger.spend(&one, first, amount(10, 1))?;
        ledger.spend(&other, first, amount(5, 2))?;
        ledger.spend(&one, first, amount(1, 0))?;
    }
    let ledger = open();
    let expected = (amount(11, 1), amount(16, 3));
    ensure(ledger.spent(&one, first)? == expected, "spending adds up by session and by day")?;
    let expected = (amount(11, 1), Spent::default());
    ensure(ledger.spent(&one, second)? == expected, "a new day begins with nothing, a session does not")?;
    ledger.spend(&other, second, amount(7, 7))?;
    ensure(ledger.spent(&other, second)? == (amount(12, 9), amount(7, 7)), "each day counts for itself")
}

/// Checks that exactly one answer closes a request, also after a restart.
pub fn inbox<S: Inbox>(open: impl Fn() -> S) -> Result<(), Failure> {
    let session = SessionId::random();
    let item = |id: &str, body: &str| InboxItem {
        request_id: id.to_owned(),
        session: session.clone(),
        body: body.to_owned(),
    };
    {
        let inbox = open();
        inbox.put(&item("1", "{}"))?;
        inbox.put(&item("2", "{}"))?;
        inbox.put(&item("3", "{}"))?;
        inbox.put(&item("2", "{\"again\":true}"))?;
        ensure(inbox.close("1")?, "the first answer closes a request")?;
        ensure(!inbox.close("1")?, "the second answer does not")?;
        ensure(!inbox.close("none")?, "an unknown request is not open")?;
    }
    let inbox = open();
    ensure(!inbox.close("1")?, "a closed request stays closed")?;
    let expected = [item("2", "{\"again\":true}"), item("3", "{}")];
    let mut items = inbox.open_items()?;
    items.sort_by(|one, other| one.request_id.cmp(&other.request_id));
    ensure(items == expected, "open requests stay, with their newest content")?;
    ensure(inbox.close("3")?, "an open request can be closed after a restart")
}
