// Types of the protocol, written by `cargo xtask console-types` from crates/wire. Do not edit.

/** The calls of the page. */
export interface Calls {
  "daemon.initialize_session": { params: InitializeSessionParams; result: InitializeSessionResult };
  "daemon.load_session": { params: LoadSessionParams; result: LoadSessionResult };
  "daemon.add_user_message": { params: AddUserMessageParams; result: Empty };
  "daemon.interrupt_session": { params: Empty; result: Empty };
  "daemon.update_session_settings": { params: UpdateSessionSettingsParams; result: Empty };
  "daemon.fork_session": { params: ForkSessionParams; result: ForkSessionResult };
  "daemon.compact_session": { params: CompactSessionParams; result: CompactSessionResult };
  "daemon.rename_session": { params: RenameSessionParams; result: Success };
  "daemon.get_rewind_info": { params: GetRewindInfoParams; result: GetRewindInfoResult };
  "daemon.execute_rewind": { params: ExecuteRewindParams; result: ExecuteRewindResult };
  "daemon.archive_session": { params: SessionIdParams; result: ArchiveSessionResult };
  "daemon.unarchive_session": { params: SessionIdParams; result: ArchiveSessionResult };
  "daemon.validate_working_directory": { params: ValidateWorkingDirectoryParams; result: ValidateWorkingDirectoryResult };
}

export interface ValidateWorkingDirectoryResult {
  /** Whether the path is a directory that sessions can use. */
  isValid: boolean;
  /** The absolute path, if it is valid. */
  resolvedPath?: string;
  /** Why the path is not valid. */
  error?: string;
}

export interface ValidateWorkingDirectoryParams {
  /** The path to check. */
  workingDirectory: string;
}

export interface ArchiveSessionResult {
  /** Whether the call succeeded. */
  success: boolean;
  /** Time of archiving (ISO 8601); absent if the session is not archived. */
  archivedAt?: string;
}

export interface SessionIdParams {
  /** The session's id. */
  sessionId: string;
}

export interface ExecuteRewindResult {
  /** Id of the new session. Load it to use it. */
  newSessionId: string;
  /** Number of files restored. */
  restoredCount?: number;
  /** Number of files deleted. */
  deletedCount?: number;
  /** Number of files that could not be restored. */
  failedRestoreCount?: number;
  /** Number of files that could not be deleted. */
  failedDeleteCount?: number;
}

export interface ExecuteRewindParams {
  /** Id of the session to rewind. */
  sessionId: string;
  /** Id of the user message to go back to; it is not part of the fork. */
  messageId: string;
  /** Files to restore, from `availableFiles`. */
  filesToRestore: RewindFile[];
  /** Files to delete, from `createdFiles`. */
  filesToDelete: RewindCreatedFile[];
  /** Title of the new session. */
  forkTitle: string;
}

export interface RewindCreatedFile {
  /** Path of the file. */
  filePath: string;
}

export interface RewindFile {
  /** Path of the file. */
  filePath: string;
  /** Hash of the earlier content: 64 hexadecimal digits. */
  contentHash: string;
  /** Size of the earlier content in bytes. */
  size: number;
}

export interface GetRewindInfoResult {
  /** Files whose earlier content can be restored. */
  availableFiles: RewindFile[];
  /** Files that did not exist before that message. */
  createdFiles: RewindCreatedFile[];
  /** Files whose earlier content is no longer stored. */
  evictedFiles: RewindEvictedFile[];
}

export interface RewindEvictedFile {
  /** Path of the file. */
  filePath: string;
  /** Why the content is no longer stored. */
  reason?: string;
}

export interface GetRewindInfoParams {
  /** The session's id. */
  sessionId: string;
  /** Id of the user message to go back to. Unknown ids give empty lists. */
  messageId: string;
}

export interface Success {
  /** Whether the call succeeded. */
  success: boolean;
}

export interface RenameSessionParams {
  /** The new title. */
  title: string;
}

export interface CompactSessionResult {
  /** Id of the session that holds the summary. Load it to use it. */
  newSessionId: string;
  /** Number of messages that the summary replaces. */
  removedCount?: number;
}

export interface CompactSessionParams {
  /** Additional instructions for the summary. */
  customInstructions?: string;
}

export interface ForkSessionResult {
  /** Id of the new session. Load it to use it. */
  newSessionId: string;
}

export interface ForkSessionParams {
  /** Title of the new session. */
  title?: string;
  /** Labels of the new session. */
  tags?: Tag[];
}

export interface Tag {
  /** Name of the label. */
  name: string;
  /** Additional data of the label, as strings. */
  metadata?: any;
}

export interface Empty {
}

export interface UpdateSessionSettingsParams {
  /** The new model. Unknown ids are stored and fail at the next turn. */
  modelId?: string;
  /** Reasoning effort of the main model. */
  reasoningEffort?: ReasoningEffort;
  /** Legacy form that combines interaction mode and autonomy level. */
  autonomyMode?: AutonomyMode;
  /** Whether the session executes, plans or runs missions. */
  interactionMode?: InteractionMode;
  /** Which tool calls run without a permission request. */
  autonomyLevel?: AutonomyLevel;
  /** Model to use while planning; absent means the main model. */
  specModeModelId?: string;
  /** Reasoning effort while planning; absent means the main model's effort. */
  specModeReasoningEffort?: ReasoningEffort;
  /** Ids of tools to switch on in addition to the default selection. */
  enabledToolIds?: string[];
  /** Ids of tools to switch off. */
  disabledToolIds?: string[];
  /** Ids of tools to offer on top of the selection; `restrictToolIds` does not remove them. */
  additionalToolIds?: string[];
  /** If not empty, only these tools are available. */
  restrictToolIds?: string[];
  /** Labels that replace the current ones. */
  tags?: Tag[];
  /** Number of tokens above which the conversation is compacted. No effect in droid 0.225.2. */
  compactionTokenLimit?: number;
  /** Whether to compact the conversation when it exceeds the limit. */
  compactionThresholdCheckEnabled?: boolean;
}

export type ReasoningEffort = "none" | "dynamic" | "off" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | (string & {});

export type AutonomyLevel = "off" | "low" | "medium" | "high" | (string & {});

export type InteractionMode = "auto" | "spec" | "agi" | (string & {});

export type AutonomyMode = "normal" | "spec" | "auto-low" | "auto-medium" | "auto-high" | (string & {});

export interface AddUserMessageParams {
  /** The prompt; may be empty. A leading `/name` invokes a custom slash command. */
  text: string;
  /** Id to use for the message and for the turn; generated if absent. 0.99 and older ignore it. */
  messageId?: string;
  /** Images (JPEG, PNG, GIF or WebP), base64. */
  images?: Source[];
  /** Documents: PDF as base64, or plain text. */
  files?: Source[];
  /** Form that the final answer must have. Applies to this turn only. */
  outputFormat?: OutputFormat;
  /** Where the message comes from; repeated in the stored message. */
  userMessageSource?: SessionOrigin;
  /** When to process the message if a turn is running; a daemon adds `end_of_turn` if absent. */
  queuePlacement?: string;
  /** Whether to wait while another process runs a turn of the session, instead of refusing the message. Musher's engine only. */
  waitForSession?: boolean;
  /** Whether to add the message without starting a turn; declared for daemons. Default: false. */
  skipAgentLoop?: boolean;
  /** Role of the message; declared for daemons. Default: `user`. */
  role?: MessageRole;
  /** Audience of the message; declared for daemons. */
  visibility?: Visibility;
}

export type Visibility = "both" | "llm_only" | "user_only" | (string & {});

export type MessageRole = "user" | "assistant" | "tool" | "system" | (string & {});

export type SessionOrigin = "web" | "desktop" | "cli_tui" | "cli_exec" | "cli_acp" | "slack" | "jira" | "linear" | "microsoft-teams" | "sessions_api" | "api" | "sdk" | "automation" | "readiness-remediation" | "readiness-evaluation" | "wiki-generation" | "wiki-ci-setup" | (string & {});

export interface OutputFormat {
  /** Always `json_schema`. */
  type: string;
  /** The JSON Schema that the answer must satisfy. */
  schema: any;
}

export interface Source {
  /** Encoding of `data`: `base64` or `text`. */
  type: string;
  /** MIME type, such as `image/png`. */
  mediaType: string;
  /** The encoded bytes, or the text. */
  data: string;
  /** Name of the file. */
  name?: string;
  /** Path of the file on the client's machine. */
  path?: string;
  /** MIME type of a text file, if it is not `text/plain`. */
  mime?: string;
  /** Text extracted from a PDF. */
  parsedData?: string;
}

export interface LoadSessionResult {
  /** The conversation. */
  session: SessionData;
  /** Id of the loaded session. musher only. */
  sessionId?: string;
  /** Whether older messages were left out of `session`. */
  hasOlderMessages?: boolean;
  /** Id of the machine that runs the agent. */
  hostId?: string;
  /** Time of the last change, in seconds since 1970. */
  updatedAt?: number;
  /** The complete settings in effect. */
  settings?: SessionSettings;
  /** The models that the session can use. */
  availableModels?: ModelInfo[];
  /** Whether a turn is running. */
  isAgentLoopInProgress?: boolean;
  /** Current working state of the agent. */
  workingState?: DroidWorkingState;
  /** Working directory of the session, as an absolute path. */
  cwd?: string;
  /** Tokens used by the session itself. */
  tokenUsage?: TokenUsage;
  /** Tokens used by the session and its subagents. */
  inclusiveTokenUsage?: TokenUsage;
  /** Tokens of the latest model call. */
  lastCallTokenUsage?: LastCallTokenUsage;
  /** Permission requests without a decision yet. */
  pendingPermissions?: PendingPermission[];
  /** Questions without an answer yet. */
  pendingAskUserRequests?: PendingAskUser[];
  /** Messages that wait for the running turn to end. */
  queuedMessages?: QueuedMessage[];
  /** The client's MCP servers, repeated. */
  mcpServers?: McpServerConfig[];
  /** The repository that contains the working directory. */
  gitRepo?: GitRepo;
  /** Id of the parent session, if this one belongs to a subagent. */
  callingSessionId?: string;
  /** Id of the parent's tool call that started this session. */
  callingToolUseId?: string;
  /** Role of the session in a mission. */
  decompSessionType?: DecompSessionType;
  /** State of the session's mission. Form not documented. */
  mission?: any;
  /** State of the session's loop. Form not documented; deprecated by the vendor. */
  loopState?: any;
  /** Sent by our own agents only, to clients that announced capabilities. */
  agentCapabilities?: AgentCapabilities;
}

export interface AgentCapabilities {
  /** The files and terminals of the client's editor that the agent uses. */
  "musher.editor"?: EditorCapabilities;
}

export interface EditorCapabilities {
  /** `musher.read_text_file` */
  readTextFile?: boolean;
  /** `musher.write_text_file` */
  writeTextFile?: boolean;
  /** All requests about terminals. */
  terminal?: boolean;
}

export type DecompSessionType = "orchestrator" | "worker" | (string & {});

export interface GitRepo {
  /** Owner of the repository, from its remote. */
  owner?: string;
  /** Name of the repository. */
  repoName?: string;
}

export interface McpServerConfig {
  /** Name of the server; a prefix of its tools' names. */
  name: string;
  /** Transport; absent for stdio. */
  type?: McpServerType;
  /** Program to start; stdio only. */
  command?: string;
  /** Arguments of the program; stdio only. */
  args?: string[];
  /** Environment variables of the program; stdio only. */
  env?: any;
  /** URL of the server; `http` and `sse` only. */
  url?: string;
  /** Headers of each HTTP request. */
  headers?: HttpHeader[];
  /** `false` to disable OAuth, or an object with scopes and client data. */
  oauth?: any;
}

export interface HttpHeader {
  /** Name of the header. */
  name: string;
  /** Value of the header. */
  value: string;
}

export type McpServerType = "stdio" | "http" | "sse" | (string & {});

export interface QueuedMessage {
  /** The prompt. */
  text: string;
  /** Id of the `add_user_message` request. */
  requestId: string;
  /** Id that the message will have. */
  messageId?: string;
  /** When the message is processed, such as `end_of_turn`. */
  queuePlacement?: string;
  /** Attached images. */
  images?: Source[];
  /** Attached documents. */
  files?: Source[];
}

export interface PendingAskUser {
  /** JSON-RPC id to use in the response. */
  requestId: string;
  /** Id of the tool call that asks. */
  toolCallId: string;
  /** The questions, in display order. */
  questions: Question[];
}

export interface Question {
  /** Position of the question, counted from 1. Repeated in the answer. */
  index: number;
  /** Text of the question. */
  question: string;
  /** Short heading for the question. */
  topic?: string;
  /** Suggested answers. Free text is accepted as well. */
  options?: string[];
  /** Whether several options may be selected. Default: false. */
  multiSelect?: boolean;
}

export interface PendingPermission {
  /** JSON-RPC id to use in the response. */
  requestId: string;
  /** The tool calls to approve or deny together. */
  toolUses: PermissionToolUse[];
  /** The decisions that the agent accepts, in display order. */
  options: PermissionOption[];
  /** Meaning not documented; declared in the Python SDK. */
  associatedSessionIds?: string[];
}

export interface PermissionOption {
  /** Text for display. */
  label: string;
  /** The decision to send back if the user selects this option. */
  value: ToolConfirmationOutcome;
  /** Color of the option while it is selected, as `#rrggbb`. */
  selectedColor?: string;
  /** Text to show before the label while the option is selected. */
  selectedPrefix?: string;
}

export type ToolConfirmationOutcome = "proceed_once" | "proceed_always" | "proceed_always_file" | "proceed_auto_run" | "proceed_auto_run_low" | "proceed_auto_run_medium" | "proceed_auto_run_high" | "proceed_new_session" | "proceed_new_session_low" | "proceed_new_session_medium" | "proceed_new_session_high" | "proceed_edit" | "proceed_always_tools" | "proceed_always_server" | "cancel" | (string & {});

export interface PermissionToolUse {
  /** The tool call with its complete input. */
  toolUse: ToolUse;
  /** Kind of the request; equals the `type` of `details`. */
  confirmationType: ToolConfirmationType;
  /** Effect of the tool call, for display. */
  details: PermissionDetails;
}

export type PermissionDetails =
  | ({ type: "exec" } & ExecDetails)
  | ({ type: "create" } & CreateDetails)
  | ({ type: "edit" } & EditDetails)
  | ({ type: "apply_patch" } & ApplyPatchDetails)
  | ({ type: "mcp_tool" } & McpToolDetails)
  | ({ type: "exit_spec_mode" } & ExitSpecModeDetails)
  | ({ type: "ask_user" } & AskUserDetails)
  | ({ type: "propose_mission" } & ProposeMissionDetails)
  | ({ type: "start_mission_run" } & StartMissionRunDetails)
  | ({ type: "sandbox_violation" } & SandboxViolationDetails)
  | ({ type: "droid_shield_violation" } & DroidShieldViolationDetails);

export interface DroidShieldViolationDetails {
  /** The command that was blocked. */
  command?: string;
  /** Explanation for display. */
  reason?: string;
}

export interface SandboxViolationDetails {
  /** Name of the tool whose call was blocked. */
  violatingToolName?: string;
  /** The path, host or tool that was accessed. */
  target?: string;
  /** The operation that was attempted. */
  operationType?: SandboxOperationType;
  /** Which restriction was violated. */
  violationType?: SandboxViolationType;
  /** Explanation for display. */
  reason?: string;
  /** Whether a deny list or a missing permission blocked the operation. */
  violationReason?: SandboxViolationReason;
  /** Whether the organization's settings deny the operation. */
  isOrgDeny?: boolean;
}

export type SandboxViolationReason = "deny-list" | "not-allowed" | (string & {});

export type SandboxViolationType = "filesystem-read" | "filesystem-write" | "network" | "tool" | (string & {});

export type SandboxOperationType = "read" | "write" | "network" | "tool" | (string & {});

export interface StartMissionRunDetails {
  /** Number of missions that are running. */
  runningMissionCount?: number;
  /** Ids of the sessions of the running missions. */
  runningMissionSessionIds?: string[];
}

export interface ProposeMissionDetails {
  /** Text of the proposal. */
  proposal: string;
  /** Title of the mission. */
  title?: string;
}

export interface AskUserDetails {
  /** The questions in the text form that the model wrote. */
  questionnaire: string;
  /** The parsed questions, `{questions: [...]}`. */
  parsed?: any;
  /** Why the questionnaire could not be parsed, `{message, line?}`. */
  parseError?: any;
}

export interface ExitSpecModeDetails {
  /** The plan, as Markdown. */
  plan: string;
  /** Title of the plan. */
  title?: string;
  /** Names of alternative plans. Sent by 0.57 only. */
  optionNames?: string[];
}

export interface McpToolDetails {
  /** Qualified name, `server___tool`. */
  toolName: string;
  /** Risk of the call: `low` for tools marked as read-only, otherwise `high`. */
  impactLevel?: ImpactLevel;
  /** Name of the MCP server. */
  serverName?: string;
  /** Name of the tool on its server. */
  actualToolName?: string;
}

export type ImpactLevel = "low" | "medium" | "high" | (string & {});

export interface ApplyPatchDetails {
  /** Path of the file. */
  filePath: string;
  /** Last component of the path. */
  fileName?: string;
  /** Text of the patch. */
  patchContent?: string;
  /** Content of the whole file before the patch. */
  oldContent?: string;
  /** Content of the whole file after the patch. */
  newContent?: string;
  /** The patched files, if there are several. Element type not documented. */
  files?: any;
}

export interface EditDetails {
  /** Path of the file. */
  filePath: string;
  /** Last component of the path. */
  fileName?: string;
  /** Content of the whole file before the edit. */
  oldContent?: string;
  /** Content of the whole file after the edit. */
  newContent?: string;
}

export interface CreateDetails {
  /** Path of the file. */
  filePath: string;
  /** Last component of the path. */
  fileName?: string;
  /** Content of the new file. */
  content?: string;
}

export interface ExecDetails {
  /** The complete command line. */
  fullCommand: string;
  /** First word of the command line. */
  command?: string;
  /** The commands that the agent found in the command line. */
  extractedCommands?: string[];
  /** Risk of the command, as rated by the agent. */
  impactLevel?: ImpactLevel;
  /** Reason for the rating, usually written by the model. */
  riskLevelReason?: string;
  /** Whether the command would run without the sandbox, in which it would run otherwise. Only musher sends it. */
  "musher.leavesSandbox"?: boolean;
}

export type ToolConfirmationType = "edit" | "exec" | "create" | "ask_user" | "exit_spec_mode" | "propose_mission" | "start_mission_run" | "apply_patch" | "mcp_tool" | "sandbox_violation" | "droid_shield_violation" | (string & {});

export interface ToolUse {
  /** Id of the tool call; results refer to it. */
  id: string;
  /** Name of the tool, as the model calls it. */
  name: string;
  /** Arguments of the call, as a JSON object. */
  input: any;
  /** Always `tool_use`. Absent inside a [`ContentBlock`], which prints the tag itself. */
  type?: string;
  /** Signature that the model provider requires when the call is sent back. */
  thoughtSignature?: string;
}

export interface LastCallTokenUsage {
  /** Tokens sent to the model, without cached ones. */
  inputTokens?: number;
  /** Tokens written by the model. */
  outputTokens?: number;
  /** Tokens read from the provider's prompt cache. */
  cacheReadTokens?: number;
}

export interface TokenUsage {
  /** Tokens sent to the model, without cached ones. */
  inputTokens: number;
  /** Tokens written by the model. */
  outputTokens: number;
  /** Tokens written to the provider's prompt cache. */
  cacheCreationTokens?: number;
  /** Tokens read from the provider's prompt cache. */
  cacheReadTokens?: number;
  /** Tokens spent on reasoning. */
  thinkingTokens?: number;
  /** Cost in the vendor's credits. */
  factoryCredits?: number;
}

export type DroidWorkingState = "idle" | "thinking" | "streaming_assistant_message" | "waiting_for_tool_confirmation" | "executing_tool" | "compacting_conversation" | (string & {});

export interface ModelInfo {
  /** Id to use in `modelId` settings; `custom:...` for custom models. */
  id: string;
  /** Id of the model at its provider. Absent for custom models. */
  modelId?: string;
  /** API that serves the model. */
  modelProvider?: ModelProvider;
  /** Name for display. */
  displayName?: string;
  /** Short name for display. */
  shortDisplayName?: string;
  /** Reasoning efforts that the model accepts. */
  supportedReasoningEfforts?: ReasoningEffort[];
  /** Reasoning effort if none is chosen. */
  defaultReasoningEffort?: ReasoningEffort;
  /** Whether the user's settings define the model. */
  isCustom?: boolean;
  /** Whether the vendor advises against the model. */
  deprecated?: boolean;
  /** Date from which the model is deprecated or unavailable. */
  deprecationDate?: string;
  /** Whether the model rejects images. Default: false. */
  noImageSupport?: boolean;
  /** Whether the model can generate images. */
  supportsImageGeneration?: boolean;
  /** Whether the model accepts PDF documents. */
  supportsPDFs?: boolean;
  /** Meaning not documented; seen in captures. By its name, the factor that converts tokens to credits. */
  tokenMultiplier?: number;
  /** Whether to mark the model as new. */
  isNew?: boolean;
  /** Text of the mark for a new model. */
  newBadgeLabel?: string;
  /** Promotional text for display. */
  promoLabel?: string;
  /** Whether the model runs in the United States. */
  usesUSBasedInference?: boolean;
  /** Meaning not documented; declared in the Python SDK. */
  compactThroughLatestSignedThinking?: boolean;
  /** Whether the model is unavailable; in results of `list_models` only. */
  disabled?: boolean;
  /** Why the model is unavailable; present if `disabled` is true. */
  disabledReason?: string;
}

export type ModelProvider = "anthropic" | "openai" | "generic-chat-completion-api" | "factory" | "google" | "xai" | "voyage" | (string & {});

export interface SessionSettings {
  /** Id of the main model. */
  modelId?: string;
  /** Reasoning effort of the main model. */
  reasoningEffort?: ReasoningEffort;
  /** Legacy form that combines interaction mode and autonomy level. */
  autonomyMode?: AutonomyMode;
  /** Whether the session executes, plans or runs missions. */
  interactionMode?: InteractionMode;
  /** Which tool calls run without a permission request. */
  autonomyLevel?: AutonomyLevel;
  /** Autonomy levels that the user may choose. */
  availableAutonomyLevels?: AutonomyLevel[];
  /** Model to use while planning; absent means the main model. */
  specModeModelId?: string;
  /** Reasoning effort while planning; absent means the main model's effort. */
  specModeReasoningEffort?: ReasoningEffort;
  /** Whether the conversation is compacted when it exceeds the limit. */
  compactionThresholdCheckEnabled?: boolean;
  /** Number of tokens above which the conversation is compacted. */
  compactionTokenLimit?: number;
  /** Ids of tools that are offered on top of the selection. */
  additionalToolIds?: string[];
  /** Ids of tools that are switched on in addition to the default selection. */
  enabledToolIds?: string[];
  /** Ids of tools that are switched off. */
  disabledToolIds?: string[];
  /** If not empty, only these tools are available. */
  restrictToolIds?: string[];
  /** Meaning not documented; `direct_only` in captures. */
  toolExecutionMode?: string;
  /** Meaning not documented; `false` in captures. */
  allowSubagentsInScripts?: boolean;
  /** Labels attached to the session. */
  tags?: Tag[];
  /** System prompt as the client set it: a string, or `{type:"preset",preset:"droid",append}`. */
  systemPrompt?: any;
  /** Sandbox for commands; absent if none is configured. */
  sandbox?: SandboxSettings;
}

export interface SandboxSettings {
  /** Whether commands run in a sandbox. */
  enabled: boolean;
  /** Scope of the sandbox. */
  mode?: SandboxMode;
}

export type SandboxMode = "per-command" | "whole-process" | (string & {});

export interface SessionData {
  /** The messages, oldest first. */
  messages: Message[];
  /** Title of the session. */
  title?: string;
}

export interface Message {
  /** Id of the message. */
  id: string;
  /** Author of the message. */
  role: MessageRole;
  /** Content blocks, in order. */
  content: ContentBlock[];
  /** Creation time, in milliseconds since 1970. */
  createdAt?: number;
  /** Time of the last change, in milliseconds since 1970. */
  updatedAt?: number;
  /** Id of the preceding message; `root` for the first one. */
  parentId?: string;
  /** Audience of the message. Default: `both`. */
  visibility?: Visibility;
  /** Model that wrote the message. */
  modelId?: string;
  /** Reasoning effort that the message was written with. */
  reasoningEffort?: ReasoningEffort;
  /** Interaction mode that a user message was sent in. */
  interactionMode?: InteractionMode;
  /** Where a user message comes from. */
  userMessageSource?: SessionOrigin;
  /** Whether the message reports an error. */
  isError?: boolean;
  /** Older form of `visibility`: false for `llm_only`. */
  isUserVisible?: boolean;
  /** Meaning not documented; declared in the Python SDK. */
  routerId?: string;
  /** Id of the message at the `OpenAI` API; needed when it is sent back. */
  openaiMessageId?: string;
  /** Phase of the message at the `OpenAI` API; needed when it is sent back. */
  openaiPhase?: string;
  /** Encrypted reasoning of the `OpenAI` API; needed when it is sent back. */
  openaiEncryptedContent?: string;
  /** Id of the reasoning item at the `OpenAI` API. */
  openaiReasoningId?: string;
  /** Summary of the reasoning from the `OpenAI` API. */
  openaiReasoningSummary?: any;
  /** Thought signature of the Gemini API; needed when the message is sent back. */
  geminiThoughtSignature?: string;
  /** Name of the field that held the reasoning, such as `reasoning_content`. */
  chatCompletionReasoningField?: string;
  /** Reasoning that a chat completions API returned. */
  chatCompletionReasoningContent?: string;
  /** On messages that record a hook run: id of the run. */
  hookId?: string;
  /** On messages that record a hook run: the event that triggered it. */
  hookEventName?: HookEventName;
  /** On messages that record a hook run: the tool name, or how the session began. */
  hookMatcher?: string;
  /** On messages that record a hook run: its commands. */
  hookCommands?: any;
  /** On messages that record a hook run: the results of its commands. */
  hookResults?: any;
  /** On messages that record a hook run: how it ended. */
  hookStatus?: HookStatus;
  /** On messages that record a hook run: id of the tool call it belongs to. */
  hookToolCallId?: string;
  /** On messages that record a hook run: id of the message that the hooks belong to. */
  hookParentId?: string;
  /** On messages that record a hook run: sort key among hook runs. */
  hookOrder?: number;
}

export type HookStatus = "completed" | "error" | (string & {});

export type HookEventName = "SessionStart" | "UserPromptSubmit" | "PreToolUse" | "PostToolUse" | "Stop" | (string & {});

export type ContentBlock =
  | ({ type: "text" } & TextBlock)
  | ({ type: "thinking" } & ThinkingBlock)
  | ({ type: "redacted_thinking" } & RedactedThinkingBlock)
  | ({ type: "tool_use" } & ToolUse)
  | ({ type: "tool_result" } & ToolResultBlock)
  | ({ type: "image" } & ImageBlock)
  | ({ type: "document" } & DocumentBlock);

export interface DocumentBlock {
  /** The document data. */
  source: Source;
  /** Id of the block. */
  id?: string;
}

export interface ImageBlock {
  /** The image data. */
  source: Source;
  /** Id of the block. */
  id?: string;
  /** Whether the image was generated by a model. */
  generated?: boolean;
}

export interface ToolResultBlock {
  /** Id of the tool call. */
  toolUseId: string;
  /** The result. */
  content: any;
  /** Id of the block. */
  id?: string;
  /** Whether the tool call failed. Default: false. */
  isError?: boolean;
}

export interface RedactedThinkingBlock {
  /** The encrypted reasoning. */
  data: string;
  /** Id of the block. */
  id?: string;
}

export interface ThinkingBlock {
  /** Text of the model's reasoning. */
  thinking: string;
  /** Id of the block. */
  id?: string;
  /** Signature that the model provider requires when the block is sent back. */
  signature?: string;
  /** API that issued the signature, such as `generic-chat-completion-api`. */
  signatureProvider?: string;
  /** Duration of the reasoning in milliseconds. */
  durationMs?: number;
  /** Whether the block is incomplete; only in results of `load_session`. */
  isStreaming?: boolean;
}

export interface TextBlock {
  /** The text. */
  text: string;
  /** Id of the block. */
  id?: string;
  /** Whether the block is incomplete; only in results of `load_session`. */
  isStreaming?: boolean;
}

export interface LoadSessionParams {
  /** Id of the session to resume. */
  sessionId: string;
  /** Continue the last turn if it was interrupted: `true`, or the ids of the prompts for which to do that. musher only. */
  "musher.continueTurn"?: any;
  /** MCP servers for this session only. */
  mcpServers?: McpServerConfig[];
  /** Redirect URI for OAuth logins at MCP servers. */
  mcpOAuthCallbackUri?: string;
  /** Ids of tools to offer on top of the selection; `restrictToolIds` does not remove them. */
  additionalToolIds?: string[];
  /** Ids of tools to switch on in addition to the default selection. */
  enabledToolIds?: string[];
  /** Ids of tools to switch off. */
  disabledToolIds?: string[];
  /** Deny every permission request without asking the client. Default: false. */
  autoRejectPermissionRequests?: boolean;
  /** Run every tool call without a permission request. Default: false. */
  skipPermissionsUnsafe?: boolean;
  /** Sandbox of commands, as in the settings of musher's engine; read by the engine only. */
  sandbox?: any;
  /** Whether to leave out the built-in skills. Default: false. */
  disableBuiltinSkills?: boolean;
  /** Meaning not documented; declared in the Python SDK. */
  sessionLocation?: any;
  /** Origin of the session: an object tagged by `platform`. */
  sessionSource?: any;
  /** Kind of the client that opens the session. */
  sessionOriginHint?: SessionOrigin;
  /** Whether to return the whole conversation instead of its end; declared for daemons. */
  loadAllMessages?: boolean;
  /** Additional workspace directories that replace the stored ones. musher only. */
  additionalDirectories?: string[];
  /** What the client offers besides the protocol of droid. Understood by our own agents only. */
  clientCapabilities?: ClientCapabilities;
}

export interface ClientCapabilities {
  /** Files and terminals of an editor. */
  "musher.editor"?: EditorCapabilities;
}

export interface InitializeSessionResult {
  /** The session's id. */
  sessionId: string;
  /** Id of the machine that runs the agent. */
  hostId?: string;
  /** The conversation; empty for a new session. */
  session?: SessionData;
  /** The complete settings in effect. */
  settings?: SessionSettings;
  /** The models that the session can use. */
  availableModels?: ModelInfo[];
  /** The client's MCP servers, repeated; absent if none were sent. */
  mcpServers?: McpServerConfig[];
  /** The repository that contains the working directory. */
  gitRepo?: GitRepo;
  /** The worktree that was created; daemon only. Form not documented. */
  worktree?: any;
  /** Sent by our own agents only, to clients that announced capabilities. */
  agentCapabilities?: AgentCapabilities;
}

export interface InitializeSessionParams {
  /** Id of the client's machine; any string. */
  machineId: string;
  /** Working directory of the session. Must exist. */
  cwd: string;
  /** Id of the new session; generated if absent. An existing id starts over, it does not resume. */
  sessionId?: string;
  /** Built-in model id, or `custom:<name>`. Unknown ids select the default model. */
  modelId?: string;
  /** Whether the session executes, plans or runs missions. Default: `auto`. */
  interactionMode?: InteractionMode;
  /** Which tool calls run without a permission request. Default: `off`. */
  autonomyLevel?: AutonomyLevel;
  /** Legacy form that combines interaction mode and autonomy level. */
  autonomyMode?: AutonomyMode;
  /** Reasoning effort of the main model. */
  reasoningEffort?: ReasoningEffort;
  /** Model to use while planning; absent means the main model. */
  specModeModelId?: string;
  /** Reasoning effort while planning; absent means the main model's effort. */
  specModeReasoningEffort?: ReasoningEffort;
  /** MCP servers for this session only. */
  mcpServers?: McpServerConfig[];
  /** System prompt: a string, or `{type:"preset",preset:"droid",append}` to extend the built-in one. */
  systemPrompt?: any;
  /** Ids of tools to switch on in addition to the default selection. */
  enabledToolIds?: string[];
  /** Ids of tools to switch off. */
  disabledToolIds?: string[];
  /** Ids of tools to offer on top of the selection; `restrictToolIds` does not remove them. */
  additionalToolIds?: string[];
  /** If not empty, only these tools are available. */
  restrictToolIds?: string[];
  /** Labels attached to the session. */
  tags?: Tag[];
  /** Deny every permission request without asking the client. Default: false. */
  autoRejectPermissionRequests?: boolean;
  /** Run every tool call without a permission request. Default: false. */
  skipPermissionsUnsafe?: boolean;
  /** Sandbox of commands, as in the settings of musher's engine; read by the engine only. */
  sandbox?: any;
  /** Whether to compact the conversation when it exceeds the limit. */
  compactionThresholdCheckEnabled?: boolean;
  /** Whether to leave out the built-in skills. Default: false. */
  disableBuiltinSkills?: boolean;
  /** Meaning not documented; declared in the Python SDK. */
  workspaceId?: string;
  /** Meaning not documented; declared in the Python SDK. */
  sessionLocation?: any;
  /** Kind of the client that opens the session. */
  sessionOriginHint?: SessionOrigin;
  /** Origin of the session: an object tagged by `platform`. */
  sessionSource?: any;
  /** Redirect URI for OAuth logins at MCP servers. */
  mcpOAuthCallbackUri?: string;
  /** Role of the session in a mission. */
  decompSessionType?: DecompSessionType;
  /** Id of the mission that the session belongs to. */
  decompMissionId?: string;
  /** Title of the session. */
  title?: string;
  /** Id of the organization. Sent by a daemon to its worker. */
  organizationId?: string;
  /** Idle time in milliseconds after which a daemon ends the session's process. */
  inactivityTimeoutMs?: number;
  /** Whether a daemon keeps the session's process while it is idle. */
  disableInactivityTimeout?: boolean;
  /** Path of a settings file for this session; daemon only. */
  runtimeSettingsPath?: string;
  /** Git worktree to create for the session; daemon only. Form not documented. */
  worktree?: any;
  /** Directory for the worktree; daemon only. */
  worktreeDir?: string;
  /** Additional workspace directories, as absolute paths. musher only. */
  additionalDirectories?: string[];
  /** What the client offers besides the protocol of droid. Understood by our own agents only. */
  clientCapabilities?: ClientCapabilities;
}

export interface AskUserParams {
  /** Id of the tool call that asks. */
  toolCallId: string;
  /** The questions, in display order. */
  questions: Question[];
}

export interface AskUserResult {
  /** One answer per question; empty if cancelled. */
  answers: Answer[];
  /** Whether the user declined to answer, which ends the turn. Default: false. */
  cancelled?: boolean;
}

export interface Answer {
  /** Index of the question that is answered. */
  index: number;
  /** Text of the question that is answered. */
  question: string;
  /** The user's answer. */
  answer: string;
}

export interface RequestPermissionParams {
  /** The tool calls to approve or deny together; 0.225 sends one per request. */
  toolUses: PermissionToolUse[];
  /** The decisions that the agent accepts, in display order. */
  options: PermissionOption[];
  /** Meaning not documented; declared in the Python SDK. */
  associatedSessionIds?: string[];
}

export interface RequestPermissionResult {
  /** The decision: the `value` of one of the offered options. */
  selectedOption: ToolConfirmationOutcome;
  /** The user's comment. droid 0.225 accepts it and does not pass it to the model. */
  comment?: string;
  /** The plan as edited by the user, with `proceed_edit`. */
  editedSpecContent?: string;
  /** With `cancel`: whether the turn continues, and the model reads the comment. musher only. */
  "musher.continueTurn"?: boolean;
  /** With `cancel`: the input that the one tool call gets instead; the call is checked again. musher only. */
  "musher.rewrittenInput"?: any;
  /** Index of the selected alternative plan; daemon only. */
  selectedExitSpecModeOptionIndex?: number;
}

export type SessionNotification =
  | ({ type: "droid_working_state_changed" } & DroidWorkingStateChanged)
  | ({ type: "create_message" } & CreateMessage)
  | ({ type: "assistant_text_delta" } & AssistantTextDelta)
  | ({ type: "assistant_text_complete" } & AssistantTextComplete)
  | ({ type: "thinking_text_delta" } & ThinkingTextDelta)
  | ({ type: "thinking_text_complete" } & ThinkingTextComplete)
  | ({ type: "assistant_message_retracted" } & AssistantMessageRetracted)
  | ({ type: "tool_call" } & ToolCall)
  | ({ type: "tool_execution_phase_changed" } & ToolExecutionPhaseChanged)
  | ({ type: "tool_progress_update" } & ToolProgressUpdate)
  | ({ type: "tool_execution_heartbeat" } & ToolExecutionHeartbeat)
  | ({ type: "tool_result" } & ToolResult)
  | ({ type: "permission_resolved" } & PermissionResolved)
  | ({ type: "agent_turn_completed" } & AgentTurnCompleted)
  | ({ type: "session_token_usage_changed" } & SessionTokenUsageChanged)
  | ({ type: "structured_output" } & StructuredOutput)
  | ({ type: "error" } & ErrorNotification)
  | ({ type: "llm_retry" } & LlmRetry)
  | ({ type: "queued_messages_discarded" } & QueuedMessagesDiscarded)
  | ({ type: "settings_updated" } & SettingsUpdated)
  | ({ type: "session_title_updated" } & SessionTitleUpdated)
  | ({ type: "session_compacted" } & SessionCompacted)
  | ({ type: "session_working_directory_changed" } & SessionWorkingDirectoryChanged)
  | ({ type: "child_session_available" } & ChildSessionAvailable)
  | ({ type: "loop_state_changed" } & LoopStateChanged)
  | ({ type: "mcp_status_changed" } & McpStatusChanged)
  | ({ type: "mcp_auth_required" } & McpAuthRequired)
  | ({ type: "mcp_auth_completed" } & McpAuthCompleted)
  | ({ type: "hook_execution_started" } & HookExecutionStarted)
  | ({ type: "hook_execution_completed" } & HookExecutionCompleted)
  | ({ type: "mission_state_changed" } & MissionStateChanged)
  | ({ type: "mission_features_changed" } & MissionFeaturesChanged)
  | ({ type: "mission_progress_entry" } & MissionProgressEntry)
  | ({ type: "mission_heartbeat" } & MissionHeartbeat)
  | ({ type: "mission_worker_started" } & MissionWorkerStarted)
  | ({ type: "mission_worker_completed" } & MissionWorkerCompleted)
  | ({ type: "session_closed" } & SessionClosed)
  | ({ type: "session_inactivity" } & SessionInactivity)
  | ({ type: "session_process_exited" } & SessionProcessExited)
  | ({ type: "session_unsubscribed" } & SessionUnsubscribed);

export interface SessionUnsubscribed {
  /** Explanation for display. */
  message?: string;
}

export interface SessionProcessExited {
  /** Explanation for display. */
  message?: string;
  /** Time of the notification, in milliseconds since 1970. */
  timestamp?: number;
}

export interface SessionInactivity {
  /** Explanation for display. */
  message?: string;
  /** Time of the notification, in milliseconds since 1970. */
  timestamp?: number;
  /** Idle time after which the process was ended, in seconds. */
  timeoutSeconds?: number;
}

export interface SessionClosed {
  /** Time of the notification, in milliseconds since 1970. */
  timestamp?: number;
}

export interface MissionWorkerCompleted {
  /** Id of the worker's session. */
  workerSessionId: string;
  /** Exit code of the worker's process. */
  exitCode?: number;
}

export interface MissionWorkerStarted {
  /** Id of the worker's session. */
  workerSessionId: string;
}

export interface MissionHeartbeat {
  /** Time of the heartbeat. Form not documented. */
  timestamp?: any;
}

export interface MissionProgressEntry {
  /** The progress log. Element type not documented. */
  progressLog: any[];
}

export interface MissionFeaturesChanged {
  /** All features of the mission. Element type not documented. */
  features: any[];
}

export interface MissionStateChanged {
  /** The new state. */
  state: MissionState;
  /** Time of the change. Form not documented. */
  updatedAt?: any;
}

export type MissionState = "awaiting_input" | "initializing" | "running" | "paused" | "orchestrator_turn" | "completed" | (string & {});

export interface HookExecutionCompleted {
  /** Id that pairs the started and completed notifications of one run. */
  hookId: string;
  /** The event that triggered the hooks. */
  hookEventName: HookEventName;
  /** The tool name, or how the session began; sent even if the hook has no pattern. */
  hookMatcher?: string;
  /** Id of the tool call that the hooks belong to. */
  hookToolCallId?: string;
  /** Id of the user message, or of the last assistant message, that the hooks belong to. */
  hookParentId?: string;
  /** Sort key that orders hook runs; a timestamp in microseconds in captures. */
  hookOrder?: number;
  /** Whether the hooks succeeded. */
  hookStatus?: HookStatus;
  /** One result per command. */
  hookResults?: HookResult[];
  /** Whether a hook blocked the action. */
  hookPreventedAction?: boolean;
}

export interface HookResult {
  /** The shell command. */
  command: string;
  /** Exit code of the command. */
  exitCode?: number;
  /** Standard output of the command. */
  stdout?: string;
  /** Standard error of the command. */
  stderr?: string;
  /** Time limit in seconds. */
  timeout?: number;
  /** Whether clients should not show the output. */
  suppressOutput?: boolean;
}

export interface HookExecutionStarted {
  /** Id that pairs the started and completed notifications of one run. */
  hookId: string;
  /** The event that triggered the hooks. */
  hookEventName: HookEventName;
  /** The tool name, or how the session began; sent even if the hook has no pattern. */
  hookMatcher?: string;
  /** The commands that run. */
  hookCommands?: HookCommand[];
  /** Id of the tool call that the hooks belong to. */
  hookToolCallId?: string;
  /** Id of the user message, or of the last assistant message, that the hooks belong to. */
  hookParentId?: string;
  /** Sort key that orders hook runs; a timestamp in microseconds in captures. */
  hookOrder?: number;
  /** Whether clients should not show the run. */
  hiddenFromUserViews?: boolean;
  /** Whether the commands run in parallel. */
  isParallelExecution?: boolean;
  /** Id shared by runs that execute in parallel. */
  parallelGroupId?: string;
}

export interface HookCommand {
  /** The shell command. */
  command: string;
  /** Kind of the hook; `command` in captures. */
  type?: string;
  /** Time limit in seconds. */
  timeout?: number;
}

export interface McpAuthCompleted {
  /** Name of the MCP server. */
  serverName: string;
  /** How the login ended. */
  outcome: McpAuthOutcome;
  /** Text for display. */
  message?: string;
}

export type McpAuthOutcome = "success" | "cancelled" | "failed" | (string & {});

export interface McpAuthRequired {
  /** Name of the MCP server. */
  serverName: string;
  /** URL that the user must open to log in. */
  authUrl: string;
  /** Text for display. */
  message?: string;
  /** OAuth `state` parameter of the login. */
  state?: string;
}

export interface McpStatusChanged {
  /** State of every configured server. */
  servers: McpServerInfo[];
  /** Number of servers by status. */
  summary?: McpSummary;
}

export interface McpSummary {
  /** Number of configured servers. */
  total?: number;
  /** Number of connected servers. */
  connected?: number;
  /** Number of servers being connected. */
  connecting?: number;
  /** Number of servers that failed to connect. */
  failed?: number;
  /** Number of disabled servers. */
  disabled?: number;
  /** Why the MCP configuration could not be read. */
  configError?: string;
}

export interface McpServerInfo {
  /** Name of the server. */
  name: string;
  /** State of the connection. */
  status: McpServerStatus;
  /** Settings level that configures the server, such as `user`. */
  source?: string;
  /** Whether the organization's settings provide the server. */
  isManaged?: boolean;
  /** Why the connection failed. */
  error?: string;
  /** Number of tools that the server provides. */
  toolCount?: number;
  /** Transport. */
  serverType?: McpServerType;
  /** Whether OAuth tokens are stored for the server. */
  hasAuthTokens?: boolean;
  /** Whether the server requires a login. */
  requiresAuth?: boolean;
  /** URL of a login that was started and is not complete. */
  pendingAuthUrl?: string;
  /** Text for display of that login. */
  pendingAuthMessage?: string;
  /** OAuth `state` parameter of that login. */
  pendingAuthState?: string;
}

export type McpServerStatus = "connecting" | "connected" | "disconnected" | "failed" | "disabled" | (string & {});

export interface LoopStateChanged {
  /** The new state. Form not documented. */
  loopState: any;
}

export interface ChildSessionAvailable {
  /** Id of the subagent's session. */
  childSessionId: string;
  /** Id of the tool call that started the subagent. */
  toolUseId?: string;
  /** Name of the subagent definition. */
  subagentType?: string;
  /** Short description of the subagent's task. */
  description?: string;
  /** Time of the notification. Form not documented. */
  timestamp?: any;
}

export interface SessionWorkingDirectoryChanged {
  /** The new working directory. */
  cwd: string;
}

export interface SessionCompacted {
  /** Id of the summary. */
  summaryId?: string;
  /** Number of messages that the summary replaces. */
  removedCount?: number;
  /** Id of the message at which the kept part of the conversation begins. */
  visibleBoundaryMessageId?: string;
}

export interface SessionTitleUpdated {
  /** The new title. */
  title: string;
  /** Origin of the title. */
  updateType?: SessionTitleUpdateType;
  /** Id of the `rename_session` request, if one set the title. */
  requestId?: string;
}

export type SessionTitleUpdateType = "first_user_message" | "llm_generated" | "manual_rename" | (string & {});

export interface SettingsUpdated {
  /** The settings that changed, or all of them. */
  settings: SessionSettings;
  /** Id of the `update_session_settings` request; present only on its final, complete notification. */
  requestId?: string;
}

export interface QueuedMessagesDiscarded {
  /** Text of the discarded messages. */
  text?: string;
  /** Id of the `add_user_message` request. */
  requestId?: string;
}

export interface LlmRetry {
  /** Why the model call is repeated. */
  reason: LlmRetryReason;
  /** Number of the retry, counted from 1. */
  attempt?: number;
  /** Time until the retry, in milliseconds. Only musher sends it. */
  delayMs?: number;
  /** Error of the failed attempt. Only musher sends it. */
  message?: string;
}

export type LlmRetryReason = "overloaded" | "rate_limited" | "timeout" | "network" | "empty_response" | "unknown" | (string & {});

export interface ErrorNotification {
  /** Text for display. */
  message: string;
  /** Class of the error; mostly `Error`. */
  errorType?: DroidErrorType;
  /** Time of the error (ISO 8601). */
  timestamp?: string;
  /** The underlying error; more specific than `errorType`. */
  error?: ErrorCause;
}

export interface ErrorCause {
  /** Name of the error, such as `StructuredOutputError`. */
  name?: string;
  /** Text of the error. */
  message?: string;
}

export type DroidErrorType = "ConnectionError" | "ProtocolError" | "SessionError" | "TimeoutError" | "DroidClientError" | "ProcessExitError" | "Error" | (string & {});

export interface StructuredOutput {
  /** The answer as a JSON object; null if it did not satisfy the schema. */
  structuredOutput: any;
  /** Id of the assistant message that holds the answer. */
  messageId?: string;
}

export interface SessionTokenUsageChanged {
  /** Tokens used by the session itself. */
  tokenUsage: TokenUsage;
  /** The session's id. */
  sessionId?: string;
  /** Tokens used by the session and its subagents. */
  inclusiveTokenUsage?: TokenUsage;
  /** Tokens of the latest model call. */
  lastCallTokenUsage?: LastCallTokenUsage;
  /** Cost of `tokenUsage` in US dollars, a number. musher only, and only if a price is known. */
  "musher.costUsd"?: any;
}

export interface AgentTurnCompleted {
  /** Why the turn ended. */
  reason: AgentTurnCompletionReason;
  /** Id of the turn: the `messageId` of the message that started it. */
  turnId?: string;
  /** Tokens used by this turn, without subagents. */
  tokenUsage?: TokenUsage;
  /** Tokens used by the session so far, without subagents. */
  cumulativeTokenUsage?: TokenUsage;
  /** Tokens used by subagents in this turn. */
  childTokenUsage?: TokenUsage;
  /** Tokens used by subagents in the session so far. */
  cumulativeChildTokenUsage?: TokenUsage;
  /** Duration of the turn in milliseconds. */
  durationMs?: number;
  /** Cost of this turn with its subagents in US dollars, a number. musher only, and only if a price is known. */
  "musher.costUsd"?: any;
  /** Tokens of this turn that the cost does not include, because their price is unknown. musher only. */
  "musher.unpricedTokens"?: number;
}

export type AgentTurnCompletionReason = "completed" | "cancelled" | "permission_rejected" | "error" | "process_exit" | "spec_handoff" | "structured_output_missing" | "structured_output_invalid" | "structured_output_schema_invalid" | "model_usage_exhausted" | "model_authentication_failed" | "model_request_rejected" | "model_provider_unreachable" | "model_provider_unavailable" | "prompt_rejected" | "completion_persistence_failed" | "no_approver_available" | (string & {});

export interface PermissionResolved {
  /** JSON-RPC id of the permission request. */
  requestId: string;
  /** The decision. */
  selectedOption: ToolConfirmationOutcome;
  /** Ids of the approved tool calls; empty after `cancel`. */
  toolUseIds?: string[];
}

export interface ToolResult {
  /** Id of the tool call. */
  toolUseId: string;
  /** The result. */
  content: any;
  /** Id shared by all results of one assistant message. */
  messageId?: string;
  /** Whether the tool call failed. 0.57 does not send it. */
  isError?: boolean;
}

export interface ToolExecutionHeartbeat {
  /** Id of the tool call. */
  toolUseId: string;
  /** Name of the tool, as the model calls it. */
  toolName?: string;
}

export interface ToolProgressUpdate {
  /** Id of the tool call. */
  toolUseId: string;
  /** The progress data. */
  update: ToolProgress;
  /** Name of the tool, as the model calls it. */
  toolName?: string;
}

export interface ToolProgress {
  /** Kind of the update. */
  type?: ToolProgressType;
  /** Last lines of the output. */
  text?: string;
  /** Time of the update, in milliseconds since 1970. */
  timestamp?: number;
  /** Id of the terminal that runs the command. */
  terminalId?: string;
  /** End of the whole output, at most 8192 characters. */
  fullOutput?: string;
  /** Name of the tool that a subagent calls. */
  toolName?: string;
  /** Status for display. */
  status?: string;
  /** Details of the update. Form not documented. */
  details?: any;
  /** Why the step failed. Form not documented. */
  error?: any;
  /** Arguments of the subagent's tool call. */
  parameters?: any;
  /** Short form of the arguments or the result, for display. */
  valueSnippet?: string;
  /** Id of the subagent's session. */
  subagentSessionId?: string;
}

export type ToolProgressType = "tool_call" | "tool_result" | "error" | "status" | "message" | (string & {});

export interface ToolExecutionPhaseChanged {
  /** Id of the tool call. */
  toolUseId: string;
  /** The new phase. */
  phase: ToolExecutionPhase;
  /** Name of the tool, as the model calls it. */
  toolName?: string;
}

export type ToolExecutionPhase = "streaming_input" | "queued" | "executing" | "settled_after_execution" | "settled_without_execution" | "settled_unknown" | (string & {});

export interface ToolCall {
  /** The tool call; its input is empty in the first notification and complete in the last. */
  toolUse: ToolUse;
}

export interface AssistantMessageRetracted {
  /** Id of the message to discard; the retry uses the same id. */
  messageId: string;
}

export interface ThinkingTextComplete {
  /** Id of the message. */
  messageId: string;
  /** Index of the content block within the message, counted from 0. */
  blockIndex?: number;
  /** Duration of the reasoning in milliseconds. */
  durationMs?: number;
}

export interface ThinkingTextDelta {
  /** Id of the assistant message being written. */
  messageId: string;
  /** Index of the content block within the message, counted from 0. */
  blockIndex: number;
  /** Text to append to the block. */
  textDelta: string;
}

export interface AssistantTextComplete {
  /** Id of the message. */
  messageId: string;
  /** Index of the content block within the message, counted from 0. */
  blockIndex?: number;
}

export interface AssistantTextDelta {
  /** Id of the assistant message being written. */
  messageId: string;
  /** Index of the content block within the message, counted from 0. */
  blockIndex: number;
  /** Text to append to the block. */
  textDelta: string;
}

export interface CreateMessage {
  /** The message. */
  message: Message;
  /** On a user message: id of the `add_user_message` request. */
  requestId?: string;
  /** Id of the preceding message. */
  parentId?: string;
}

export interface DroidWorkingStateChanged {
  /** The new state. */
  newState: DroidWorkingState;
}
