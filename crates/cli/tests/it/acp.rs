//! `musher acp`, as an editor sees it.

pub(crate) mod editor; // an editor of lines
mod first_hour; // names of models, errors, and what a user grants
mod peers; // the official TypeScript SDK as the editor, the real droid as the agent
mod sandbox; // the flags of the sandbox
mod shared; // one session in several processes
mod stage; // a sandbox, an editor in it, and the messages it received
mod usage; // wrong arguments
