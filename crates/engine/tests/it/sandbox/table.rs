//! The table of `docs/security.md` as real processes: action, mode, and which features of the machine enforce it.
//!
//! Each action runs in every mode with every set of features, also with none: what nothing enforces succeeds, which shows that the others
//! fail because of the sandbox. The permission rules take all of them for `make`, which may run anything.

use musher_engine::{Autonomy, Layers, SandboxMode, SandboxNetwork, SandboxSettings};

use super::{Place, judged_as, landlock, namespaces, unattended};

/// What denies an action.
#[derive(Debug, Clone, Copy)]
enum Denial {
    /// Nothing.
    Never,
    /// Every mode but `off`, if writes are restricted.
    Outside,
    /// `read-only`, if writes are restricted.
    InWorkspace,
    /// Like `Outside`, but inside of the workspace only namespaces can.
    Protected,
    /// Like `Outside`, but Landlock cannot, and seccomp only in `read-only`.
    Metadata,
    /// Every mode but `off`, with seccomp.
    Network,
    /// Every mode but `off`, with Landlock 6.
    Signals,
}

impl Denial {
    fn applies(self, mode: SandboxMode, layers: Layers) -> bool {
        let is_read_only = mode == SandboxMode::ReadOnly;
        mode != SandboxMode::Off
            && match self {
                Self::Never => false,
                Self::Outside => layers.restricts_writes(),
                Self::InWorkspace => is_read_only && layers.restricts_writes(),
                Self::Protected => layers.protects_paths() || is_read_only && layers.restricts_writes(),
                Self::Metadata => layers.namespaces || is_read_only && layers.seccomp,
                Self::Network => layers.restricts_network(),
                Self::Signals => layers.landlock >= Some(6),
            }
    }
}

fn actions(place: &Place, port: u16, other: u32) -> Vec<(Denial, String)> {
    let outside = |name: &str| place.other(name).display().to_string();
    let python = |code: &str| format!("python3 -c '{code}'");
    vec![
        (Denial::Never, format!("bash -c 'cat {}'", outside("file"))),
        (Denial::Never, "bash -c 'echo x > ${TMPDIR:-.}/temporary'".to_owned()),
        (Denial::Never, "bash -c 'echo x > /dev/null; cat <<< y'".to_owned()),
        (Denial::InWorkspace, "bash -c 'echo x > made'".to_owned()),
        (Denial::InWorkspace, "bash -c 'mkdir folder && mv file folder && rm -r folder'".to_owned()),
        (Denial::InWorkspace, "bash -c 'chmod +x .'".to_owned()),
        (Denial::Protected, "bash -c 'echo x > .git/new'".to_owned()),
        (Denial::Protected, "bash -c 'echo x >> .git/config'".to_owned()),
        (Denial::Protected, "bash -c 'echo x > .vscode/tasks.json'".to_owned()),
        (Denial::Outside, format!("bash -c 'echo x > {}'", outside("new"))),
        (Denial::Outside, format!("bash -c 'ln -s {} link && echo x >> link'", outside("file"))),
        (Denial::Outside, "bash -c 'f=$(TMPDIR=/tmp mktemp) && rm $f'".to_owned()),
        (Denial::Outside, "bash -c 'echo x > ~/.profile'".to_owned()),
        (Denial::Metadata, format!("bash -c 'chmod 600 {}'", outside("file"))),
        (Denial::Metadata, format!("bash -c 'touch -d yesterday {}'", outside("file"))),
        (
            Denial::Network,
            python(&format!("import socket; socket.create_connection((\"127.0.0.1\", {port}))")),
        ),
        (Denial::Network, python("import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)")),
        (Denial::Signals, format!("bash -c 'kill -0 {other}'")),
    ]
}

#[tokio::test]
async fn every_action_is_denied_exactly_where_the_documentation_says() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let all = Layers::available();
    assert!(all.is_complete(), "this machine must support everything: {all}");
    let mut checked = 0;
    for layers in [all, landlock(), namespaces(), Layers { seccomp: false, ..all }, Layers::default()] {
        for mode in [SandboxMode::Off, SandboxMode::WorkspaceWrite, SandboxMode::ReadOnly] {
            let place = Place::new();
            fs_err::create_dir(place.work(".vscode")).unwrap();
            let actions = actions(&place, port, std::process::id());
            let calls: Vec<_> = actions.iter().map(|(_, command)| judged_as("make", command)).collect();
            let sandbox = SandboxSettings {
                mode: Some(mode),
                network: Some(SandboxNetwork::Off),
                ..SandboxSettings::default()
            };
            let mut stage = place
                .stage(&calls, unattended(Autonomy::High), |it| {
                    it.with_sandbox(sandbox).with_sandbox_layers(layers)
                })
                .await;
            stage.say("Do all of it.");
            let seen = stage.until_idle().await;
            for (index, (denial, command)) in actions.iter().enumerate() {
                let result =
                    |how: &str| seen.iter().any(|line| line.starts_with(&format!("call_{index} {how}: ")));
                let expected = !denial.applies(mode, layers);
                assert_eq!(
                    (result("done"), result("failed")),
                    (expected, !expected),
                    "{command} in {} with {layers}: {seen:#?}",
                    mode.name()
                );
                checked += 1;
            }
        }
    }
    assert_eq!(checked, 5 * 3 * 18);
}
