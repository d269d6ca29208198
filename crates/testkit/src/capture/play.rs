//! Plays a scenario with a running program and keeps every line said.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::scenario::{Answer, Reply, Scenario, Step, matches};
use super::{Direction, Record};
use crate::Program;

/// Does what the scenario says, then closes the input and waits for the program's end; gives all that was said.
///
/// `variables` replace `$NAME` in the strings of the scenario.
pub async fn play(program: Program, scenario: &Scenario, variables: &[(&str, &str)]) -> Result<Vec<Record>> {
    let answers = scenario
        .answers
        .iter()
        .map(|answer| Answer { reply: filled_reply(&answer.reply, variables), ..answer.clone() });
    let mut player = Player {
        started: Instant::now(),
        program,
        answers: answers.collect(),
        records: Vec::new(),
        requests: 0,
    };
    for step in &scenario.steps {
        player.step(step, variables).await.with_context(|| format!("at step {step:?}"))?;
    }
    player.finish().await
}

struct Player {
    started: Instant,
    program: Program,
    answers: Vec<Answer>,
    records: Vec<Record>,
    requests: u32,
}

impl Player {
    async fn step(&mut self, step: &Step, variables: &[(&str, &str)]) -> Result<()> {
        match step {
            Step::Request { method, params } => {
                self.requests += 1;
                let id = self.requests.to_string();
                let params = filled(params, variables);
                self.say(json!({
                    "jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "type": "request",
                    "id": id, "method": method, "params": params,
                }))
                .await
            }
            Step::Send(message) => self.say(filled(message, variables)).await,
            Step::Until(part) => {
                let part = filled(part, variables);
                loop {
                    let next = self.program.next().await?;
                    let message = next.with_context(|| self.program.report("output ended"))?;
                    let found = matches(&part, &message);
                    self.heard(message).await?;
                    if found {
                        return Ok(());
                    }
                }
            }
            Step::CloseInput => {
                self.program.close_stdin();
                Ok(())
            }
        }
    }

    async fn finish(mut self) -> Result<Vec<Record>> {
        self.program.close_stdin();
        while let Some(message) = self.program.next().await? {
            self.record(Direction::S2c, message);
        }
        let ended = self.program.end().await?;
        ensure!(ended.status.success(), "the program ended with {}: {}", ended.status, ended.stderr);
        Ok(self.records)
    }

    async fn heard(&mut self, message: Value) -> Result<()> {
        let answer = self
            .answers
            .iter()
            .find(|answer| matches(&answer.when, &message))
            .map(|answer| reply_to(&message, &answer.reply));
        self.record(Direction::S2c, message);
        match answer {
            Some(answer) => self.say(answer).await,
            None => Ok(()),
        }
    }

    async fn say(&mut self, message: Value) -> Result<()> {
        self.program.send(&message).await?;
        self.record(Direction::C2s, message);
        Ok(())
    }

    fn record(&mut self, dir: Direction, msg: Value) {
        let t = (self.started.elapsed().as_secs_f64() * 1000.0).round() / 1000.0;
        self.records.push(Record { dir, t, msg });
    }
}

fn reply_to(request: &Value, reply: &Reply) -> Value {
    let id = request.get("id").or_else(|| request.get("request_id")).cloned().unwrap_or_default();
    match reply {
        Reply::Result(result) => {
            json!({"jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "type": "response", "id": id, "result": result})
        }
        Reply::Send(message) => filled(message, &[("$ID", id.as_str().unwrap_or_default())]),
    }
}

fn filled_reply(reply: &Reply, variables: &[(&str, &str)]) -> Reply {
    match reply {
        Reply::Result(value) => Reply::Result(filled(value, variables)),
        Reply::Send(value) => Reply::Send(filled(value, variables)),
    }
}

fn filled(value: &Value, variables: &[(&str, &str)]) -> Value {
    match value {
        Value::String(text) => {
            let replace = |text: String, (name, value): &(&str, &str)| text.replace(name, value);
            variables.iter().fold(text.clone(), replace).into()
        }
        Value::Array(items) => items.iter().map(|item| filled(item, variables)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (key.clone(), filled(value, variables))).collect()
        }
        _ => value.clone(),
    }
}
