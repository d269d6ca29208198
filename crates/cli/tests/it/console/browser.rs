//! A real Chromium, driven over the `WebDriver` protocol. The client is small and our own: it has to connect inside the sandbox's network,
//! and `WebDriver` is one JSON object per request.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as STANDARD;
use serde_json::{Value, json};
use testkit::{Program, Sandbox};

const DRIVER: &str = "/usr/bin/chromedriver";
const CHROMIUM: &str = "/usr/bin/chromium";
/// Ends waits that would never end, in milliseconds.
const DEADLINE: u64 = 30_000;
/// The id of an element in answers.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser with one page, and a profile of its own.
pub(crate) struct Browser {
    sandbox: Arc<Sandbox>,
    driver: Option<Program>,
    port: u16,
    session: String,
}

impl Browser {
    /// Starts a browser with a window of this size.
    pub(crate) async fn start(sandbox: &Arc<Sandbox>, width: u32, height: u32) -> Result<Self> {
        let profile = tempfile::Builder::new().prefix("chromium-").tempdir_in(sandbox.temp())?.keep();
        let launch = sandbox.launch(DRIVER).args(["--port=0"]).env("HOME", &profile);
        let mut driver = sandbox.spawn(&launch)?;
        let port = loop {
            let line = driver.next_line().await?.context("the driver ended")?;
            if let Some((_, port)) = line.split_once("started successfully on port ") {
                break port.trim_end_matches('.').parse()?;
            }
        };
        let mut browser =
            Self { sandbox: Arc::clone(sandbox), driver: Some(driver), port, session: String::new() };
        let arguments = [
            "--headless".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-quic".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--no-first-run".to_owned(),
            "--disable-background-networking".to_owned(),
            "--disable-component-update".to_owned(),
            "--disable-sync".to_owned(),
            "--force-device-scale-factor=1".to_owned(),
            format!("--window-size={width},{height}"),
            format!("--user-data-dir={}", profile.display()),
        ];
        let options = json!({"binary": CHROMIUM, "args": arguments});
        let wanted = json!({
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"},
            "timeouts": {"script": DEADLINE, "pageLoad": DEADLINE},
        });
        let created = browser.send("POST", "/session", &json!({"capabilities": {"alwaysMatch": wanted}}))?;
        created["sessionId"]
            .as_str()
            .context("the driver answers with a session")?
            .clone_into(&mut browser.session);
        Ok(browser)
    }

    /// Ends the browser and its driver.
    pub(crate) async fn end(mut self) -> Result<()> {
        self.call("DELETE", "", &Value::Null)?;
        if let Some(mut driver) = self.driver.take() {
            // it has no session any more, and does not end by itself
            driver.kill().await;
        }
        Ok(())
    }

    pub(crate) fn open(&self, url: &str) -> Result<()> {
        self.call("POST", "/url", &json!({"url": url}))?;
        Ok(())
    }

    pub(crate) fn url(&self) -> Result<String> {
        Ok(self.call("GET", "/url", &Value::Null)?.as_str().unwrap_or_default().to_owned())
    }

    /// Runs a script in the page and returns what it returns.
    pub(crate) fn run(&self, script: &str) -> Result<Value> {
        self.call("POST", "/execute/sync", &json!({"script": script, "args": []}))
    }

    /// Runs a script that calls `done` when it has finished.
    pub(crate) fn run_until_done(&self, script: &str) -> Result<Value> {
        let script = format!("const done = arguments[arguments.length - 1]; {script}");
        self.call("POST", "/execute/async", &json!({"script": script, "args": []}))
    }

    /// Waits until an expression is true in the page, and returns its value.
    pub(crate) fn until(&self, expression: &str) -> Result<Value> {
        let script = format!(
            "const look = () => {{ let value = null; try {{ value = ({expression}); }} catch {{ }} \
             if (value) done(value); else setTimeout(look, 20); }}; look();"
        );
        self.run_until_done(&script).with_context(|| {
            let page = self.run("return document.body.innerText").unwrap_or_default();
            let problems = self.problems().unwrap_or_default();
            let page = page.as_str().unwrap_or_default();
            let failure = format!("never true: {expression}; page: {page}; console: {problems:?}");
            print_failure(&failure);
            failure
        })
    }

    /// Waits until the page shows a text.
    pub(crate) fn until_text(&self, text: &str) -> Result<()> {
        self.until(&format!("document.body.innerText.includes({})", json!(text))).map(drop)
    }

    /// Waits until the page does not show a text.
    pub(crate) fn until_no_text(&self, text: &str) -> Result<()> {
        self.until(&format!("!document.body.innerText.includes({})", json!(text))).map(drop)
    }

    /// Clicks the first element of a selector, when it is there.
    pub(crate) fn click(&self, selector: &str) -> Result<()> {
        self.until(&format!("document.querySelector({})", json!(selector)))?;
        self.click_found("css selector", selector)
    }

    /// Types into an element as a person would.
    pub(crate) fn write(&self, selector: &str, text: &str) -> Result<()> {
        let element = self.element(selector)?;
        self.call("POST", &format!("/element/{element}/value"), &json!({"text": text}))?;
        Ok(())
    }

    /// Clicks the first button or link with this text, when it is there.
    pub(crate) fn press_button(&self, label: &str) -> Result<()> {
        let named = format!(
            "[...document.querySelectorAll('button, a')].find((it) => it.innerText.trim() === {})",
            json!(label)
        );
        self.until(&named)?;
        let path = format!("//*[self::button or self::a][normalize-space()={}]", json!(label));
        self.click_found("xpath", &path)
    }

    /// Sets the value of a field or a choice, as a person who changes it.
    pub(crate) fn choose(&self, selector: &str, value: &str) -> Result<()> {
        self.element(selector)?;
        self.run(&format!(
            "const it = document.querySelector({}); it.value = {}; it.dispatchEvent(new Event('input', {{bubbles: true}})); \
             it.dispatchEvent(new Event('change', {{bubbles: true}})); return it.value;",
            json!(selector),
            json!(value)
        ))?;
        Ok(())
    }

    /// Answers the dialog that a click opens, with a text if it asks for one.
    pub(crate) fn accept_dialog(&self, text: Option<&str>) -> Result<()> {
        let started = Instant::now();
        while let Err(error) = self.call("GET", "/alert/text", &Value::Null) {
            let is_waiting = error.to_string().contains("no such alert");
            if !is_waiting || started.elapsed() > Duration::from_millis(DEADLINE) {
                return Err(error);
            }
        }
        if let Some(text) = text {
            self.call("POST", "/alert/text", &json!({"text": text}))?;
        }
        self.call("POST", "/alert/accept", &json!({}))?;
        Ok(())
    }

    /// Loads the page again.
    pub(crate) fn reload(&self) -> Result<()> {
        self.call("POST", "/refresh", &json!({}))?;
        Ok(())
    }

    /// Runs a command of Chromium's own protocol.
    pub(crate) fn devtools(&self, command: &str, params: &Value) -> Result<Value> {
        self.call("POST", "/goog/cdp/execute", &json!({"cmd": command, "params": params}))
    }

    /// Shows the page as a phone of this width does.
    pub(crate) fn be_a_phone(&self, width: u32, height: u32) -> Result<()> {
        let screen = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": true});
        self.devtools("Emulation.setDeviceMetricsOverride", &screen).map(drop)
    }

    /// Sets what the system prefers: `dark` or `light`.
    pub(crate) fn prefer(&self, scheme: &str) -> Result<()> {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.devtools("Emulation.setEmulatedMedia", &features).map(drop)
    }

    /// A picture of the page, as PNG.
    pub(crate) fn picture(&self) -> Result<Vec<u8>> {
        let picture = self.call("GET", "/screenshot", &Value::Null)?;
        Ok(STANDARD.decode(picture.as_str().unwrap_or_default())?)
    }

    /// Presses a key without a target of its own.
    pub(crate) fn press(&self, key: &str) -> Result<()> {
        let keys = json!([{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]);
        let actions = json!({"actions": [{"type": "key", "id": "keyboard", "actions": keys}]});
        self.call("POST", "/actions", &actions)?;
        Ok(())
    }

    /// Clicks an element, which the page may replace or cover between the search and the click: then the new one counts.
    fn click_found(&self, using: &str, value: &str) -> Result<()> {
        let started = Instant::now();
        loop {
            let found = self.call("POST", "/element", &json!({"using": using, "value": value}))?;
            let element = found[ELEMENT].as_str().context("an element has an id")?;
            let clicked = self.call("POST", &format!("/element/{element}/click"), &json!({}));
            let Err(error) = clicked else { return Ok(()) };
            let text = error.to_string();
            let is_replaced = text.contains("stale element") || text.contains("click intercepted");
            if !is_replaced || started.elapsed() > Duration::from_millis(DEADLINE) {
                return Err(error);
            }
        }
    }

    fn element(&self, selector: &str) -> Result<String> {
        self.until(&format!("document.querySelector({})", json!(selector)))?;
        let found = self.call("POST", "/element", &json!({"using": "css selector", "value": selector}))?;
        Ok(found[ELEMENT].as_str().context("an element has an id")?.to_owned())
    }

    /// The errors in the console since the last time, with violations of the content policy.
    pub(crate) fn problems(&self) -> Result<Vec<String>> {
        let entries = self.call("POST", "/se/log", &json!({"type": "browser"}))?;
        let entries = entries.as_array().cloned().unwrap_or_default();
        let severe = entries.iter().filter(|entry| entry["level"] == "SEVERE" || is_violation(entry));
        Ok(severe.map(|entry| entry["message"].as_str().unwrap_or_default().to_owned()).collect())
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Result<Value> {
        self.send(method, &format!("/session/{}{path}", self.session), body)
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Result<Value> {
        let port = self.port;
        let mut stream = self.sandbox.run(move || TcpStream::connect(("127.0.0.1", port)))??;
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.set_read_timeout(Some(Duration::from_millis(DEADLINE + 30_000)))?;
        stream.write_all(request.as_bytes())?;
        let answer = body_of(stream)?;
        let answer: Value = serde_json::from_slice(&answer)?;
        let value = answer["value"].clone();
        if let Some(error) = value["error"].as_str() {
            let failure = format!("{path}: {error}: {}", value["message"].as_str().unwrap_or_default());
            print_failure(&failure);
            bail!(failure);
        }
        Ok(value)
    }
}

/// Reads the body of an answer. The driver keeps the connection open.
fn body_of(stream: TcpStream) -> Result<Vec<u8>> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        anyhow::ensure!(reader.read_line(&mut line)? > 0, "the driver has closed the connection");
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(body)
}

fn is_violation(entry: &Value) -> bool {
    entry["message"].as_str().is_some_and(|text| text.contains("Content Security Policy"))
}

/// Prints a failure. What is left running then fails the test, too, and would hide it.
#[expect(clippy::print_stderr, reason = "tests have no other place")]
fn print_failure(failure: &str) {
    eprintln!("{failure}");
}
