// The protocol of `musher bridge` as TypeScript types.
// Written by `musher bridge --types`; do not edit.

export type Nothing = Record<string, unknown>;

/** The answer to a callback.request: the first fields for can_use_tool, the others for hooks. */
export interface CallbackResponse {
  behavior?: "allow" | "deny";
  updated_input?: Record<string, unknown>;
  updated_permissions?: unknown[];
  message?: string;
  interrupt?: boolean;
  continue?: boolean;
  suppress_output?: boolean;
  stop_reason?: string;
  decision?: string;
  system_message?: string;
  reason?: string;
  hook_specific_output?: Record<string, unknown>;
}

/** A permission request, or a call of a hook. */
export interface CallbackRequest {
  callback_type: "can_use_tool" | "hook";
  tool_name?: string;
  tool_input?: Record<string, unknown>;
  suggestions?: unknown[];
  tool_use_id?: string;
  blocked_path?: string;
  decision_reason?: string;
  decision_reason_type?: string;
  agent_id?: string;
  title?: string;
  display_name?: string;
  description?: string;
  requires_user_interaction?: boolean;
  hook_event?: string;
  hook_input?: Record<string, unknown>;
}

/** A message of the agent, unchanged. */
export interface SdkMessage {
  type: string;
}

/** The payload of `session.create`. */
export interface CreatePayload {
  /** The first message. If it is blank, none is sent. */
  prompt?: string | null;
  /** Content blocks instead of a prompt, such as images. */
  content?: (Record<string, unknown>)[] | null;
  /** The working directory. */
  cwd: string;
  /** The options; all are optional. */
  options?: SessionOptions | null;
}

/** The options of a session. */
export interface SessionOptions {
  /** The agent; `claude` if absent. */
  agent?: AgentKind | null;
  /** A model name or alias. */
  model?: string | null;
  /** The permission mode at the start. */
  permission_mode?: PermissionMode | null;
  /** Tools and rules that need no permission. */
  allowed_tools?: string[] | null;
  /** Tools and rules that are denied. */
  disallowed_tools?: string[] | null;
  /** The system prompt; empty if absent. */
  system_prompt?: SystemPrompt | null;
  /** Maximum number of model calls per message. */
  max_turns?: number | null;
  /** Maximum cost of the session, in US dollars. */
  max_budget_usd?: number | null;
  /** Maximum number of thinking tokens. */
  max_thinking_tokens?: number | null;
  /** Whether parts of unfinished messages are sent. */
  include_partial_messages?: boolean | null;
  /** Whether `rewindFiles` works. User messages are then repeated with their id. */
  enable_file_checkpointing?: boolean | null;
  /** Additional directories besides `cwd`. */
  additional_directories?: string[] | null;
  /** MCP servers by name. */
  mcp_servers?: Record<string, McpServerConfig> | null;
  /** Subagents by name. */
  agents?: Record<string, AgentDefinition> | null;
  /** Hooks by event; each call is a `callback.request`. */
  hooks?: Record<string, HookConfig[]> | null;
  /** The sandbox of commands. Keys in `snake_case` or in the agent's spelling. */
  sandbox?: SandboxSettings | null;
  /** The settings files to read; all if absent, none if empty. */
  setting_sources?: SettingSource[] | null;
  /** Beta features of the API. */
  betas?: string[] | null;
  /** The format of the result. */
  output_format?: OutputFormat | null;
  /** The model to use when the first one is overloaded. */
  fallback_model?: string | null;
  /** The `sdk_session_id` of a session to resume. */
  resume?: string | null;
  /** The message of that session to rewind to. */
  resume_session_at?: string | null;
  /** Whether to continue a copy of the session. */
  fork_session?: boolean | null;
  /** Allows a later change to `bypassPermissions`. */
  allow_dangerously_skip_permissions?: boolean | null;
  /** The available built-in tools. */
  tools?: string[] | null;
  /** Whether only `mcp_servers` are used, without those of the configuration. */
  strict_mcp_config?: boolean | null;
  /** Plugins. */
  plugins?: Plugin[] | null;
}

/** An agent. */
export type AgentKind = "claude" | "droid" | "engine";

/** How much may be done without asking. */
export type PermissionMode = "default" | "acceptEdits" | "bypassPermissions" | "plan" | "dontAsk" | "auto";

/** The system prompt. */
export type SystemPrompt = string | Preset;

/** The agent's own prompt. */
export interface Preset {
  type: PresetType;
  /** The name of the preset. */
  preset?: PresetName | null;
  /** A text to append. */
  append?: string | null;
}

export type PresetType = "preset";

export type PresetName = "claude_code";

/** An MCP server. */
export interface McpServerConfig {
  /** `stdio` if absent. */
  type?: string | null;
  /** The program of a `stdio` server. */
  command?: string | null;
  /** The arguments of the program. */
  args?: string[] | null;
  /** The environment of the program. */
  env?: Record<string, string> | null;
  /** The URL of an `sse` or `http` server. */
  url?: string | null;
  /** HTTP headers to send. */
  headers?: Record<string, string> | null;
}

/** A subagent. */
export interface AgentDefinition {
  /** When to use the subagent. */
  description: string;
  /** The system prompt of the subagent. */
  prompt: string;
  /** The tools of the subagent; all if absent. */
  tools?: string[] | null;
  /** `sonnet`, `opus`, `haiku`, `inherit` or a model name. */
  model?: string | null;
}

/** A hook. */
export interface HookConfig {
  /** The tools it applies to, such as `Bash` or `Write|Edit`; all if absent. */
  matcher?: string | null;
}

/** The sandbox of commands. */
export interface SandboxSettings {
  enabled?: boolean | null;
  auto_allow_bash_if_sandboxed?: boolean | null;
  excluded_commands?: string[] | null;
  allow_unsandboxed_commands?: boolean | null;
  network?: SandboxNetwork | null;
  ignore_violations?: IgnoreViolations | null;
}

export interface SandboxNetwork {
  allow_local_binding?: boolean | null;
  allow_unix_sockets?: string[] | null;
  allow_all_unix_sockets?: boolean | null;
}

export interface IgnoreViolations {
  file?: string[] | null;
  network?: string[] | null;
}

/** A settings file. */
export type SettingSource = "user" | "project" | "local";

/** The format of the result. */
export interface OutputFormat {
  type: OutputType;
  /** A JSON schema. */
  schema: Object;
}

export type OutputType = "json_schema";

export type Object = Record<string, unknown>;

/** A plugin. */
export interface Plugin {
  type?: PluginType | null;
  /** The directory of the plugin. */
  path: string;
}

export type PluginType = "local";

/** The payload of `session.send`. */
export interface SendPayload {
  /** The text of the user. */
  message?: string | null;
  /** Content blocks instead of a text, such as images. */
  content?: (Record<string, unknown>)[] | null;
}

/** The payload of `query.call`. */
export interface QueryPayload {
  /** `supportedModels`, `supportedCommands`, `accountInfo`, `mcpServerStatus`, `setModel`, `setPermissionMode`, `setMaxThinkingTokens` or `rewindFiles`. */
  method: string;
  /** The arguments of the method. */
  args?: unknown[] | null;
}

/** The id for resuming the session later. */
export interface Created {
  /** The agent's own id of the session. */
  sdk_session_id: string;
}

/** The result of a `query.call`. */
export interface QueryResult {
  /** Whether the method succeeded. */
  success: boolean;
  /** The result; null if there is none. */
  result: unknown;
  /** The error. */
  error?: string | null;
}

/** An error for the front end. */
export interface ErrorPayload {
  /** The code, for programs. */
  code: Code;
  /** The message, for users. */
  message: string;
  /** More details, depending on the code: `path` and `expected`, or `phase`, `exit_code`, `signal`, `stderr`. */
  details?: unknown;
}

/** The error codes. */
export type Code = "INVALID_MESSAGE" | "SESSION_NOT_FOUND" | "SESSION_CREATE_FAILED" | "CALLBACK_TIMEOUT" | "CALLBACK_NOT_FOUND" | "QUERY_METHOD_FAILED" | "SDK_ERROR";

export type FrontEndMessage =
  | {
    type: "session.create";
    id: string;
    session_id?: string;
    payload: CreatePayload;
  }
  | {
    type: "session.send";
    id: string;
    session_id: string;
    payload: SendPayload;
  }
  | {
    type: "session.interrupt";
    id: string;
    session_id: string;
    payload?: Nothing;
  }
  | {
    type: "session.kill";
    id: string;
    session_id: string;
    payload?: Nothing;
  }
  | {
    type: "callback.response";
    id: string;
    session_id: string;
    payload: CallbackResponse;
  }
  | {
    type: "query.call";
    id: string;
    session_id: string;
    payload: QueryPayload;
  };

export type BridgeMessage =
  | {
    type: "session.created";
    id: string;
    session_id: string;
    payload: Created;
  }
  | {
    type: "sdk.message";
    id?: string;
    session_id: string;
    payload: SdkMessage;
  }
  | {
    type: "callback.request";
    id: string;
    session_id: string;
    payload: CallbackRequest;
  }
  | {
    type: "query.result";
    id: string;
    session_id: string;
    payload: QueryResult;
  }
  | {
    type: "session.interrupted";
    id: string;
    session_id: string;
    payload: Nothing;
  }
  | {
    type: "session.killed";
    id: string;
    session_id: string;
    payload: Nothing;
  }
  | {
    type: "error";
    id?: string;
    session_id?: string;
    payload: ErrorPayload;
  };
