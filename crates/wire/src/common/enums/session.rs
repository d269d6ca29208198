//! Where sessions and their settings come from, and how they end.

use crate::object::open_enum;

open_enum! {
    /// Where a session or message comes from.
    pub enum SessionOrigin {
        /// Factory's web app.
        Web = "web",
        /// Factory's desktop app.
        Desktop = "desktop",
        /// The interactive CLI.
        CliTui = "cli_tui",
        /// `droid exec`.
        CliExec = "cli_exec",
        /// An editor, over the Agent Client Protocol.
        CliAcp = "cli_acp",
        /// A message in Slack.
        Slack = "slack",
        /// An issue in Jira.
        Jira = "jira",
        /// An issue in Linear.
        Linear = "linear",
        /// A message in Microsoft Teams.
        MicrosoftTeams = "microsoft-teams",
        /// The sessions endpoint of Factory's HTTP API.
        SessionsApi = "sessions_api",
        /// Another endpoint of Factory's HTTP API.
        Api = "api",
        /// A program that uses an SDK.
        Sdk = "sdk",
        /// An automation that ran on schedule or on an event.
        Automation = "automation",
        /// A session that repairs findings of a readiness report.
        ReadinessRemediation = "readiness-remediation",
        /// A session that writes a readiness report about a repository.
        ReadinessEvaluation = "readiness-evaluation",
        /// A session that writes the wiki of a repository.
        WikiGeneration = "wiki-generation",
        /// A session that sets up the CI job of a wiki.
        WikiCiSetup = "wiki-ci-setup",
    }
}

open_enum! {
    /// The platform of a session's source.
    pub enum SessionPlatform {
        /// Slack.
        Slack = "slack",
        /// Factory's web app.
        Web = "web",
        /// Factory's HTTP API.
        Api = "api",
        /// The sessions endpoint of Factory's HTTP API.
        SessionsApi = "sessions_api",
        /// Jira.
        Jira = "jira",
        /// Linear.
        Linear = "linear",
        /// Microsoft Teams.
        MicrosoftTeams = "microsoft-teams",
        /// The repair of findings of a readiness report.
        ReadinessRemediation = "readiness-remediation",
        /// A readiness report about a repository.
        ReadinessEvaluation = "readiness-evaluation",
        /// An automation.
        Automation = "automation",
        /// The writing of a wiki.
        WikiGeneration = "wiki-generation",
        /// The setup of the CI job of a wiki.
        WikiCiSetup = "wiki-ci-setup",
        /// The interactive CLI.
        Tui = "tui",
        /// Factory's desktop app.
        Desktop = "desktop",
        /// An editor, over the Agent Client Protocol.
        Acp = "acp",
        /// The source is not known.
        Unknown = "unknown",
    }
}

open_enum! {
    /// The kind of client program.
    pub enum ClientType {
        /// Factory's desktop app.
        WebDesktop = "web-desktop",
        /// Factory's web app.
        WebApp = "web-app",
        /// A workspace of Factory's web app.
        WebWorkspace = "web-workspace",
        /// `droid daemon`.
        Daemon = "daemon",
        /// The CLI.
        Cli = "cli",
        /// Factory's service.
        Backend = "backend",
        /// A program that uses an SDK.
        Sdk = "sdk",
    }
}

open_enum! {
    /// The origin of a session title.
    pub enum SessionTitleUpdateType {
        /// The beginning of the first prompt.
        FirstUserMessage = "first_user_message",
        /// Written by a model.
        LlmGenerated = "llm_generated",
        /// Set by the user.
        ManualRename = "manual_rename",
    }
}

open_enum! {
    /// Why a session is closed.
    pub enum CloseReason {
        /// The user cleared the conversation.
        Clear = "clear",
        /// The user logged out.
        Logout = "logout",
        /// The user left the prompt.
        PromptInputExit = "prompt_input_exit",
        /// Any other reason.
        Other = "other",
    }
}

open_enum! {
    /// Where a setting is defined.
    pub enum SettingsLevel {
        /// Settings of the organization.
        Org = "org",
        /// The settings file of one process.
        Runtime = "runtime",
        /// Settings of the user.
        User = "user",
        /// Settings of the project.
        Project = "project",
        /// Settings of a folder inside the project.
        Folder = "folder",
        /// Changed while running.
        Dynamic = "dynamic",
        /// Built into the agent.
        Builtin = "builtin",
    }
}

open_enum! {
    /// Where a skill or subagent is defined.
    pub enum SkillLocation {
        /// In the project.
        Project = "project",
        /// In the user's home directory.
        Personal = "personal",
        /// Built into the agent.
        Builtin = "builtin",
        /// Provided by an automation.
        Automation = "automation",
    }
}
