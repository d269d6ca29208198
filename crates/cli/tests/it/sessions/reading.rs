//! Listing, showing, searching and exporting.

use serde_json::{Value, json};

use super::stage::{DROIDS, FIRST, Home, SECOND, fails, notes, prints};

#[test]
fn all_sessions_of_the_directory_are_listed_newest_first() {
    let home = Home::new();
    let expected = "\
aaaa2222  2020-01-03  musher  Parsers
aaaa1111  2020-01-02  musher  Fruit
dddd3333  2020-01-01  droid   Droid's talk
";
    assert_eq!(home.musher(&["sessions"]), prints(expected));
    assert_eq!(home.musher(&["sessions", "list"]), prints(expected));
    let work = home.work().display().to_string();
    let elsewhere = format!("dddd3333  2020-01-01  droid   {work}  Droid's talk\n");
    assert_eq!(home.musher(&["sessions", "list", "--all", "--owner", "droid"]), prints(elsewhere));
    let run = home.musher(&["sessions", "list", "-n", "1"]);
    assert_eq!(run.stdout, "aaaa2222  2020-01-03  musher  Parsers\n");
    assert_eq!(run.stderr, "2 more; `--limit 3` shows them\n");
}

#[test]
fn where_there_are_none_it_says_what_to_do() {
    let home = Home::empty();
    assert_eq!(
        home.musher(&["sessions"]),
        notes("no sessions in this directory; `musher run` creates one\n")
    );
    assert_eq!(home.musher(&["sessions", "list", "--json"]), prints("[]\n"));
    let home = Home::new();
    let run = home.musher(&["sessions", "list", "--cwd", "/"]);
    let expected = "no sessions in this directory; `musher sessions list --all` lists all directories\n";
    assert_eq!(run, notes(expected));
}

#[test]
fn scripts_get_json() {
    let home = Home::new();
    let run = home.musher(&["sessions", "list", "--json"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let mut told: Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(told[2]["created"].take().is_string());
    let expected = json!({
        "id": DROIDS, "title": "Droid's talk", "of": "droid", "cwd": home.work(), "parent": null,
        "created": null, "modified": "2020-01-01T00:00:00.000Z", "isArchived": false, "usage": null,
    });
    assert_eq!((told.as_array().unwrap().len(), &told[2]), (3, &expected));
}

#[test]
fn session_is_shown_by_the_beginning_of_its_id() {
    let home = Home::new();
    let facts = format!("{FIRST} · musher · {} · 2 messages · 2020-01-02 00:00 UTC", home.work().display());
    let text = format!("Fruit\n{facts}\n\n> Remember mango.\n\nNoted: MANGO.\n");
    assert_eq!(home.musher(&["sessions", "show", "aaaa1"]), prints(text));
    let markdown = format!("# Fruit\n\n{facts}\n\n## User\n\nRemember mango.\n\n## Agent\n\nNoted: MANGO.\n");
    assert_eq!(home.musher(&["sessions", "show", FIRST, "--markdown"]), prints(markdown.clone()));
    assert_eq!(home.musher(&["sessions", "export", FIRST]), prints(markdown));

    let run = home.musher(&["sessions", "show", "dddd", "--json"]);
    let told: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(told["messages"][1]["content"], json!([{"type": "text", "text": "A papaya."}]));
}

#[test]
fn session_that_is_not_there_is_an_error_with_the_closest() {
    let home = Home::new();
    let run = home.musher(&["sessions", "show", "aaaa3111"]);
    let expected = format!(
        "error: unknown session `aaaa3111`\n\nhint: did you mean {FIRST}  Fruit\n\
         hint: `musher sessions list --all` lists all sessions\n"
    );
    assert_eq!(run, fails(2, expected));
    // by its title
    let run = home.musher(&["sessions", "show", "parser"]);
    assert!(run.stderr.contains(&format!("did you mean {SECOND}  Parsers\n")), "{}", run.stderr);
    let run = home.musher(&["sessions", "show", "aaaa"]);
    let expected = format!(
        "error: ambiguous session `aaaa`: it matches 2 sessions\n\nhint: {SECOND}  Parsers\nhint: {FIRST}  Fruit\n"
    );
    assert_eq!(run, fails(2, expected));
    let run = home.musher(&["sessions", "show", "../../etc/passwd"]);
    assert!(run.stderr.starts_with("error: unknown session `../../etc/passwd`\n"), "{}", run.stderr);
}

#[test]
fn old_name_of_the_owner_flag_gets_a_tip() {
    let run = Home::new().musher(&["sessions", "list", "--of", "droid"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
    assert!(run.stderr.contains("unexpected argument '--of"), "{}", run.stderr);
    assert!(run.stderr.contains("'--owner'"), "{}", run.stderr);
}

#[test]
fn text_is_found_across_sessions_of_both() {
    let home = Home::new();
    let expected = format!("{FIRST}  Fruit\n  user: Remember mango.\n  assistant: Noted: MANGO.\n");
    assert_eq!(home.musher(&["sessions", "search", "Mango"]), prints(expected));
    assert_eq!(
        home.musher(&["sessions", "search", "papaya"]),
        prints(format!("{DROIDS}  Droid's talk\n  assistant: A papaya.\n"))
    );
    assert_eq!(home.musher(&["sessions", "search", "durian"]), fails(1, "no sessions match `durian`\n"));
    let run = home.musher(&["sessions", "search", "fixed", "--json"]);
    let told: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(told[0]["matches"], json!([{"messageId": "m1", "role": "assistant", "text": "It is fixed."}]));
}

#[test]
fn export_does_not_overwrite_a_file_without_asking() {
    let home = Home::new();
    let export = |more: &[&str]| {
        let arguments =
            [&["sessions", "export", "dddd", "--format", "jsonl", "-o", "talk.jsonl"], more].concat();
        home.musher(&arguments)
    };
    assert_eq!(export(&[]), notes("wrote talk.jsonl\n"));
    let file = home.work().join("talk.jsonl");
    let text = fs_err::read_to_string(&file).unwrap();
    assert_eq!(text.lines().filter(|line| line.contains(r#""type":"message""#)).count(), 2, "{text}");
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs_err::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let expected =
        "error: cannot write `talk.jsonl`: it already exists\n\nhint: pass `--force` to overwrite it\n";
    assert_eq!(export(&[]), fails(2, expected));
    assert_eq!(export(&["--force"]), notes("wrote talk.jsonl\n"));
}

#[test]
fn colours_come_only_where_they_are_wanted() {
    let home = Home::new();
    let coloured = crate::program::musher_with(&["sessions", "-n", "1"], |command| {
        command.env("HOME", home.path()).env("CLICOLOR_FORCE", "1").current_dir(home.work());
    });
    let expected = "\u{1b}[33maaaa2222\u{1b}[0m  \u{1b}[2m2020-01-03\u{1b}[0m  musher  Parsers\n";
    assert_eq!(coloured.stdout, expected);
    let plain = crate::program::musher_with(&["sessions", "-n", "1"], |command| {
        let command = command.env("HOME", home.path()).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1");
        command.current_dir(home.work());
    });
    assert_eq!(plain.stdout, "aaaa2222  2020-01-03  musher  Parsers\n");
}
