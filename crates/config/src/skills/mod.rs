//! Skills, slash commands and subagents that people define in configuration folders.
//!
//! - [`Library::read`] looks into `skills/*/SKILL.md`, `commands/*` and `droids/*.md` of all [`Folder`](crate::Folder)s, and into
//!   `.agent/skills` of the repository. The folder with the highest precedence wins. An invalid file is a problem, the others apply.
//! - [`Skill`], [`SlashCommand`] and [`Droid`] are the results; `worker` and `explorer` are built in.
//! - [`Library::expand`] turns `/name words` into an [`Expansion`]: a prompt, a skill, or a program to run.
//! - [`set_skill_disabled`] disables a skill permanently.
//!
//! Runs nothing and caches no file: a session reads the library once, as droid does. Programs of a repository that is not
//! trusted are listed but never run.

mod command;
mod droid;
mod front_matter;
mod library;
mod skill;

pub use command::{CommandView, Expansion, SlashCommand};
pub use droid::{Droid, DroidTools};
pub use library::{Library, set_skill_disabled};
pub use skill::{Resource, Skill, SkillView};
