//! What a model should do after an error about a file, for the errors whose text does not say it.

use std::io;

/// Returns the text of an error, with a last sentence that says what to do next.
pub(crate) fn with_advice(error: &io::Error) -> String {
    let text = error.to_string();
    if text.ends_with('.') {
        return text;
    }
    let next = match error.kind() {
        io::ErrorKind::NotFound => "Use Glob or LS to find the path.",
        io::ErrorKind::PermissionDenied => {
            "Do not try to reach it in another way. Continue without it, or tell the user what you need."
        }
        io::ErrorKind::IsADirectory => "Use LS to see what is in it.",
        io::ErrorKind::NotADirectory => "Use LS to see what exists, and correct the path.",
        io::ErrorKind::FileTooLarge => "Use Grep to find the parts that you need.",
        _ => "Check the path with LS, or tell the user what could not be done.",
    };
    format!("{text}. {next}")
}
