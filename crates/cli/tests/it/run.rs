//! `musher run`, whole: the built-in agent with a scripted model behind a real vendor API.

mod attachments; // pictures, files, schemas
mod compaction; // sessions compact and sessions summary
mod cost; // tokens, money and budgets
mod flags; // those that `run` and `exec` share, and those of droid
mod hostile; // text that tries to command the terminal
mod keys; // keys in the environment
mod limits; // what stops a turn
mod logging; // --log and --log-level
mod models; // the names of models
mod odd_agents; // that do not answer, or cannot be started
#[cfg(feature = "otlp")]
pub(crate) mod otlp; // OTEL_EXPORTER_OTLP_ENDPOINT
mod peers; // the same with the real droid
mod programs; // --json and --stream-json
mod proxy; // HTTP_PROXY and its like
mod sandbox; // the flags of the sandbox
mod sessions; // --continue and --session
mod shared; // a session in several processes
pub(crate) mod stage;
mod terminal; // in a real terminal
mod text; // where there is no terminal
