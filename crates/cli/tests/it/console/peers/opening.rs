//! How a browser gets in, and what stays out.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;

use anyhow::{Context as _, Result};

use super::{Stage, script};
use crate::console::browser::Browser;

#[tokio::test(flavor = "multi_thread")]
async fn console_opens_the_browser_with_a_link_that_is_in_no_log() -> Result<()> {
    let stage = Stage::start(script()).await?;
    // a program that opens pages, and remembers what it was asked for
    let programs = stage.sandbox.temp().join("programs");
    fs_err::create_dir_all(&programs)?;
    let opened = stage.sandbox.temp().join("opened");
    let opener = programs.join("xdg-open");
    fs_err::write(
        &opener,
        format!(
            "#!/bin/sh\nls -l \"$1\" > '{0}.mode'\ncat \"$1\" > '{0}.part'\nmv '{0}.part' '{0}'\n",
            opened.display()
        ),
    )?;
    fs_err::set_permissions(&opener, std::fs::Permissions::from_mode(0o755))?;
    let path = format!("{}:/usr/bin:/bin", programs.display());
    let log = stage.sandbox.temp().join("console.log");
    let launch = stage.musher(&["console", "--log", &log.to_string_lossy(), "--log-level", "trace"]);
    let ended = stage.sandbox.output(&launch.env("PATH", path)).await?;
    assert!(ended.status.success(), "{}", ended.stderr);
    let link = tokio::task::spawn_blocking({
        let opened = opened.clone();
        move || {
            // the opener is a program of its own, and ends when it has written
            while !opened.exists() {
                std::thread::yield_now();
            }
            fs_err::read_to_string(opened)
        }
    });
    let page = tokio::time::timeout(std::time::Duration::from_mins(1), link).await???;
    let url = page.split("url=").nth(1).and_then(|rest| rest.split('"').next()).context("a link")?;
    let ticket = url.split("#login=").nth(1).context("a ticket")?;
    let mode = fs_err::read_to_string(format!("{}.mode", opened.display()))?;
    assert!(mode.starts_with("-rw------- "), "{mode}");

    let browser = Browser::start(&stage.sandbox, 900, 700).await?;
    browser.open(url)?;
    browser.until_text("No sessions yet.")?;
    assert_eq!(browser.run("return document.referrer + document.cookie")?, "");
    let token = fs_err::read_to_string(stage.sandbox.home().join(".musher/daemon.token"))?;
    for log in [log.to_string_lossy().into_owned(), stage.log()] {
        let text = fs_err::read_to_string(&log)?;
        assert!(!text.is_empty() && !text.contains(ticket) && !text.contains(token.trim()), "{log}: {text}");
    }
    // logged out, and in again with a new link only
    browser.press_button("Log out")?;
    browser.until_text("This browser is not logged in.")?;
    browser.end().await?;
    stage.end().await
}

#[tokio::test(flavor = "multi_thread")]
async fn other_sites_reach_neither_the_page_nor_the_socket() -> Result<()> {
    let stage = Stage::start(script()).await?;
    let address = stage.address().to_owned();
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
    let own = format!("Host: {address}\r\n");
    let requests = [
        ("200", format!("GET /console/ HTTP/1.1\r\n{own}")),
        ("403", "GET /console/ HTTP/1.1\r\nHost: evil.example\r\n".to_owned()),
        ("403", format!("GET /console/ HTTP/1.1\r\n{own}Origin: http://evil.example\r\n")),
        (
            "403",
            format!(
                "POST /console/login HTTP/1.1\r\n{own}Origin: http://evil.example\r\nContent-Length: 1\r\n"
            ),
        ),
        ("401", format!("GET /console/socket HTTP/1.1\r\n{own}{upgrade}")),
        ("403", format!("GET /console/socket HTTP/1.1\r\n{own}Origin: http://evil.example\r\n{upgrade}")),
        ("401", format!("GET /console/socket HTTP/1.1\r\n{own}Origin: http://{address}\r\n{upgrade}")),
    ];
    for (status, request) in requests {
        let address = address.clone();
        let mut stream = stage.sandbox.run(move || TcpStream::connect(address))??;
        stream.write_all(format!("{request}\r\n").as_bytes())?;
        let mut head = [0; 12];
        stream.read_exact(&mut head)?;
        assert_eq!(String::from_utf8_lossy(&head), format!("HTTP/1.1 {status}"), "{request}");
    }
    stage.end().await
}
