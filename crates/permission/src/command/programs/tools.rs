//! Development tools: building, testing, installing packages and reading from the network have medium risk.

use crate::Risk;

use super::is_listed;
use super::options::Options;
use crate::command::Word;
use crate::files::Finding;

/// Programs that run what the project defines, with any arguments.
const BUILDERS: &str = "make gmake cmake ctest ninja meson bazel just rustc rustfmt gcc g++ cc c++ clang clang++ \
    clang-format clang-tidy ld ar javac mvn gradle tsc eslint prettier jest vitest mocha webpack vite \
    rollup esbuild pytest tox nox ruff mypy pyright black isort flake8 pylint gofmt rspec rubocop";

/// Programs with sub-commands, and those sub-commands that act locally or only fetch packages.
const WITH_COMMANDS: [(&str, &str); 12] = [
    (
        "cargo",
        "add b bench build c check clean clippy doc fetch fix fmt generate-lockfile init install \
        metadata new nextest r remove run search t test tree update vendor version",
    ),
    (
        "npm pnpm yarn bun",
        "add audit build ci i info install list ls outdated remove run start t test uninstall update \
        view why",
    ),
    ("go", "build doc env fmt get install list mod run test version vet"),
    ("pip pip3", "check download freeze install list show uninstall"),
    ("uv", "add lock pip remove run sync tree venv"),
    ("poetry", "add build check install lock remove run show update"),
    ("dotnet", "add build clean format list new restore run test"),
    ("bundle", "check exec install list update"),
    ("composer", "install require show update validate"),
    ("mix", "compile deps.get format test"),
    ("zig swift deno", "build check fmt lint test"),
    ("docker", "images inspect logs ps version"),
];

const CURL: Options = Options::new("sSfLIv", "silent show-error fail location head compressed verbose");
const WGET: Options = Options::new("qO:", "quiet");

/// Returns the programs whose options are listed, for the test that compares them with the real ones.
#[cfg(test)]
pub(super) fn listed() -> impl Iterator<Item = super::Listed> {
    [("curl", CURL), ("wget", WGET)].into_iter().map(|(name, options)| (vec![name], options.all()))
}

/// Judges a development tool. `None` if the program is not one.
pub(super) fn judge(name: &str, arguments: &[Word]) -> Option<Finding> {
    if is_listed(BUILDERS, name) {
        return Some(Finding::of(Risk::Medium));
    }
    let first = arguments.first().and_then(Word::literal).unwrap_or_default();
    let second = arguments.get(1).and_then(Word::literal).unwrap_or_default();
    let is_fine = match name {
        "python" | "python3" => {
            first == "-m" && ["pytest", "unittest", "build", "compileall", "venv", "mypy"].contains(&second)
        }
        "gh" => {
            let is_looked_at = ["checks", "diff", "list", "status", "view"].contains(&second);
            ["issue", "pr", "release", "repo", "run", "workflow"].contains(&first) && is_looked_at
        }
        "curl" => is_plain_download(arguments, CURL),
        "wget" => {
            let is_shown = arguments.iter().any(|word| matches!(word.literal(), Some("-O-" | "-qO-")));
            is_shown && is_plain_download(arguments, WGET)
        }
        "ping" | "dig" | "host" | "nslookup" => arguments.iter().all(|word| word.literal().is_some()),
        _ => {
            WITH_COMMANDS.iter().any(|(names, commands)| is_listed(names, name) && is_listed(commands, first))
        }
    };
    is_fine.then_some(Finding::of(Risk::Medium))
}

/// Returns whether a command only downloads, from hosts with a name.
fn is_plain_download(arguments: &[Word], options: Options) -> bool {
    let Some(given) = options.read(arguments) else { return false };
    let is_named = |word: &&Word| {
        let Some(text) = word.literal() else { return false };
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let Some(rest) = rest else { return false };
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (name, _) = host.split_once(':').unwrap_or((host, ""));
        // neither an IP address nor this machine, and nothing that hides the host
        let top = name.rsplit('.').next().unwrap_or_default();
        let is_name =
            name.contains('.') && top.len() > 1 && top.bytes().all(|byte| byte.is_ascii_alphabetic());
        let is_plain = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:".contains(&byte));
        is_name
            && is_plain
            && !["local", "localhost", "internal"].contains(&top)
            && !text.contains(['{', '[', '\\'])
    };
    !given.operands.is_empty() && given.operands.iter().all(is_named)
}
