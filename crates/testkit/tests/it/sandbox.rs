//! The guarantees of the sandbox: no network access, a clean environment, and reported leftovers.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::Duration;

use testkit::{README, Sandbox};

#[test]
fn only_loopback_exists_inside() -> anyhow::Result<()> {
    let outside = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let outside_address = outside.local_addr()?;
    let sandbox = Sandbox::new()?;

    let interfaces = sandbox.run(|| fs_err::read_to_string("/proc/thread-self/net/dev"))??;
    let names: Vec<_> =
        interfaces.lines().skip(2).filter_map(|line| line.split(':').next()).map(str::trim).collect();
    assert_eq!(names, ["lo"]);

    let far = sandbox.run(|| {
        TcpStream::connect_timeout(&(Ipv4Addr::new(192, 0, 2, 1), 80).into(), Duration::from_secs(20))
    })?;
    assert_eq!(far.unwrap_err().kind(), ErrorKind::NetworkUnreachable);

    let host = sandbox.run(move || TcpStream::connect(outside_address))?;
    assert_eq!(host.unwrap_err().kind(), ErrorKind::ConnectionRefused, "loopback inside is not the host's");

    let inside = sandbox.listen()?;
    let address = inside.local_addr()?;
    sandbox.run(move || TcpStream::connect(address))??;
    assert_eq!(
        TcpStream::connect(address).unwrap_err().kind(),
        ErrorKind::ConnectionRefused,
        "nor the other way round"
    );

    drop(inside);
    sandbox.finish_blocking()
}

#[tokio::test]
async fn program_sees_its_own_home_and_workspace_and_no_other_variable() -> anyhow::Result<()> {
    let sandbox = Sandbox::new()?;
    let launch = sandbox
        .launch("sh")
        .args(["-c", "env | cut -d= -f1 | sort; pwd; cat README.md; git log --format=%s"]);
    let ended = sandbox.output(&launch.env("EXTRA", "1")).await?;

    let workspace = sandbox.workspace();
    // The shell itself adds `PWD`, and some shells `OLDPWD`, `SHLVL` and `_`.
    let mut seen = ended.stdout.clone();
    seen.retain(|line| !["PWD", "OLDPWD", "SHLVL", "_"].contains(&line.as_str()));
    let mut expected = vec!["EXTRA", "HOME", "LANG", "MUSHER_SANDBOX", "PATH", "TERM", "TMPDIR"];
    expected.push(workspace.to_str().unwrap());
    expected.extend(README.lines());
    expected.push("Start");
    assert_eq!(seen, expected);
    sandbox.finish().await
}

#[tokio::test]
async fn daemon_that_left_its_session_is_found_and_killed() -> anyhow::Result<()> {
    let sandbox = Sandbox::new()?;
    let launch = sandbox.launch("sh").args(["-c", "setsid sleep 3217 </dev/null >/dev/null 2>&1 &"]);
    sandbox.output(&launch).await?;
    let leaked = wait_for_one_process(&sandbox).await;

    let error = sandbox.finish().await.unwrap_err().to_string();
    assert!(error.contains("sleep 3217"), "{error}");
    assert!(error.contains("(0 could not be killed)"), "{error}");
    assert!(!is_running(leaked));
    Ok(())
}

#[tokio::test]
async fn daemon_with_an_empty_environment_that_ignores_sigterm_is_killed_too() -> anyhow::Result<()> {
    let sandbox = Sandbox::new()?;
    let stubborn = "trap '' TERM; exec sleep 3218";
    let script = format!("setsid env -i sh -c \"{stubborn}\" </dev/null >/dev/null 2>&1 &");
    sandbox.output(&sandbox.launch("sh").args(["-c", &script])).await?;
    let leaked = wait_for_one_process(&sandbox).await;

    let error = sandbox.finish().await.unwrap_err().to_string();
    assert!(error.contains("left running"), "{error}");
    assert!(!is_running(leaked));
    Ok(())
}

#[test]
fn dropping_an_unchecked_sandbox_with_a_leak_panics() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    let result = std::panic::catch_unwind(|| {
        runtime.block_on(async {
            let sandbox = Sandbox::new().unwrap();
            let launch = sandbox.launch("sh").args(["-c", "setsid sleep 3219 </dev/null >/dev/null 2>&1 &"]);
            sandbox.output(&launch).await.unwrap();
            wait_for_one_process(&sandbox).await;
        });
    });
    let message = *result.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("sleep 3219"), "{message}");
    Ok(())
}

#[tokio::test]
async fn listener_left_open_fails_the_check() -> anyhow::Result<()> {
    let sandbox = Sandbox::new()?;
    let forgotten = sandbox.listen()?;
    let port = forgotten.local_addr()?.port();
    let error = sandbox.finish().await.unwrap_err().to_string();
    assert_eq!(error, format!("left listening in the sandbox: tcp port {port}"));
    Ok(())
}

#[tokio::test]
async fn program_that_ignores_the_end_of_its_input_is_killed_and_reported() -> anyhow::Result<()> {
    let sandbox = Sandbox::new()?;
    let program =
        sandbox.spawn(&sandbox.launch("sleep").arg("3220"))?.wait_timeout(Duration::from_millis(200));
    let error = program.end().await.unwrap_err().to_string();
    assert!(error.contains("did not end when its input did"), "{error}");
    sandbox.finish().await
}

#[tokio::test]
async fn program_that_was_not_ended_counts_as_leftover() -> anyhow::Result<()> {
    let sandbox = Sandbox::new()?;
    let _running = sandbox.spawn(&sandbox.launch("sleep").arg("3221"))?;
    let error = sandbox.finish().await.unwrap_err().to_string();
    assert!(error.contains("sleep 3221"), "{error}");
    Ok(())
}

/// The daemon starts in the background: wait until it is the only process.
async fn wait_for_one_process(sandbox: &Sandbox) -> i32 {
    let appear = async {
        loop {
            if let [only] = sandbox.processes().as_slice()
                && only.command.starts_with("sleep")
            {
                return only.pid;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), appear).await.expect("the daemon appears")
}

fn is_running(pid: i32) -> bool {
    fs_err::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}
