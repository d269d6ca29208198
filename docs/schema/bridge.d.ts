// The protocol of `musher bridge` as TypeScript types.
// Written by `musher bridge --types`; do not edit.

/** A subagent. */
export interface AgentDefinition {
  /** When to use it. */
  description: string;
  /** `sonnet`, `opus`, `haiku`, `inherit` or a name. */
  model?: string | null;
  /** What it is told first. */
  prompt: string;
  /** The tools it has; all if absent. */
  tools?: string[] | null;
}

/** An agent. */
export type AgentKind = "claude" | "droid" | "engine";

export type BridgeMessage =
  | {
    id: string;
    payload: Created;
    session_id: string;
    type: "session.created";
  }
  | {
    id?: string;
    payload: SdkMessage;
    session_id: string;
    type: "sdk.message";
  }
  | {
    id: string;
    payload: CallbackRequest;
    session_id: string;
    type: "callback.request";
  }
  | {
    id: string;
    payload: QueryResult;
    session_id: string;
    type: "query.result";
  }
  | {
    id: string;
    payload: Nothing;
    session_id: string;
    type: "session.interrupted";
  }
  | {
    id: string;
    payload: Nothing;
    session_id: string;
    type: "session.killed";
  }
  | {
    id?: string;
    payload: ErrorPayload;
    session_id?: string;
    type: "error";
  };

/** A question: may this tool run, or what does the hook say? */
export interface CallbackRequest {
  agent_id?: string;
  blocked_path?: string;
  callback_type: "can_use_tool" | "hook";
  decision_reason?: string;
  decision_reason_type?: string;
  description?: string;
  display_name?: string;
  hook_event?: string;
  hook_input?: Record<string, unknown>;
  requires_user_interaction?: boolean;
  suggestions?: unknown[];
  title?: string;
  tool_input?: Record<string, unknown>;
  tool_name?: string;
  tool_use_id?: string;
}

/** The answer to a callback.request: the first fields for can_use_tool, the others for hooks. */
export interface CallbackResponse {
  behavior?: "allow" | "deny";
  continue?: boolean;
  decision?: string;
  hook_specific_output?: Record<string, unknown>;
  interrupt?: boolean;
  message?: string;
  reason?: string;
  stop_reason?: string;
  suppress_output?: boolean;
  system_message?: string;
  updated_input?: Record<string, unknown>;
  updated_permissions?: unknown[];
}

/** The words for what went wrong. */
export type Code = "INVALID_MESSAGE" | "SESSION_NOT_FOUND" | "SESSION_CREATE_FAILED" | "CALLBACK_TIMEOUT" | "CALLBACK_NOT_FOUND" | "QUERY_METHOD_FAILED" | "SDK_ERROR";

/** The payload of `session.create`. */
export interface CreatePayload {
  /** Content blocks instead of a prompt, such as images. */
  content?: (Record<string, unknown>)[] | null;
  /** The folder to work in. */
  cwd: string;
  /** All of them optional. */
  options?: SessionOptions | null;
  /** The first message. Blank: none is sent. */
  prompt?: string | null;
}

/** The id to resume the session with later. */
export interface Created {
  /** The agent's own id of the session. */
  sdk_session_id: string;
}

/** An error for the front end. */
export interface ErrorPayload {
  /** For programs. */
  code: Code;
  /** More, depending on the code: `path` and `expected`, or `phase`, `exit_code`, `signal`, `stderr`. */
  details?: unknown;
  /** For people. */
  message: string;
}

export type FrontEndMessage =
  | {
    id: string;
    payload: CreatePayload;
    session_id?: string;
    type: "session.create";
  }
  | {
    id: string;
    payload: SendPayload;
    session_id: string;
    type: "session.send";
  }
  | {
    id: string;
    payload?: Nothing;
    session_id: string;
    type: "session.interrupt";
  }
  | {
    id: string;
    payload?: Nothing;
    session_id: string;
    type: "session.kill";
  }
  | {
    id: string;
    payload: CallbackResponse;
    session_id: string;
    type: "callback.response";
  }
  | {
    id: string;
    payload: QueryPayload;
    session_id: string;
    type: "query.call";
  };

/** When a hook is called. */
export interface HookConfig {
  /** The tools it is for, such as `Bash` or `Write|Edit`; all if absent. */
  matcher?: string | null;
}

export interface IgnoreViolations {
  file?: string[] | null;
  network?: string[] | null;
}

/** A server that agents get tools from. */
export interface McpServerConfig {
  /** Its arguments. */
  args?: string[] | null;
  /** The program, of a `stdio` server. */
  command?: string | null;
  /** Its environment. */
  env?: Record<string, string> | null;
  /** What to send along. */
  headers?: Record<string, string> | null;
  /** `stdio` if absent. */
  type?: string | null;
  /** The address, of an `sse` or `http` server. */
  url?: string | null;
}

export type Nothing = Record<string, unknown>;

export type Object = Record<string, unknown>;

/** What the result has to look like. */
export interface OutputFormat {
  /** A JSON schema. */
  schema: Object;
  type: OutputType;
}

export type OutputType = "json_schema";

/** How much may be done without asking. */
export type PermissionMode = "default" | "acceptEdits" | "bypassPermissions" | "plan" | "dontAsk" | "auto";

/** A plugin. */
export interface Plugin {
  /** Its folder. */
  path: string;
  type?: PluginType | null;
}

export type PluginType = "local";

/** The agent's own prompt. */
export interface Preset {
  /** More after it. */
  append?: string | null;
  /** Its name. */
  preset?: PresetName | null;
  type: PresetType;
}

export type PresetName = "claude_code";

export type PresetType = "preset";

/** The payload of `query.call`. */
export interface QueryPayload {
  /** Its arguments. */
  args?: unknown[] | null;
  /** `supportedModels`, `supportedCommands`, `accountInfo`, `mcpServerStatus`, `setModel`, `setPermissionMode`, `setMaxThinkingTokens` or `rewindFiles`. */
  method: string;
}

/** The result of a `query.call`. */
export interface QueryResult {
  /** Why it did not. */
  error?: string | null;
  /** What it gave; null if there is nothing to give. */
  result: unknown;
  /** Whether the method did what it should. */
  success: boolean;
}

export interface SandboxNetwork {
  allow_all_unix_sockets?: boolean | null;
  allow_local_binding?: boolean | null;
  allow_unix_sockets?: string[] | null;
}

/** The sandbox of commands. */
export interface SandboxSettings {
  allow_unsandboxed_commands?: boolean | null;
  auto_allow_bash_if_sandboxed?: boolean | null;
  enabled?: boolean | null;
  excluded_commands?: string[] | null;
  ignore_violations?: IgnoreViolations | null;
  network?: SandboxNetwork | null;
}

/** A message of the agent, as it wrote it. */
export interface SdkMessage {
  type: string;
}

/** The payload of `session.send`. */
export interface SendPayload {
  /** Content blocks instead, such as images. */
  content?: (Record<string, unknown>)[] | null;
  /** What the user says. */
  message?: string | null;
}

/** The options of a session. */
export interface SessionOptions {
  /** Folders besides `cwd`. */
  additional_directories?: string[] | null;
  /** Which agent; `claude` if absent. */
  agent?: AgentKind | null;
  /** Subagents by name. */
  agents?: Record<string, AgentDefinition> | null;
  /** Allows to change to `bypassPermissions` later. */
  allow_dangerously_skip_permissions?: boolean | null;
  /** Tools and rules that need no question. */
  allowed_tools?: string[] | null;
  /** Beta features of the API. */
  betas?: string[] | null;
  /** Tools and rules that are forbidden. */
  disallowed_tools?: string[] | null;
  /** Whether `rewindFiles` works. User messages are then told back with their id. */
  enable_file_checkpointing?: boolean | null;
  /** The model to go on with when the first one is overloaded. */
  fallback_model?: string | null;
  /** Whether to go on with a copy. */
  fork_session?: boolean | null;
  /** Hooks by event; each call of one is a `callback.request`. */
  hooks?: Record<string, HookConfig[]> | null;
  /** Whether pieces of unfinished messages are told. */
  include_partial_messages?: boolean | null;
  /** What the session may cost. */
  max_budget_usd?: number | null;
  /** How much the model may think. */
  max_thinking_tokens?: number | null;
  /** How many calls of the model one message may cause. */
  max_turns?: number | null;
  /** MCP servers by name. */
  mcp_servers?: Record<string, McpServerConfig> | null;
  /** A name or an alias. */
  model?: string | null;
  /** What the result has to look like. */
  output_format?: OutputFormat | null;
  /** How much may be done without asking. */
  permission_mode?: PermissionMode | null;
  /** Plugins. */
  plugins?: Plugin[] | null;
  /** The `sdk_session_id` of a session to go on with. */
  resume?: string | null;
  /** The message to go back to in it. */
  resume_session_at?: string | null;
  /** The sandbox of commands. Keys in `snake_case` or as the agent spells them. */
  sandbox?: SandboxSettings | null;
  /** Which settings files are read; all if absent, none if empty. */
  setting_sources?: SettingSource[] | null;
  /** Whether only `mcp_servers` count, not those of the configuration. */
  strict_mcp_config?: boolean | null;
  /** What the model is told first; nothing if absent. */
  system_prompt?: SystemPrompt | null;
  /** The built-in tools there are at all. */
  tools?: string[] | null;
}

/** A settings file. */
export type SettingSource = "user" | "project" | "local";

/** What the model is told first. */
export type SystemPrompt = string | Preset;
