//! Typing, pasting, completing, history, the editor, commands of the user.

use musher_rehearse::{Reply, Script, when};

use super::screen::Screen;
use crate::run::stage::Stage;

fn answers() -> Stage {
    Stage::new(Script::new().reply(Reply::text("Understood.").when(when().with_tools())))
}

#[test]
fn paste_of_a_megabyte_is_sent_whole() {
    let stage = answers();
    let mut screen = Screen::start(&stage, &[]);
    screen.until_idle();
    let line = "pasted text \u{1b}[31m with sequences\r";
    let count = 1024 * 1024 / line.len() + 1;
    let mut typing = screen.terminal.typist();
    let paste = format!("\u{1b}[200~{}\u{1b}[201~", line.repeat(count));
    let typist = std::thread::spawn(move || typing(&paste));
    screen.until(&format!("[paste 1: {count} lines"));
    typist.join().unwrap();
    screen.press("and this\r");
    screen.until("Understood.");
    screen.until_idle();
    let sent = "pasted text [31m with sequences\n".repeat(count);
    let is_whole = stage.calls().iter().filter_map(|call| call.body.as_ref()).any(|body| {
        let text = serde_json::Value::from(sent.as_str()).to_string();
        body.to_string().contains(&text[1..text.len() - 1])
    });
    assert!(is_whole);
    screen.quit();
}

#[test]
fn wide_and_combined_characters_are_edited_as_the_user_sees_them() {
    let stage = answers();
    let mut screen = Screen::start(&stage, &[]);
    screen.until_idle();
    screen.press("日本語 e\u{301}x");
    screen.until("› 日本語 e\u{301}x");
    assert_eq!(screen.cursor().1, 2 + 6 + 1 + 2);
    screen.press("\u{7f}\u{7f}\u{7f}\u{7f}");
    screen.until_it("two characters", |screen| {
        screen.rows().iter().any(|row| row == "› 日本") && screen.cursor().1 == 2 + 4
    });
    screen.press("\u{3}");
    screen.until_idle();
    screen.quit();
}

#[test]
fn file_is_completed_and_a_picture_is_sent() {
    let stage = answers();
    fs_err::write(stage.workspace().join("screen-of-it.png"), b"\x89PNG\r\n\x1a\n....").unwrap();
    let mut screen = Screen::start(&stage, &[]);
    screen.until_idle();
    screen.press("look at @scr");
    screen.until("› @screen-of-it.png");
    screen.press("\t");
    screen.until("› look at @screen-of-it.png");
    screen.press("\r");
    screen.until("Understood.");
    assert!(stage.model_received("data:image/png;base64"));
}

#[test]
fn prompts_of_an_earlier_chat_are_found_again() {
    let stage = answers();
    let mut screen = Screen::start(&stage, &[]);
    screen.until_idle();
    screen.press("a rather special prompt\r");
    screen.until("Understood.");
    screen.until_idle();
    screen.quit();
    let mut screen = Screen::start(&stage, &[]);
    screen.until_idle();
    screen.press("\u{12}special");
    screen.until("› a rather special prompt");
    screen.press("\r");
    screen.until_gone("History:");
    screen.until("› a rather special prompt");
    screen.press("\u{3}");
    screen.until_idle();
    screen.quit();
}

#[test]
fn prompt_is_written_in_the_editor_of_the_user() {
    let stage = answers();
    let mut command = stage.musher(&["chat"]);
    command.env("EDITOR", "sed -i s/begun/finished/");
    let mut screen = Screen::of(command, (80, 24));
    screen.until_idle();
    screen.press("begun here\u{7}");
    screen.until("› finished here");
    screen.press("\r");
    screen.until("Understood.");
    screen.until_idle();
    assert!(stage.model_received("finished here"));
    screen.quit();
}

#[test]
fn output_of_a_command_goes_to_the_agent_with_the_next_prompt() {
    let stage = answers();
    let mut screen = Screen::start(&stage, &[]);
    screen.until_idle();
    screen.press("!echo from-$((1 + 1)); exit 3\r");
    screen.until("exit code 3");
    assert!(screen.text().contains("  from-2"), "{}", screen.text());
    screen.until_idle();
    screen.press("!!echo private-$((1 + 1))\r");
    screen.until("  private-2");
    screen.until_idle();
    screen.press("go on\r");
    screen.until("Understood.");
    screen.until_idle();
    assert!(stage.model_received("from-2"));
    assert!(!stage.model_received("private-2"));
    screen.quit();
}

#[test]
fn commands_change_settings_and_show_what_is_asked_for() {
    let stage = answers();
    let mut screen = Screen::start(&stage, &[]);
    screen.until_idle();
    screen.press("/autonomy\r");
    screen.until("Autonomy:");
    screen.press("high\r");
    screen.until("auto high");
    screen.press("\u{1b}[Z");
    screen.until("plan ·");
    screen.press("/status\r");
    screen.until("directory");
    screen.press("/nonsense\r");
    screen.until("Understood.");
    screen.until_idle();
    screen.quit();
}

#[test]
fn command_of_the_user_is_ended_by_escape_with_its_processes() {
    let stage = answers();
    let mut screen = Screen::start(&stage, &[]);
    screen.until_idle();
    // it has closed its output, and still runs
    screen.press("!echo $$ > id; exec >&- 2>&-; sleep 1000; true\r");
    let id = stage.workspace().join("id");
    screen
        .until_it("the command runs", |_| fs_err::read_to_string(&id).is_ok_and(|text| text.ends_with('\n')));
    let process = format!("/proc/{}", fs_err::read_to_string(&id).unwrap().trim());
    assert!(std::path::Path::new(&process).exists());
    // it delays no command of the session
    screen.press("/status\r");
    screen.until("directory");
    screen.until("!echo $$");
    screen.press("\u{1b}");
    screen.until("stopped: !echo $$");
    screen.until_it("its end", |_| !std::path::Path::new(&process).exists());
    screen.until_idle();
    screen.quit();
}

#[test]
fn long_lines_of_output_are_kept_whole() {
    let stage = answers();
    let mut screen = Screen::start(&stage, &[]);
    screen.until_idle();
    screen.press("!printf 'a%.0s' $(seq 700); echo the-end\r");
    screen.until("the-end");
    screen.until_idle();
    let letters = screen
        .all_rows()
        .iter()
        .filter(|row| row.trim_start().starts_with("aaa"))
        .fold(0, |sum, row| sum + row.matches('a').count());
    assert_eq!(letters, 700);
    screen.quit();
}

#[test]
fn custom_command_is_expanded_after_a_command_of_the_user() {
    let stage = answers();
    let commands = stage.home().join("commands");
    fs_err::create_dir_all(&commands).unwrap();
    fs_err::write(commands.join("deploy.md"), "Deploy the thing called $ARGUMENTS now.").unwrap();
    let mut screen = Screen::start(&stage, &[]);
    screen.until_idle();
    screen.press("!echo from-$((1 + 1))\r");
    screen.until("  from-2");
    screen.until_idle();
    screen.press("/dep");
    screen.until("› /deploy");
    screen.press("loy web\r");
    screen.until("Understood.");
    screen.until_idle();
    assert!(stage.model_received("Deploy the thing called web") && stage.model_received("from-2"));
    screen.quit();
}

#[test]
fn pasted_path_of_a_picture_is_sent_with_the_prompt() {
    let stage = answers();
    let picture = stage.workspace().join("screen shot.png");
    fs_err::write(&picture, b"\x89PNG\r\n\x1a\n....").unwrap();
    let mut screen = Screen::start(&stage, &[]);
    screen.until_idle();
    screen.press("look at ");
    let quoted = format!("'{}'", picture.display());
    screen.press(&format!("\u{1b}[200~{quoted}\u{1b}[201~"));
    screen.until("› look at @\"screen shot.png\"");
    screen.press("\r");
    screen.until("Understood.");
    screen.until_idle();
    assert!(stage.model_received("data:image/png;base64"));
    // text that only looks like one stays as it is
    screen.press("\u{1b}[200~/no/such/file.png\u{1b}[201~");
    screen.until("› /no/such/file.png");
    screen.press("\u{3}");
    screen.until_idle();
    screen.quit();
}

#[test]
fn theme_changes_the_colors() {
    let stage = Stage::new(Script::new().reply(Reply::text("`code`").when(when().with_tools())));
    let mut screen = Screen::start(&stage, &["one"]);
    screen.until_idle();
    assert!(screen.terminal.raw().contains("\u{1b}[36mcode"), "{}", screen.text());
    screen.press("/theme\r");
    screen.until("Theme:");
    screen.press("bright\r");
    screen.until_gone("Theme:");
    screen.press("two\r");
    screen.until_it("a bright color", |screen| screen.terminal.raw().contains("\u{1b}[96mcode"));
    screen.until_idle();
    screen.press("/theme none\r");
    screen.until("unknown theme `none` (known: palette, bright, mono)");
    screen.until_idle();
    screen.quit();
}

/// Each command, with what it shows; those with a list are left with Escape.
const COMMANDS: [(&str, &str); 25] = [
    ("/help", "Leave the chat; the session stays"),
    ("/model", "Model:"),
    ("/effort", "Effort:"),
    ("/mode", "Mode:"),
    ("/autonomy", "Autonomy:"),
    ("/theme", "Theme:"),
    ("/context", "free"),
    ("/usage", "Tokens of this session"),
    ("/rename A new name", "· A new name"),
    ("/diff", "exit code"),
    ("/mcp", "MCP servers"),
    ("/tools", "Execute"),
    ("/skills", "Skills"),
    ("/memory", "there is no AGENTS.md"),
    ("/thinking", "no thoughts yet"),
    ("/export talk.md", "written to"),
    ("/image nothing.png", "cannot attach"),
    ("/editor", "› from the editor"),
    ("/vim", "keys of vi"),
    ("/vim ", "keys of Emacs"),
    ("/status", "directory"),
    ("/rewind", "Edit the prompt:"),
    ("/resume", "Session:"),
    ("/fork", "a copy of the session"),
    ("/new", "new session"),
];

#[test]
fn every_command_does_what_the_help_says() {
    let stage = answers();
    let mut command = stage.musher(&["chat", "first prompt"]);
    command.env("EDITOR", "sh -c 'printf \"from the editor\" > \"$1\"' editor");
    let mut screen = Screen::of(command, (100, 60));
    screen.until("Understood.");
    screen.until_idle();
    let mut listed: Vec<String> = Vec::new();
    for (command, shown) in COMMANDS {
        screen.press("\u{c}");
        screen.until_it("an empty screen", |screen| screen.rows().len() <= 3);
        screen.press(&format!("{command}\r"));
        screen.until(shown);
        if command == "/help" {
            let rows = screen.all_rows();
            let names = rows.iter().filter_map(|row| row.strip_prefix("  /")?.split_whitespace().next());
            listed = names.map(str::to_owned).collect();
        }
        if shown.ends_with(':') {
            screen.press("\u{1b}");
            screen.until_gone(shown);
        } else if command == "/editor" {
            screen.press("\u{3}");
        }
        screen.until_idle();
    }
    assert!(fs_err::read_to_string(stage.workspace().join("talk.md")).unwrap().contains("first prompt"));
    screen.press("/review\r");
    screen.until("› Review the uncommitted changes");
    screen.until("Understood.");
    screen.until_idle();
    screen.press("/compact\r");
    screen.until("became a summary");
    screen.until_idle();
    // all that the help lists
    assert!(listed.len() > 20, "{listed:?}");
    for name in &listed {
        let is_tried =
            COMMANDS.iter().any(|(command, _)| command[1..].split(' ').next() == Some(name.as_str()));
        assert!(is_tried || ["review", "compact", "quit"].contains(&name.as_str()), "/{name} is not tried");
    }
    screen.press("/quit\r");
    assert_eq!(screen.end(), Some(0), "{}", screen.text());
}
