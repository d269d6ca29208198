//! `musher chat` in a real pseudo-terminal, with the screen of a terminal emulator.

mod answers; // permission requests and questions
mod basics; // prompts, the session, the end
mod blocks; // how each kind of block looks, in three sizes
mod daemon; // sessions in a daemon: `--daemon`, `attach`
mod keyboard; // typing, pasting, completing, the editor
mod screen;
mod servers; // MCP servers
mod starting; // the options of `musher` and `musher chat`
mod stress; // resizing, many deltas, hostile text, crashes
