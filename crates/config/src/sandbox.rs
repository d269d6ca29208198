//! What settings files and flags say about the sandbox.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

/// Where commands that run without asking may write, the strictest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SandboxMode {
    /// Everywhere, unless they are proven to be read-only.
    Off,
    /// In the workspace, its additional directories, and a private directory for temporary files.
    WorkspaceWrite,
    /// Only in a private directory for temporary files.
    ReadOnly,
}

/// What commands that run without asking may connect to, the strictest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SandboxNetwork {
    /// Everything.
    On,
    /// Servers that they start themselves.
    Local,
    /// Nothing.
    Off,
}

impl SandboxMode {
    const ALL: [Self; 3] = [Self::Off, Self::WorkspaceWrite, Self::ReadOnly];

    /// Returns the name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::WorkspaceWrite => "workspace-write",
            Self::ReadOnly => "read-only",
        }
    }

    /// Parses the name in settings.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

impl SandboxNetwork {
    const ALL: [Self; 3] = [Self::On, Self::Local, Self::Off];

    /// Returns the name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Local => "local",
            Self::Off => "off",
        }
    }

    /// Parses the name in settings.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|network| network.name() == name)
    }
}

/// The sandbox that settings and flags ask for. `None` is the default of the autonomy level.
///
/// ```
/// use musher_config::{SandboxMode, SandboxNetwork, SandboxSettings};
///
/// let settings: SandboxSettings = serde_json::from_str(r#"{"mode": "workspace-write", "network": "off"}"#).unwrap();
/// assert_eq!((settings.mode, settings.network), (Some(SandboxMode::WorkspaceWrite), Some(SandboxNetwork::Off)));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
pub struct SandboxSettings {
    /// Where commands that run without asking may write.
    pub mode: Option<SandboxMode>,
    /// What they may connect to.
    pub network: Option<SandboxNetwork>,
    /// Whether no session starts if this machine cannot enforce the sandbox.
    pub is_required: bool,
    /// Directories in which they may write, too. A leading `~` is the user's home.
    pub writable: Vec<PathBuf>,
    /// Paths that stay read-only.
    pub protected: Vec<PathBuf>,
}

impl SandboxSettings {
    /// Applies settings that take precedence over these.
    pub fn override_with(&mut self, over: Self) {
        self.mode = over.mode.or(self.mode);
        self.network = over.network.or(self.network);
        self.is_required |= over.is_required;
        self.writable.extend(over.writable);
        self.protected.extend(over.protected);
    }

    /// Applies only what is stricter. Returns whether that was everything.
    pub(crate) fn restrict_with(&mut self, by: Self) -> bool {
        let is_stricter_mode = by.mode.is_none_or(|mode| mode >= self.mode.unwrap_or(SandboxMode::Off));
        // without a setting, some levels have no network
        let known = self.network.unwrap_or(SandboxNetwork::Off);
        let is_stricter_network = by.network.is_none_or(|network| network >= known);
        let is_all = is_stricter_mode && is_stricter_network && by.writable.is_empty();
        self.override_with(Self {
            mode: by.mode.filter(|mode| is_stricter_mode && *mode != SandboxMode::Off),
            network: by.network.filter(|_| is_stricter_network),
            writable: Vec::new(),
            ..by
        });
        is_all
    }
}

impl TryFrom<Value> for SandboxSettings {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        match value {
            Value::String(name) => Ok(Self { mode: Some(mode(&name)?), ..Self::default() }),
            // droid's sandbox is off: whatever else it says has no effect
            Value::Object(map) if map.get("enabled") == Some(&Value::Bool(false)) => Ok(Self::default()),
            Value::Object(map) => {
                let fields: Fields =
                    serde_json::from_value(Value::Object(map)).map_err(|error| error.to_string())?;
                fields.try_into()
            }
            other => {
                Err(format!("expected `off`, `read-only`, `workspace-write` or an object, found `{other}`"))
            }
        }
    }
}

/// The fields of the object: ours, and those of droid's sandbox.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Fields {
    /// droid's switch. Our settings have `mode`.
    enabled: Option<bool>,
    mode: Option<String>,
    network: Option<Value>,
    required: Option<bool>,
    #[serde(default)]
    writable: Vec<PathBuf>,
    filesystem: Option<Filesystem>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Filesystem {
    #[serde(default)]
    allow_write: Vec<PathBuf>,
    #[serde(default)]
    deny_write: Vec<PathBuf>,
    #[serde(default)]
    deny_read: Vec<PathBuf>,
}

/// The value of `mode` in settings of droid.
const PER_COMMAND: &str = "per-command";

impl TryFrom<Fields> for SandboxSettings {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Self, String> {
        let is_enabled = fields.enabled == Some(true);
        let named = fields.mode.as_deref().filter(|name| !(is_enabled && *name == PER_COMMAND));
        let network = match fields.network {
            // of droid: single domains cannot be allowed, and no network is the stricter reading
            Some(Value::Object(map)) if map.keys().all(|key| key == "allowedDomains") => {
                Some(SandboxNetwork::Off)
            }
            Some(value) => {
                let known = value.as_str().and_then(SandboxNetwork::parse);
                let unknown =
                    || format!("unknown value `{value}` of `network`: expected `on`, `local` or `off`");
                Some(known.ok_or_else(unknown)?)
            }
            None => is_enabled.then_some(SandboxNetwork::Off),
        };
        let filesystem = fields.filesystem;
        if filesystem.as_ref().is_some_and(|filesystem| !filesystem.deny_read.is_empty()) {
            return Err(
                "`filesystem.denyRead` is not supported yet, so this restriction cannot be kept".to_owned()
            );
        }
        let (allowed, denied) =
            filesystem.map(|filesystem| (filesystem.allow_write, filesystem.deny_write)).unwrap_or_default();
        Ok(Self {
            mode: match named {
                Some(name) => Some(mode(name)?),
                None => is_enabled.then_some(SandboxMode::WorkspaceWrite),
            },
            network,
            is_required: fields.required.unwrap_or(is_enabled),
            writable: fields.writable.into_iter().chain(allowed).collect(),
            protected: denied,
        })
    }
}

fn mode(name: &str) -> Result<SandboxMode, String> {
    SandboxMode::parse(name).ok_or_else(|| {
        format!("unknown sandbox mode `{name}`: expected `off`, `read-only` or `workspace-write`")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(value: Value) -> Result<SandboxSettings, String> {
        SandboxSettings::try_from(value)
    }

    #[test]
    fn settings_are_a_word_or_an_object_of_ours_or_droids() {
        use SandboxMode::{Off, ReadOnly, WorkspaceWrite};

        let read = |value| parse(value).map(|it| (it.mode, it.network, it.is_required));
        assert_eq!(read(json!("off")), Ok((Some(Off), None, false)));
        assert_eq!(read(json!("read-only")), Ok((Some(ReadOnly), None, false)));
        let value = json!({"mode": "workspace-write", "network": "local", "required": true});
        assert_eq!(read(value), Ok((Some(WorkspaceWrite), Some(SandboxNetwork::Local), true)));
        assert_eq!(read(json!({"network": "off"})), Ok((None, Some(SandboxNetwork::Off), false)));
        // droid's: a session must not start as if it were not there
        let enabled = Ok((Some(WorkspaceWrite), Some(SandboxNetwork::Off), true));
        assert_eq!(read(json!({"enabled": true, "mode": "per-command"})), enabled);
        assert_eq!(read(json!({"enabled": true, "network": {"allowedDomains": ["example.org"]}})), enabled);
        assert_eq!(read(json!({"enabled": false, "anything": 1})), Ok((None, None, false)));
        let paths =
            parse(json!({"enabled": true, "filesystem": {"allowWrite": ["/a"], "denyWrite": ["/b"]}}))
                .unwrap();
        assert_eq!((paths.writable, paths.protected), (vec!["/a".into()], vec!["/b".into()]));
    }

    #[test]
    fn untrusted_settings_only_make_the_sandbox_stricter() {
        let mut settings = parse(json!({"mode": "workspace-write", "network": "local"})).unwrap();
        let before = settings.clone();
        for value in [json!("off"), json!({"network": "on"}), json!({"writable": ["/"]})] {
            assert!(!settings.restrict_with(parse(value.clone()).unwrap()), "{value}");
            assert_eq!(settings, before, "{value}");
        }
        assert!(
            settings.restrict_with(
                parse(json!({"mode": "read-only", "network": "off", "required": true})).unwrap()
            )
        );
        assert_eq!(
            settings,
            parse(json!({"mode": "read-only", "network": "off", "required": true})).unwrap()
        );
        // without a setting, a level without network keeps having none
        let mut settings = SandboxSettings::default();
        assert!(!settings.restrict_with(parse(json!({"network": "local"})).unwrap()));
        assert!(!settings.restrict_with(parse(json!("off")).unwrap()) || settings.mode.is_none());
        assert_eq!(settings, SandboxSettings::default());
    }
}
