//! The token of the daemon: from the command line, the environment, or a file that only the user can read.

use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use fs_err::os::unix::fs::OpenOptionsExt as _;
use musher_server::daemon::Token;

use super::TOKEN_VARIABLE;
use crate::exit::Failure;
use crate::variables;

/// A link in the place of the file is not followed.
const NOFOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
/// Name of the file in the home directory.
const FILE: &str = "daemon.token";

/// Returns the token. Writes the file with a new one if there is none.
pub(super) fn resolve(given: Option<&str>, home: &Path) -> Result<Token, Failure> {
    let variable = variables::value(TOKEN_VARIABLE).map(|value| value.to_string_lossy().into_owned());
    if let Some(text) = given.map(str::to_owned).or(variable) {
        return checked(&text, "the token").map_err(Failure::setup);
    }
    let path = home.join(FILE);
    from_file(&path).map_err(Failure::setup)
}

fn from_file(path: &Path) -> anyhow::Result<Token> {
    match fs_err::OpenOptions::new().read(true).custom_flags(NOFOLLOW).open(path) {
        Ok(file) => {
            let metadata = file.metadata()?;
            if metadata.mode() & 0o077 != 0 {
                return Err(anyhow!("other users can read `{}`; run `chmod 600` on it", path.display()));
            }
            let text = std::io::read_to_string(file)?;
            checked(text.trim(), &path.display().to_string())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let token = Token::random();
            let file = fs_err::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
            let mut file = file.context("cannot create the file of the token")?;
            writeln!(file, "{}", token.as_str()).context("cannot write the file of the token")?;
            Ok(token)
        }
        Err(error) => Err(error).context("cannot read the file of the token"),
    }
}

fn checked(text: &str, what: &str) -> anyhow::Result<Token> {
    Token::new(text).ok_or_else(|| anyhow!("{what} is not valid: it must have 16 or more visible characters"))
}
