//! Answers the agent's questions on the terminal: by number or in words; an empty line declines.

#![allow(clippy::print_stdout, reason = "an example talks to people")]

use std::io::BufRead;

use musher::{Agent, Answers, QuestionRequest, Session};

#[tokio::main]
async fn main() -> musher::Result<()> {
    let prompt = std::env::args().nth(1).unwrap_or_else(|| "Ask me what to do.".to_owned());
    let session = Session::builder().agent(agent()).on_question(ask).open().await?;
    println!("{}", session.send(prompt).await?.text);
    session.close().await
}

/// Reading blocks, so it has a thread of its own.
async fn ask(request: QuestionRequest) -> Answers {
    let reading = tokio::task::spawn_blocking(move || {
        request.answer_all(|question| {
            let options = question.options.clone().unwrap_or_default();
            println!("{}", question.question);
            for (number, option) in options.iter().enumerate() {
                println!("  {}. {option}", number + 1);
            }
            let line = std::io::stdin().lock().lines().next()?.ok()?;
            let chosen =
                line.parse::<usize>().ok().and_then(|number| options.get(number.checked_sub(1)?).cloned());
            chosen.or((!line.is_empty()).then_some(line))
        })
    });
    reading.await.unwrap_or(Answers::Declined)
}

/// The agent of `MUSHER_AGENT`: `engine`, `droid` or a program; droid without it.
fn agent() -> Agent {
    Agent::from_env()
}
