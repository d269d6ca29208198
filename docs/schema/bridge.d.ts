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

/** A question: may this tool run, or what does the hook say? */
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

/** A message of the agent, as it wrote it. */
export interface SdkMessage {
  type: string;
}

/** The payload of `session.create`. */
export interface CreatePayload {
  /** The first message. Blank: none is sent. */
  prompt?: string | null;
  /** Content blocks instead of a prompt, such as images. */
  content?: (Record<string, unknown>)[] | null;
  /** The folder to work in. */
  cwd: string;
  /** All of them optional. */
  options?: SessionOptions | null;
}

/** The options of a session. */
export interface SessionOptions {
  /** Which agent; `claude` if absent. */
  agent?: AgentKind | null;
  /** A name or an alias. */
  model?: string | null;
  /** How much may be done without asking. */
  permission_mode?: PermissionMode | null;
  /** Tools and rules that need no question. */
  allowed_tools?: string[] | null;
  /** Tools and rules that are forbidden. */
  disallowed_tools?: string[] | null;
  /** What the model is told first; nothing if absent. */
  system_prompt?: SystemPrompt | null;
  /** How many calls of the model one message may cause. */
  max_turns?: number | null;
  /** What the session may cost. */
  max_budget_usd?: number | null;
  /** How much the model may think. */
  max_thinking_tokens?: number | null;
  /** Whether pieces of unfinished messages are told. */
  include_partial_messages?: boolean | null;
  /** Whether `rewindFiles` works. User messages are then told back with their id. */
  enable_file_checkpointing?: boolean | null;
  /** Folders besides `cwd`. */
  additional_directories?: string[] | null;
  /** MCP servers by name. */
  mcp_servers?: Record<string, McpServerConfig> | null;
  /** Subagents by name. */
  agents?: Record<string, AgentDefinition> | null;
  /** Hooks by event; each call of one is a `callback.request`. */
  hooks?: Record<string, HookConfig[]> | null;
  /** The sandbox of commands. Keys in `snake_case` or as the agent spells them. */
  sandbox?: SandboxSettings | null;
  /** Which settings files are read; all if absent, none if empty. */
  setting_sources?: SettingSource[] | null;
  /** Beta features of the API. */
  betas?: string[] | null;
  /** What the result has to look like. */
  output_format?: OutputFormat | null;
  /** The model to go on with when the first one is overloaded. */
  fallback_model?: string | null;
  /** The `sdk_session_id` of a session to go on with. */
  resume?: string | null;
  /** The message to go back to in it. */
  resume_session_at?: string | null;
  /** Whether to go on with a copy. */
  fork_session?: boolean | null;
  /** Allows to change to `bypassPermissions` later. */
  allow_dangerously_skip_permissions?: boolean | null;
  /** The built-in tools there are at all. */
  tools?: string[] | null;
  /** Whether only `mcp_servers` count, not those of the configuration. */
  strict_mcp_config?: boolean | null;
  /** Plugins. */
  plugins?: Plugin[] | null;
}

/** An agent. */
export type AgentKind = "claude" | "droid" | "engine";

/** How much may be done without asking. */
export type PermissionMode = "default" | "acceptEdits" | "bypassPermissions" | "plan" | "dontAsk" | "auto";

/** What the model is told first. */
export type SystemPrompt = string | Preset;

/** The agent's own prompt. */
export interface Preset {
  type: PresetType;
  /** Its name. */
  preset?: PresetName | null;
  /** More after it. */
  append?: string | null;
}

export type PresetType = "preset";

export type PresetName = "claude_code";

/** A server that agents get tools from. */
export interface McpServerConfig {
  /** `stdio` if absent. */
  type?: string | null;
  /** The program, of a `stdio` server. */
  command?: string | null;
  /** Its arguments. */
  args?: string[] | null;
  /** Its environment. */
  env?: Record<string, string> | null;
  /** The address, of an `sse` or `http` server. */
  url?: string | null;
  /** What to send along. */
  headers?: Record<string, string> | null;
}

/** A subagent. */
export interface AgentDefinition {
  /** When to use it. */
  description: string;
  /** What it is told first. */
  prompt: string;
  /** The tools it has; all if absent. */
  tools?: string[] | null;
  /** `sonnet`, `opus`, `haiku`, `inherit` or a name. */
  model?: string | null;
}

/** When a hook is called. */
export interface HookConfig {
  /** The tools it is for, such as `Bash` or `Write|Edit`; all if absent. */
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

/** What the result has to look like. */
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
  /** Its folder. */
  path: string;
}

export type PluginType = "local";

/** The payload of `session.send`. */
export interface SendPayload {
  /** What the user says. */
  message?: string | null;
  /** Content blocks instead, such as images. */
  content?: (Record<string, unknown>)[] | null;
}

/** The payload of `query.call`. */
export interface QueryPayload {
  /** `supportedModels`, `supportedCommands`, `accountInfo`, `mcpServerStatus`, `setModel`, `setPermissionMode`, `setMaxThinkingTokens` or `rewindFiles`. */
  method: string;
  /** Its arguments. */
  args?: unknown[] | null;
}

/** The id to resume the session with later. */
export interface Created {
  /** The agent's own id of the session. */
  sdk_session_id: string;
}

/** The result of a `query.call`. */
export interface QueryResult {
  /** Whether the method did what it should. */
  success: boolean;
  /** What it gave; null if there is nothing to give. */
  result: unknown;
  /** Why it did not. */
  error?: string | null;
}

/** An error for the front end. */
export interface ErrorPayload {
  /** For programs. */
  code: Code;
  /** For people. */
  message: string;
  /** More, depending on the code: `path` and `expected`, or `phase`, `exit_code`, `signal`, `stderr`. */
  details?: unknown;
}

/** The words for what went wrong. */
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
