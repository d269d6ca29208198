//! A pattern in the words of a wrapper could expand to a program, so no operand of a wrapper may be one.

use super::*;

/// Commands that run another one, as words. `>` marks the program that they run: words behind it are its own.
const WRAPPED: &[&str] = &[
    "timeout 5 >ls a.txt",
    "timeout -k 1 5 >ls",
    "timeout -s KILL --preserve-status 5 >ls",
    "timeout --kill-after=1 --foreground 5 >ls",
    "nice >ls",
    "nice -n 5 >ls",
    "nice --adjustment 5 >ls",
    "ionice -c 3 -n 1 -t >ls",
    "nohup >ls",
    "setsid >ls",
    "exec >ls",
    "builtin >pwd",
    "command >ls",
    "command -p >ls",
    "noglob >ls",
    "time >ls",
    "time -p >ls",
    "stdbuf -o L -i 0 >ls",
    "stdbuf --error=L >ls",
    "env >ls",
    "env -i A=1 >ls",
    "env -u HOME --null >ls",
    "xargs >wc",
    "xargs -n 1 -P 2 -I X >wc",
    "sudo >ls",
    "sudo -u root >ls",
    "doas >ls",
    "find . -name a -exec >wc {} ;",
    "find . -execdir >wc {} +",
    "find . -ok >wc {} ;",
    "bash -c >ls",
    "sh -e -c >ls",
    "dash -c >ls",
    "eval >ls",
    "timeout 5 nice -n 5 >ls",
    "env nohup timeout 5 >ls",
    "nice stdbuf -o L >ls",
];

/// Words that expand to names of files, or may.
const PATTERNS: &[&str] = &["in*", "in?", "*", "in[0-9]", "./in*", "{in1,in2}", "-*"];

#[test]
fn patterns_in_the_words_of_a_wrapper_never_run_without_asking() {
    let scene = TestWorkspace::new();
    // the words that a pattern could become
    for name in ["in1", "in2", "in3"] {
        fs_err::write(scene.path("work").join(name), "").unwrap();
    }
    let (mut checked, mut wrong) = (0, Vec::new());
    for line in WRAPPED {
        let words: Vec<&str> = line.split(' ').collect();
        let program = words.iter().position(|word| word.starts_with('>')).unwrap();
        let plain: Vec<&str> = words.iter().map(|word| word.trim_start_matches('>')).collect();
        // the places of `find` and what it finds are its own operands
        let first = if words[0] == "find" { program } else { 1 };
        for pattern in PATTERNS {
            for at in first..=program {
                let mut replaced = plain.clone();
                replaced[at] = pattern;
                let mut inserted = plain.clone();
                inserted.insert(at, pattern);
                for words in [replaced, inserted] {
                    let line = words.join(" ").replace(" ;", " \\;");
                    for level in [Autonomy::Off, Autonomy::Low, Autonomy::Medium] {
                        checked += 1;
                        if matches!(scene.run(&scene.at(level), &line), Verdict::Run(_)) {
                            wrong.push(format!("{line} at {level:?}"));
                        }
                    }
                }
            }
        }
    }
    println!("patterns in the words of wrappers: {checked}");
    assert!(wrong.is_empty(), "{} of {checked}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(checked > 2_000, "only {checked}");
}

#[test]
fn all_wrappers_of_the_tables_are_tried_with_patterns() {
    for name in command::wrapper_names() {
        let is_tried = WRAPPED.iter().any(|line| line.split([' ', '>']).next() == Some(name));
        assert!(is_tried, "{name}");
    }
}
