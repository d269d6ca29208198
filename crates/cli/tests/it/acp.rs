//! `musher acp`, as an editor sees it.

mod peers; // the official TypeScript SDK as the editor, the real droid as the agent
mod shared; // one session in several processes
mod stage; // a sandbox, an editor in it, and the messages it received
mod usage; // wrong arguments
