//! What people write for agents: skills, slash commands and subagents, found in the folders of configuration.
//!
//! - [`Library::read`] looks into `skills/*/SKILL.md`, `commands/*` and `droids/*.md` of all [`Folder`](crate::config::Folder)s, and into
//!   `.agent/skills` of the repository. The folder that counts most wins. A file that cannot be used is a problem, and the rest counts.
//! - [`Skill`], [`SlashCommand`] and [`Droid`] are what was found; `worker` and `explorer` are always there.
//! - [`Library::expand`] turns `/name words` into an [`Expansion`]: a prompt, a skill, or a program to run.
//! - [`set_skill_disabled`] switches a skill off for good.
//!
//! Nothing is run here, and no file is cached: a session reads the library once, as droid does. Programs of a repository that is not
//! trusted are named but never run.

mod command;
mod droid;
mod front_matter;
mod library;
mod skill;

pub use command::{CommandView, Expansion, SlashCommand};
pub use droid::{Droid, DroidTools};
pub use library::{Library, set_skill_disabled};
pub use skill::{Resource, Skill, SkillView};
