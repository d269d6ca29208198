//! A chat in a terminal: `musher` and `musher chat`.
//!
//! The core is pure. `app` takes keys, events and the time, and says what to show and what to do; `transcript` turns events into lines,
//! `painter` frames into commands for the terminal. `shell` connects it with a session, `tty` with the terminal. The terminal keeps its
//! scrollback: what is finished is printed once, and only a few lines at the bottom are drawn again.

mod app;
mod attachments;
mod editor;
mod files;
mod fuzzy;
mod history;
mod job;
mod jobs;
mod keymap;
mod keys;
mod outside;
mod painter;
mod panel;
mod picker;
mod question;
mod shell;
mod slash;
mod transcript;
mod tty;

pub(crate) use painter::Paint;
pub(crate) use picker::Item;
pub(crate) use shell::{Chat, Opened, Opener, run};
pub(crate) use tty::is_terminal;
