//! A user's home, a repository, and programs that only know their version.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::program::{Run, musher_with};

pub(crate) struct World {
    folder: tempfile::TempDir,
}

impl World {
    /// Nothing is set up.
    pub(crate) fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        for folder in ["bin", "repo/.git"] {
            fs_err::create_dir_all(world.path(folder)).unwrap();
        }
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl std::fmt::Display) {
        let path = self.path(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text.to_string()).unwrap();
    }

    /// Private from everyone else, as the program makes it itself.
    pub(crate) fn private(&self, name: &str) {
        set_mode(&self.path(name), 0o700);
    }

    /// A program in PATH.
    pub(crate) fn program(&self, name: &str, script: &str) {
        let name = format!("bin/{name}");
        self.write(&name, format!("#!/bin/sh\n{script}\n"));
        set_mode(&self.path(&name), 0o755);
    }

    pub(crate) fn musher(&self, arguments: &[&str]) -> Run {
        self.musher_with(arguments, &[])
    }

    pub(crate) fn musher_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Run {
        musher_with(arguments, |command| {
            command.env("HOME", self.path("")).env("PATH", self.path("bin")).current_dir(self.path("repo"));
            command.envs(variables.iter().copied());
        })
    }

    /// The checks of a run: area, name, state and text.
    pub(crate) fn checks(&self, variables: &[(&str, &str)]) -> (Option<i32>, Vec<Value>) {
        let run = self.musher_with(&["doctor", "--json"], variables);
        assert_eq!(run.stderr, "");
        let told: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(told["ok"], run.code == Some(0));
        (run.code, told["checks"].as_array().unwrap().clone())
    }
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
    fs_err::set_permissions(path, permissions).unwrap();
}

/// The checks of an area.
pub(crate) fn area<'a>(checks: &'a [Value], area: &str) -> Vec<&'a Value> {
    checks.iter().filter(|check| check["area"] == area).collect()
}
