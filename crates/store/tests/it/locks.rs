//! A session that is open in another process.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use musher_store::{SessionId, Store, StoreError};

#[test]
fn lock_is_released_when_its_holder_is_killed() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path());
    let id = SessionId::new("s").unwrap();
    drop(store.create(crate::new_session(&id)).unwrap());
    #[expect(clippy::disallowed_methods, reason = "the test kills the helper")]
    let mut holder = Command::new(env!("CARGO_BIN_EXE_musher-store-holder"))
        .arg(home.path())
        .arg("s")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "held\n");

    assert_eq!(store.read(&id).unwrap().messages.len(), 1, "reading needs no lock");
    let error = store.load(&id).unwrap_err();
    assert!(matches!(error, StoreError::Locked { holder: Some(pid), .. } if pid == holder.id()), "{error}");
    holder.kill().unwrap();
    holder.wait().unwrap();
    let session = store.load(&id).unwrap().session;
    assert_eq!(session.messages.len(), 1, "the message of the killed process is in the log");
}
