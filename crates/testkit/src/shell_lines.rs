//! Finds the shell lines of a Markdown page, and the calls of `musher` in them. Pure.
//!
//! A block is fenced as `sh`, or as `console` with `$ ` before each typed line. ```` ```sh not-run="reason" ```` is a block that tests do
//! not run; its calls must be valid nevertheless.

/// A block of shell lines.
#[derive(Debug, PartialEq, Eq)]
pub struct Block {
    /// The line where the block starts.
    pub line: usize,
    /// The reason if it is not run.
    pub not_run: Option<String>,
    /// The lines, as typed.
    pub script: String,
}

/// The command that runs the program from a checkout.
pub const FROM_CHECKOUT: &str = "cargo run -p musher-cli --";

/// Returns all blocks of a page.
pub fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, Block)> = None;
    for (index, line) in page.lines().enumerate() {
        let text = line.trim_start();
        match &mut open {
            None if text.starts_with("```") => {
                let info = text.trim_start_matches('`');
                let fence = text[..text.len() - info.len()].to_owned();
                let not_run = info
                    .split_once("not-run=\"")
                    .and_then(|(_, rest)| Some(rest.split_once('"')?.0.to_owned()));
                let block = Block { line: index + 1, not_run, script: String::new() };
                let kind = info.split([' ', ',']).next().unwrap_or_default();
                open = Some((fence, Block { script: format!("{kind}\n"), ..block }));
            }
            None => {}
            Some((fence, _)) if text.trim_end() == fence => {
                blocks.extend(open.take().and_then(|(_, block)| shell(block)));
            }
            Some((_, block)) => block.script.extend([line, "\n"]),
        }
    }
    blocks
}

/// Parses a block without its first line, which names its kind.
fn shell(mut block: Block) -> Option<Block> {
    let (kind, script) = block.script.split_once('\n')?;
    block.script = match kind {
        "sh" => script.to_owned(),
        "console" => {
            let typed = script.lines().filter_map(|line| line.strip_prefix("$ "));
            typed.flat_map(|line| [line, "\n"]).collect()
        }
        _ => return None,
    };
    Some(block)
}

/// Returns the calls in indented lines, as older pages have them.
pub fn indented(page: &str) -> Vec<&str> {
    let mut is_fenced = false;
    let mut calls = Vec::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        }
        calls.extend(line.strip_prefix("    ").filter(|line| !is_fenced && line.starts_with("musher ")));
    }
    calls
}

/// Returns the arguments of each call of `musher` in a script.
pub fn calls(script: &str) -> Vec<Vec<String>> {
    let script = script.replace("\\\n", " ").replace(FROM_CHECKOUT, "musher");
    let mut commands = Vec::new();
    read(&mut script.chars().peekable(), &mut commands, false);
    commands.into_iter().filter_map(call).collect()
}

fn call(words: Vec<String>) -> Option<Vec<String>> {
    let is_assignment = |word: &String| {
        word.split_once('=')
            .is_some_and(|(name, _)| name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_'))
    };
    let mut words = words.into_iter().skip_while(is_assignment);
    (words.next()? == "musher").then(|| words.collect())
}

type Characters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Parses commands up to the end, or up to the bracket that closes a substitution.
fn read(characters: &mut Characters<'_>, commands: &mut Vec<Vec<String>>, is_inner: bool) {
    let (mut words, mut word, mut skips) = (Vec::new(), None::<String>, false);
    while let Some(character) = characters.next() {
        let end_word = |words: &mut Vec<String>, word: &mut Option<String>, skips: &mut bool| {
            if let Some(word) = word.take()
                && !std::mem::take(skips)
            {
                words.push(word);
            }
        };
        match character {
            '\'' => word.get_or_insert_default().extend(characters.by_ref().take_while(|it| *it != '\'')),
            '"' => quoted(characters, word.get_or_insert_default(), commands),
            '$' if characters.next_if_eq(&'(').is_some() => {
                read(characters, commands, true);
                word.get_or_insert_default().push_str("$()");
            }
            '\\' => word.get_or_insert_default().extend(characters.next()),
            '#' if word.is_none() => while characters.next_if(|it| *it != '\n').is_some() {},
            ' ' | '\t' => end_word(&mut words, &mut word, &mut skips),
            '>' | '<' => {
                end_word(&mut words, &mut word, &mut skips);
                skips = true;
            }
            ')' if is_inner => {
                end_word(&mut words, &mut word, &mut skips);
                break;
            }
            '\n' | '|' | '&' | ';' => {
                end_word(&mut words, &mut word, &mut skips);
                commands.push(std::mem::take(&mut words));
            }
            other => word.get_or_insert_default().push(other),
        }
    }
    if !skips {
        words.extend(word);
    }
    commands.push(words);
}

fn quoted(characters: &mut Characters<'_>, word: &mut String, commands: &mut Vec<Vec<String>>) {
    while let Some(character) = characters.next() {
        match character {
            '"' => return,
            '\\' => word.extend(characters.next()),
            '$' if characters.next_if_eq(&'(').is_some() => {
                read(characters, commands, true);
                word.push_str("$()");
            }
            other => word.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_with_their_reason() {
        let page = "text\n```sh\nmusher a\n```\n```rust\nmusher b\n```\n```console not-run=\"slow\"\n$ musher c\noutput\n```\n";
        let found = blocks(page);
        let told: Vec<_> =
            found.iter().map(|block| (block.line, block.not_run.as_deref(), block.script.as_str())).collect();
        assert_eq!(told, [(2, None, "musher a\n"), (8, Some("slow"), "musher c\n")]);
    }

    #[test]
    fn indented_calls_are_found_outside_of_other_code() {
        assert_eq!(
            indented("    musher a\n```lua\n    musher = {}\n```\n    other\n    musher b # why\n"),
            ["musher a", "musher b # why"]
        );
    }

    #[test]
    fn calls_are_found_anywhere_in_a_line() {
        let script = "A=1 musher a 'b c' \"d $(musher e | musher f) g\" > out # musher no\n\
                      x=$(musher h); cargo run -p musher-cli -- demo && other musher i\n";
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let told = calls(script);
        assert_eq!(told[0], ["e"]);
        assert_eq!(told[1], ["f"]);
        assert_eq!(told[2], ["a", "b c", "d $() g"]);
        assert_eq!(told[3..], [words("h"), words("demo")]);
    }
}
