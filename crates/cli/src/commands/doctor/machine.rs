//! The sandbox: what this machine can enforce, and what the settings ask for.

use std::path::Path;

use musher_engine::Layers;
use musher_engine::config::{Config, Problem};

use super::check::Check;

const AREA: &str = "sandbox";

/// `root` is `/`, except in tests. `missing` is what the settings ask for and this machine cannot enforce; an error if they require it.
pub(super) fn checks(
    root: &Path,
    layers: Layers,
    config: &Config,
    missing: Result<Option<Problem>, String>,
) -> Vec<Check> {
    let landlock = layers.landlock.map_or_else(
        || "not supported by the kernel, or disabled".to_owned(),
        |version| format!("ABI version {version}"),
    );
    let seccomp = if layers.seccomp { "available" } else { "not supported by the kernel" };
    let namespaces = if layers.namespaces { "available" } else { user_namespaces(root) };
    let features = [
        ("landlock", landlock.as_str()),
        ("seccomp", seccomp),
        ("namespaces", namespaces),
        ("cgroup v2", &cgroups(root)),
    ]
    .map(|(name, text)| Check::ok(AREA, name, text));
    [enforced(layers), asked_for(config, missing)].into_iter().chain(features).collect()
}

/// Returns what the sandbox of a command does on this machine.
fn enforced(layers: Layers) -> Check {
    let word = |is_enforced: bool| if is_enforced { "enforced" } else { "not enforced" };
    let text = format!(
        "read-only commands and writes outside of the workspace: {}; network: {}; `.git` and settings in the workspace: {}",
        word(layers.restricts_writes()),
        word(layers.restricts_network()),
        word(layers.protects_paths())
    );
    let mut text = text;
    if layers.restricts_writes() {
        let missing = [
            (layers.restricts_truncation(), "emptying files outside of the workspace"),
            (layers.restricts_attributes(), "modes and times of files outside of the workspace"),
        ];
        let missing = missing.into_iter().filter(|(is_enforced, _)| !is_enforced);
        text.extend(missing.map(|(_, what)| format!("; {what}: not enforced")));
    }
    let check = if layers.restricts_writes() { Check::ok } else { Check::warning };
    let check = check(AREA, "commands", text);
    if layers.is_complete() {
        return check;
    }
    check.advice(if cfg!(target_os = "linux") {
        "Landlock needs Linux 5.13 or newer; namespaces need root, or user namespaces that are allowed for this user"
    } else {
        "only Linux has a sandbox; permission requests protect you"
    })
}

fn asked_for(config: &Config, missing: Result<Option<Problem>, String>) -> Check {
    let settings = &config.settings.sandbox;
    let mode = settings.mode.map_or("by autonomy level", |mode| mode.name());
    let network = settings.network.map_or("by autonomy level", |network| network.name());
    let required = if settings.is_required { "; required" } else { "" };
    let text = format!("mode: {mode}; network: {network}{required}");
    match missing {
        Ok(None) => Check::ok(AREA, "settings", text),
        Ok(Some(problem)) => Check::warning(AREA, "settings", format!("{text}; {}", problem.message)),
        Err(problem) => Check::error(AREA, "settings", format!("{text}; {problem}")).advice(
            "remove `required` from `sandbox` in the settings, or use a machine that has the features below",
        ),
    }
}

fn user_namespaces(root: &Path) -> &'static str {
    let number =
        |path: &str| -> Option<u64> { fs_err::read_to_string(root.join(path)).ok()?.trim().parse().ok() };
    if number("proc/sys/user/max_user_namespaces").is_none_or(|most| most == 0) {
        "disabled by the kernel"
    } else if number("proc/sys/kernel/unprivileged_userns_clone") == Some(0) {
        "restricted to root"
    } else if number("proc/sys/kernel/apparmor_restrict_unprivileged_userns") == Some(1) {
        "restricted by AppArmor to programs with a profile"
    } else {
        "not permitted here, for example by a container"
    }
}

fn cgroups(root: &Path) -> String {
    let controllers = fs_err::read_to_string(root.join("sys/fs/cgroup/cgroup.controllers"));
    let Ok(controllers) = controllers else {
        return "not mounted at /sys/fs/cgroup (not used by this version)".to_owned();
    };
    let own = fs_err::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let own = own.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or("/").trim_start_matches('/');
    let folder = root.join("sys/fs/cgroup").join(own);
    if rustix::fs::access(&folder, rustix::fs::Access::WRITE_OK).is_err() {
        return "available, but not delegated to this user (not used by this version)".to_owned();
    }
    let controllers = controllers.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("delegated; controllers: {controllers} (not used by this version)")
}

#[cfg(test)]
mod tests {
    use super::super::check::State;
    use super::*;

    fn texts(files: &[(&str, &str)], layers: Layers) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        }
        let checks = checks(root.path(), layers, &Config::default(), Ok(None));
        assert!(checks[1..].iter().all(|check| check.state == State::Ok && check.advice.is_none()));
        assert_eq!(checks[1].text, "mode: by autonomy level; network: by autonomy level");
        assert_eq!(checks[0].state == State::Ok, layers.restricts_writes());
        assert_eq!(checks[0].advice.is_none(), layers.is_complete());
        checks.into_iter().filter(|check| check.name != "settings").map(|check| check.text).collect()
    }

    #[test]
    fn enforced_and_missing_features_are_told() {
        let full =
            [("sys/fs/cgroup/cgroup.controllers", "cpu memory pids\n"), ("proc/self/cgroup", "0::/\n")];
        let all = Layers { landlock: Some(6), seccomp: true, namespaces: true };
        assert_eq!(
            texts(&full, all),
            [
                "read-only commands and writes outside of the workspace: enforced; network: enforced; `.git` and settings in the workspace: enforced",
                "ABI version 6",
                "available",
                "available",
                "delegated; controllers: cpu memory pids (not used by this version)",
            ]
        );
        let none = texts(&[], Layers::default());
        assert!(none[0].contains("workspace: not enforced; network: not enforced"), "{none:?}");
        assert_eq!(
            none[1..4],
            [
                "not supported by the kernel, or disabled",
                "not supported by the kernel",
                "disabled by the kernel"
            ]
        );
        let restricted = [
            ("proc/sys/user/max_user_namespaces", "15000\n"),
            ("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n"),
        ];
        let some = texts(&restricted, Layers { namespaces: false, ..all });
        assert_eq!(some[3], "restricted by AppArmor to programs with a profile");
        let ends =
            "in the workspace: not enforced; modes and times of files outside of the workspace: not enforced";
        assert!(some[0].ends_with(ends), "{some:?}");
        let old = texts(&restricted, Layers { landlock: Some(2), seccomp: false, namespaces: false });
        assert!(old[0].contains("emptying files outside of the workspace: not enforced"), "{old:?}");
        let helped = texts(&restricted, Layers { landlock: Some(2), seccomp: true, namespaces: false });
        assert!(!helped[0].contains("emptying"), "{helped:?}");
    }
}
