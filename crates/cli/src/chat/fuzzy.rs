//! Finds what was meant by a few characters: they must occur in order; beginnings of words and runs count more. Pure.

/// Returns the indices of the texts that fit, best first; all in their order if nothing was typed.
pub(crate) fn ranked(typed: &str, texts: impl Iterator<Item = String>) -> Vec<usize> {
    let mut found: Vec<(i64, usize)> =
        texts.enumerate().filter_map(|(index, text)| Some((score(typed, &text)?, index))).collect();
    found.sort_by_key(|(score, index)| (-score, *index));
    found.into_iter().map(|(_, index)| index).collect()
}

/// Returns how well a text fits; `None` if it does not.
pub(crate) fn score(typed: &str, text: &str) -> Option<i64> {
    let is_exact = typed.chars().any(char::is_uppercase);
    let same = |a: char, b: char| if is_exact { a == b } else { a.to_lowercase().eq(b.to_lowercase()) };
    let characters: Vec<char> = text.chars().collect();
    let wanted: Vec<char> = typed.chars().filter(|it| !it.is_whitespace()).collect();
    if wanted.is_empty() {
        return Some(0);
    }
    // from the end, so that the last part of a path counts
    let mut best = None;
    let starts = (0..characters.len()).filter(|at| same(characters[*at], wanted[0]));
    for start in starts.rev().take(8) {
        if let Some(score) = score_from(start, &wanted, &characters, &same) {
            best = best.max(Some(score));
        }
    }
    best.or_else(|| score_from(0, &wanted, &characters, &same))
}

fn score_from(
    start: usize,
    wanted: &[char],
    text: &[char],
    same: &dyn Fn(char, char) -> bool,
) -> Option<i64> {
    let mut total = 0;
    let mut before: Option<usize> = None;
    let mut from = start;
    for character in wanted {
        let at = from + text[from..].iter().position(|it| same(*it, *character))?;
        let is_start = at == 0 || !text[at - 1].is_alphanumeric();
        total += match before {
            Some(before) if at == before + 1 => 8,
            _ if is_start => 6,
            _ => 1,
        };
        if let Some(before) = before {
            total -= i64::try_from((at - before - 1).min(8)).unwrap_or_default() / 2;
        }
        (before, from) = (Some(at), at + 1);
    }
    // what is short has less that was not meant
    Some(total * 10 - i64::try_from(text.len()).unwrap_or_default().min(200) / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(typed: &str, texts: &[&str]) -> Vec<String> {
        let order = ranked(typed, texts.iter().map(|&it| it.to_owned()));
        order.into_iter().map(|at| texts[at].to_owned()).collect()
    }

    #[test]
    fn name_at_the_end_of_a_path_counts_most() {
        let files = ["src/view/markdown.rs", "src/main.rs", "docs/main-ideas.md", "Cargo.toml"];
        assert_eq!(best("main", &files)[0], "src/main.rs");
        assert_eq!(best("mark", &files)[0], "src/view/markdown.rs");
        assert_eq!(best("ct", &files)[0], "Cargo.toml");
        assert_eq!(best("xyz", &files), Vec::<String>::new());
        assert_eq!(best("", &files), files);
        assert_eq!(best("C", &files), ["Cargo.toml"]);
    }
}
