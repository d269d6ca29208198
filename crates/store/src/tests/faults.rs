//! A disk that fails at any moment: what was acknowledged stays, what was refused is not there, and later all works again.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::Map;

use super::stage::{Home, after, new_session, record, said, session_id};
use crate::disk::{Disk, RealDisk};
use crate::{Durability, Log, Result, Store};
use musher_message::Role;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    NoSpace,
    Broken,
    ShortWrite,
}

/// Fails from the n-th call on, for so many calls.
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
    fn longest_line(&self) -> usize {
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

/// What a run was told.
#[derive(Debug, Default)]
struct Told {
    acknowledged: Vec<String>,
    refused: Vec<String>,
    title: Option<String>,
}

/// A life of a session: make or load it, add records, large ones too, rename it, save settings, sync.
fn live(store: &Store, told: &mut Told) -> Result<()> {
    let id = session_id("s");
    let mut log: Log =
        if store.find(&id).is_some() { store.load(&id)?.log } else { store.create(new_session("s"))? };
    for step in 0..6 {
        let name = format!("{}-{step}", told.acknowledged.len() + told.refused.len());
        let text = if step == 3 { "mango ".repeat(2000) } else { format!("Step {step}.") };
        let last = told.acknowledged.last().cloned().unwrap_or_default();
        match log.append(&record(after(&last, said(&name, Role::User, &text)))) {
            Ok(()) => told.acknowledged.push(name),
            Err(_) => told.refused.push(name),
        }
        match step {
            1 => {
                let title = format!("Title {}", told.acknowledged.len());
                if log.set_title(&title, true).is_ok() {
                    told.title = Some(title);
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
        let mut told = Told::default();
        if is_damaged {
            live(&home.store(), &mut told).unwrap();
            let file = home.log_file("s");
            let mut content = fs_err::read(&file).unwrap();
            let second_line = content.iter().position(|byte| *byte == b'\n').unwrap() + 1;
            content.splice(second_line..second_line, *b"rubbish\n");
            content.extend(b"{\"type\":\"message\",\"id\":\"torn\"");
            fs_err::write(&file, &content).unwrap();
        }
        let faulty =
            FaultyDisk { fault, calls: AtomicUsize::new(0), from, count, has_failed: AtomicBool::new(false) };
        let disk = Arc::new(faulty);
        let store = Store::on(home.path(), Arc::clone(&disk) as Arc<dyn Disk>).durability(durability);
        // whatever it says, the next one may try again
        live(&store, &mut told).ok();

        let context = format!("{fault:?} {durability:?} at call {from} for {count}");
        if home.store().find(&session_id("s")).is_some() {
            let seen = home.store().read(&session_id("s")).unwrap();
            let ids: Vec<_> = seen.messages.iter().map(|message| message.id.clone()).collect();
            assert_eq!(ids, told.acknowledged, "{context}: {}", seen.damage);
            assert!(told.title.is_none_or(|title| title == seen.start.title()), "{context}");
        } else {
            assert_eq!(told.acknowledged.len(), 0, "{context}");
        }
        // and when the disk is well again, so is the session
        told.title = None;
        live(&home.store(), &mut told).unwrap();
        let seen = home.store().load(&session_id("s")).unwrap().session;
        let ids: Vec<_> = seen.messages.iter().map(|message| message.id.clone()).collect();
        assert_eq!(ids, told.acknowledged, "{context}, afterwards");
        assert!(seen.damage.is_none(), "{context}, afterwards: {}", seen.damage);
        if !disk.has_failed.load(Ordering::Relaxed) {
            assert!(from > 20, "there were no calls to fail");
            return;
        }
        from += 1;
    }
}

#[test]
fn one_failed_call_costs_at_most_what_was_refused() {
    for fault in [Fault::NoSpace, Fault::Broken, Fault::ShortWrite] {
        run(fault, Durability::Power, 1, false);
    }
    run(Fault::NoSpace, Durability::Process, 1, false);
}

#[test]
fn a_disk_that_stays_full_for_a_while_costs_at_most_what_was_refused() {
    for count in [2, 5, 1000] {
        run(Fault::ShortWrite, Durability::Power, count, false);
    }
}

#[test]
fn a_damaged_log_is_healed_or_left_as_it_is() {
    for fault in [Fault::NoSpace, Fault::ShortWrite] {
        run(fault, Durability::Process, 1, true);
        run(fault, Durability::Power, 4, true);
    }
}
