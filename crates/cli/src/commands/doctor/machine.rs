//! The sandboxing features of the kernel, as reported by files; nothing is executed.

use std::path::Path;

use super::check::Check;

const AREA: &str = "sandbox";

/// `root` is `/`, except in tests.
pub(super) fn checks(root: &Path, landlock: Option<u32>) -> Vec<Check> {
    vec![
        Check::ok(
            AREA,
            "commands",
            "not used by this version: commands run after approval, without a sandbox",
        ),
        match landlock {
            Some(version) => Check::ok(AREA, "landlock", format!("ABI version {version}")),
            None => Check::warning(AREA, "landlock", "not supported by the kernel, or disabled")
                .advice("use Linux 5.13 or newer with `landlock` in the list of security modules"),
        },
        user_namespaces(root),
        cgroups(root),
    ]
}

fn user_namespaces(root: &Path) -> Check {
    const NAME: &str = "user namespaces";
    let number =
        |path: &str| -> Option<u64> { fs_err::read_to_string(root.join(path)).ok()?.trim().parse().ok() };
    let most = number("proc/sys/user/max_user_namespaces");
    if most.is_none_or(|most| most == 0) {
        let check = Check::warning(AREA, NAME, "disabled by the kernel");
        return check.advice("sysctl user.max_user_namespaces=15000");
    }
    if number("proc/sys/kernel/unprivileged_userns_clone") == Some(0) {
        let check = Check::warning(AREA, NAME, "restricted to root");
        return check.advice("sysctl kernel.unprivileged_userns_clone=1");
    }
    if number("proc/sys/kernel/apparmor_restrict_unprivileged_userns") == Some(1) {
        let check = Check::warning(AREA, NAME, "restricted by AppArmor to programs with a profile");
        return check
            .advice("sysctl kernel.apparmor_restrict_unprivileged_userns=0, or give musher a profile");
    }
    Check::ok(AREA, NAME, "allowed")
}

fn cgroups(root: &Path) -> Check {
    const NAME: &str = "cgroup v2";
    let controllers = fs_err::read_to_string(root.join("sys/fs/cgroup/cgroup.controllers"));
    let Ok(controllers) = controllers else {
        let check = Check::warning(AREA, NAME, "not mounted at /sys/fs/cgroup");
        return check.advice("start the system with systemd.unified_cgroup_hierarchy=1");
    };
    let own = fs_err::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let own = own
        .lines()
        .find_map(|line| line.strip_prefix("0::"))
        .unwrap_or("/")
        .trim_start_matches('/')
        .to_owned();
    let folder = root.join("sys/fs/cgroup").join(own);
    let controllers = controllers.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_ours = rustix::fs::access(&folder, rustix::fs::Access::WRITE_OK).is_ok();
    if is_ours {
        return Check::ok(AREA, NAME, format!("delegated; controllers: {controllers}"));
    }
    let check = Check::warning(AREA, NAME, "available, but not delegated to this user");
    check.advice("start musher with `systemd-run --user --scope -p Delegate=yes musher ...`")
}

#[cfg(test)]
mod tests {
    use super::super::check::State;
    use super::*;

    fn states(files: &[(&str, &str)], landlock: Option<u32>) -> Vec<State> {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        }
        checks(root.path(), landlock).into_iter().skip(1).map(|check| check.state).collect()
    }

    #[test]
    fn a_kernel_with_everything_is_fine_and_one_with_nothing_is_reported() {
        let full = [
            ("proc/sys/user/max_user_namespaces", "15000\n"),
            ("sys/fs/cgroup/cgroup.controllers", "cpu memory pids\n"),
            ("proc/self/cgroup", "0::/\n"),
        ];
        assert_eq!(states(&full, Some(6)), [State::Ok; 3]);
        assert_eq!(states(&[], None), [State::Warning; 3]);
        let restricted =
            [full.as_slice(), &[("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n")]].concat();
        assert_eq!(states(&restricted, Some(1)), [State::Ok, State::Warning, State::Ok]);
    }
}
