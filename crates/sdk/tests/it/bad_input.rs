//! Mistakes of the caller, reported without an agent.

use anyhow::Result;
use conformance::stage::soon;
use musher::{Agent, ErrorKind, Image, Session};

#[tokio::test]
async fn bad_input_is_refused_before_anything_is_started() -> Result<()> {
    let error = Session::builder().executable("/no/such/droid").open().await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Connection { program: Some("/no/such/droid".into()) });
    assert!(error.with_causes().to_string().contains("install it, or name another program"), "{error}");

    let error = Session::builder().executable("/bin/cat").cwd("/no/such/folder").open().await.unwrap_err();
    assert!(error.is_invalid_input(), "{error}");
    assert!(error.with_causes().to_string().contains("/no/such/folder"), "{error}");
    assert!(Image::base64("image/bmp", "Qk0=").unwrap_err().is_invalid_input());

    // a program that is not an agent: its stderr is in the error
    let agent = Agent::program("/bin/sh").args(["-c", "echo 'this is not an agent' >&2; exit 3"]);
    let error = soon("the failure", Box::pin(Session::builder().agent(agent).open())).await?.unwrap_err();
    let ErrorKind::ProcessExit { code, stderr, .. } = error.kind() else { panic!("{error}") };
    assert_eq!((*code, stderr.trim()), (Some(3), "this is not an agent"));
    Ok(())
}
