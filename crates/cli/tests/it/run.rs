//! `musher run`, whole: the built-in agent with a scripted model behind a real vendor API.

mod attachments; // pictures, files, schemas
mod hostile; // text that tries to command the terminal
mod limits; // what stops a turn
mod logging; // --log and --log-level
mod peers; // the same with the real droid
mod programs; // --json and --stream-json
mod proxy; // HTTP_PROXY and its like
mod sessions; // --continue and --session
mod stage;
mod terminal; // in a real terminal
mod text; // where there is no terminal
