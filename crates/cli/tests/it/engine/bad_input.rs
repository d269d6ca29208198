//! Lines that are not messages: each gets one error, and the next line is read normally.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use testkit::rehearse::{Reply, Script};

use super::client::{Client, Stage, on, request};

const MIB: usize = 1024 * 1024;

/// The response to a line: id and error code.
async fn answer(client: &mut Client, line: &[u8]) -> Result<(Value, Value)> {
    client.program.send_bytes(line).await?;
    let message = client.until("an answer", |message| message["type"] == "response").await?;
    Ok((message["id"].clone(), message["error"]["code"].clone()))
}

#[tokio::test]
async fn whatever_a_line_is_it_gets_one_answer_and_the_next_one_works() -> Result<()> {
    let stage = Stage::new(Script::new().reply(Reply::text("Hello.").when(on("Hello", 1))))?;
    let mut client = stage.opened().await?;
    let deep = format!("{}{}\n", "[".repeat(100_000), "]".repeat(100_000));
    let deep_params = request("deep", "droid.list_tools", Value::Null)
        .replace("null", &format!("{}1{}", "{\"a\":".repeat(5_000), "}".repeat(5_000)));
    for line in [
        b"garbage\n".as_slice(),
        b"{\"jsonrpc\":\n",
        b"\xff\xfe\xfd\n",
        b"{\"jsonrpc\":\"2.0\",\"x\":\"\xc3\x28\"}\n",
        b"\0\0\0\n",
        b"[]\n",
        b"7\n",
        b"{}\n",
        deep.as_bytes(),
    ] {
        let shown = String::from_utf8_lossy(&line[..line.len().min(40)]).into_owned();
        assert_eq!(answer(&mut client, line).await?, (Value::Null, json!(-32700)), "{shown}");
    }
    // with an id, the answer has it
    for (line, code) in [
        (request("unknown", "droid.no_such_method", json!({})), -32601),
        (request("params", "droid.add_user_message", json!({"text": 7})), -32602),
        (request("none", "droid.load_session", json!({})), -32602),
    ] {
        let (id, found) = answer(&mut client, format!("{line}\r\n").as_bytes()).await?;
        assert_eq!((id.is_string(), found), (true, json!(code)), "{line}");
    }
    let (_, code) = answer(&mut client, format!("{deep_params}\n").as_bytes()).await?;
    assert!(code.is_i64(), "nested too deeply");
    // blank lines get none
    client.program.send_bytes(b"\n\r\n  \n").await?;
    client.say("Hello.").await?;
    assert_eq!(client.completed().await?, "completed");
    let ids: Vec<_> = client.seen.iter().filter(|message| message["type"] == "response").collect();
    assert_eq!(ids.len(), 1 + 9 + 3 + 1 + 1, "one answer for each line");
    assert_eq!(client.program.end().await?.status.code(), Some(0));
    stage.finish().await
}

#[tokio::test]
async fn line_beyond_the_limit_is_thrown_away_while_it_is_read() -> Result<()> {
    let stage = Stage::new(Script::new())?;
    let mut client = stage.opened().await?;
    let before = client.memory()?;
    let piece = vec![b'x'; MIB];
    client.program.send_bytes(b"{\"jsonrpc\":\"2.0\",\"text\":\"").await?;
    let mut most = before;
    for _ in 0..100 {
        client.program.send_bytes(&piece).await?;
        most = most.max(client.memory()?);
    }
    let (id, code) = answer(&mut client, b"\"}\n").await?;
    assert_eq!((id, code), (Value::Null, json!(-32700)));
    let grown = (most - before) / MIB;
    assert!(grown < 4 * 16, "{grown} MiB more for a line of 100 MiB");
    let answer = client.call("droid.list_commands", json!({})).await?;
    assert!(answer["result"].is_object(), "{answer}");
    client.program.end().await?;
    stage.finish().await
}

#[tokio::test]
async fn one_byte_at_a_time_is_like_all_at_once_and_the_last_line_needs_no_end() -> Result<()> {
    let stage = Stage::new(Script::new().reply(Reply::text("Grüße.").when(on("Grüß", 1))))?;
    let mut client = stage.client()?;
    let mut session = stage.session();
    session["sessionId"] = json!("bytes");
    let lines = format!(
        "{}\n{}",
        request("a", "droid.initialize_session", session),
        request("b", "droid.add_user_message", json!({"text": "Grüß mich."})),
    );
    for byte in lines.as_bytes() {
        client.program.send_bytes(&[*byte]).await?;
    }
    // no line feed: the end of the input ends the line
    client.program.close_stdin();
    assert!(client.response("b").await?["result"].is_object());
    assert_eq!(client.completed().await?, "completed");
    let said = client.seen.iter().map(|message| &message["params"]["notification"]["message"]);
    let said: Vec<_> = said.filter_map(|message| message["content"][0]["text"].as_str()).collect();
    assert_eq!(said, ["Grüß mich.", "Grüße."]);
    assert_eq!(client.program.end().await?.status.code(), Some(0));
    stage.finish().await
}

#[tokio::test]
async fn burst_of_requests_is_answered_whole_and_in_order() -> Result<()> {
    let stage = Stage::new(Script::new())?;
    let mut client = stage.opened().await?;
    let all: Vec<String> = (0..2000).map(|number| format!("burst-{number}")).collect();
    let lines: String = all.iter().map(|id| request(id, "droid.list_commands", json!({})) + "\n").collect();
    let sending = async {
        client.program.send_bytes(lines.as_bytes()).await?;
        let mut ids = Vec::new();
        while ids.len() < all.len() {
            let message = client.next().await?.context("it ended")?;
            if message["type"] == "response" {
                assert!(message["result"].is_object(), "{message}");
                ids.push(message["id"].as_str().unwrap_or_default().to_owned());
            }
        }
        anyhow::Ok(ids)
    };
    assert_eq!(sending.await?, all);
    client.program.end().await?;
    stage.finish().await
}
