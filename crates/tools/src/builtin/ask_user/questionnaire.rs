//! The text form of questions (written by the model) and of answers (read by it). Pure.
//!
//! A questionnaire has numbered questions, each followed by its topic and options:
//!
//! ```text
//! 1. [question] Which colour? (multi)
//! [topic] Colour
//! [option] Red
//! [option] Blue
//! ```

use std::fmt::Write as _;

use crate::ToolOutput;

/// A question of the model to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserQuestion {
    /// The number of the question, from 1.
    pub index: usize,
    /// One word that names the topic.
    pub topic: String,
    /// The question.
    pub question: String,
    /// The options to choose from.
    pub options: Vec<String>,
    /// Whether the user may choose several options.
    pub multiple: bool,
}

/// Maximum number of questions of one call.
const MAX_QUESTIONS: usize = 16;

/// Reads a questionnaire; the error names the invalid line.
pub(super) fn parse(questionnaire: &str) -> Result<Vec<UserQuestion>, String> {
    let mut questions: Vec<UserQuestion> = Vec::new();
    for (number, line) in questionnaire.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let Some((tag, text)) = tagged(line) else {
            return Err(format!("line {}: expected [question], [topic] or [option]", number + 1));
        };
        match (tag, questions.last_mut()) {
            ("question", _) if text.is_empty() => {
                return Err(format!("line {}: the question is empty", number + 1));
            }
            ("question", _) => {
                let (question, multiple) = match text.strip_suffix("(multi)") {
                    Some(question) => (question.trim_end(), true),
                    None => (text, false),
                };
                questions.push(UserQuestion {
                    index: questions.len() + 1,
                    topic: String::new(),
                    question: question.to_owned(),
                    options: Vec::new(),
                    multiple,
                });
            }
            ("topic", Some(question)) => text.clone_into(&mut question.topic),
            ("option", Some(question)) => question.options.push(text.to_owned()),
            _ => return Err(format!("line {}: [{tag}] comes before any [question]", number + 1)),
        }
    }
    match questions.len() {
        0 => Err("it has no question".to_owned()),
        count if count > MAX_QUESTIONS => {
            Err(format!("it has {count} questions; the maximum is {MAX_QUESTIONS}"))
        }
        _ => Ok(questions),
    }
}

/// Reads `[tag] text`, with or without a number before it.
fn tagged(line: &str) -> Option<(&str, &str)> {
    let line = match line.split_once('.') {
        Some((number, rest)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            rest.trim_start()
        }
        _ => line,
    };
    let (tag, text) = line.strip_prefix('[')?.split_once(']')?;
    matches!(tag, "question" | "topic" | "option").then_some((tag, text.trim()))
}

/// Formats the answers (each with the number of its question) as the result of a call. Unanswered questions say `(no answer)`.
pub fn answers(questions: &[UserQuestion], given: &[(usize, String)]) -> ToolOutput {
    let mut text = String::new();
    for question in questions {
        let answer = given.iter().find(|(index, _)| *index == question.index);
        let answer = answer.map_or("(no answer)", |(_, answer)| answer.as_str());
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        // writing to a String cannot fail
        let _ = write!(text, "{}. [question] {}\n[answer] {answer}", question.index, question.question);
    }
    ToolOutput::text(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(index: usize, question: &str, topic: &str, options: &[&str], multiple: bool) -> UserQuestion {
        let options = options.iter().map(|&option| option.to_owned()).collect();
        UserQuestion { index, topic: topic.to_owned(), question: question.to_owned(), options, multiple }
    }

    #[test]
    fn questions_are_read_with_topic_and_options() {
        let text = "1. [question] Which color?\n[topic] Color\n[option] Red\n[option] Blue\n\n2. [question] Sizes? (multi)\n[topic] Size\n[option] S";
        let read = parse(text).unwrap();
        let expected = [
            question(1, "Which color?", "Color", &["Red", "Blue"], false),
            question(2, "Sizes?", "Size", &["S"], true),
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn invalid_questionnaire_is_rejected_with_the_line() {
        for (text, problem) in [
            ("", "it has no question"),
            ("What now?", "line 1: expected [question], [topic] or [option]"),
            ("[topic] Color", "line 1: [topic] comes before any [question]"),
            ("1. [question]", "line 1: the question is empty"),
        ] {
            assert_eq!(parse(text).unwrap_err(), problem);
        }
    }

    #[test]
    fn answers_are_listed_by_their_index() {
        let questions =
            [question(1, "Which color?", "", &[], false), question(2, "Which size?", "", &[], false)];
        let output = answers(&questions, &[(2, "S".to_owned())]);
        assert_eq!(
            output.client_text(),
            "1. [question] Which color?\n[answer] (no answer)\n\n2. [question] Which size?\n[answer] S"
        );
    }
}
