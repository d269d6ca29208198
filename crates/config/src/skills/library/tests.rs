use tempfile::TempDir;

use super::*;
use crate::{Places, TrustRule};

struct World(TempDir);

impl World {
    fn new() -> Self {
        let world = Self(tempfile::tempdir().unwrap());
        fs_err::create_dir_all(world.path("repo/.git")).unwrap();
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    fn read(&self, trust: TrustRule) -> (Library, Vec<Problem>) {
        let (config, problems) = Config::load(&Places {
            home: &self.path("home"),
            factory_home: None,
            cwd: &self.path("repo"),
            runtime_settings: None,
            environment: &|_| None,
            trust,
        });
        assert_eq!(problems, []);
        Library::read(&config, &self.path("repo"))
    }
}

#[test]
fn skills_are_found_in_all_places_and_a_trusted_repository_counts_more() {
    let world = World::new();
    world.write("home/skills/tidy/SKILL.md", "---\nname: tidy\ndescription: Mine\n---\nmine");
    world.write("home/skills/own/SKILL.md", "---\ndescription: Own\n---\nown");
    world.write("home/skills/own/guide.md", "");
    world.write("home/skills/own/scripts/run.py", "");
    world.write(
        "repo/.factory/skills/tidy/SKILL.md",
        "---\ndescription: Theirs\nuser-invocable: false\n---\ntheirs",
    );
    world.write("repo/.agent/skills/other/SKILL.md", "---\ndisable-model-invocation: true\n---\nother");
    world.write("repo/.factory/skills/bad/SKILL.md", "---\nname: \"<x>\"\n---\n");
    world.write("repo/.factory/skills/README.md", "not a skill");
    let tidy =
        |trust| world.read(trust).0.skills.iter().find(|skill| skill.name == "tidy").unwrap().body.clone();
    assert_eq!((tidy(TrustRule::Store).as_str(), tidy(TrustRule::Everything).as_str()), ("mine", "theirs"));
    let (library, problems) = world.read(TrustRule::Everything);
    let names: Vec<_> =
        library.skills.iter().map(|skill| (skill.name.as_str(), skill.body.as_str())).collect();
    assert_eq!(names, [("other", "other"), ("own", "own"), ("tidy", "theirs")]);
    assert_eq!(problems.len(), 1);
    let view = library.skill("own").unwrap().view();
    assert_eq!((view.location.as_str(), view.enabled), ("personal", true));
    let resources: Vec<_> =
        view.resources.iter().map(|(name, _, is_text)| (name.as_str(), *is_text)).collect();
    assert_eq!(resources, [("guide.md", true), ("scripts/run.py", false)]);
    assert!(library.skill("other").is_none(), "the model may not load it");
    assert!(library.expand("/other").is_some() && library.expand("/tidy").is_none());
    let Some(Expansion::Skill { text, .. }) = library.expand("/own now") else { panic!("no skill") };
    assert!(text.starts_with("Skill \"own\" is now active.") && text.ends_with("</skill>\n\nnow"), "{text}");
}

#[test]
fn disabled_skill_stays_disabled() {
    let world = World::new();
    world.write("home/skills/tidy/SKILL.md", "tidy up");
    set_skill_disabled(&world.path("home"), "tidy", true).unwrap();
    let (library, _) = world.read(TrustRule::Store);
    assert!(library.skill("tidy").is_none() && library.expand("/tidy").is_none());
    assert_eq!(library.skills[0].view().disabled_by.as_deref(), Some("user"));
    set_skill_disabled(&world.path("home"), "tidy", false).unwrap();
    assert!(world.read(TrustRule::Store).0.skill("tidy").is_some());
}

#[test]
fn commands_are_expanded_and_untrusted_programs_are_not_run() {
    let world = World::new();
    world.write(
        "repo/.factory/commands/greet.md",
        "---\ndescription: Says hi\n---\nGreet $ARGUMENTS and $ARGUMENTS.",
    );
    world.write("repo/.factory/commands/build", "#!/bin/sh\nmake");
    world.write("home/commands/mine", "#!/bin/sh\nmake");
    world.write("home/commands/greet.md", "mine: $ARGUMENTS");
    let (library, problems) = world.read(TrustRule::Store);
    assert_eq!(problems, []);
    let greeting = |library: &Library| match library.expand("/greet bob") {
        Some(Expansion::Prompt { text, command }) => (text, command.level),
        _ => panic!("no prompt"),
    };
    assert_eq!(greeting(&library), ("mine: bob".to_owned(), Level::User));
    assert!(matches!(library.expand("/build"), Some(Expansion::Refused { .. })));
    let Some(Expansion::Program { arguments, .. }) = library.expand("/mine a  b") else {
        panic!("no program")
    };
    assert_eq!(arguments, ["a", "b"]);
    assert_eq!(library.expand("/unknown x"), None);
    let (library, _) = world.read(TrustRule::Everything);
    assert_eq!(greeting(&library), ("Greet bob and bob.".to_owned(), Level::Project));
    assert!(matches!(library.expand("/build"), Some(Expansion::Program { .. })));
}

#[test]
fn link_out_of_the_repository_is_not_read() {
    let world = World::new();
    world.write("secret", "key");
    world.write("repo/.factory/commands/ok.md", "fine");
    fs_err::os::unix::fs::symlink(world.path("secret"), world.path("repo/.factory/commands/x.md")).unwrap();
    let (library, problems) = world.read(TrustRule::Everything);
    assert_eq!((library.commands.len(), problems.len()), (1, 1));
}

#[test]
fn subagents_of_an_untrusted_repository_replace_none() {
    let world = World::new();
    world.write("repo/.musher/droids/explorer.md", "---\nname: explorer\ndescription: Evil\n---\n");
    let explorer = |trust| world.read(trust).0.droid("explorer").unwrap().location().to_owned();
    assert_eq!(
        (explorer(TrustRule::Store).as_str(), explorer(TrustRule::Everything).as_str()),
        ("builtin", "project")
    );
}

#[test]
fn subagents_of_files_replace_built_in_ones() {
    let world = World::new();
    world.write("home/droids/explorer.md", "---\nname: explorer\ndescription: Better\n---\n");
    world.write("repo/.musher/droids/tester.md", "---\ndescription: Tests\n---\nTest.");
    let (library, _) = world.read(TrustRule::Store);
    let found: Vec<_> = library.droids.iter().map(|droid| (droid.name.as_str(), droid.location())).collect();
    assert_eq!(found, [("explorer", "personal"), ("tester", "project"), ("worker", "builtin")]);
}
