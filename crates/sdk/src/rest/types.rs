//! What the REST API takes and returns. Unknown fields of answers are kept in `extra`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A part of a list.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Page<T> {
    /// The entries.
    pub items: Vec<T>,
    /// Whether there are more.
    pub has_more: bool,
    /// The cursor of the next part.
    pub next_cursor: Option<String>,
}

/// Declares what is returned, with its unknown fields.
macro_rules! returned {
    ($($(#[$doc:meta])* $Name:ident { $($(#[$field_doc:meta])* $field:ident: $Type:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
            #[serde(rename_all = "camelCase")]
            #[non_exhaustive]
            pub struct $Name {
                $($(#[$field_doc])* pub $field: $Type,)*
                /// Fields that this version of the crate does not declare.
                #[serde(flatten)]
                pub extra: Map<String, Value>,
            }
        )*
    };
}

/// Declares what is sent. Fields that are absent are left out.
macro_rules! sent {
    ($($(#[$doc:meta])* $Name:ident { $($(#[$field_doc:meta])* $field:ident: $Type:ty,)* } optional { $($(#[$opt_doc:meta])* $opt:ident: $Opt:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Default, PartialEq, Serialize)]
            #[serde(rename_all = "camelCase")]
            pub struct $Name {
                $($(#[$field_doc])* pub $field: $Type,)*
                $($(#[$opt_doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $opt: Option<$Opt>,)*
            }
        )*
    };
}

returned! {
    /// A computer.
    Computer {
        /// Its id.
        id: String,
        /// Its name.
        name: String,
        /// Its host name.
        hostname: Option<String>,
        /// Who provides it: `byom` or `e2b`.
        provider_type: Option<String>,
        /// `provisioning`, `active` or `error`.
        status: Option<String>,
        /// When it was created, in the service's form.
        created_at: Option<Value>,
        /// Where clients reach its daemon.
        relay_client_url: Option<String>,
        /// Where its daemon connects to.
        relay_agent_url: Option<String>,
        /// The user that sessions run as.
        remote_user: Option<String>,
        /// The steps of its provisioning.
        provisioning_steps: Option<Vec<ProvisioningStep>>,
    }
    /// A step of the provisioning of a computer.
    ProvisioningStep {
        /// Its id.
        id: String,
        /// Its name.
        name: Option<String>,
        /// Its state.
        status: Option<String>,
        /// Why it failed.
        error: Option<String>,
    }
    /// A measurement of a computer.
    ComputerMetrics {
        /// When it was taken.
        timestamp: Value,
        /// The share of the processors that is used, in percent.
        cpu_used_pct: Option<f64>,
        /// The number of processors.
        cpu_count: Option<f64>,
        /// The memory in use.
        mem_used: Option<f64>,
        /// All memory.
        mem_total: Option<f64>,
        /// The disk in use.
        disk_used: Option<f64>,
        /// All disk.
        disk_total: Option<f64>,
    }
    /// The result of a refresh.
    Refreshed {
        /// How many things were configured.
        configured: u64,
    }
    /// A template of machines.
    MachineTemplate {
        /// Its id.
        template_id: String,
        /// Its repository.
        repo_url: Option<String>,
        /// Its name.
        template_name: Option<String>,
        /// The default branch of the repository.
        default_branch: Option<String>,
        /// Who created it.
        created_by: Option<String>,
        /// The state of its build.
        build_status: Option<BuildStatus>,
        /// The script that sets a machine up.
        setup_script: Option<String>,
    }
    /// The state of the build of a template.
    BuildStatus {
        /// `building`, `success` or `failed`.
        status: String,
        /// Why it failed: `setup_script_error` or `system_error`.
        failure_reason: Option<String>,
        /// Its output.
        logs: Option<Value>,
    }
    /// A session on a computer.
    RemoteSession {
        /// Its id.
        session_id: String,
        /// Its title.
        title: Option<String>,
        /// `idle`, `pending` or `running`.
        status: String,
        /// The number of its messages.
        message_count: Option<u64>,
        /// When it was created, in milliseconds since 1970.
        created_at: Option<Value>,
        /// When it last changed, in milliseconds since 1970.
        updated_at: Option<Value>,
        /// Its computer.
        computer_id: Option<String>,
        /// Its settings.
        session_settings: Option<Value>,
    }
    /// A prompt that was taken.
    Sent {
        /// The id of the message.
        message_id: String,
        /// Its state.
        status: Option<String>,
    }
}

sent! {
    /// A computer to create.
    NewComputer {
        /// Its name, 1 to 63 characters.
        name: String,
        /// The user that sessions run as, 1 to 63 characters.
        remote_user: String,
    } optional {
        /// Who provides it: `byom` or `e2b`.
        provider: String,
        /// The machine that it is.
        host_id: String,
        /// Repositories to clone.
        repos: Vec<String>,
        /// Whether to install the dependencies of the repositories.
        auto_install_deps: bool,
        /// The service account that it belongs to.
        service_account_id: String,
    }
    /// A change of a computer.
    ComputerUpdate {} optional {
        /// The new name.
        name: String,
        /// The user that sessions run as.
        remote_user: String,
        /// The machine that it is.
        host_id: String,
    }
    /// A template to create.
    NewTemplate {
        /// Its repository.
        repo_url: String,
        /// Its name, 1 to 100 characters.
        template_name: String,
    } optional {
        /// Environment variables of its machines.
        environment_variables: Vec<Variable>,
        /// The script that sets a machine up, up to 10,000 characters.
        setup_script: String,
    }
    /// A change of a template.
    TemplateUpdate {} optional {
        /// The new name.
        template_name: String,
        /// Environment variables of its machines.
        environment_variables: Vec<Variable>,
        /// Environment variables of this user only.
        user_environment_variables: Vec<Variable>,
        /// The script that sets a machine up.
        setup_script: String,
    }
    /// An environment variable.
    Variable {
        /// Its name.
        key: String,
        /// Its value.
        value: String,
    } optional {}
    /// A session to create.
    NewRemoteSession {
        /// The computer.
        computer_id: String,
    } optional {
        /// Its settings: `model`, `reasoningEffort`, `autonomyLevel`, `tags` and others.
        session_settings: Value,
    }
    /// A prompt for a remote session.
    RemoteMessage {
        /// The text.
        text: String,
    } optional {
        /// Pictures.
        images: Vec<Value>,
        /// Files.
        files: Vec<Value>,
        /// The computer of the session.
        computer_id: String,
    }
}
