//! Programs that are meant to outlive this process: daemons. The one exception to the rule of this crate, so it has no options but the command.

use std::process::{self, Stdio};
use std::{io, thread};

use tokio::sync::oneshot;

use crate::Command;

impl Command {
    /// Starts a program that keeps running when this process ends, in a process group of its own and without streams. Returns its process id.
    ///
    /// Nothing here ends it: it has no mark, no parent-death signal and no guard. Only the arguments, the environment, the working directory and the
    /// spawner of the command apply.
    pub async fn spawn_detached(&self) -> io::Result<u32> {
        let (done, started) = oneshot::channel();
        let command = self.clone();
        let job: Box<dyn FnOnce() + Send> = Box::new(move || drop(done.send(start(&command))));
        match &self.spawner {
            Some(spawner) => spawner.run(job),
            None => job(),
        }
        let mut child = started.await.map_err(|_gone| io::Error::other("the spawner is gone"))??;
        let pid = child.id();
        tracing::info!(pid, program = %self.program.display(), "detached program started");
        // it is collected if it ends first, so that it does not stay as a zombie
        thread::Builder::new().name("detached".to_owned()).spawn(move || drop(child.wait()))?;
        Ok(pid)
    }
}

fn start(command: &Command) -> io::Result<process::Child> {
    #[expect(clippy::disallowed_methods, reason = "the other place where programs are started")]
    let mut process = process::Command::new(&command.program);
    process.args(&command.args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if command.is_env_cleared {
        process.env_clear();
    }
    for (name, value) in &command.env {
        match value {
            Some(value) => process.env(name, value),
            None => process.env_remove(name),
        };
    }
    if let Some(cwd) = &command.cwd {
        process.current_dir(cwd);
    }
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut process, 0);
    process.spawn()
}
