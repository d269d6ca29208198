//! The page at 360 pixels, by keyboard alone, and as an app that can be installed.

use anyhow::Result;

use super::{PROMPT, Stage, script};

/// What is wider than the window. Parts that scroll on their own may be.
const WIDE: &str = "return [...document.querySelectorAll('body *')].filter((it) => it.getBoundingClientRect().right > innerWidth + 1 \
    && !it.closest('.scroll, pre, .hidden, .waterfall, .bar')).map((it) => it.tagName + '.' + it.className + ' ' + it.innerText?.slice(0, 40)).slice(0, 5)";

#[tokio::test(flavor = "multi_thread")]
async fn every_view_fits_a_phone() -> Result<()> {
    let stage = Stage::start(script()).await?;
    let browser = stage.browser(800, 900).await?;
    browser.be_a_phone(360, 740)?;
    browser.until("innerWidth === 360")?;
    stage.new_session(&browser, "make the file")?;
    browser.until("document.querySelector('.request')")?;
    assert_eq!(browser.run(WIDE)?, serde_json::json!([]));
    browser.click(".request [data-option=proceed_once]")?;
    browser.until_text("Made the file with touch.")?;
    let session = browser.url()?;
    for tab in ["transcript", "changes", "timeline"] {
        browser.open(&session)?;
        browser.run(&format!(
            "location.hash = location.hash.split('/').slice(0, 3).concat('{tab}').join('/')"
        ))?;
        let shown = match tab {
            "changes" => "document.querySelector('figure.diff')",
            "timeline" => "document.querySelector('.waterfall')",
            _ => "document.querySelector('.composer')",
        };
        browser.until(shown)?;
        assert_eq!(browser.run(WIDE)?, serde_json::json!([]), "{tab}");
    }
    for view in ["sessions", "inbox", "costs"] {
        browser.run(&format!("location.hash = '#/{view}'"))?;
        browser.until("document.querySelector('main h1')")?;
        assert_eq!(browser.run(WIDE)?, serde_json::json!([]), "{view}");
    }
    assert_eq!(browser.problems()?, Vec::<String>::new());
    browser.end().await?;
    stage.end().await
}

#[tokio::test(flavor = "multi_thread")]
async fn session_is_worked_in_by_keyboard_alone() -> Result<()> {
    const TAB: &str = "\u{e004}";
    const ENTER: &str = "\u{e007}";
    let stage = Stage::start(script()).await?;
    let browser = stage.browser(1280, 900).await?;
    let focus = |wanted: &str| -> Result<()> {
        for _ in 0..60 {
            if browser
                .run(&format!("return document.activeElement?.matches({})", serde_json::json!(wanted)))?
                == true
            {
                return Ok(());
            }
            browser.press(TAB)?;
        }
        anyhow::bail!("no key reaches {wanted}")
    };
    focus(".title-row .primary")?;
    browser.press(ENTER)?;
    browser.until("document.querySelector('dialog[open]')")?;
    focus("[name=cwd]")?;
    browser.run("document.activeElement.value = ''")?;
    browser.write("[name=cwd]", &stage.sandbox.workspace().to_string_lossy())?;
    browser.run("document.querySelector('[name=autonomy]').value = 'off'")?;
    browser.press(ENTER)?;
    browser.until("document.querySelector('.session-view .composer')")?;
    focus(PROMPT)?;
    browser.write(PROMPT, "make the file\n")?;
    browser.until("document.querySelector('.request')")?;
    focus(".request [data-option=proceed_once]")?;
    // what has the focus can be seen
    let outline = browser.run("return getComputedStyle(document.activeElement).outlineStyle")?;
    assert_ne!(outline, "none");
    browser.press(ENTER)?;
    browser.until_text("Made the file with touch.")?;
    browser.end().await?;
    stage.end().await
}

#[tokio::test(flavor = "multi_thread")]
async fn page_can_be_installed() -> Result<()> {
    let stage = Stage::start(script()).await?;
    let browser = stage.browser(1280, 900).await?;
    browser.run_until_done("navigator.serviceWorker.ready.then(() => done(true))")?;
    let found = browser.devtools("Page.getInstallabilityErrors", &serde_json::json!({}))?;
    let errors: Vec<&str> = found["installabilityErrors"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|it| it["errorId"].as_str())
        .collect();
    // a page without a window of its own is what headless Chromium is
    let ours: Vec<_> = errors.into_iter().filter(|it| !matches!(*it, "in-incognito")).collect();
    assert!(ours.is_empty(), "{ours:?}");
    browser.end().await?;
    stage.end().await
}
