//! Disk failures at any call: acknowledged records stay, rejected ones are absent, and later calls succeed.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::Map;

use super::support::{Home, after, new_session, record, said, session_id};
use crate::disk::{Disk, RealDisk};
use crate::{Durability, Log, Result, Store};
use musher_message::Role;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    NoSpace,
    Broken,
    ShortWrite,
}

/// A disk where `count` calls fail, beginning with call `from`.
#[derive(Debug)]
struct FaultyDisk {
    fault: Fault,
    calls: AtomicUsize,
    from: usize,
    count: usize,
    has_failed: AtomicBool,
}

impl FaultyDisk {
    fn fails(&self) -> io::Result<()> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        if call < self.from || call >= self.from + self.count {
            return Ok(());
        }
        self.has_failed.store(true, Ordering::Relaxed);
        let errno =
            if self.fault == Fault::Broken { rustix::io::Errno::IO } else { rustix::io::Errno::NOSPC };
        Err(errno.into())
    }
}

impl Disk for FaultyDisk {
    fn max_line(&self) -> usize {
        4096
    }

    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<usize> {
        match self.fails() {
            Err(_) if self.fault == Fault::ShortWrite => RealDisk.write(file, &bytes[..bytes.len() / 2]),
            failed => failed.and_then(|()| RealDisk.write(file, bytes)),
        }
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.fails().and_then(|()| RealDisk.sync(file))
    }

    fn truncate(&self, file: &File, length: u64) -> io::Result<()> {
        self.fails().and_then(|()| RealDisk.truncate(file, length))
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        self.fails().and_then(|()| RealDisk.create(path))
    }

    fn append_to(&self, path: &Path) -> io::Result<File> {
        self.fails().and_then(|()| RealDisk.append_to(path))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.fails().and_then(|()| RealDisk.rename(from, to))
    }
}

/// The results that a run returned.
#[derive(Debug, Default)]
struct Outcome {
    acknowledged: Vec<String>,
    rejected: Vec<String>,
    title: Option<String>,
}

/// Uses a session: creates or loads it, appends small and large records, renames it, saves settings, syncs.
fn use_session(store: &Store, outcome: &mut Outcome) -> Result<()> {
    let id = session_id("s");
    let mut log: Log =
        if store.find(&id).is_some() { store.load(&id)?.log } else { store.create(new_session("s"))? };
    for step in 0..6 {
        let name = format!("{}-{step}", outcome.acknowledged.len() + outcome.rejected.len());
        let text = if step == 3 { "mango ".repeat(2000) } else { format!("Step {step}.") };
        let last = outcome.acknowledged.last().cloned().unwrap_or_default();
        match log.append(&record(after(&last, said(&name, Role::User, &text)))) {
            Ok(()) => outcome.acknowledged.push(name),
            Err(_) => outcome.rejected.push(name),
        }
        match step {
            1 => {
                let title = format!("Title {}", outcome.acknowledged.len());
                if log.set_title(&title, true).is_ok() {
                    outcome.title = Some(title);
                }
            }
            2 => drop(log.save_settings(Map::new())),
            4 => drop(log.sync()),
            _ => {}
        }
    }
    log.sync()
}

fn run(fault: Fault, durability: Durability, count: usize, is_damaged: bool) {
    let mut from = 0;
    loop {
        let home = Home::new();
        let mut outcome = Outcome::default();
        if is_damaged {
            use_session(&home.store(), &mut outcome).unwrap();
            let file = home.log_file("s");
            let mut content = fs_err::read(&file).unwrap();
            let second_line = content.iter().position(|byte| *byte == b'\n').unwrap() + 1;
            content.splice(second_line..second_line, *b"garbage\n");
            content.extend(b"{\"type\":\"message\",\"id\":\"torn\"");
            fs_err::write(&file, &content).unwrap();
        }
        let faulty =
            FaultyDisk { fault, calls: AtomicUsize::new(0), from, count, has_failed: AtomicBool::new(false) };
        let disk = Arc::new(faulty);
        let store = Store::on(home.path(), Arc::clone(&disk) as Arc<dyn Disk>).durability(durability);
        // the result does not matter: the session is loaded again below
        use_session(&store, &mut outcome).ok();

        let context = format!("{fault:?} {durability:?} at call {from} for {count}");
        if home.store().find(&session_id("s")).is_some() {
            let seen = home.store().read(&session_id("s")).unwrap();
            let ids: Vec<_> = seen.messages.iter().map(|message| message.id.clone()).collect();
            assert_eq!(ids, outcome.acknowledged, "{context}: {}", seen.damage);
            assert!(outcome.title.is_none_or(|title| title == seen.start.title()), "{context}");
        } else {
            assert_eq!(outcome.acknowledged.len(), 0, "{context}");
        }
        // the session works again once the disk works
        outcome.title = None;
        use_session(&home.store(), &mut outcome).unwrap();
        let seen = home.store().load(&session_id("s")).unwrap().session;
        let ids: Vec<_> = seen.messages.iter().map(|message| message.id.clone()).collect();
        assert_eq!(ids, outcome.acknowledged, "{context}, afterwards");
        assert!(seen.damage.is_none(), "{context}, afterwards: {}", seen.damage);
        if !disk.has_failed.load(Ordering::Relaxed) {
            assert!(from > 20, "too few calls were made to fail");
            return;
        }
        from += 1;
    }
}

#[test]
fn one_failed_call_loses_only_rejected_records() {
    for fault in [Fault::NoSpace, Fault::Broken, Fault::ShortWrite] {
        run(fault, Durability::Power, 1, false);
    }
    run(Fault::NoSpace, Durability::Process, 1, false);
}

#[test]
fn temporarily_full_disk_loses_only_rejected_records() {
    for count in [2, 5, 1000] {
        run(Fault::ShortWrite, Durability::Power, count, false);
    }
}

#[test]
fn damaged_log_is_repaired_or_unchanged() {
    for fault in [Fault::NoSpace, Fault::ShortWrite] {
        run(fault, Durability::Process, 1, true);
        run(fault, Durability::Power, 4, true);
    }
}
