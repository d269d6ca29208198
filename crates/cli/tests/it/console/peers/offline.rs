//! A browser without a network, and one whose daemon is not there: the page opens, says so, and loses nothing.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use anyhow::{Result, anyhow};
use testkit::rehearse::{Reply, Script, when};

use super::{PROMPT, Stage, texts};
use crate::console::browser::Browser;

fn script() -> Script {
    let pieces: Vec<String> = (0..100).map(|number| format!("piece{number} ")).collect();
    Script::new()
        .reply(Reply::text("A title").when(when().without_tools()))
        .reply(Reply::text(pieces.concat()).delay_ms(0, 50).when(when().prompt("count")))
        .otherwise(Reply::text("Hello again."))
}

#[tokio::test(flavor = "multi_thread")]
async fn page_without_a_network_catches_up_when_it_is_back() -> Result<()> {
    let stage = Stage::start(script()).await?;
    let relay = Relay::start(&stage)?;
    let browser = Browser::start(&stage.sandbox, 1280, 900).await?;
    browser.open(&stage.link().await?.replace(stage.address(), &relay.address))?;
    browser.until("document.querySelector('main h1')")?;
    stage.new_session(&browser, "count")?;
    browser.until_text("piece5 ")?;
    relay.cut(true);
    browser.until_text("Connection to the daemon lost")?;
    // a prompt that is written meanwhile is not lost, and is not sent twice
    browser.write(PROMPT, "are you there?\n")?;
    relay.cut(false);
    browser.until_no_text("Connection to the daemon lost")?;
    browser.until_text("Hello again.")?;
    let seen = texts(&browser)?.to_string();
    for number in 0..100 {
        assert_eq!(seen.matches(&format!("piece{number} ")).count(), 1, "{number}: {seen}");
    }
    assert_eq!(seen.matches("are you there?").count(), 1, "{seen}");
    browser.end().await?;
    relay.end(&stage)?;
    stage.end().await
}

#[tokio::test(flavor = "multi_thread")]
async fn page_opens_without_the_daemon_and_connects_when_it_comes() -> Result<()> {
    let mut stage = Stage::start(script()).await?;
    let browser = stage.browser(1280, 900).await?;
    browser.run_until_done("navigator.serviceWorker.ready.then(() => done(true))")?;
    browser.until("navigator.serviceWorker.controller")?;
    stage.kill_daemon().await?;
    browser.reload()?;
    browser.until_text("Connection to the daemon lost")?;
    stage.start_daemon().await?;
    browser.until_no_text("Connection to the daemon lost")?;
    browser.until_text("No sessions yet.")?;
    browser.end().await?;
    stage.end().await
}

/// The network between a browser and the daemon, which can be cut.
struct Relay {
    address: String,
    state: Arc<State>,
    accepting: JoinHandle<io::Result<()>>,
}

#[derive(Default)]
struct State {
    is_cut: AtomicBool,
    has_ended: AtomicBool,
    streams: Mutex<Vec<TcpStream>>,
}

impl Relay {
    fn start(stage: &Stage) -> Result<Self> {
        let listener = stage.sandbox.run(|| TcpListener::bind("127.0.0.1:0"))??;
        let address = listener.local_addr()?.to_string();
        let state = Arc::new(State::default());
        let (of, daemon) = (Arc::clone(&state), stage.address().to_owned());
        // the thread stays in the network of the sandbox
        let accepting =
            stage.sandbox.run(move || std::thread::spawn(move || of.accept(&listener, &daemon)))?;
        Ok(Self { address, state, accepting })
    }

    /// Closes all connections, and refuses new ones until the network is back.
    fn cut(&self, is_cut: bool) {
        self.state.is_cut.store(is_cut, Ordering::SeqCst);
        if is_cut {
            for stream in self.state.streams.lock().unwrap().drain(..) {
                stream.shutdown(Shutdown::Both).ok();
            }
        }
    }

    fn end(self, stage: &Stage) -> Result<()> {
        self.cut(true);
        self.state.has_ended.store(true, Ordering::SeqCst);
        // wakes the thread up
        let address = self.address.clone();
        stage.sandbox.run(move || TcpStream::connect(address))??;
        self.accepting.join().map_err(|panic| anyhow!("the relay panicked: {panic:?}"))??;
        Ok(())
    }
}

impl State {
    fn accept(&self, listener: &TcpListener, daemon: &str) -> io::Result<()> {
        for stream in listener.incoming() {
            let stream = stream?;
            if self.has_ended.load(Ordering::SeqCst) {
                break;
            }
            if self.is_cut.load(Ordering::SeqCst) {
                continue;
            }
            let onward = TcpStream::connect(daemon)?;
            let mut streams = self.streams.lock().unwrap();
            streams.extend([stream.try_clone()?, onward.try_clone()?]);
            for (mut from, mut to) in [(stream.try_clone()?, onward.try_clone()?), (onward, stream)] {
                std::thread::spawn(move || {
                    io::copy(&mut from, &mut to).ok();
                    to.shutdown(Shutdown::Write).ok();
                });
            }
        }
        Ok(())
    }
}
