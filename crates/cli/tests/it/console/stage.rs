//! A daemon in a sandbox with a scripted model, and browsers that are logged in.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use testkit::rehearse::{Script, Server};
use testkit::{Launch, Program, Sandbox, engine};

use super::browser::Browser;

/// A daemon, its model, and the sandbox of both.
pub(crate) struct Stage {
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) model: Server,
    daemon: Option<Program>,
    address: String,
}

impl Stage {
    pub(crate) async fn start(script: Script) -> Result<Self> {
        let sandbox = Arc::new(Sandbox::new()?);
        let model = sandbox.model(script)?;
        engine::configure(&sandbox, &model.url())?;
        let mut stage = Self { sandbox, model, daemon: None, address: "127.0.0.1:0".to_owned() };
        stage.start_daemon().await?;
        Ok(stage)
    }

    /// Where the daemon writes its log, with everything that it says.
    pub(crate) fn log(&self) -> String {
        self.sandbox.temp().join("daemon.log").to_string_lossy().into_owned()
    }

    /// The address of the daemon, as `host:port`.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn musher(&self, arguments: &[&str]) -> Launch {
        self.sandbox.launch(env!("CARGO_BIN_EXE_musher")).args(arguments)
    }

    /// Starts the daemon, also again: on the same port.
    pub(crate) async fn start_daemon(&mut self) -> Result<()> {
        let socket = format!("unix:{}", self.sandbox.home().join(".musher/daemon.sock").display());
        let log = self.log();
        let launch = self.musher(&[
            "daemon",
            "--log",
            &log,
            "--log-level",
            "trace",
            "--listen",
            &socket,
            "--listen",
            &self.address,
        ]);
        let mut daemon = self.sandbox.spawn(&launch)?;
        daemon.next_line().await?.context("the daemon listens")?;
        let line = daemon.next_line().await?.context("the daemon listens on TCP")?;
        line.rsplit("ws://").next().context("an address")?.clone_into(&mut self.address);
        self.daemon = Some(daemon);
        Ok(())
    }

    /// Writes a stored session. Lines are those of its log without the first one; `age` is in minutes.
    pub(crate) fn store(
        &self,
        id: &str,
        title: &str,
        lines: &[Value],
        settings: &Value,
        age: u64,
    ) -> Result<()> {
        let cwd = self.sandbox.workspace().to_string_lossy().into_owned();
        let folder = self.sandbox.home().join(".musher/sessions").join(cwd.replace('/', "-"));
        fs_err::create_dir_all(&folder)?;
        let start = json!({"type": "session_start", "id": id, "title": title, "owner": "someone", "version": 2, "cwd": cwd});
        let mut log = start.to_string();
        for line in lines {
            log.push('\n');
            log.push_str(&line.to_string());
        }
        log.push('\n');
        let path = folder.join(format!("{id}.jsonl"));
        fs_err::write(&path, log)?;
        let time = SystemTime::now() - Duration::from_mins(age);
        fs_err::File::options().append(true).open(&path)?.into_file().set_modified(time)?;
        fs_err::write(folder.join(format!("{id}.settings.json")), settings.to_string())?;
        Ok(())
    }

    /// The id of the daemon's process.
    pub(crate) fn daemon_id(&self) -> Option<i32> {
        self.daemon.as_ref().map(Program::id)
    }

    /// Kills the daemon without a chance to do anything.
    pub(crate) async fn kill_daemon(&mut self) -> Result<()> {
        if let Some(mut daemon) = self.daemon.take() {
            let id = daemon.id().to_string();
            self.sandbox.output(&self.sandbox.launch("kill").args(["-KILL", &id])).await?;
            daemon.kill().await;
        }
        Ok(())
    }

    /// A link that logs a browser in, from `musher console --print-url`.
    pub(crate) async fn link(&self) -> Result<String> {
        let ended = self.sandbox.output(&self.musher(&["console", "--print-url"])).await?;
        anyhow::ensure!(ended.status.success(), "{}", ended.stderr);
        Ok(ended.stdout.first().context("a link")?.clone())
    }

    /// A browser that is logged in.
    pub(crate) async fn browser(&self, width: u32, height: u32) -> Result<Browser> {
        let browser = Browser::start(&self.sandbox, width, height).await?;
        browser.open(&self.link().await?)?;
        browser.until("document.querySelector('main h1')")?;
        Ok(browser)
    }

    /// Creates a session with the form, and sends its first prompt. Everything that changes something needs permission.
    pub(crate) fn new_session(&self, browser: &Browser, prompt: &str) -> Result<()> {
        self.new_session_at(browser, prompt, "off")
    }

    /// The same at another autonomy level.
    pub(crate) fn new_session_at(&self, browser: &Browser, prompt: &str, level: &str) -> Result<()> {
        browser.click(".title-row .primary")?;
        let directory = self.sandbox.workspace();
        let clear = "const it = document.querySelector('[name=cwd]'); it.value = ''; return null;";
        browser.until("document.querySelector('dialog[open]')")?;
        browser.run(clear)?;
        browser.write("[name=cwd]", &directory.to_string_lossy())?;
        browser.run(&format!("document.querySelector('[name=autonomy]').value = '{level}'"))?;
        browser.write("[name=prompt]", prompt)?;
        browser.click("dialog .primary")?;
        browser.until("document.querySelector('.session-view .composer')")?;
        Ok(())
    }

    /// Ends everything, and checks that nothing is left.
    pub(crate) async fn end(mut self) -> Result<()> {
        let daemon = self.daemon.take();
        if let Some(daemon) = daemon {
            let id = daemon.id().to_string();
            self.sandbox.output(&self.sandbox.launch("kill").args(["-TERM", &id])).await?;
            let ended = daemon.end().await?;
            anyhow::ensure!(ended.status.success(), "{}", ended.stderr);
        }
        drop(self.model);
        let sandbox = Arc::into_inner(self.sandbox).context("all browsers have ended")?;
        sandbox.finish().await
    }
}
