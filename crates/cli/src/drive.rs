//! One turn with somebody in front of it: shows what happens, asks what the agent asks, and listens to Ctrl-C.
//!
//! One loop owns the screen, so that nothing is written between a question and its answer.

mod asking;
mod verdict;

use std::time::{Duration, Instant};

use anyhow::anyhow;
use musher::{CancellationToken, Decision, Event, Prompt, Reply, TurnResult};
use tokio::sync::mpsc;

use crate::commands::stop::Stop;
use crate::exit::Failure;
use crate::report::Report;
use crate::terminal::{Answers, FRAME, Screen};
use crate::view::{self, Piece, Said, View};

pub(crate) use asking::{Asked, Asks, channel, handlers};
pub(crate) use verdict::{Verdict, verdict};

/// So many pieces may wait for an answer before the agent has to.
const MOST_HELD: usize = 1000;

/// Who answers the agent.
#[derive(Debug)]
pub(crate) enum Person {
    /// Somebody at a terminal.
    There(Answers),
    /// Somebody who only watches, and has said yes to all.
    SaysYes,
    /// Nobody: every answer is no.
    Absent,
}

/// For whom is printed.
#[derive(Debug)]
pub(crate) enum Shown {
    People(View),
    Programs(Report),
}

/// What drives a turn.
#[derive(Debug)]
pub(crate) struct Drive {
    pub(crate) screen: Screen,
    pub(crate) shown: Shown,
    person: Person,
    asks: mpsc::Receiver<Asked>,
    /// What the agent waits for.
    open: Option<Asked>,
    /// The answers to the questions of a list so far.
    answers: Vec<String>,
    held: Vec<Piece>,
    refused: Vec<String>,
}

/// How it went.
#[derive(Debug)]
pub(crate) enum Went {
    /// The person left.
    Left,
    /// The turn came to an end.
    Ended {
        result: Box<TurnResult>,
        /// What nobody was there to allow or answer.
        refused: Vec<String>,
        /// The person stopped it.
        was_stopped: bool,
    },
}

impl Drive {
    pub(crate) fn new(screen: Screen, shown: Shown, person: Person, asks: Asks) -> Self {
        let (open, answers, held, refused) = (None, Vec::new(), Vec::new(), Vec::new());
        Self { screen, shown, person, asks: asks.0, open, answers, held, refused }
    }

    /// Sends the prompt, and follows the turn to its end.
    pub(crate) async fn turn(&mut self, prompt: Prompt, signals: &mut Stop) -> Result<Went, Failure> {
        let token = CancellationToken::new();
        let begun = Instant::now();
        let prompt = prompt.cancel_token(token.clone());
        let mut turn = tokio::select! {
            turn = prompt.start() => turn.map_err(refused)?,
            _signal = signals.next() => return Ok(Went::Left),
        };
        let mut ticker = tokio::time::interval(FRAME);
        ticker.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                _signal = signals.next() => {
                    if token.is_cancelled() {
                        self.screen.clear();
                        return Ok(Went::Left);
                    }
                    token.cancel();
                    self.stopping()?;
                }
                line = typed(&mut self.person), if self.open.is_some() => self.typed(line)?,
                Some(asked) = self.asks.recv(), if self.open.is_none() => self.asked(asked)?,
                event = turn.next(), if self.held.len() < MOST_HELD => match event {
                    Some(Ok(Event::Result(result))) => {
                        self.open = None;
                        self.show(&Event::Result(result.clone()))?;
                        self.release()?;
                        let (refused, was_stopped) = (std::mem::take(&mut self.refused), token.is_cancelled());
                        return Ok(Went::Ended { result, refused, was_stopped });
                    }
                    Some(event) => self.show(&event?)?,
                    None => return Err(anyhow!("the turn ended without a result").into()),
                },
                _ = ticker.tick(), if self.open.is_none() => self.wait(begun.elapsed()),
            }
        }
    }

    fn show(&mut self, event: &Event) -> Result<(), Failure> {
        match &mut self.shown {
            Shown::People(view) => {
                self.held.extend(view.event(event, self.screen.width()));
                if self.open.is_none() { self.release() } else { Ok(()) }
            }
            // the result needs a verdict first
            Shown::Programs(_) if matches!(event, Event::Result(_)) => Ok(()),
            Shown::Programs(report) => report.event(event),
        }
    }

    fn release(&mut self) -> Result<(), Failure> {
        Ok(self.screen.show(&std::mem::take(&mut self.held))?)
    }

    fn wait(&mut self, since: Duration) {
        if let Shown::People(view) = &self.shown
            && view.is_between_lines()
        {
            self.screen.spin(view.doing(), since);
        }
    }

    fn stopping(&mut self) -> Result<(), Failure> {
        let was_asking = self.open.take().is_some();
        self.end_line()?;
        if was_asking {
            // the question stands on a line that was never ended
            self.screen.note("");
        }
        self.release()?;
        self.screen.note(self.screen.look().dim("stopping; Ctrl-C again leaves at once"));
        Ok(())
    }

    /// The agent wants to know something.
    fn asked(&mut self, asked: Asked) -> Result<(), Failure> {
        match &mut self.person {
            Person::Absent => {
                let what = asked.what();
                let refused = format!("✗ refused, since nobody is here to be asked: {what}");
                if matches!(self.shown, Shown::People(_)) {
                    self.end_line()?;
                    self.screen.note(self.screen.look().bad(&refused));
                }
                self.refused.push(what);
                asked.refuse();
            }
            Person::SaysYes => {
                self.explain(&asked)?;
                self.screen.note(self.screen.look().dim("  yes, unasked"));
                asked.agree();
            }
            Person::There(answers) => {
                // before the question is seen, so that only what comes after it counts
                answers.want();
                self.answers.clear();
                self.explain(&asked)?;
                self.open = Some(asked);
                self.prompt();
            }
        }
        Ok(())
    }

    /// Shows what is asked; of a list of questions the next one.
    fn explain(&mut self, asked: &Asked) -> Result<(), Failure> {
        self.end_line()?;
        let look = self.screen.look();
        let lines = match asked {
            Asked::Permission(permission, _) => {
                if let Shown::People(view) = &mut self.shown {
                    permission.tool_uses.iter().for_each(|it| view.has_shown(&it.tool_use.id));
                }
                view::permission(permission, look)
            }
            Asked::Questions(questions, _) => {
                let next = questions.questions.get(self.answers.len());
                next.map(|question| view::question(question, look)).unwrap_or_default()
            }
        };
        for line in lines {
            self.screen.note(line);
        }
        Ok(())
    }

    fn prompt(&mut self) {
        match &self.open {
            Some(Asked::Permission(..)) => self.screen.prompt("allow? [y/N or a number]"),
            Some(Asked::Questions(..)) => self.screen.prompt("answer:"),
            None => {}
        }
    }

    /// A line was typed, or the person is gone.
    fn typed(&mut self, line: Option<String>) -> Result<(), Failure> {
        let Some(asked) = self.open.take() else { return Ok(()) };
        let Some(line) = line else {
            self.screen.note("");
            asked.refuse();
            return self.release();
        };
        match asked {
            Asked::Permission(permission, reply) => match view::read_decision(&permission, &line) {
                Said::This(decision) => decided(reply, decision),
                Said::Nothing => self.again(Asked::Permission(permission, reply)),
            },
            Asked::Questions(questions, reply) => {
                let question = questions.questions.get(self.answers.len());
                let answer = question.map(|question| view::read_answer(question, &line));
                if let Some(Said::This(answer)) = answer {
                    self.answers.push(answer);
                }
                if self.answers.len() >= questions.questions.len() {
                    replied(reply, Reply::Answers(std::mem::take(&mut self.answers)));
                } else {
                    let asked = Asked::Questions(questions, reply);
                    self.explain(&asked)?;
                    self.again(asked);
                }
            }
        }
        if self.open.is_none() { self.release() } else { Ok(()) }
    }

    fn again(&mut self, asked: Asked) {
        if let Person::There(answers) = &mut self.person {
            answers.want();
        }
        self.open = Some(asked);
        self.prompt();
    }

    fn end_line(&mut self) -> Result<(), Failure> {
        if let Shown::People(view) = &mut self.shown {
            let mut pieces = Vec::new();
            view.end_line(&mut pieces);
            self.screen.show(&pieces)?;
        }
        Ok(())
    }
}

/// A prompt that was not even sent is the business of whoever wrote it.
fn refused(error: musher::Error) -> Failure {
    if error.is_invalid_input() { Failure::setup(error) } else { error.into() }
}

/// A line of the person, if there is one who types.
async fn typed(person: &mut Person) -> Option<String> {
    match person {
        Person::There(answers) => answers.line().await,
        Person::SaysYes | Person::Absent => std::future::pending().await,
    }
}

/// Whoever asked may be gone by now.
fn decided(reply: tokio::sync::oneshot::Sender<Decision>, decision: Decision) {
    drop(reply.send(decision));
}

fn replied(reply: tokio::sync::oneshot::Sender<Reply>, answer: Reply) {
    drop(reply.send(answer));
}
