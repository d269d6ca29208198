//! The secrets of a server's configuration, which are removed from everything that it says about its failure.
//!
//! Such a text goes to the log, to clients and to the model: a program may print its own token to stderr before it ends.

use std::path::Path;

use musher_config::{McpServer, Transport};
use musher_model::{Secret, redact};

/// The values of a server's variables, headers and arguments, and the parts of them that are secrets of their own.
#[derive(Debug)]
pub(super) struct Secrets(Vec<Secret>);

impl Secrets {
    /// Returns the secrets of a server. The name of an option is none, and neither is an argument that names a file.
    pub(super) fn of(server: &McpServer, cwd: &Path) -> Self {
        let mut all = Vec::new();
        match &server.transport {
            Transport::Stdio { args, env, .. } => {
                for (_, value) in env {
                    add(&mut all, value.expose());
                }
                // of an option only its value
                let values = args.iter().filter_map(|arg| match arg.strip_prefix('-') {
                    Some(option) => option.split_once('=').map(|(_, value)| value),
                    None => Some(arg.as_str()),
                });
                values.filter(|value| !cwd.join(value).exists()).for_each(|value| add(&mut all, value));
            }
            Transport::Http { headers, .. } | Transport::Sse { headers, .. } => {
                for (_, value) in headers {
                    add(&mut all, value.expose());
                }
            }
        }
        // the longest first: a value may contain another one
        all.sort_by_key(|secret| std::cmp::Reverse(secret.expose().len()));
        all.dedup();
        Self(all)
    }

    /// Returns the text without secrets.
    pub(super) fn redact(&self, text: &str) -> String {
        redact(text, &self.0.iter().collect::<Vec<_>>())
    }
}

/// Adds a value and its parts: words (`Bearer TOKEN`), what follows `=` (`key=TOKEN`), and the password of a URL.
fn add(all: &mut Vec<Secret>, value: &str) {
    let words = value.split_whitespace();
    let assigned = words.clone().filter_map(|word| word.split_once('=')).map(|(_, value)| value);
    let passwords = words.clone().filter_map(|word| {
        let (user, _) = word.split_once("://")?.1.rsplit_once('@')?;
        Some(user.split_once(':')?.1)
    });
    all.extend([value].into_iter().chain(words.clone()).chain(assigned).chain(passwords).map(Secret::new));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(transport: Transport, text: &str) -> String {
        Secrets::of(&McpServer::of_session("s", transport), "/".as_ref()).redact(text)
    }

    #[test]
    fn variables_and_arguments_are_removed_and_options_and_files_stay() {
        let transport = Transport::Stdio {
            command: "server".to_owned(),
            args: ["--verbose", "/etc/passwd", "--key=argument-1", "Authorization: Bearer argument-2"]
                .map(str::to_owned)
                .to_vec(),
            env: vec![
                ("DSN".to_owned(), Secret::new("postgres://user:passw0rd@host/db")),
                ("SHORT".to_owned(), Secret::new("1")),
            ],
        };
        let said = "1: --verbose /etc/passwd argument-1 argument-2 passw0rd postgres://user:passw0rd@host/db";
        assert_eq!(redacted(transport, said), "1: --verbose /etc/passwd *** *** *** ***");
    }

    #[test]
    fn headers_are_removed_with_and_without_their_scheme() {
        let headers = vec![("Authorization".to_owned(), Secret::new("Token header-1"))];
        for transport in [
            Transport::Http { url: String::new(), headers: headers.clone() },
            Transport::Sse { url: String::new(), headers },
        ] {
            assert_eq!(redacted(transport, "bad Token header-1, bad header-1"), "bad ***, bad ***");
        }
    }
}
