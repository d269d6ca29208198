//! Plays a scenario with a running program and records every line.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::scenario::{Answer, Reply, Scenario, Step, matches};
use super::{Direction, Record};
use crate::Program;

/// Performs the steps of the scenario, closes the input and waits for the program's end; returns all messages.
///
/// `variables` replace `$NAME` in the strings of the scenario.
pub async fn play(program: Program, scenario: &Scenario, variables: &[(&str, &str)]) -> Result<Vec<Record>> {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let mut player = Player {
        started: Instant::now(),
        program,
        answers: scenario.answers.clone(),
        variables: variables.collect(),
        records: Vec::new(),
        requests: 0,
    };
    for step in &scenario.steps {
        if let Err(error) = player.step(step).await {
            let said: Vec<_> = player.records.iter().map(|record| record.msg.to_string()).collect();
            return Err(error.context(format!("at step {step:?}; before it:\n{}", said.join("\n"))));
        }
    }
    player.finish().await
}

struct Player {
    started: Instant,
    program: Program,
    answers: Vec<Answer>,
    variables: Vec<(String, String)>,
    records: Vec<Record>,
    requests: u32,
}

impl Player {
    async fn step(&mut self, step: &Step) -> Result<()> {
        match step {
            Step::Request { method, params } => self.request(method, params).await.map(drop),
            Step::Call { method, params } => {
                let id = self.request(method, params).await?;
                self.until(&json!({"type": "response", "id": id})).await
            }
            Step::Turn(prompt) => {
                let params = if prompt.is_string() { json!({"text": prompt}) } else { prompt.clone() };
                self.request("droid.add_user_message", &params).await?;
                self.until(&json!({"params": {"notification": {"type": "agent_turn_completed"}}})).await?;
                self.until(&json!({"params": {"notification": {"newState": "idle"}}})).await
            }
            Step::Send(message) => self.say(filled(message, &self.variables)).await,
            Step::Line(line) => {
                self.record(Direction::C2s, line.clone().into());
                self.program.send_line(line).await
            }
            Step::Until(part) => self.until(&filled(part, &self.variables)).await,
            Step::Keep { name, at } => {
                let last = self.records.iter().rev().find(|record| record.dir == Direction::S2c);
                let found = last.and_then(|record| record.msg.pointer(at)?.as_str());
                let found = found.with_context(|| format!("no text at {at} of the last message"))?;
                self.variables.push((format!("${name}"), found.to_owned()));
                Ok(())
            }
            Step::CloseInput => {
                self.program.close_stdin();
                Ok(())
            }
        }
    }

    async fn request(&mut self, method: &str, params: &Value) -> Result<String> {
        self.requests += 1;
        let id = self.requests.to_string();
        let params = filled(params, &self.variables);
        let message = json!({
            "jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "type": "request",
            "id": id, "method": method, "params": params,
        });
        self.say(message).await?;
        Ok(id)
    }

    async fn until(&mut self, part: &Value) -> Result<()> {
        loop {
            let next = self.program.next().await?;
            let message = next.with_context(|| self.program.report("output ended"))?;
            let found = matches(part, &message);
            self.receive(message).await?;
            if found {
                return Ok(());
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

    async fn receive(&mut self, message: Value) -> Result<()> {
        let answer = self
            .answers
            .iter()
            .find(|answer| matches(&answer.when, &message))
            .map(|answer| reply_to(&message, &answer.reply, &self.variables));
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

fn reply_to(request: &Value, reply: &Reply, variables: &[(String, String)]) -> Value {
    let id = request.get("id").or_else(|| request.get("request_id")).cloned().unwrap_or_default();
    match reply {
        Reply::Result(result) => {
            let result = filled(result, variables);
            json!({"jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "type": "response", "id": id, "result": result})
        }
        Reply::Send(message) => {
            let id = ("$ID".to_owned(), id.as_str().unwrap_or_default().to_owned());
            filled(&filled(message, variables), &[id])
        }
    }
}

/// Replaces `$NAME` in the strings of a value.
pub fn filled(value: &Value, variables: &[(String, String)]) -> Value {
    match value {
        Value::String(text) => {
            let replace = |text: String, (name, value): &(String, String)| text.replace(name, value);
            variables.iter().fold(text.clone(), replace).into()
        }
        Value::Array(items) => items.iter().map(|item| filled(item, variables)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (key.clone(), filled(value, variables))).collect()
        }
        _ => value.clone(),
    }
}
