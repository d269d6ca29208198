//! Questions of the agent to the user, and the answers.

use musher_wire::{Answer, AskUserParams, AskUserResult, Count, Question};

/// Questions of the agent to the user.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct QuestionRequest {
    /// The questions, in order.
    pub questions: Vec<Question>,
}

impl QuestionRequest {
    /// Creates a request as an agent would make it, for tests of handlers.
    pub fn new(questions: Vec<Question>) -> Self {
        Self { questions }
    }

    /// Answers each question by `answer`. If that returns `None` for one of them, all are declined.
    ///
    /// ```
    /// use musher::{Answers, QuestionRequest};
    ///
    /// fn first_option(request: QuestionRequest) -> Answers {
    ///     request.answer_all(|question| question.options.as_ref()?.first().cloned())
    /// }
    /// ```
    pub fn answer_all(&self, mut answer: impl FnMut(&Question) -> Option<String>) -> Answers {
        let answers: Option<Vec<_>> = self.questions.iter().map(&mut answer).collect();
        answers.map_or(Answers::Declined, Answers::Given)
    }
}

impl From<AskUserParams> for QuestionRequest {
    fn from(params: AskUserParams) -> Self {
        Self { questions: params.questions }
    }
}

/// The answer to a [`QuestionRequest`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answers {
    /// One answer for each question, in order. Several choices are joined by `, `.
    Given(Vec<String>),
    /// The questions are declined, which ends the turn.
    Declined,
}

impl Answers {
    /// Converts the answers for the wire. Fails if their number is not that of the questions.
    pub(crate) fn into_wire(self, request: &QuestionRequest) -> Result<AskUserResult, String> {
        let answers = match self {
            Self::Declined => return Ok(declined()),
            Self::Given(answers) => answers,
        };
        if answers.len() != request.questions.len() {
            let (given, wanted) = (answers.len(), request.questions.len());
            return Err(format!("{given} answers were given to {wanted} questions"));
        }
        // objects, never plain strings: 0.57 hangs after those
        let answers = request.questions.iter().zip(answers).map(|(question, answer)| {
            Answer::new(Count::from(question.index.get()), question.question.clone(), answer)
        });
        Ok(AskUserResult { cancelled: Some(false), ..AskUserResult::new(answers.collect::<Vec<_>>()) })
    }
}

pub(crate) fn declined() -> AskUserResult {
    AskUserResult { cancelled: Some(true), ..AskUserResult::new(Vec::new()) }
}
