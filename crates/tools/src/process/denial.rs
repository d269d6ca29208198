//! Whether a command has failed because of its sandbox, judged by its output: the kernel does not say why a call was denied.
//!
//! Programs print the system's error text, in their own spelling. A wrong guess is harmless: it only leads to a question to the user.

use std::fmt;

use musher_process::Sandbox;

/// What a sandbox denied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxDenial {
    /// What was denied.
    pub kind: DeniedAction,
    /// The line of the output that shows it.
    pub evidence: String,
}

/// A kind of action that a sandbox denies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeniedAction {
    /// Writing to a file outside of the writable paths.
    Write,
    /// Connecting to a server.
    Connect,
    /// Using a service that runs programs outside of the sandbox.
    Service,
    /// Any other system call.
    Call,
}

impl fmt::Display for DeniedAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Write => "it writes where the sandbox only allows reading",
            Self::Connect => "it uses the network, which the sandbox denies",
            Self::Service => {
                "it uses a service that would run programs outside of the sandbox, such as Docker"
            }
            Self::Call => "it makes a system call that the sandbox denies",
        })
    }
}

/// Error texts of programs in lower case. The first match counts.
const SERVICE: &[&str] = &[
    "docker daemon",
    "docker.sock",
    "podman.sock",
    "containerd.sock",
    "system bus",
    "failed to connect to bus",
    "snapd.socket",
];
const WRITE: &[&str] = &["read-only file system", "erofs"];
const WRITE_WITHOUT_NAMESPACES: &[&str] = &["permission denied", "eacces"];
const CONNECT: &[&str] = &[
    "could not resolve host",
    "could not resolve hostname",
    "temporary failure in name resolution",
    "name or service not known",
    "failed to lookup address",
    "network is unreachable",
    "eai_again",
    "enotfound",
    "enetunreach",
    "can't create socket",
    "cannot create socket",
];
const CALL: &[&str] = &["operation not permitted", "eperm"];

/// The maximum length of the shown line, in bytes.
const MAX_EVIDENCE: usize = 200;

/// Returns what the sandbox denied a command that has failed with this output, if the output shows it.
pub(crate) fn denial(output: &str, sandbox: &Sandbox) -> Option<SandboxDenial> {
    let find = |kind, patterns: &[&str]| {
        let line = output.lines().find(|line| {
            let line = line.to_ascii_lowercase();
            patterns.iter().any(|pattern| line.contains(pattern))
        })?;
        let line = line.trim();
        let evidence = line.get(..line.floor_char_boundary(MAX_EVIDENCE)).unwrap_or_default().to_owned();
        Some(SandboxDenial { kind, evidence })
    };
    find(DeniedAction::Service, SERVICE)
        .or_else(|| find(DeniedAction::Write, WRITE))
        .or_else(|| sandbox.denies_network().then(|| find(DeniedAction::Connect, CONNECT)).flatten())
        .or_else(|| find(DeniedAction::Call, CALL))
        .or_else(|| {
            // Landlock has only this error for everything
            let is_only = !sandbox.has_namespaces();
            is_only.then(|| find(DeniedAction::Write, WRITE_WITHOUT_NAMESPACES)).flatten()
        })
}

/// Tells the model that the sandbox is the likely reason of a failure.
pub(crate) fn denial_note(denial: &SandboxDenial, sandbox: &Sandbox) -> String {
    let writes = if sandbox.is_read_only() {
        "below $TMPDIR"
    } else {
        "in the workspace (except .git) and below $TMPDIR"
    };
    let network = if sandbox.denies_network() { "no network" } else { "network access" };
    let kind = denial.kind;
    format!(
        "[The command ran in a sandbox and most likely failed because of it: {kind}. In the sandbox, a command can write only {writes}, and \
         has {network}.]"
    )
}

#[cfg(test)]
mod tests {
    use musher_process::{Layers, Network};

    use super::*;

    #[test]
    fn denial_is_recognised_in_the_words_of_many_programs() {
        use DeniedAction::{Call, Connect, Service, Write};

        let all = Layers { landlock: Some(7), seccomp: true, namespaces: true };
        let sandbox = Sandbox::writable(["/work"]).layers(all);
        for (output, kind) in [
            ("a\ntouch: cannot touch '/x': Read-only file system\nb", Some(Write)),
            ("Error: EROFS: read-only file system, open '/x'", Some(Write)),
            ("fatal: Unable to create '/w/.git/index.lock': Read-only file system", Some(Write)),
            ("OSError: [Errno 30] Read-only file system: '/x'", Some(Write)),
            ("curl: (6) Could not resolve host: example.org", Some(Connect)),
            ("npm error code EAI_AGAIN", Some(Connect)),
            ("chmod: changing permissions of 'x': Operation not permitted", Some(Call)),
            (
                "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
                Some(Service),
            ),
            ("error[E0425]: cannot find value `x` in this scope", None),
            ("cat: /root/x: Permission denied", None),
            ("", None),
        ] {
            assert_eq!(denial(output, &sandbox).map(|denial| denial.kind), kind, "{output}");
        }
        let online = Sandbox::writable(["/work"]).layers(all).network(Network::On);
        assert_eq!(denial("curl: (6) Could not resolve host: example.org", &online), None);
        let only_landlock = Sandbox::writable(["/work"]).layers(Layers { namespaces: false, ..all });
        let denied = denial("touch: cannot touch '/x': Permission denied", &only_landlock).unwrap();
        assert_eq!((denied.kind, &*denied.evidence), (Write, "touch: cannot touch '/x': Permission denied"));
    }

    #[test]
    fn evidence_is_short() {
        let output = format!("{} EROFS", "ä".repeat(500));
        let sandbox = Sandbox::read_only();
        assert!(denial(&format!("EROFS {output}"), &sandbox).unwrap().evidence.len() <= MAX_EVIDENCE);
    }
}
