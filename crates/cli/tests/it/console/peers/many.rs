//! Large stores, long sessions and fast answers: the page shows them, and has only what is visible in its document. The figures that the
//! tests print are not compared with anything.

use std::time::Instant;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use testkit::rehearse::{Reply, Script, when};

use super::{PROMPT, Stage};

/// Scrolls an element from top to end, and returns the 95th percentile of the time between frames, in milliseconds.
const SCROLL: &str = "const box = document.querySelector(SELECTOR); const times = []; let last = performance.now(); let step = 0; \
    const tick = () => { const now = performance.now(); times.push(now - last); last = now; step += 1; \
    box.scrollTop = box.scrollHeight * step / 120; \
    if (step < 120) requestAnimationFrame(tick); else { times.sort((a, b) => a - b); done(times[Math.floor(times.length * 0.95)]); } }; \
    requestAnimationFrame(tick);";

fn script() -> Script {
    Script::new()
        .reply(Reply::text("A title").when(when().without_tools()))
        .otherwise(Reply::text("The newest answer."))
}

fn id(number: usize) -> String {
    format!("{number:08x}-1111-4111-8111-111111111111")
}

fn message(number: usize, role: &str, text: &str) -> Value {
    let content = json!([{"type": "text", "text": text}]);
    json!({"type": "message", "id": format!("m{number}"), "timestamp": "2026-01-01T00:00:00.000Z", "message": {"role": role, "content": content}})
}

#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_sessions_are_listed_filtered_searched_and_archived() -> Result<()> {
    let stage = Stage::start(script()).await?;
    for number in 0..500 {
        let lines = [message(0, "user", &format!("task {number}")), message(1, "assistant", "done")];
        let reason = if number % 100 == 7 { "error" } else { "completed" };
        let settings = json!({
            "model": "a-model", "lastTurnReason": reason, "contextLimit": 200_000,
            "lastCallTokenUsage": {"inputTokens": 50_000, "outputTokens": 0},
        });
        stage.store(&id(number), &format!("Session {number}"), &lines, &settings, 600 - number as u64)?;
    }
    let browser = stage.browser(1280, 900).await?;
    browser.until("[...document.querySelectorAll('.chip')].some((it) => it.innerText.replace(/\\s+/g, ' ') === 'All 500')")?;
    // failed ones come first, then the newest
    let first = browser.run("return document.querySelector('.session-title').textContent")?;
    assert_eq!(first, "Session 407");
    assert_eq!(browser.run("return document.querySelector('.session .context').textContent")?, "25%");
    let frame = browser.run_until_done(&SCROLL.replace("SELECTOR", "'main'"))?;
    println!("500 sessions: 95 % of frames within {frame} ms");
    browser.press_button("Failed 5").or_else(|_| browser.click(".chips .chip:nth-child(4)"))?;
    browser.until("document.querySelectorAll('.session').length === 5")?;
    browser.click(".chips .chip:first-child")?;
    browser.write(".search", "task 123")?;
    browser
        .until("document.querySelectorAll('.session').length === 1 && document.querySelector('.snippet')")?;
    browser.click("[aria-label='Archive Session 123']")?;
    browser.until("document.querySelectorAll('.session').length === 0")?;
    browser.click(".chips .chip:last-child")?;
    browser.until("document.querySelector('.session-title')?.textContent === 'Session 123'")?;
    browser.click("[aria-label='Restore Session 123']")?;
    browser.until("document.querySelectorAll('.session').length === 0")?;
    assert_eq!(browser.problems()?, Vec::<String>::new());
    browser.end().await?;
    stage.end().await
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_messages_scroll_with_few_rows_in_the_document() -> Result<()> {
    let stage = Stage::start(script()).await?;
    let text = |number: usize| {
        if number.is_multiple_of(2) {
            format!("Question {number}")
        } else {
            format!("Answer {number}\n\n- with **a list**\n- and `code`\n")
        }
    };
    let role = |number: usize| if number.is_multiple_of(2) { "user" } else { "assistant" };
    let lines: Vec<Value> = (0..10_000).map(|number| message(number, role(number), &text(number))).collect();
    stage.store(&id(1), "Long", &lines, &json!({}), 1)?;
    let browser = stage.browser(1280, 900).await?;
    let paint =
        browser.run("return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null")?;
    browser.click(".session-title")?;
    browser.until_text("Answer 9999")?;
    let rows = "document.querySelectorAll('.rows > .row').length";
    let frame = browser.run_until_done(&SCROLL.replace("SELECTOR", "'.rows'"))?;
    browser.run("document.querySelector('.rows').scrollTop = 0")?;
    browser.until("[...document.querySelectorAll('.said')].some((it) => it.textContent === 'Question 0')")?;
    let count = browser.run(&format!("return {rows}"))?.as_u64().unwrap_or_default();
    assert!((5..200).contains(&count), "{count} rows in the document");
    // a link into the middle, and back to the end
    browser.run("location.hash = location.hash.replace(/^(#.session.[^/]*).*/, '$1/transcript/m5000')")?;
    browser.until("document.querySelector('.row.target')?.innerText.includes('Question 5000')")?;
    browser.press_button("↓ Latest")?;
    browser.until_text("Answer 9999")?;
    browser.write(PROMPT, "one more\n")?;
    browser.until_text("The newest answer.")?;
    browser.devtools("HeapProfiler.collectGarbage", &json!({}))?;
    browser.devtools("Performance.enable", &json!({}))?;
    let metrics = browser.devtools("Performance.getMetrics", &json!({}))?;
    let heap = metrics["metrics"].as_array().into_iter().flatten().find(|it| it["name"] == "JSHeapUsedSize");
    println!(
        "10,000 messages: first paint {paint} ms, 95 % of frames within {frame} ms, {count} rows, heap {} bytes",
        heap.map_or(&Value::Null, |it| &it["value"])
    );
    assert_eq!(browser.problems()?, Vec::<String>::new());
    browser.end().await?;
    stage.end().await
}

#[tokio::test(flavor = "multi_thread")]
async fn thousand_deltas_a_second_arrive_completely() -> Result<()> {
    let pieces: Vec<String> = (0..8000).map(|number| format!("w{number} ")).collect();
    let script = Script::new()
        .reply(Reply::text("A title").when(when().without_tools()))
        .reply(Reply::text(pieces.concat()).delay_ms(0, 1).when(when().prompt("flood")))
        .otherwise(Reply::text("The newest answer."));
    let stage = Stage::start(script).await?;
    let browser = stage.browser(1280, 900).await?;
    stage.new_session(&browser, "hello")?;
    browser.until_text("The newest answer.")?;
    let daemon = stage.daemon_id().context("a daemon")?;
    let cpu = || -> Result<(f64, f64)> {
        Ok((cpu_of(|id, _| id == daemon)?, cpu_of(|_, command| command.contains("chromium"))?))
    };
    let (before, started) = (cpu()?, Instant::now());
    browser.write(PROMPT, "flood\n")?;
    browser.until("!document.querySelector('.activity.busy') && document.querySelector('.rows').innerText.includes('w7999')")?;
    let (after, seconds) = (cpu()?, started.elapsed().as_secs_f64());
    println!(
        "8,000 deltas in {seconds:.1} s: {:.2} s of CPU in the daemon, {:.2} s in all processes of the browser",
        after.0 - before.0,
        after.1 - before.1
    );
    let text = browser.run("return [...document.querySelectorAll('.markdown')].at(-1).innerText")?;
    let words: Vec<&str> = text.as_str().unwrap_or_default().split_whitespace().collect();
    assert_eq!(words.len(), 8000);
    assert_eq!((words[0], words[7999]), ("w0", "w7999"));
    browser.end().await?;
    stage.end().await
}

/// The processor time of the processes that are chosen by id and command line, in seconds.
fn cpu_of(is_chosen: impl Fn(i32, &str) -> bool) -> Result<f64> {
    let mut ticks = 0_u64;
    for entry in fs_err::read_dir("/proc")? {
        let path = entry?.path();
        let Some(id) = path.file_name().and_then(|name| name.to_str()?.parse().ok()) else { continue };
        // a process may end while it is looked at
        let (Ok(command), Ok(stat)) =
            (fs_err::read_to_string(path.join("cmdline")), fs_err::read_to_string(path.join("stat")))
        else {
            continue;
        };
        if is_chosen(id, &command) {
            let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
            ticks += fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    Ok(ticks as f64 / 100.0)
}
