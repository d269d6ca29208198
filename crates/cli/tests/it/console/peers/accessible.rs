//! axe-core finds nothing in any view, dark or light; and the pictures in the guide.

use anyhow::{Context as _, Result};
use serde_json::Value;
use testkit::peers::AXE;

use super::super::browser::Browser;
use super::{PROMPT, Stage, script};

/// Set to write the pictures of the guide.
const WRITE: &str = "MUSHER_WRITE_SCREENSHOTS";

#[tokio::test(flavor = "multi_thread")]
async fn no_view_has_an_accessibility_problem() -> Result<()> {
    let axe = testkit::require_peer!(AXE).entry().join("node_modules/axe-core/axe.min.js");
    let axe = fs_err::read_to_string(axe)?;
    let stage = Stage::start(script()).await?;
    let browser = stage.browser(1280, 900).await?;
    let check = |name: &str| -> Result<()> {
        for scheme in ["dark", "light"] {
            browser.prefer(scheme)?;
            assert_eq!(violations(&browser, &axe)?, Vec::<String>::new(), "{name}, {scheme}");
        }
        picture(&browser, name)
    };
    check("start")?;
    browser.press_button("New session")?;
    browser.until("document.querySelector('dialog[open]')")?;
    check("new-session")?;
    browser.press_button("Cancel")?;
    stage.new_session(&browser, "make the file")?;
    browser.until("document.querySelector('.request')")?;
    check("session")?;
    let session = browser.url()?;
    browser.run("location.hash = '#/inbox'")?;
    browser.until("document.querySelector('.requests .request')")?;
    check("inbox")?;
    browser.press("y")?;
    browser.until_text("Nothing waits for you.")?;
    browser.open(&session)?;
    browser.until_text("Made the file with touch.")?;
    browser.write(PROMPT, "hello\n")?;
    browser.until_text("Hello from the model.")?;
    browser.until("!document.querySelector('.activity.busy')")?;
    check("transcript")?;
    browser.press_button("Changes")?;
    browser.until("document.querySelector('figure.diff')")?;
    check("changes")?;
    browser.press_button("Timeline")?;
    browser.until("document.querySelectorAll('.waterfall').length === 2")?;
    check("timeline")?;
    browser.run("location.hash = '#/costs'")?;
    browser.until("document.querySelector('.bars .bar')")?;
    check("costs")?;
    browser.run("location.hash = '#/sessions'")?;
    browser.until("document.querySelector('.session')")?;
    check("sessions")?;
    browser.be_a_phone(360, 740)?;
    browser.open(&session)?;
    browser.until_text("Hello from the model.")?;
    check("phone")?;
    browser.end().await?;
    stage.end().await
}

/// What axe finds in the page as it is.
fn violations(browser: &Browser, axe: &str) -> Result<Vec<String>> {
    // a script of the driver, which the content policy of the page does not concern
    browser.run(axe)?;
    let found = browser.run_until_done(
        "axe.run(document, {resultTypes: ['violations']}).then((it) => done(it.violations.map((one) => `${one.id}: ${one.help}: ${one.nodes.map((node) => node.html.slice(0, 160) + ' ' + (node.failureSummary ?? '')).join(' | ')}`)), (error) => done([String(error)]))",
    )?;
    let found = found.as_array().context("a list")?;
    Ok(found.iter().map(|it| it.as_str().map_or_else(|| Value::to_string(it), str::to_owned)).collect())
}

/// Writes a picture for the guide, if asked to. Pixels differ between machines, so they are not compared.
fn picture(browser: &Browser, name: &str) -> Result<()> {
    if std::env::var_os(WRITE).is_none() || !["session", "sessions", "changes", "phone"].contains(&name) {
        return Ok(());
    }
    browser.prefer("light")?;
    let path = format!("{}/../../docs/images/console-{name}.png", env!("CARGO_MANIFEST_DIR"));
    fs_err::write(path, browser.picture()?)?;
    Ok(())
}
