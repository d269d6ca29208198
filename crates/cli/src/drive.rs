//! Runs one turn for a user: shows its events, forwards the agent's requests to the user, and handles Ctrl-C.
//!
//! One loop owns the screen, so that nothing is written between a question and its answer.

mod asking;
mod turn_exit;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use musher::{CancellationToken, Event, PendingRequest, Prompt, Turn, TurnResult};

use crate::commands::stop::Stop;
use crate::exit::Failure;
use crate::report::Report;
use crate::task::refused;
use crate::terminal::{Answers, FRAME, Screen};
use crate::view::{self, Parsed, Piece, View};

pub(crate) use turn_exit::{NO_ANSWER, TurnExit, has_no_answer, is_of_model, turn_exit};

/// Maximum number of pieces held back while a question is open; then the agent waits.
const MAX_HELD: usize = 1000;
/// Maximum number of requests queued behind the open one; then the agent waits.
const MAX_WAITING: usize = 16;

/// Answers the permission requests and questions of the agent.
#[derive(Debug)]
pub(crate) enum Approver {
    /// A user at a terminal.
    Terminal(Answers),
    /// Approves every request; the user only watches.
    AllowAll,
    /// Denies every request, because there is no terminal.
    DenyAll,
    /// Leaves every request to other clients of the session.
    LeaveOpen,
}

/// The form of the output.
#[derive(Debug)]
pub(crate) enum Output {
    /// Text for a user.
    Human(Box<View>),
    /// JSON or the plain answer for programs.
    Machine(Report),
}

/// Runs turns and keeps the state of the open request.
#[derive(Debug)]
pub(crate) struct Drive {
    pub(crate) screen: Screen,
    pub(crate) output: Output,
    approver: Approver,
    /// The request that is shown and waits for an answer.
    open: Option<PendingRequest>,
    /// Requests queued behind the open one.
    waiting: VecDeque<PendingRequest>,
    /// The answers to the questions of a list so far.
    answers: Vec<String>,
    held: Vec<Piece>,
    refused: Vec<String>,
}

/// The outcome of a turn.
#[derive(Debug)]
pub(crate) enum TurnOutcome {
    /// The user quit before the turn ended.
    Abandoned,
    /// The turn ended.
    Ended {
        result: Box<TurnResult>,
        /// The requests that were denied because there was no terminal, each in one line.
        refused: Vec<String>,
        /// Whether the user stopped it.
        was_stopped: bool,
    },
}

impl Drive {
    pub(crate) fn new(screen: Screen, output: Output, approver: Approver) -> Self {
        let (answers, held, refused) = (Vec::new(), Vec::new(), Vec::new());
        Self { screen, output, approver, open: None, waiting: VecDeque::new(), answers, held, refused }
    }

    /// Sends the prompt, and handles the events of the turn until it ends.
    pub(crate) async fn turn(&mut self, prompt: Prompt, signals: &mut Stop) -> Result<TurnOutcome, Failure> {
        let token = CancellationToken::new();
        let begun = Instant::now();
        let prompt = prompt.cancel_token(token.clone()).ask_on_stream();
        let turn = tokio::select! {
            turn = prompt.start() => turn.map_err(refused)?,
            _signal = signals.next() => return Ok(TurnOutcome::Abandoned),
        };
        self.events(turn, Some(token), begun, signals).await
    }

    /// Handles the events of a turn of another client until it ends. A signal leaves it running.
    pub(crate) async fn follow(&mut self, turn: Turn, signals: &mut Stop) -> Result<TurnOutcome, Failure> {
        self.events(turn, None, Instant::now(), signals).await
    }

    /// Waits for a prompt; `None` if the user leaves.
    pub(crate) async fn typed_prompt(&mut self, signals: &mut Stop) -> Option<String> {
        let Approver::Terminal(answers) = &mut self.approver else { return None };
        loop {
            answers.want();
            self.screen.prompt("prompt (Ctrl-D leaves):");
            let line = tokio::select! {
                line = answers.line() => line,
                _signal = signals.next() => None,
            };
            match line {
                Some(line) if line.trim().is_empty() => {}
                Some(line) => return Some(line),
                None => {
                    self.screen.note("");
                    return None;
                }
            }
        }
    }

    /// Handles the events of a turn. With a token the first signal interrupts it; without one it leaves.
    async fn events(
        &mut self,
        mut turn: Turn,
        token: Option<CancellationToken>,
        begun: Instant,
        signals: &mut Stop,
    ) -> Result<TurnOutcome, Failure> {
        let mut ticker = tokio::time::interval(FRAME);
        ticker.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                _signal = signals.next() => {
                    match &token {
                        Some(token) if !token.is_cancelled() => token.cancel(),
                        _ => {
                            self.screen.clear();
                            return Ok(TurnOutcome::Abandoned);
                        }
                    }
                    self.stopping()?;
                }
                line = typed(&mut self.approver), if self.open.is_some() => self.typed(line)?,
                event = turn.next(), if self.has_room() => match event {
                    Some(Ok(Event::Permission(pending))) => self.request(PendingRequest::Permission(pending))?,
                    Some(Ok(Event::Question(pending))) => self.request(PendingRequest::Question(pending))?,
                    Some(Ok(Event::Result(result))) => {
                        self.open = None;
                        self.waiting.clear();
                        self.show(&Event::Result(result.clone()))?;
                        self.release()?;
                        let was_stopped = token.is_some_and(|token| token.is_cancelled());
                        let refused = std::mem::take(&mut self.refused);
                        return Ok(TurnOutcome::Ended { result, refused, was_stopped });
                    }
                    Some(event) => self.show(&event?)?,
                    None => return Err(anyhow!("the turn ended without a result").into()),
                },
                _ = ticker.tick(), if self.open.is_none() => self.wait(begun.elapsed()),
            }
        }
    }

    /// Asks for a line of the user.
    pub(crate) async fn line(&mut self, label: &str) -> Option<String> {
        let Approver::Terminal(answers) = &mut self.approver else { return None };
        self.screen.prompt(label);
        answers.next().await
    }

    fn has_room(&self) -> bool {
        self.held.len() < MAX_HELD && self.waiting.len() < MAX_WAITING
    }

    fn show(&mut self, event: &Event) -> Result<(), Failure> {
        match &mut self.output {
            Output::Human(view) => {
                self.held.extend(view.event(event, self.screen.width()));
                if self.open.is_none() { self.release() } else { Ok(()) }
            }
            // the result needs an exit code first
            Output::Machine(_) if matches!(event, Event::Result(_)) => Ok(()),
            Output::Machine(report) => report.event(event),
        }
    }

    fn release(&mut self) -> Result<(), Failure> {
        Ok(self.screen.show(&std::mem::take(&mut self.held))?)
    }

    fn wait(&mut self, since: Duration) {
        if let Output::Human(view) = &mut self.output
            && view.is_between_lines()
        {
            if let Some(tail) = view.tail(self.screen.width().saturating_sub(1)) {
                self.screen.tail(&tail);
            } else {
                let doing = view.doing(since);
                self.screen.spin(&doing, since);
            }
        }
    }

    fn stopping(&mut self) -> Result<(), Failure> {
        let was_asking = self.open.take().is_some();
        self.waiting.clear();
        self.end_line()?;
        if was_asking {
            // the question stands on a line that was never ended
            self.screen.note("");
        }
        self.release()?;
        self.screen.note(self.screen.style().dim("stopping… press Ctrl-C again to quit immediately"));
        Ok(())
    }

    /// Shows a request of the agent, or queues it while another one is open.
    fn request(&mut self, request: PendingRequest) -> Result<(), Failure> {
        if self.open.is_some() {
            self.waiting.push_back(request);
            return Ok(());
        }
        self.ask(request)
    }

    fn ask(&mut self, request: PendingRequest) -> Result<(), Failure> {
        match &mut self.approver {
            Approver::DenyAll => {
                let subject = asking::subject(&request);
                let refused = format!("✗ denied (not interactive): {subject}");
                if matches!(self.output, Output::Human(_)) {
                    self.end_line()?;
                    self.screen.note(self.screen.style().bad(&refused));
                }
                // dropping the request denies it
                self.refused.push(subject);
            }
            Approver::LeaveOpen => {
                self.explain(&request)?;
                // dropping the request of another client's turn leaves it open
                self.screen.note(self.screen.style().dim("  `musher inbox` answers it"));
            }
            Approver::AllowAll => {
                self.explain(&request)?;
                self.screen.note(self.screen.style().dim("  approved automatically"));
                asking::agree(request);
            }
            Approver::Terminal(answers) => {
                // before the question is shown, so that only later input counts
                answers.want();
                self.answers.clear();
                self.explain(&request)?;
                self.open = Some(request);
                self.prompt();
            }
        }
        Ok(())
    }

    /// Shows a request; for a list of questions, the next one.
    fn explain(&mut self, request: &PendingRequest) -> Result<(), Failure> {
        self.end_line()?;
        let style = self.screen.style();
        let lines = match request {
            PendingRequest::Permission(pending) => {
                let request = pending.request();
                if let Output::Human(view) = &mut self.output {
                    request.tool_uses.iter().for_each(|it| view.has_shown(&it.tool_use.id));
                }
                view::permission(request, style)
            }
            PendingRequest::Question(pending) => {
                let next = pending.request().questions.get(self.answers.len());
                next.map(|question| view::question(question, style)).unwrap_or_default()
            }
        };
        for line in lines {
            self.screen.note(line);
        }
        Ok(())
    }

    fn prompt(&mut self) {
        match &self.open {
            Some(PendingRequest::Permission(_)) => self.screen.prompt("allow? [y/N or a number]"),
            Some(PendingRequest::Question(_)) => self.screen.prompt("answer:"),
            None => {}
        }
    }

    /// A line was typed, or the user is gone, which denies the open request.
    fn typed(&mut self, line: Option<String>) -> Result<(), Failure> {
        let Some(request) = self.open.take() else { return Ok(()) };
        match (line, request) {
            (None, _denied) => self.screen.note(""),
            (Some(line), PendingRequest::Permission(pending)) => {
                match view::read_decision(pending.request(), &line) {
                    Parsed::Value(decision) => pending.decide(decision),
                    Parsed::Invalid => self.again(PendingRequest::Permission(pending)),
                }
            }
            (Some(line), PendingRequest::Question(pending)) => {
                let questions = &pending.request().questions;
                let question = questions.get(self.answers.len());
                if let Some(Parsed::Value(answer)) = question.map(|it| view::read_answer(it, &line)) {
                    self.answers.push(answer);
                }
                if self.answers.len() >= questions.len() {
                    pending.answer(musher::Answers::Given(std::mem::take(&mut self.answers)));
                } else {
                    let request = PendingRequest::Question(pending);
                    self.explain(&request)?;
                    self.again(request);
                }
            }
        }
        if self.open.is_some() {
            return Ok(());
        }
        self.release()?;
        match self.waiting.pop_front() {
            Some(next) => self.ask(next),
            None => Ok(()),
        }
    }

    /// Waits for another line about a request.
    fn again(&mut self, request: PendingRequest) {
        if let Approver::Terminal(answers) = &mut self.approver {
            answers.want();
        }
        self.open = Some(request);
        self.prompt();
    }

    fn end_line(&mut self) -> Result<(), Failure> {
        if let Output::Human(view) = &mut self.output {
            let mut pieces = Vec::new();
            view.end_line(&mut pieces);
            self.screen.show(&pieces)?;
        }
        Ok(())
    }
}

/// Returns the next line that the user types.
async fn typed(approver: &mut Approver) -> Option<String> {
    match approver {
        Approver::Terminal(answers) => answers.line().await,
        Approver::AllowAll | Approver::DenyAll | Approver::LeaveOpen => std::future::pending().await,
    }
}
