//! An editor that writes and reads lines, for what no library would send.

use std::time::Duration;

use musher::Agent;
use musher_acp::{Config, serve};
use musher_rpc::{Limits, lines_over};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How long anything may take before a test counts as hung.
const DEADLINE: Duration = Duration::from_secs(20);

pub(crate) struct RawEditor {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    adapter: JoinHandle<()>,
}

impl RawEditor {
    pub(crate) fn start(agent: Agent, limits: Limits) -> Self {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(theirs);
        let served = serve(Config::new(agent), lines_over(reader, writer, limits), std::future::pending());
        let adapter = tokio::spawn(async move { served.await.unwrap() });
        let (reader, writer) = tokio::io::split(ours);
        Self { lines: BufReader::new(reader).lines(), writer, adapter }
    }

    pub(crate) async fn hello(&mut self) {
        self.call("hello", "initialize", json!({"protocolVersion": 1})).await;
        self.answer("hello").await;
    }

    /// Says hello and opens a session.
    pub(crate) async fn open(&mut self) {
        self.hello().await;
        self.call("open", "session/new", json!({"cwd": "/w", "mcpServers": []})).await;
        let opened = self.answer("open").await;
        assert_eq!(opened["result"]["sessionId"], "s", "{opened}");
    }

    pub(crate) async fn call(&mut self, id: &str, method: &str, params: Value) {
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string())
            .await;
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()).await;
    }

    pub(crate) async fn prompt(&mut self, id: &str, text: &str) {
        let prompt = json!([{"type": "text", "text": text}]);
        self.call(id, "session/prompt", json!({"sessionId": "s", "prompt": prompt})).await;
    }

    pub(crate) async fn write(&mut self, line: &str) {
        self.write_bytes(line.as_bytes()).await;
    }

    pub(crate) async fn write_bytes(&mut self, line: &[u8]) {
        self.writer.write_all(line).await.unwrap();
        self.writer.write_all(b"\n").await.unwrap();
    }

    pub(crate) async fn next(&mut self) -> Value {
        let line = timeout(DEADLINE, self.lines.next_line()).await.expect("it hangs").unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// The answer to a call; what comes before it is passed over.
    pub(crate) async fn answer(&mut self, id: &str) -> Value {
        loop {
            let message = self.next().await;
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    /// Leaves, and waits until the adapter has noticed.
    pub(crate) async fn leave(mut self) {
        self.writer.shutdown().await.unwrap();
        drop((self.lines, self.writer));
        timeout(DEADLINE, self.adapter).await.expect("the adapter outlives its editor").unwrap();
    }
}
