//! Several processes that share a session, some of which are killed.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use musher_store::{SessionId, Store};

use crate::new_session;

/// A process that writes the session.
struct Contender {
    child: Child,
    reader: thread::JoinHandle<()>,
}

impl Contender {
    fn start(home: &Path, name: &str, acknowledged: Sender<String>) -> Self {
        #[expect(clippy::disallowed_methods, reason = "the test kills the helper")]
        let mut child = Command::new(env!("CARGO_BIN_EXE_musher-store-contender"))
            .args([home.as_os_str(), "s".as_ref(), name.as_ref()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).split(b'\n');
        let reader = thread::spawn(move || {
            for line in lines {
                acknowledged.send(String::from_utf8(line.unwrap()).unwrap()).ok();
            }
        });
        Self { child, reader }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.reader.join().unwrap();
    }

    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
        self.reader.join().unwrap();
    }
}

/// Numbers that are the same in each run with a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Waits until some more messages were acknowledged.
fn collect(received: &Receiver<String>, count: u64, all: &mut Vec<String>) {
    all.extend((0..count).map(|_| received.recv().unwrap()));
}

fn no_record_is_lost(seed: u64) {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path());
    let id = SessionId::new("s").unwrap();
    drop(store.create(new_session(&id)).unwrap());
    let mut numbers = Numbers(seed);
    let (sender, received) = channel();
    let count = 2 + usize::try_from(numbers.below(4)).unwrap();
    let start = |name: usize| Contender::start(home.path(), &format!("p{name}"), sender.clone());
    let mut running: Vec<Contender> = (0..count).map(start).collect();
    let mut acknowledged = Vec::new();
    for killed in 0..6 {
        collect(&received, 1 + numbers.below(40), &mut acknowledged);
        let place = usize::try_from(numbers.below(count as u64)).unwrap();
        running.swap_remove(place).kill();
        running.push(start(count + killed));
    }
    running.into_iter().for_each(Contender::end);
    drop(sender);
    acknowledged.extend(received.iter());

    let loaded = store.load(&id).unwrap();
    assert!(loaded.session.damage.is_none(), "seed {seed}: {}", loaded.session.damage);
    let ids: Vec<&str> = loaded.session.messages.iter().map(|message| message.id.as_str()).collect();
    let found: HashSet<&str> = ids.iter().copied().collect();
    assert_eq!(found.len(), ids.len(), "seed {seed}: a message is there twice");
    for id in &acknowledged {
        // the last message of a killed process may be cut off while it is printed
        assert!(
            found.contains(id.as_str()) || ids.iter().any(|full| full.starts_with(id)),
            "seed {seed}: {id} is lost"
        );
    }
    let mut steps: HashMap<(&str, &str), u32> = HashMap::new();
    let mut previous = None;
    for id in &ids {
        let parts: Vec<&str> = id.split('-').collect();
        let [process, turn, step] = parts.as_slice() else { panic!("{id}") };
        let expected = steps.entry((process, turn)).or_default();
        assert_eq!(step.parse(), Ok(*expected), "seed {seed}: {ids:?}");
        if *expected > 0 {
            assert_eq!(previous, Some((*process, *turn)), "seed {seed}: {id} is within another turn");
        }
        *expected += 1;
        previous = Some((*process, *turn));
    }
    let backups = fs_err::read_dir(loaded.log.path().parent().unwrap()).unwrap();
    let is_backup = |name: &str| Path::new(name).extension().is_some_and(|extension| extension == "damaged");
    let backups: Vec<_> = backups
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok().filter(|name| is_backup(name)))
        .collect();
    assert_eq!(backups, Vec::<String>::new(), "seed {seed}");
}

#[test]
fn processes_that_share_a_session_and_are_killed_lose_and_interleave_no_record() {
    for seed in 0..20 {
        no_record_is_lost(seed);
    }
}
