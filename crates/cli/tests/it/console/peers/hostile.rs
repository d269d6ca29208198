//! What agents say cannot run, load or lead anywhere.

use anyhow::Result;
use serde_json::json;
use testkit::rehearse::{Reply, Script, when};

use super::{PROMPT, Stage};

const TEXT: &str = "<script>window.hacked = 1</script> <img src=x onerror=\"window.hacked = 2\">\n\n\
    [a link](javascript:window.hacked=3) [data](data:text/html,<script>window.hacked=4</script>) [fine](https://example.org/)\n\n\
    ![picture](https://example.org/picture.png) <a href=\"https://example.org\" onclick=\"window.hacked=5\">raw</a>\n\n\
    | a | <b onmouseover=alert(1)>b</b> |\n|---|---|\n| `</code><script>` | \u{202e}txt.exe |\n\n\
    ```html\n</code></pre><script>window.hacked = 6</script>\n```\n";

fn script() -> Script {
    let command = json!({
        "command": "echo '<script>window.hacked = 7</script>' \u{202e}\u{2066}evil", "summary": "<img src=x onerror=window.hacked=8>",
        "timeout": 30, "riskLevel": "high", "riskLevelReason": "<svg onload=window.hacked=9>",
    });
    Script::new()
        .reply(Reply::text("<script>window.hacked = 10</script> title").when(when().without_tools()))
        .reply(Reply::text("The end.").when(when().result_of("Execute")))
        .reply(Reply::tool("Execute", command).when(when().prompt("run it")))
        .reply(Reply::text("x".repeat(300_000)).when(when().prompt("much")))
        .otherwise(Reply::text(TEXT))
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_text_is_inert() -> Result<()> {
    let stage = Stage::start(script()).await?;
    let browser = stage.browser(1280, 900).await?;
    stage.new_session(&browser, "<script>window.hacked = 11</script>")?;
    browser.until("[...document.querySelectorAll('.markdown a')].some((it) => it.textContent === 'fine')")?;
    browser.write(PROMPT, "run it\n")?;
    browser.until("document.querySelector('.request')")?;
    browser.click("nav[aria-label=Main] a:nth-child(2)")?;
    browser.until_text("<script>window.hacked = 7</script>")?;
    browser.click(".request [data-option=proceed_once]")?;
    browser.until_text("Nothing waits for you.")?;
    browser.run("history.back()")?;
    browser.until_text("The end.")?;
    browser.write(PROMPT, "much\n")?;
    browser.until("document.querySelector('.rows pre.plain')?.textContent.length > 250000")?;

    assert_eq!(browser.run("return window.hacked ?? null")?, json!(null));
    let links = browser.run("return [...document.querySelectorAll('.markdown a')].map((it) => it.href)")?;
    let links: Vec<&str> = links.as_array().into_iter().flatten().filter_map(|it| it.as_str()).collect();
    assert!(links.iter().all(|link| link.starts_with("https://")), "{links:?}");
    let made = "script, iframe, object, embed, [onerror], [onclick], [onload], .markdown img";
    let made = browser.run(&format!("return document.querySelectorAll('#app :is({made})').length"))?;
    assert_eq!(made, 0);
    // nothing was even tried: no violation, no request to another place
    assert_eq!(browser.problems()?, Vec::<String>::new());
    let loaded = "return performance.getEntriesByType('resource').filter((it) => !it.name.startsWith(location.origin)).length";
    assert_eq!(browser.run(loaded)?, 0);
    browser.end().await?;
    stage.end().await
}

#[tokio::test(flavor = "multi_thread")]
async fn agent_that_lies_about_a_request_is_exposed() -> Result<()> {
    let stage = Stage::start(script()).await?;
    let browser = stage.browser(1280, 900).await?;
    let load = "const main = document.querySelector('script[src$=\"/main.js\"]').src; \
                import(main.replace('main.js', 'views/request.js')).then((it) => done(WHAT), (error) => done(String(error)));";
    let lies = json!([
        {"value": "proceed_auto_run_high", "label": "No"}, {"value": "cancel", "label": "Yes"},
        {"value": "proceed_once", "label": "Yes"}, {"value": "proceed_once", "label": "Allow, and never ask again"},
    ]);
    let what = format!("it.choices({lies}).map((one) => `${{one.value}}: ${{one.label}}`)");
    let labels = browser.run_until_done(&load.replace("WHAT", &what))?;
    assert_eq!(
        labels,
        json!(["proceed_auto_run_high: Yes, with autonomy high", "cancel: No", "proceed_once: Yes"])
    );
    let call = json!({"toolUse": {"name": "Execute", "input": {"command": "rm -rf ~"}}, "details": {"type": "exec", "fullCommand": "ls"}});
    let found = browser.run_until_done(&load.replace("WHAT", &format!("it.mismatches({call})")))?;
    assert_eq!(found, json!([{"name": "command", "real": "rm -rf ~"}]));
    browser.end().await?;
    stage.end().await
}
