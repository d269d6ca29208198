//! What a sandboxed program can and cannot do, tried by real programs with every combination of layers.

use std::path::Path;

use musher_process::{Command, Layers, Network, Sandbox, Streams};

/// A directory with a workspace, a neighbour and a temporary directory.
struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        let folder =
            tempfile::Builder::new().prefix("sandbox").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        for name in ["work/.git", "work/sub", "other", "temp"] {
            fs_err::create_dir_all(folder.path().join(name)).unwrap();
        }
        for name in ["work/file", "work/.git/config", "other/file"] {
            fs_err::write(folder.path().join(name), "before").unwrap();
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn read_only(&self) -> Sandbox {
        Sandbox::read_only().temp(self.path("temp"))
    }

    fn workspace(&self) -> Sandbox {
        Sandbox::writable([self.path("work")]).protect([self.path("work/.git")]).temp(self.path("temp"))
    }

    /// Runs a script in the workspace and returns whether it succeeded.
    async fn run(&self, sandbox: impl Into<Option<Sandbox>>, script: &str) -> bool {
        run(&self.path("work"), sandbox.into(), script).await
    }
}

async fn run(cwd: &Path, sandbox: Option<Sandbox>, script: &str) -> bool {
    let command = Command::new("bash").args(["--norc", "-c", script]).cwd(cwd).sandbox(sandbox);
    command.spawn(Streams::null()).await.unwrap().reap().unwrap().success()
}

const ALL: fn() -> Layers = Layers::available;

fn only_landlock() -> Layers {
    Layers { namespaces: false, ..ALL() }
}

fn only_namespaces() -> Layers {
    Layers { landlock: None, ..ALL() }
}

/// Changes of files outside of every writable path.
const OUTSIDE: &[&str] = &[
    "echo x > ../other/new",
    "echo x >> ../other/file",
    "exec 3<>../other/file && echo x >&3",
    "truncate -s 0 ../other/file",
    "rm ../other/file",
    "mv ../other/file ../other/renamed",
    "mv file ../other/file",
    "ln ../other/file linked && echo x > linked",
    "ln -s ../other link && echo x > link/file",
    "mkdir ../other/sub",
    "mkfifo ../other/fifo",
    "cp file ../other/file",
    "rmdir ../other",
    "sh -c 'setsid sh -c \"echo x > ../other/file\"'",
];

/// Changes of a file that do not open it.
const METADATA: &[&str] = &["chmod 600 ../other/file", "touch ../other/file", "chmod +x ../other"];

fn unchanged(stage: &Stage) -> bool {
    let other = stage.path("other");
    let names: Vec<_> = fs_err::read_dir(&other).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names == ["file"] && fs_err::read(other.join("file")).unwrap() == b"before"
}

#[tokio::test]
async fn program_outside_of_a_sandbox_succeeds_with_every_change() {
    for script in OUTSIDE.iter().filter(|script| !script.starts_with("rmdir")).chain(METADATA) {
        let stage = Stage::new();
        assert!(stage.run(None, script).await, "{script}");
    }
}

#[tokio::test]
async fn read_only_program_changes_nothing_with_any_layer() {
    for layers in [ALL(), only_landlock(), only_namespaces()] {
        let stage = Stage::new();
        let sandbox = stage.read_only().layers(layers);
        for script in OUTSIDE.iter().chain(METADATA) {
            assert!(!stage.run(sandbox.clone(), script).await, "{script} with {layers}");
        }
        for script in ["echo x > file", "echo x > new", "rm file", "chmod +x file", "touch file"] {
            assert!(!stage.run(sandbox.clone(), script).await, "{script} with {layers}");
        }
        assert!(unchanged(&stage) && fs_err::read(stage.path("work/file")).unwrap() == b"before");
    }
}

#[tokio::test]
async fn read_only_program_reads_and_uses_its_temporary_directory() {
    let stage = Stage::new();
    let temp = stage.path("temp");
    let scripts = [
        "test $(cat ../other/file) = before".to_owned(),
        "echo x > /dev/null; echo y 2> /dev/null".to_owned(),
        "cat <(echo a) | sort | grep -q a".to_owned(),
        format!("test $TMPDIR = {} && echo x > $TMPDIR/new", temp.display()),
        "cat << END | grep -q text\ntext\nEND".to_owned(),
        "ls -la / > /dev/null; git --version; test $PWD = $(pwd)".to_owned(),
    ];
    for layers in [ALL(), only_landlock(), only_namespaces()] {
        for script in &scripts {
            assert!(stage.run(stage.read_only().layers(layers), script).await, "{script} with {layers}");
        }
    }
}

#[tokio::test]
async fn workspace_program_changes_only_the_workspace() {
    for layers in [ALL(), only_landlock(), only_namespaces()] {
        let stage = Stage::new();
        let sandbox = stage.workspace().layers(layers);
        for script in OUTSIDE {
            assert!(!stage.run(sandbox.clone(), script).await, "{script} with {layers}");
        }
        assert!(unchanged(&stage), "{layers}");
        for script in
            ["echo x > new", "mv new sub/moved", "chmod +x file", "touch file", "ln file hard", "rm -r sub"]
        {
            assert!(stage.run(sandbox.clone(), script).await, "{script} with {layers}");
        }
    }
}

#[tokio::test]
async fn protected_path_inside_the_workspace_is_read_only_with_namespaces() {
    let scripts = [
        "echo x > .git/config",
        "echo x > .git/new",
        "rm .git/config",
        "mv .git elsewhere",
        "rm -rf .git",
        "chmod 777 .git/config",
    ];
    assert!(ALL().protects_paths(), "this machine must support namespaces: {}", ALL());
    let stage = Stage::new();
    for script in scripts.iter().chain(METADATA) {
        assert!(!stage.run(stage.workspace(), script).await, "{script}");
    }
    assert_eq!(fs_err::read(stage.path("work/.git/config")).unwrap(), b"before");
    assert!(stage.run(stage.workspace().layers(only_landlock()), "echo x > .git/new").await);
}

#[tokio::test]
async fn sandboxed_program_cannot_get_out_of_its_namespaces() {
    let stage = Stage::new();
    for script in [
        "mount -o remount,rw /",
        "mount -o remount,rw,bind /",
        "umount .git",
        "unshare -m true && unshare -m mount -o remount,rw /",
        "unshare -Urm mount -o remount,rw,bind /",
        "nsenter -t 1 -m true",
        "echo x > /proc/1/root/tmp/escaped",
        "mknod ../temp/disk b 8 0",
        "echo 1 > /proc/sys/kernel/sysrq",
    ] {
        assert!(!stage.run(stage.workspace(), script).await, "{script}");
        assert!(!stage.run(stage.read_only(), script).await, "{script}");
    }
}

#[tokio::test]
async fn sandboxed_program_cannot_signal_or_trace_other_processes() {
    let stage = Stage::new();
    let other = Command::new("sleep").arg("1000").spawn(Streams::null()).await.unwrap();
    let script = format!("kill {}", other.id());
    assert!(!stage.run(stage.workspace(), &script).await);
    assert!(stage.run(stage.workspace(), "sleep 1000 & kill $! && kill -0 $$").await, "its own children");
    assert!(stage.run(None, &script).await);
    other.reap().unwrap();
}

const CONNECT: &str =
    "python3 -c 'import socket, sys; socket.create_connection((\"127.0.0.1\", int(sys.argv[1])), 5)' ";

#[tokio::test]
async fn network_is_on_local_or_off() {
    let stage = Stage::new();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let outside = format!("{CONNECT} {}", server.local_addr().unwrap().port());
    let own = "python3 -c 'import socket; s = socket.create_server((\"127.0.0.1\", 0)); socket.create_connection(s.getsockname(), 5)'";
    let datagram = "python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b\"x\", (\"127.0.0.1\", 9))'";
    for (network, layers, expected) in [
        (Network::On, ALL(), [true, true, true]),
        (Network::Local, ALL(), [false, true, true]),
        (Network::Off, ALL(), [false, false, false]),
        (Network::Off, only_landlock(), [false, false, false]),
        (Network::Local, only_landlock(), [false, false, false]),
    ] {
        for (script, expected) in [&*outside, own, datagram].into_iter().zip(expected) {
            let sandbox = stage.workspace().network(network).layers(layers);
            assert_eq!(stage.run(sandbox, script).await, expected, "{script} with {network:?}, {layers}");
        }
    }
}

#[tokio::test]
async fn killed_sandboxed_program_leaves_no_process() {
    let stage = Stage::new();
    let command = Command::new("bash")
        .args(["-c", "setsid sleep 1000 & wait"])
        .cwd(stage.path("work"))
        .sandbox(stage.workspace().network(Network::Local));
    let child = command.spawn(Streams::null()).await.unwrap();
    let mark = child.mark().clone();
    child.kill();
    assert!(!child.reap().unwrap().success());
    assert!(!mark.is_alive());
}

#[tokio::test]
async fn process_that_hides_its_memory_can_confine_programs() {
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable).unwrap();
    let stage = Stage::new();
    for layers in [ALL(), only_landlock(), only_namespaces()] {
        assert!(stage.run(stage.read_only().layers(layers), "true").await, "{layers}");
        assert!(!stage.run(stage.read_only().layers(layers), "echo x > file").await, "{layers}");
    }
}

#[tokio::test]
async fn file_cannot_be_emptied_where_landlock_is_too_old_to_see_it() {
    let layers = Layers { landlock: None, seccomp: true, namespaces: false };
    if !Layers::available().seccomp {
        return;
    }
    let stage = Stage::new();
    let file = stage.path("kept");
    let forms = [
        "os.truncate(p, 0)",
        "os.open(p, os.O_RDONLY | os.O_TRUNC)",
        "os.open(p, os.O_ACCMODE | os.O_TRUNC)",
    ];
    for form in forms {
        fs_err::write(&file, "content").unwrap();
        let script = format!("python3 -c 'import os, sys; p = sys.argv[1]; {form}' {}", file.display());
        for sandbox in [stage.read_only(), stage.workspace()] {
            assert!(!stage.run(sandbox.layers(layers), &script).await, "{form}");
            assert_eq!(fs_err::read_to_string(&file).unwrap(), "content", "{form}");
        }
        assert!(stage.run(None, &script).await, "{form} works without a sandbox");
    }
    // what usual programs do
    let usual = format!("echo x > /dev/null; cat {} > {}", file.display(), stage.path("work/copy").display());
    assert!(stage.run(stage.workspace().layers(layers), &usual).await);
}
