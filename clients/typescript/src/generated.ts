// Generated from `schemas/` and `docs/protocol/reference.md` by `generate.mjs`; do not edit.

/** What came of actions. */
export interface ActionExecution {
  /** How many had been done before. */
  deduped_actions: number;
  /** How many were done. */
  executed_actions: number;
  /** The new jobs. */
  launched_job_ids: string[];
  /** The new proposals. */
  proposal_artifact_ids: string[];
  /** How many wait for another approval. */
  queued_for_approval: number;
  /** How many were left. */
  skipped_actions: number;
}

/** How risky an action is. */
export type ActionRisk =
  /** It can be undone. */
  | "low"
  /** Somebody should look. */
  | "medium"
  /** Somebody must decide. */
  | "high";

/** What happens, in short. */
export interface ActivitySummary {
  /** Runs that are watched. */
  monitor_rows: number;
  /** What waits for a decision. */
  pending_reviews: number;
  /** What was decided. */
  recent_decisions: number;
}

/** What somebody who acts is. */
export type ActorRole =
  /** A person. */
  | "human"
  /** The head of the company. */
  | "ceo"
  /** The head of a department. */
  | "director"
  /** Leads work. */
  | "manager"
  /** Does work. */
  | "worker";

/** What a worker program can do. */
export interface AdapterCapabilities {
  /** Asks before it acts. */
  supports_interactive_approval_callbacks: boolean;
  /** Gives its changes as a patch. */
  supports_patch_export: boolean;
  /** Goes on where it stopped. */
  supports_resumable_session: boolean;
  /** Tells what it does while it does it. */
  supports_streaming_events: boolean;
  /** Answers in a given form. */
  supports_structured_output: boolean;
  /** Counts tokens. */
  supports_token_usage: boolean;
  /** Whether it should have its own copy of the repository. */
  supports_worktree_isolation: WorktreeIsolation;
}

/** How the sessions of a worker program are paid for. */
export type AdapterChannel =
  /** The login of the program, whose subscription is proven before each launch. */
  | "subscription_cli"
  /** A key in the environment of the gateway. */
  | "api";

/** Params of [`AdapterChannelSet`]. */
export interface AdapterChannelSetParams {
  /** How its sessions are paid for from now on. */
  channel: AdapterChannel;
  /** The worker program, or a provider that it runs: `codex`, `claude` or `gemini`. */
  provider: string;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`AdapterChannelSet`]. */
export interface AdapterChannelSetResponse {
  /** The names in `provider_execution_policy` whose policy changed; empty if nothing did. */
  changed: string[];
  /** How its sessions are paid for. */
  channel: AdapterChannel;
  /** The worker program. */
  provider: string;
}

/** What the check of a worker program before a launch says at this moment. */
export interface AdapterLaunch {
  /** How its sessions are paid for. */
  channel: AdapterChannel;
  /** Whether a launch would pass the check. */
  ready: boolean;
  /** The same in a sentence, with the setting and the command that changes it. */
  reason?: string | null;
  /** Why it would not: `unapproved_worker_binary`, `auth_probe_failed`, `api_key_present` or `unknown_proof_strategy`. */
  reason_code?: string | null;
}

/** How a worker is spoken to. */
export type AdapterMode =
  /** Messages in both directions. */
  | "protocol"
  /** A command line, and what it prints. */
  | "cli";

/** Why a worker program cannot be started. */
export type AdapterReasonCode =
  /** There is no such program on this machine. */
  | "not_installed"
  /** The program has a name that is not approved for the provider. */
  | "unapproved_binary"
  /** The program is there and has no app server. */
  | "no_app_server"
  /** The program was not asked, because the caller may not start it. */
  | "not_asked"
  /** `.local/machine.yaml` cannot be read. */
  | "machine_file";

/** One way to run a worker. */
export interface AdapterRow {
  /** Whether it can be started. */
  available: boolean;
  /** What it can do. */
  capabilities: AdapterCapabilities;
  /** What the check before a launch says; absent if the program cannot be started at all. */
  launch?: AdapterLaunch | null;
  /** How it is spoken to. */
  mode: AdapterMode;
  /** Its name. */
  name: string;
  /** Whose program it is. */
  provider: string;
  /** Why not. */
  reason?: string | null;
  /** The kind of obstacle; absent if it can be started. */
  reason_code?: AdapterReasonCode | null;
}

/** Response of [`AdapterStatus`]. */
export type AdapterStatusResponse = AdapterRow[];

/** How renewed contexts are known. */
export type AgentCyclesSource =
  /** The provider said so. */
  | "provider_signal"
  /** They are not. */
  | "unknown";

/** What an agent did. */
export interface AgentMetrics {
  /** How often its context was renewed; null if nobody knows. */
  context_cycles_count?: number | null;
  /** How that is known. */
  context_cycles_source: AgentCyclesSource;
  /** Those that ended well. */
  ended_runs: number;
  /** Those that failed. */
  failed_runs: number;
  /** Those that are not over. */
  running_runs: number;
  /** Those that were stopped. */
  stopped_runs: number;
  /** What they cost. */
  total_cost_usd: number;
  /** Its runs. */
  total_runs: number;
  /** The tokens they used. */
  total_tokens: number;
}

/** Who an agent is. */
export interface AgentProfile {
  /** Its id. */
  agent_id: string;
  /** Its picture. */
  avatar?: string | null;
  /** When it was made. */
  created_at: string;
  /** What it is called in the company. */
  display_title?: string | null;
  /** Which model suits it. */
  model_hint?: string | null;
  /** Its name. */
  name: string;
  /** What runs it. */
  provider: string;
  /** What it is. */
  role: AgentRole;
  /** Its team. */
  team_id?: string | null;
  /** Whole days since then. */
  tenure_days: number;
}

/** Params of [`AgentProfileSnapshot`]. */
export interface AgentProfileSnapshotParams {
  /** The agent. */
  agent_id: string;
  /** Only runs of this project. */
  project_id?: string | null;
  /** Bring the index up to date first; true if not given. */
  sync_index?: boolean | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`AgentProfileSnapshot`]. */
export interface AgentProfileSnapshotResponse {
  /** Who it is. */
  agent: AgentProfile;
  /** When it was looked at. */
  generated_at: string;
  /** What it did. */
  metrics: AgentMetrics;
  /** The folder as it was given. */
  workspace_dir: string;
}

/** Params of [`AgentRecordMistake`]. */
export interface AgentRecordMistakeParams {
  /** What shows it. */
  evidence_artifact_ids?: string[] | null;
  /** Who saw it. */
  manager_actor_id: string;
  /** What they are. */
  manager_role: ActorRole;
  /** The milestone it happened in. */
  milestone_id?: string | null;
  /** What the mistake is called. */
  mistake_key: string;
  /** What prevents it. */
  prevention_rule: string;
  /** The project it happened in. */
  project_id?: string | null;
  /** How often it may happen; told in the event and nothing else. */
  promote_threshold?: number | null;
  /** The run it happened in. */
  run_id?: string | null;
  /** What happened. */
  summary: string;
  /** The task it happened in. */
  task_id?: string | null;
  /** Who made it. */
  worker_agent_id: string;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`AgentRecordMistake`]. */
export interface AgentRecordMistakeResponse {
  /** The guidance of the agent. */
  agents_md_relpath: string;
  /** How often it was made. */
  count: number;
  /** The log. */
  log_relpath: string;
  /** What it is called. */
  mistake_key: string;
  /** False: rules come by approved deltas only. */
  promoted_to_agents_md: boolean;
  /** Who made it. */
  worker_agent_id: string;
}

/** Params of [`AgentRefreshContext`]. */
export interface AgentRefreshContextParams {
  /** The agent. */
  agent_id: string;
  /** How many paths of tasks; 40 if not given. */
  max_scope_paths?: number | null;
  /** How many tasks; 20 if not given. */
  max_tasks?: number | null;
  /** Only tasks of this project. */
  project_id?: string | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`AgentRefreshContext`]. */
export interface AgentRefreshContextResponse {
  /** The agent. */
  agent_id: string;
  /** How many tasks it names. */
  assignment_count: number;
  /** The list. */
  context_index_relpath: string;
  /** When it was made. */
  generated_at: string;
  /** The project, if one was given. */
  project_id?: string | null;
  /** How many lines it has. */
  reference_count: number;
  /** Whether it changed. */
  updated: boolean;
}

/** What an agent is. */
export type AgentRole =
  /** The head of the company. */
  | "ceo"
  /** The head of a department. */
  | "director"
  /** Leads work. */
  | "manager"
  /** Does work. */
  | "worker";

/** An agent. */
export interface AgentRow {
  /** Its id. */
  agent_id: string;
  /** Its picture. */
  avatar?: string | null;
  /** When it was made. */
  created_at: string;
  /** What it is called in the company. */
  display_title?: string | null;
  /** Which model suits it. */
  model_hint?: string | null;
  /** Its name. */
  name: string;
  /** What runs it. */
  provider: string;
  /** What it is. */
  role: AgentRole;
  /** Its team. */
  team_id?: string | null;
}

/** Params of [`AgentSelfImproveCycle`]. */
export interface AgentSelfImproveCycleParams {
  /** The command that must succeed before a rule is proposed; without one nothing is checked. */
  evaluation_argv?: string[] | null;
  /** Its variables. */
  evaluation_env?: Record<string, string> | null;
  /** The repository it runs in. */
  evaluation_repo_id?: string | null;
  /** The folder below that. */
  evaluation_workdir_rel?: string | null;
  /** What shows it. */
  evidence_artifact_ids?: string[] | null;
  /** Who saw it. */
  manager_actor_id: string;
  /** What they are. */
  manager_role: ActorRole;
  /** The milestone it happened in. */
  milestone_id?: string | null;
  /** What the mistake is called. */
  mistake_key: string;
  /** What prevents it. */
  prevention_rule: string;
  /** The project. */
  project_id: string;
  /** How often it may happen; told in the event and nothing else. */
  promote_threshold?: number | null;
  /** From which count on a rule is proposed; 3 if not given. */
  proposal_threshold?: number | null;
  /** What happened. */
  summary: string;
  /** The task it happened in. */
  task_id?: string | null;
  /** Who made the mistake. */
  worker_agent_id: string;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`AgentSelfImproveCycle`]. */
export interface AgentSelfImproveCycleResponse {
  /** What it was given to know. */
  context_pack_id?: string;
  /** The report. */
  evaluation_artifact_id?: string;
  /** The file of the report. */
  evaluation_artifact_relpath?: string;
  /** `manager_digest` or `failure_report`. */
  evaluation_artifact_type?: string;
  /** How it ended. */
  evaluation_exit_code?: number | null;
  /** What ended it. */
  evaluation_signal?: string | null;
  /** The delta. */
  memory_delta_artifact_id?: string;
  /** Its file. */
  memory_delta_artifact_relpath?: string;
  /** Its patch. */
  memory_delta_patch_relpath?: string;
  /** How often it was made. */
  mistake_count: number;
  /** What the mistake is called. */
  mistake_key: string;
  /** The project. */
  project_id: string;
  /** False: rules come by approved deltas only. */
  promoted_to_agents_md: boolean;
  /** From which count on a rule is proposed. */
  proposal_threshold: number;
  /** True if an earlier proposal waits still. */
  reused?: boolean | null;
  /** The run. */
  run_id?: string;
  /** How it ended. */
  status: SelfImproveStatus;
  /** What it changes. */
  target_file?: string;
  /** Who made the mistake. */
  worker_agent_id: string;
}

/** An AGENTS.md document. */
export type AgentsDocId = string;

/** A proposed change of an AGENTS.md document. */
export type AgentsDocProposalId = string;

/** How a task should be run; what is not given stays as it is. */
export interface Allocation {
  /** By which agent, which must be there. */
  preferred_agent_id?: string | null;
  /** With which model. */
  preferred_model?: string | null;
  /** What should run it. */
  preferred_provider?: string | null;
  /** The task. */
  task_id: string;
  /** With about how many tokens. */
  token_budget_hint?: number | null;
}

/** Params of `artifact/bind`; at least one target is needed. */
export interface ArtifactBindParams {
  /** The artifact. */
  artifact_id: ArtifactId;
  /** Why. */
  binding_kind: ArtifactBindingKind;
  /** Which way. */
  direction: ArtifactBindingDirection;
  /** Its place among others. */
  item_index?: number | null;
  /** The message. */
  message_id?: MessageId | null;
  /** Whose it is. */
  role?: ArtifactBindingRole | null;
  /** The task. */
  task_id?: string | null;
  /** The run of the task. */
  task_run_id?: string | null;
  /** The thread. */
  thread_id?: ThreadId | null;
  /** The call of a tool. */
  tool_call_id?: string | null;
  /** The turn. */
  turn_id?: TurnId | null;
  /** The item of the turn. */
  turn_item_id?: string | null;
  /** The version; the newest when absent. */
  version_id?: ArtifactVersionId | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of `artifact/bind`. */
export interface ArtifactBindResponse {
  /** The binding. */
  binding: ArtifactBindingSummary;
}

/** Which way a bound artifact goes. */
export type ArtifactBindingDirection =
  /** In. */
  | "input"
  /** Out. */
  | "output"
  /** Along. */
  | "context"
  /** From another. */
  | "derived";

/** Why an artifact is bound. */
export type ArtifactBindingKind =
  /** The user gave it. */
  | "user_input"
  /** An agent made it. */
  | "agent_output"
  /** A tool made it. */
  | "tool_output"
  /** A task resulted in it. */
  | "task_result"
  /** It is context. */
  | "context_attachment"
  /** It was made from another. */
  | "derived_from"
  /** It is a preview. */
  | "preview"
  /** The gateway captured it. */
  | "system_capture"
  /** Somebody attached it. */
  | "manual_attach"
  /** It was uploaded for a message that is not sent yet. */
  | "draft_upload";

/** Who a bound artifact belongs to. */
export type ArtifactBindingRole =
  /** The user. */
  | "user"
  /** The model. */
  | "assistant"
  /** A tool. */
  | "tool"
  /** The gateway. */
  | "system"
  /** A task. */
  | "task";

/** What ties an artifact to something. */
export interface ArtifactBindingSummary {
  /** The binding. */
  binding_id: BindingId;
  /** Why. */
  binding_kind: ArtifactBindingKind;
  /** Unix seconds. */
  created_at: number;
  /** Which way. */
  direction: ArtifactBindingDirection;
  /** Its place among others. */
  item_index?: number | null;
  /** The message. */
  message_id?: MessageId | null;
  /** Whose it is. */
  role?: ArtifactBindingRole | null;
  /** The task. */
  task_id?: string | null;
  /** The run of the task. */
  task_run_id?: string | null;
  /** The thread. */
  thread_id?: ThreadId | null;
  /** The call of a tool. */
  tool_call_id?: string | null;
  /** The turn. */
  turn_id?: TurnId | null;
  /** The item of the turn. */
  turn_item_id?: string | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ArtifactCapabilities`]. */
export interface ArtifactCapabilitiesParams {
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactCapabilities`]. */
export interface ArtifactCapabilitiesResponse {
  /** For downloads. */
  download: ArtifactDownloadCapabilities;
  /** For uploads. */
  upload: ArtifactUploadCapabilities;
}

/** Who made an artifact. */
export type ArtifactCreatedByKind =
  /** A person, by an upload. */
  | "user"
  /** An agent: a result of a worker, or a picture in the answer of a model. */
  | "agent"
  /** Not produced: the gateway runs no tools of its own. */
  | "tool"
  /** Version 0.1, for results of workers; these have the creator `agent` since. */
  | "task"
  /** Not produced: the gateway makes no artifacts of its own accord. */
  | "system"
  /** An upload with `source_kind` `import`, `worktree` or `folder_manifest`. */
  | "import"
  /** Not produced: agents outside connect with a token, as the person who gave it. */
  | "external_agent";

/** Payload of `artifact/created`. */
export interface ArtifactCreatedNotification {
  /** The artifact. */
  artifact: ArtifactSummary;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ArtifactDelete`]. */
export interface ArtifactDeleteParams {
  /** The artifact. */
  artifact_id: ArtifactId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactDelete`]. */
export interface ArtifactDeleteResponse {
  /** The artifact. */
  artifact_id: ArtifactId;
  /** Its status now. */
  status: ArtifactStatus;
}

/** Payload of `artifact/deleted`. */
export interface ArtifactDeletedNotification {
  /** The artifact. */
  artifact_id: ArtifactId;
  /** Unix seconds. */
  deleted_at: number;
  /** Always `deleted`. */
  status: ArtifactStatus;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ArtifactDownloadAbort`]. */
export interface ArtifactDownloadAbortParams {
  /** The download. */
  download_id: DownloadId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactDownloadAbort`]. */
export interface ArtifactDownloadAbortResponse {
  /** The download. */
  download_id: DownloadId;
  /** Always `aborted`. */
  status: ArtifactDownloadEndStatus;
}

/** Limits of downloads. */
export interface ArtifactDownloadCapabilities {
  /** The largest chunk. */
  max_chunk_size_bytes: number;
  /** The most downloads of one connection and workspace at a time. */
  max_concurrent_downloads: number;
  /** A good size of chunks. */
  recommended_chunk_size_bytes: number;
}

/** The JSON header of an `ARTD` frame: magic, big-endian u32 header length, header, bytes. */
export interface ArtifactDownloadChunkHeader {
  /** The artifact. */
  artifact_id: ArtifactId;
  /** SHA-256 of the bytes. */
  chunk_sha256: string;
  /** The download. */
  download_id: DownloadId;
  /** Whether these are the last bytes. */
  final_chunk: boolean;
  /** How many there are. */
  len: number;
  /** Where the bytes begin. */
  offset: number;
  /** The size of the whole. */
  total_size_bytes: number;
  /** The version. */
  version_id: ArtifactVersionId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ArtifactDownloadChunk`]. */
export interface ArtifactDownloadChunkParams {
  /** The download. */
  download_id: DownloadId;
  /** How many bytes, 1 MiB at most. */
  len: number;
  /** Where to begin. */
  offset: number;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactDownloadChunk`]. */
export interface ArtifactDownloadChunkResponse {
  /** SHA-256 of the bytes in `content_base64`, lower-case hexadecimal. */
  chunk_sha256?: string | null;
  /** The bytes in base64, on connections without binary frames. */
  content_base64?: string | null;
  /** The download. */
  download_id: DownloadId;
  /** Whether the bytes in `content_base64` are the last ones. */
  final_chunk?: boolean | null;
  /** How many there are. */
  len: number;
  /** Where the bytes begin. */
  offset: number;
  /** `true` when the bytes came as a binary frame before this answer, `false` when they are in `content_base64`. */
  queued: boolean;
}

/** How a download ended. */
export type ArtifactDownloadEndStatus =
  /** The client has it all. */
  | "finished"
  /** The client did not want the rest. */
  | "aborted";

/** Params of [`ArtifactDownloadFinish`]. */
export interface ArtifactDownloadFinishParams {
  /** The download. */
  download_id: DownloadId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactDownloadFinish`]. */
export interface ArtifactDownloadFinishResponse {
  /** The download. */
  download_id: DownloadId;
  /** Always `finished`. */
  status: ArtifactDownloadEndStatus;
}

/** Payload of `artifact/download/progress`. */
export interface ArtifactDownloadProgressNotification {
  /** The artifact. */
  artifact_id: ArtifactId;
  /** The download. */
  download_id: DownloadId;
  /** Bytes sent so far. */
  received_bytes: number;
  /** The size of the whole. */
  total_size_bytes: number;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ArtifactDownloadStart`]. */
export interface ArtifactDownloadStartParams {
  /** The artifact. */
  artifact_id: ArtifactId;
  /** The size of chunks the client would like. */
  preferred_chunk_size_bytes?: number | null;
  /** The version; the newest when absent. */
  version_id?: ArtifactVersionId | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactDownloadStart`]. */
export interface ArtifactDownloadStartResponse {
  /** The artifact. */
  artifact: ArtifactRef;
  /** The download. */
  download_id: DownloadId;
  /** When the download ends by itself, Unix seconds. */
  expires_at_unix: number;
  /** A good name for the file. */
  file_name: string;
  /** The largest chunk. */
  max_chunk_size_bytes: number;
  /** The size of chunks to ask for. */
  recommended_chunk_size_bytes: number;
  /** SHA-256 of its bytes. */
  sha256: string;
  /** Its size. */
  size_bytes: number;
}

/** Params of [`ArtifactGet`]. */
export interface ArtifactGetParams {
  /** The artifact. */
  artifact_id: ArtifactId;
  /** The version; the newest when absent. */
  version_id?: ArtifactVersionId | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactGet`]. */
export interface ArtifactGetResponse {
  /** The artifact. */
  artifact: ArtifactSummary;
  /** Where it comes from, if a turn or a run made it. */
  lineage?: ArtifactLineage | null;
}

/** An artifact. */
export type ArtifactId = string;

/** What an artifact is. */
export type ArtifactKind =
  /** Any bytes. */
  | "file"
  /** Text. */
  | "text"
  /** A picture. */
  | "image"
  /** A sound. */
  | "audio"
  /** A film. */
  | "video"
  /** A PDF. */
  | "pdf"
  /** A table. */
  | "spreadsheet"
  /** An archive. */
  | "archive"
  /** JSON. */
  | "json"
  /** A picture in the answer of a model. */
  | "generated_image"
  /** A picture that was uploaded with `source_kind` `screenshot`. */
  | "screenshot"
  /** A file that was uploaded with `source_kind` `worktree`. */
  | "workspace_file"
  /** The list of the files of an uploaded folder. */
  | "directory_manifest"
  /** Not produced: a file whose content says nothing is a `file`. */
  | "unknown";

/** What made an artifact. */
export interface ArtifactLineage {
  /** The instructions that were in force, in the versions that were. */
  instructions: PromptDocument[];
  /** The job it worked for. */
  job_id?: string | null;
  /** The run of a company folder. */
  run_id?: string | null;
  /** The thread. */
  thread_id?: ThreadId | null;
  /** The turn; `turn/explain` tells all it was told. */
  turn_id?: TurnId | null;
}

/** Params of [`ArtifactListForMessage`]. */
export interface ArtifactListForMessageParams {
  /** The `next_cursor` of the page before. */
  cursor?: string | null;
  /** Whether deleted ones are listed too; `false` when absent. */
  include_deleted?: boolean | null;
  /** Only artifacts of these kinds. */
  kinds?: ArtifactKind[] | null;
  /** The most artifacts to answer: 50 when absent, 200 at most. */
  limit?: number | null;
  /** The message. */
  message_id: MessageId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ArtifactListForThread`]. */
export interface ArtifactListForThreadParams {
  /** The `next_cursor` of the page before. */
  cursor?: string | null;
  /** Whether deleted ones are listed too; `false` when absent. */
  include_deleted?: boolean | null;
  /** Only artifacts of these kinds. */
  kinds?: ArtifactKind[] | null;
  /** The most artifacts to answer: 50 when absent, 200 at most. */
  limit?: number | null;
  /** The thread. */
  thread_id: ThreadId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ArtifactListForTurn`]. */
export interface ArtifactListForTurnParams {
  /** The `next_cursor` of the page before. */
  cursor?: string | null;
  /** Whether deleted ones are listed too; `false` when absent. */
  include_deleted?: boolean | null;
  /** Only artifacts of these kinds. */
  kinds?: ArtifactKind[] | null;
  /** The most artifacts to answer: 50 when absent, 200 at most. */
  limit?: number | null;
  /** The turn. */
  turn_id: TurnId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ArtifactList`]. */
export interface ArtifactListParams {
  /** The `next_cursor` of the page before. */
  cursor?: string | null;
  /** Whether deleted ones are listed too; `false` when absent. */
  include_deleted?: boolean | null;
  /** Only artifacts of these kinds. */
  kinds?: ArtifactKind[] | null;
  /** The most artifacts to answer: 50 when absent, 200 at most. */
  limit?: number | null;
  /** Only artifacts bound to this message. */
  message_id?: MessageId | null;
  /** Only artifacts bound to this task. */
  task_id?: string | null;
  /** Only artifacts bound to this run of a task. */
  task_run_id?: string | null;
  /** Only artifacts bound to this thread. */
  thread_id?: ThreadId | null;
  /** Only artifacts bound to this turn. */
  turn_id?: TurnId | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of the lists. */
export interface ArtifactListResponse {
  /** The artifacts. */
  items: ArtifactSummary[];
  /** Where the next page begins; `null` on the last one. */
  next_cursor?: string | null;
}

/** Something to show for an artifact. */
export interface ArtifactPreviewRef {
  /** The artifact. */
  artifact_id: ArtifactId;
  /** Its bytes. */
  blob_id?: BlobId | null;
  /** Its MIME type. */
  mime_type?: string | null;
  /** What it shows. */
  projection_kind: ArtifactProjectionKind;
  /** SHA-256 of its bytes. */
  sha256?: string | null;
  /** Its size. */
  size_bytes?: number | null;
  /** Whether it can be read. */
  status: ArtifactProjectionStatus;
  /** The version. */
  version_id: ArtifactVersionId;
}

/** What a projection shows. */
export type ArtifactProjectionKind =
  /** The text. */
  | "plain_text"
  /** A small picture. */
  | "thumbnail"
  /** The shape of JSON. */
  | "json_summary"
  /** The text of a PDF. */
  | "pdf_text";

/** Whether a projection can be read. */
export type ArtifactProjectionStatus =
  /** Not yet. */
  | "pending"
  /** Yes. */
  | "ready"
  /** It could not be made. */
  | "failed"
  /** It was made by an older extractor. */
  | "stale";

/** Payload of `artifact/projection/updated`. */
export interface ArtifactProjectionUpdatedNotification {
  /** The artifact. */
  artifact_id: ArtifactId;
  /** What it shows. */
  projection_kind: ArtifactProjectionKind;
  /** Whether it can be read. */
  status: ArtifactProjectionStatus;
  /** Unix seconds. */
  updated_at: number;
  /** The version. */
  version_id: ArtifactVersionId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ArtifactRead`]. */
export interface ArtifactReadParams {
  /** The artifact. */
  artifact_id: ArtifactId;
  /** The most bytes; 1 MiB when absent and at most. */
  max_bytes?: number | null;
  /** Where to begin; 0 when absent. */
  offset?: number | null;
  /** Read this projection instead of the bytes. */
  projection_kind?: ArtifactProjectionKind | null;
  /** The version; the newest when absent. */
  version_id?: ArtifactVersionId | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactRead`]. */
export interface ArtifactReadResponse {
  /** The artifact. */
  artifact: ArtifactRef;
  /** The bytes. */
  content_base64: string;
  /** How many there are. */
  len: number;
  /** Where the bytes begin. */
  offset: number;
  /** SHA-256 of the whole. */
  sha256: string;
  /** The size of the whole. */
  total_size_bytes: number;
  /** Whether more bytes follow. */
  truncated: boolean;
}

/** An artifact in short. */
export interface ArtifactRef {
  /** The artifact. */
  artifact_id: ArtifactId;
  /** What to call it. */
  display_name: string;
  /** What it is. */
  kind: ArtifactKind;
  /** Its MIME type. */
  mime_type?: string | null;
  /** Something to show for it. */
  preview?: ArtifactPreviewRef | null;
  /** SHA-256 of its bytes, lower-case hexadecimal. */
  sha256?: string | null;
  /** Its size. */
  size_bytes?: number | null;
  /** Whether it can be used. */
  status: ArtifactStatus;
  /** The version. */
  version_id?: ArtifactVersionId | null;
}

/** Params of [`ArtifactRestore`]. */
export interface ArtifactRestoreParams {
  /** The artifact. */
  artifact_id: ArtifactId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactRestore`]. */
export interface ArtifactRestoreResponse {
  /** The artifact. */
  artifact_id: ArtifactId;
  /** Its status now. */
  status: ArtifactStatus;
}

/** Whether an artifact can be used. */
export type ArtifactStatus =
  /** It can. */
  | "ready"
  /** Not produced: an artifact exists once its bytes are complete and checked. */
  | "pending"
  /** Its bytes do not have their hash any more, and are not served. */
  | "quarantined"
  /** It was deleted and can be restored. */
  | "deleted"
  /** Not produced: bytes are copied, so that an artifact outlives the file it was made from. */
  | "missing_external_source"
  /** Its bytes are missing. */
  | "failed";

/** An artifact and what it is bound to. */
export interface ArtifactSummary {
  /** The artifact. */
  artifact: ArtifactRef;
  /** What it is bound to, newest first. */
  bindings: ArtifactBindingSummary[];
  /** Unix seconds. */
  created_at: number;
  /** Which one. */
  created_by_actor_id?: string | null;
  /** Who made it. */
  created_by_kind: ArtifactCreatedByKind;
  /** Anything else. */
  metadata?: Record<string, unknown>;
  /** The thread it came from. */
  primary_thread_id?: ThreadId | null;
  /** Unix seconds. */
  updated_at: number;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Payload of `artifact/updated`. */
export interface ArtifactUpdatedNotification {
  /** The artifact. */
  artifact: ArtifactSummary;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ArtifactUploadAbort`]. */
export interface ArtifactUploadAbortParams {
  /** The upload. */
  upload_id: UploadId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactUploadAbort`]. */
export interface ArtifactUploadAbortResponse {
  /** Always `aborted`. */
  status: ArtifactUploadAbortStatus;
  /** The upload. */
  upload_id: UploadId;
}

/** What became of an aborted upload. */
export type ArtifactUploadAbortStatus =
  /** It is gone. */
  | "aborted";

/** Limits of uploads. */
export interface ArtifactUploadCapabilities {
  /** The largest chunk. */
  max_chunk_size_bytes: number;
  /** The largest file. */
  max_file_size_bytes: number;
  /** The most artifacts of one turn. */
  max_files_per_turn: number;
  /** A good size of chunks. */
  recommended_chunk_size_bytes: number;
  /** Whether local files must be uploaded before a turn can name them. */
  required_for_local_paths: boolean;
}

/** Payload of `artifact/upload/chunk_ack`. */
export interface ArtifactUploadChunkAckNotification {
  /** How many there were. */
  len: number;
  /** Where to go on. */
  next_offset: number;
  /** Where the bytes belong. */
  offset: number;
  /** Bytes received so far. */
  received_bytes: number;
  /** The upload. */
  upload_id: UploadId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** The JSON header of an `ARTU` frame: magic, big-endian u32 header length, header, bytes. */
export interface ArtifactUploadChunkHeader {
  /** SHA-256 of the bytes, to be checked. */
  chunk_sha256?: string | null;
  /** How many there are. */
  len: number;
  /** Where the bytes belong. */
  offset: number;
  /** The upload. */
  upload_id: UploadId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ArtifactUploadChunk`]. */
export interface ArtifactUploadChunkParams {
  /** SHA-256 of the bytes, lower-case hexadecimal; compared with them when given. */
  chunk_sha256?: string | null;
  /** The bytes in base64, 1 to 1048576 of them. */
  content_base64: string;
  /** The number of bytes; compared with `content_base64` when given. */
  len?: number | null;
  /** Where the bytes belong: the number of bytes received so far. */
  offset: number;
  /** The upload. */
  upload_id: UploadId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Payload of `artifact/upload/chunk_rejected`. */
export interface ArtifactUploadChunkRejectedNotification {
  /** Why, in stable snake_case: `malformed_frame`, `length_mismatch`, `hash_mismatch`, `unknown_upload`, `not_receiving`, `chunk_too_large`, `empty_chunk`, `offset_mismatch`, `exceeds_size` or `internal`. */
  kind: string;
  /** One sentence. */
  message: string;
  /** Where to go on. */
  next_offset?: number | null;
  /** The offset the frame named. */
  offset?: number | null;
  /** The upload the frame named. */
  upload_id?: string | null;
  /** The workspace the frame named. */
  workspace_id?: string | null;
}

/** Response of [`ArtifactUploadChunk`]. */
export interface ArtifactUploadChunkResponse {
  /** How many there were. */
  len: number;
  /** Where to go on. */
  next_offset: number;
  /** Where the bytes belong. */
  offset: number;
  /** Bytes received so far. */
  received_bytes: number;
  /** The upload. */
  upload_id: UploadId;
}

/** Params of [`ArtifactUploadFinish`]. */
export interface ArtifactUploadFinishParams {
  /** The upload. */
  upload_id: UploadId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactUploadFinish`]. */
export interface ArtifactUploadFinishResponse {
  /** The artifact. */
  artifact: ArtifactRef;
  /** The upload. */
  upload_id: UploadId;
}

/** Payload of `artifact/upload/progress`. */
export interface ArtifactUploadProgressNotification {
  /** Where to go on. */
  next_offset: number;
  /** Bytes received so far. */
  received_bytes: number;
  /** The size of the whole. */
  total_size_bytes: number;
  /** The upload. */
  upload_id: UploadId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Where an upload stands. */
export type ArtifactUploadSessionStatus =
  /** It takes chunks. */
  | "receiving"
  /** It is being checked. */
  | "finalizing"
  /** It is an artifact. */
  | "completed";

/** Where an uploaded file comes from. */
export type ArtifactUploadSourceKind =
  /** The composer. */
  | "user_composer"
  /** It was dropped. */
  | "drag_drop"
  /** It was pasted. */
  | "paste"
  /** A program. */
  | "api"
  /** Another place that files are taken over from; the artifact's creator is `import`. */
  | "import"
  /** A worktree; the artifact's kind is `workspace_file` and its creator `import`. */
  | "worktree"
  /** A capture of the screen; the kind of a picture is `screenshot`. */
  | "screenshot"
  /**
   * The list of the files of an uploaded folder; the kind of a JSON file is `directory_manifest` and its creator
   * `import`.
   */
  | "folder_manifest";

/** Params of [`ArtifactUploadStart`]. */
export interface ArtifactUploadStartParams {
  /** The artifact that gets a new version; a new artifact is made when absent. */
  artifact_id?: ArtifactId | null;
  /** The client's own name for the upload. */
  client_attachment_id: string;
  /** The name of the file, 255 characters at most. */
  file_name: string;
  /** The MIME type as the client knows it. */
  mime_type?: string | null;
  /** The turn it is for. */
  planned_turn_id?: TurnId | null;
  /** SHA-256 of the bytes, 64 lower-case hexadecimal characters. */
  sha256: string;
  /** The size, 50 MiB at most. */
  size_bytes: number;
  /** Where it comes from. */
  source_kind: ArtifactUploadSourceKind;
  /** The thread it is for. */
  thread_id?: ThreadId | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactUploadStart`]. */
export interface ArtifactUploadStartResponse {
  /** `true` when the bytes are there already: finish may follow at once. */
  already_present?: boolean | null;
  /** When the upload is forgotten unless a chunk comes, Unix seconds. */
  expires_at_unix: number;
  /** The largest chunk. */
  max_chunk_size_bytes: number;
  /** The largest file. */
  max_size_bytes: number;
  /** Where to go on; absent for a new upload. */
  next_offset?: number | null;
  /** A good size of chunks. */
  recommended_chunk_size_bytes: number;
  /** The upload. */
  upload_id: UploadId;
}

/** Params of [`ArtifactUploadStatus`]. */
export interface ArtifactUploadStatusParams {
  /** The upload. */
  upload_id: UploadId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactUploadStatus`]. */
export interface ArtifactUploadStatusResponse {
  /** The artifact it became. */
  artifact?: ArtifactRef | null;
  /** When it is forgotten, Unix seconds. */
  expires_at_unix: number;
  /** Where to go on. */
  next_offset: number;
  /** Bytes received so far. */
  received_bytes: number;
  /** Where it stands. */
  status: ArtifactUploadSessionStatus;
  /** The upload. */
  upload_id: UploadId;
}

/** Params of [`ArtifactUsage`]. */
export interface ArtifactUsageParams {
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactUsage`]. */
export interface ArtifactUsageResponse {
  /** Distinct bytes of artifacts that are not deleted, and of their projections. */
  bytes: number;
  /** Distinct files of these. */
  files: number;
  /** The most bytes. */
  max_bytes: number;
  /** The most files. */
  max_files: number;
  /** The most `stored_bytes` and `open_upload_bytes` together. */
  max_stored_bytes: number;
  /** Declared sizes of the uploads that are open. */
  open_upload_bytes: number;
  /** Bytes that only deleted artifacts hold. */
  reclaimable_bytes: number;
  /** Bytes on the disk, those that only deleted artifacts hold included. */
  stored_bytes: number;
}

/** A version of an artifact. */
export type ArtifactVersionId = string;

/** One version of an artifact. */
export interface ArtifactVersionSummary {
  /** Unix seconds. */
  created_at: number;
  /** Its MIME type. */
  mime_type?: string | null;
  /** SHA-256 of its bytes. */
  sha256: string;
  /** Its size. */
  size_bytes: number;
  /** The version. */
  version_id: ArtifactVersionId;
  /** Its number, from 1. */
  version_number: number;
}

/** Params of [`ArtifactVersionsList`]. */
export interface ArtifactVersionsListParams {
  /** The artifact. */
  artifact_id: ArtifactId;
  /** The `next_cursor` of the page before. */
  cursor?: string | null;
  /** The most versions to answer: 50 when absent, 200 at most. */
  limit?: number | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactVersionsList`]. */
export interface ArtifactVersionsListResponse {
  /** The versions. */
  items: ArtifactVersionSummary[];
  /** Where the next page begins; `null` on the last one. */
  next_cursor?: string | null;
}

/** What ties an artifact to a thread, a turn or a message. */
export type BindingId = string;

/** The bytes of a version. */
export type BlobId = string;

/** Limits on cost and tokens: above the soft one somebody is told, above the hard one it stops. */
export interface Budget {
  /** US dollars after which it stops. */
  hard_cost_usd?: number | null;
  /** Tokens after which it stops. */
  hard_tokens?: number | null;
  /** US dollars after which somebody is told. */
  soft_cost_usd?: number | null;
  /** Tokens after which somebody is told. */
  soft_tokens?: number | null;
}

/** A part of a text in bytes. */
export interface ByteRange {
  /** The byte after its last. */
  end: number;
  /** Its first byte. */
  start: number;
}

/** How a file is different. */
export type ChangeType =
  /** It is new. */
  | "added"
  /** It has another content. */
  | "modified"
  /** It is gone. */
  | "deleted"
  /** It has another name. */
  | "renamed";

/** A file that is different now. */
export interface ChangedFile {
  /** How. */
  change_type?: ChangeType | null;
  /** Which one. */
  path: string;
  /** In words. */
  summary?: string | null;
}

/** A command a worker ran. */
export interface CommandRun {
  /** The command. */
  command: string;
  /** How it ended. */
  exit_code?: number | null;
  /** In words. */
  summary?: string | null;
}

/** A comment, on the wire as in its file. */
export interface Comment {
  /** Who made it. */
  author_id: string;
  /** What they are. */
  author_role: ActorRole;
  /** What it says. */
  body: string;
  /** When it was made. */
  created_at: string;
  /** Its id. */
  id: string;
  /** 1. */
  schema_version: number;
  /** What it is about. */
  target: CommentTarget;
  /** `comment`. */
  type: CommentTag;
  /** Who may see it. */
  visibility: Visibility;
}

/** Params of [`CommentAdd`]. */
export interface CommentAddParams {
  /** Who says it. */
  author_id: string;
  /** What they are. */
  author_role: ActorRole;
  /** What they say. */
  body: string;
  /** The project. */
  project_id: string;
  /** The agent it is about. */
  target_agent_id?: string | null;
  /** The document it is about. */
  target_artifact_id?: string | null;
  /** The run it is about. */
  target_run_id?: string | null;
  /** Who may see it; `managers` if not given. */
  visibility?: Visibility | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`CommentAdd`]. */
export interface CommentAddResponse {
  /** What it is. */
  comment: Comment;
  /** The new comment. */
  comment_id: string;
}

/** Params of [`CommentList`]. */
export interface CommentListParams {
  /** Who asks: comments they may not see are left out. */
  actor_id?: string | null;
  /** What they are. */
  actor_role?: ActorRole | null;
  /** Their team. */
  actor_team_id?: string | null;
  /** Only those older than this one, which is how to page. */
  before_comment_id?: string | null;
  /** How many; 300 if not given. */
  limit?: number | null;
  /** The project. */
  project_id: string;
  /** Only about this agent. */
  target_agent_id?: string | null;
  /** Only about this document. */
  target_artifact_id?: string | null;
  /** Only about this run. */
  target_run_id?: string | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`CommentList`]. */
export type CommentListResponse = Comment[];

/** The word `comment`. */
export type CommentTag =
  /** The word `comment`. */
  | "comment";

/** What a comment is about: at least one of agent, document and run. */
export interface CommentTarget {
  /** The agent. */
  agent_id?: string | null;
  /** The document. */
  artifact_id?: string | null;
  /** The project. */
  project_id: string;
  /** The run. */
  run_id?: string | null;
}

/** Params of [`CompanyArtifactRead`]. */
export interface CompanyArtifactReadParams {
  /** Who reads. */
  actor_id: string;
  /** What they are. */
  actor_role: ActorRole;
  /** Their team. */
  actor_team_id?: string | null;
  /** The document. */
  artifact_id: string;
  /** The project. */
  project_id: string;
  /** The run whose log tells of it; the document's own if not given. */
  run_id?: string | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`CompanyArtifactRead`]. */
export interface CompanyArtifactReadResponse {
  /** The id its front matter has. */
  artifact_id: string;
  /** Its file, relative to the company folder. */
  artifact_relpath: string;
  /** Its front matter, whatever else is in it. */
  frontmatter: Record<string, unknown>;
  /** The whole file. */
  markdown: string;
}

/** Params of methods that need a company folder and nothing else. */
export interface CompanyFolderParams {
  /** The company folder. */
  workspace_dir: string;
}

/** Response of methods that have nothing to tell but success. */
export interface CompanyOkResponse {
  /** True. */
  ok: boolean;
}

/** What a conversation or a plan is about. */
export type CompanyScope =
  /** The whole company. */
  | "workspace"
  /** One project. */
  | "project";

/** One limit of a budget against what was spent. */
export interface CompanySessionBudgetCheck {
  /** What was spent. */
  actual: number;
  /** `cost_usd` or `tokens`. */
  metric: string;
  /** `ok`, `alert` or `exceeded`. */
  result: string;
  /** `run`, `project` or `task`. */
  scope: string;
  /** `soft` or `hard`. */
  severity: string;
  /** The limit. */
  threshold: number;
}

/** When a hard limit of the run's budget ends a session. */
export type CompanySessionBudgetEnforcement =
  /** Before it starts and after its end. */
  | "completion"
  /** Also as soon as the worker reports that it used more. */
  | "live";

/** Response of [`CompanySessionCollect`]. */
export interface CompanySessionCollectResponse {
  /** What went wrong. */
  error?: string | null;
  /** Its events, below the project's folder. */
  events_relpath: string;
  /** How the program ended. */
  exit_code?: number | null;
  /** What it left, below the project's folder. */
  output_relpaths: string[];
  /** Its project. */
  project_id: string;
  /** Its place among those that wait, from 1. */
  queue_position?: number | null;
  /** What it waits for; absent unless it is queued. */
  queue_reason?: CompanySessionQueueReason | null;
  /** Whether it still waits for a free place. */
  queued?: boolean | null;
  /** Its run. */
  run_id: string;
  /** The session. */
  session_ref: string;
  /** The signal that ended it: `SIGTERM`. */
  signal?: string | null;
  /** Where it stands. */
  status: RunStatus;
}

/** What is run. */
export interface CompanySessionCommand {
  /** The program and its arguments. */
  argv: string[];
  /** Where. */
  cwd: string;
  /** How it is run and read. */
  driver: string;
  /** The names of the variables it gets. */
  env: string[];
  /** How long it may print nothing. */
  idle_timeout_ms: number;
  /** What it reads from standard input, in characters. */
  stdin_chars: number;
  /** The signal that stops it. */
  stop_signal: string;
  /** How long it may run. */
  timeout_ms: number;
  /** The branch of that copy. */
  worktree_branch?: string | null;
  /** Its own copy of the repository. */
  worktree_relpath?: string | null;
}

/** A provider whose sessions are not started for a while. */
export interface CompanySessionCooldown {
  /** How many times in a row the provider had to cool down, from 1. */
  level: number;
  /** The provider. */
  provider: string;
  /** One sentence for people. */
  reason: string;
  /** The cause: `rate_limit`, `transient`, `interactive` or `auth`. */
  reason_code: string;
  /** When it ends, as an ISO time. */
  until: string;
  /** How many sessions of the provider are queued in this gateway process. */
  waiting: number;
}

/** Params of [`CompanySessionCooldownClear`]. */
export interface CompanySessionCooldownClearParams {
  /** Only the cool-down of this provider; all of them otherwise. */
  provider?: string | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Params of [`CompanySessionCooldownList`]. */
export interface CompanySessionCooldownListParams {
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`CompanySessionCooldownList`], and of [`CompanySessionCooldownClear`] with those that were ended. */
export interface CompanySessionCooldownListResponse {
  /** The cool-downs, by provider. */
  items: CompanySessionCooldown[];
}

/** A run that is only explained and never made. */
export interface CompanySessionExplainRun {
  /** The agent of the run. */
  agent_id: string;
  /** The provider of the run, such as `cmd` or `codex`. */
  provider: string;
}

/** What a launch would do. */
export interface CompanySessionExplanation {
  /** What was spent. */
  budget: CompanySessionBudgetCheck[];
  /** What would be run; none if it cannot be told. */
  command?: CompanySessionCommand | null;
  /** The files that instruct the worker. */
  instructions: CompanySessionInstruction[];
  /** Whether there is a free place. */
  lane: CompanySessionLane;
  /** Who may. */
  policy: CompanySessionPolicy;
  /** Why not. */
  refusal?: string | null;
  /** Whether it would be started. */
  would_launch: boolean;
}

/** A file that instructs a worker. */
export interface CompanySessionInstruction {
  /**
   * How it reaches the worker: `read_by_worker`, `system_prompt_file`, `prompt`, `argument`, or
   * `prompt_and_file` for an AGENTS.md of the thread tree that is a file of the worktree too.
   */
  delivery: string;
  /** The file. */
  path: string;
}

/** The place of a session among others. */
export interface CompanySessionLane {
  /** Until when its provider rests. */
  cooldown_until?: string | null;
  /** Its priority. */
  priority: CompanySessionPriority;
  /** Its provider. */
  provider: string;
  /** How many of its provider. */
  provider_limit: number;
  /** Its place if it had to wait, from 1. */
  queue_position?: number | null;
  /** How many run in the company folder. */
  running: number;
  /** Its team. */
  team_id?: string | null;
  /** How many of its team. */
  team_limit: number;
  /** How many may run in the company folder. */
  workspace_limit: number;
}

/** Params of [`CompanySessionLaunch`]. */
export interface CompanySessionLaunchParams {
  /** Who launches. */
  actor_id?: string | null;
  /** As what. */
  actor_role?: ActorRole | null;
  /** Of which team. */
  actor_team_id?: string | null;
  /** Check the worker program against the rules of this machine. It is when its name is that of a known one. */
  apply_guard?: boolean | null;
  /** The program and its arguments. Without it the driver of the run's provider makes them from `prompt_text`. */
  argv?: string[] | null;
  /** What the run may cost. */
  budget?: Budget | null;
  /** When a hard limit ends it. Workers whose output is understood are watched live, commands are not. */
  budget_enforcement?: CompanySessionBudgetEnforcement | null;
  /** Variables of its environment. */
  env?: Record<string, string> | null;
  /** Variables of the gateway that are passed on although they are not among those every worker gets. */
  env_passthrough?: string[] | null;
  /** Tell what would happen instead of doing it. */
  explain?: boolean | null;
  /**
   * With `explain`: explain the launch of a run that does not exist yet. `run_id` is then any free id, and nothing
   * is left behind. Ignored without `explain`.
   */
  explain_run?: CompanySessionExplainRun | null;
  /** How long it may print nothing. */
  idle_timeout_ms?: number | null;
  /**
   * Run a worker program in the repository itself, or in the company folder if no repository is named, instead of
   * in a folder of its own. Only a person (role `human`) may ask for it, and the log of the run says so. False if
   * absent.
   */
  in_place?: boolean | null;
  /** Pass on the whole environment of the gateway. */
  inherit_env?: boolean | null;
  /** Which waiting session starts first. */
  lane_priority?: CompanySessionPriority | null;
  /** How many of this provider. */
  lane_provider_limit?: number | null;
  /** How many of this team. */
  lane_team_limit?: number | null;
  /** How many sessions may run in this company folder at a time. */
  lane_workspace_limit?: number | null;
  /** The milestone of the task. */
  milestone_id?: string | null;
  /** The model. */
  model?: string | null;
  /** What a worker program may do, where the driver makes the command. */
  permission_level?: CompanySessionPermission | null;
  /** The project. */
  project_id: string;
  /** What the worker is asked. */
  prompt_text?: string | null;
  /** How long it may wait for a free place. */
  queue_timeout_ms?: number | null;
  /**
   * The repository. A worker program that may write gets a worktree of it, a plain command runs in it. Without it
   * a worker program runs in a scratch folder of its run, a plain command in the company folder.
   */
  repo_id?: string | null;
  /** The run, which must be running. */
  run_id: string;
  /** What the session is called; `local_<run_id>` otherwise. */
  session_ref?: string | null;
  /** What the program reads from standard input. */
  stdin_text?: string | null;
  /** The task it works on. */
  task_id?: string | null;
  /** How long it may run. */
  timeout_ms?: number | null;
  /** A folder below the repository. */
  workdir_rel?: string | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`CompanySessionLaunch`]. */
export interface CompanySessionLaunchResponse {
  /** Why it failed. */
  error?: string | null;
  /** What would happen. */
  explain?: CompanySessionExplanation | null;
  /** Its place among those that wait, from 1. */
  queue_position?: number | null;
  /** What it waits for; absent unless it is queued. */
  queue_reason?: CompanySessionQueueReason | null;
  /** What the session is called. */
  session_ref: string;
  /** Where it stands. */
  state: CompanySessionLaunchState;
  /** Names of the run that stand for nothing here, in a sentence each; absent if there are none. */
  warnings?: string[];
}

/** Where a launched session stands. */
export type CompanySessionLaunchState =
  /** It runs. */
  | "running"
  /** It waits for a free place. */
  | "queued"
  /** It ended already. */
  | "ended"
  /** It could not be started, or failed already. */
  | "failed"
  /** Somebody stopped it already. */
  | "stopped"
  /** Nothing was started: `explain` tells what would be. */
  | "explained";

/** Params of [`CompanySessionList`]. */
export interface CompanySessionListParams {
  /** The id of the person or agent that asks. The caller's own if absent. */
  actor_id?: string | null;
  /** The role of that actor, at most the role of the caller's token. The role of the token if absent. */
  actor_role?: ActorRole | null;
  /** The team of that actor. The team in the agent's file if absent, none for anybody else. */
  actor_team_id?: string | null;
  /** Only of this project. */
  project_id?: string | null;
  /** Only of this run. */
  run_id?: string | null;
  /** Only those that stand there. */
  status?: RunStatus | null;
  /** The company folder. */
  workspace_dir?: string | null;
}

/** Response of [`CompanySessionList`]. */
export type CompanySessionListResponse = CompanySessionRow[];

/** How a session's program is spoken to. */
export type CompanySessionMode =
  /** A command line, and what it prints. */
  | "command"
  /** Messages of the Codex app server. */
  | "codex_app_server";

/** Params that name a session. */
export interface CompanySessionParams {
  /** The id of the person or agent that asks. The caller's own if absent. */
  actor_id?: string | null;
  /** The role of that actor, at most the role of the caller's token. The role of the token if absent. */
  actor_role?: ActorRole | null;
  /** The team of that actor. The team in the agent's file if absent, none for anybody else. */
  actor_team_id?: string | null;
  /** The session. */
  session_ref: string;
  /** The company folder; needed for sessions of an earlier gateway process. */
  workspace_dir?: string | null;
}

/** What a worker program may do by itself. */
export type CompanySessionPermission =
  /** Look at files. */
  | "read-only"
  /** Change files of its working directory. */
  | "patch"
  /** Run commands. */
  | "run-commands";

/** What policy decides. */
export interface CompanySessionPolicy {
  /** Whether it may happen. */
  allowed: boolean;
  /** Why. */
  reason: string;
  /** The rule. */
  rule_id: string;
}

/** Which waiting session starts first. */
export type CompanySessionPriority =
  /** Before the others. */
  | "high"
  /** As most. */
  | "normal"
  /** After the others. */
  | "low";

/** What a queued session waits for. */
export interface CompanySessionQueueReason {
  /** How many sessions may run at a time, for limits. */
  limit?: number | null;
  /** One sentence for people. */
  reason: string;
  /** The kind of obstacle. */
  reason_code: CompanySessionQueueReasonCode;
  /** The name of the provider, the team or the company folder whose cool-down or limit it is. */
  subject: string;
  /** When the cool-down ends, as an ISO time; `null` for limits, because no end of a session is known in advance. */
  until?: string | null;
}

/** The kind of obstacle that keeps a session in the queue. */
export type CompanySessionQueueReasonCode =
  /** The provider cools down after a rate limit, a network failure or a refused login. */
  | "cooldown"
  /** The company folder has as many running sessions as it may have. */
  | "workspace_limit"
  /** The provider has as many running sessions as it may have. */
  | "provider_limit"
  /** The team has as many running sessions as it may have. */
  | "team_limit"
  /** Nothing: a place has become free. */
  | "starting";

/** A session. */
export interface CompanySessionRow {
  /** When it was over. */
  ended_at_ms?: number | null;
  /** What went wrong. */
  error?: string | null;
  /** How the program ended. */
  exit_code?: number | null;
  /** How its program is spoken to. */
  mode: CompanySessionMode;
  /** Its process. */
  pid?: number | null;
  /** When that was written down. */
  pid_claimed_at_ms?: number | null;
  /** Its project. */
  project_id: string;
  /** The thread of the app server. */
  protocol_thread_id?: string | null;
  /** The turn on that thread. */
  protocol_turn_id?: string | null;
  /** Its place among those that wait, from 1. */
  queue_position?: number | null;
  /** What it waits for; absent unless it is queued. */
  queue_reason?: CompanySessionQueueReason | null;
  /** Whether it still waits for a free place. */
  queued?: boolean | null;
  /** Its run. */
  run_id: string;
  /** The session. */
  session_ref: string;
  /** The signal that ended it: `SIGTERM`. */
  signal?: string | null;
  /** When it was launched, in Unix milliseconds. */
  started_at_ms: number;
  /** Where it stands. */
  status: RunStatus;
  /** The file that says that somebody wants it stopped. */
  stop_marker_relpath?: string | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Where a session stands. */
export interface CompanySessionState {
  /** What went wrong. */
  error?: string | null;
  /** How the program ended. */
  exit_code?: number | null;
  /** Its project. */
  project_id: string;
  /** Its place among those that wait, from 1. */
  queue_position?: number | null;
  /** What it waits for; absent unless it is queued. */
  queue_reason?: CompanySessionQueueReason | null;
  /** Whether it still waits for a free place. */
  queued?: boolean | null;
  /** Its run. */
  run_id: string;
  /** The session. */
  session_ref: string;
  /** The signal that ended it: `SIGTERM`. */
  signal?: string | null;
  /** Where it stands. */
  status: RunStatus;
}

/** Response of [`CompanySessionPoll`] and [`CompanySessionStop`]. */
export type CompanySessionStateResponse = CompanySessionState;

/** Params of [`CompanySystemCapabilities`]: whatever is given is ignored. */
export type CompanySystemCapabilitiesParams = Record<string, never>;

/** Response of [`CompanySystemCapabilities`]. */
export interface CompanySystemCapabilitiesResponse {
  /** The company methods of this gateway, in code-unit order. */
  available_methods: string[];
  /** How context is planned. */
  context: ContextCapabilities;
  /** How memory changes. */
  memory: MemoryCapabilities;
  /** The version of the protocol document. */
  protocol_version: string;
  /** How retrieval is done. */
  retrieval: RetrievalCapabilities;
  /** Who answers, and what it adds to the protocol document. */
  server: ServerCapabilities;
}

/** Params of [`CompanyWorkspaceAgentsList`]. */
export interface CompanyWorkspaceAgentsListParams {
  /** Only agents of this role. */
  role?: AgentRole | null;
  /** Only agents of this team. */
  team_id?: string | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceAgentsList`]. */
export type CompanyWorkspaceAgentsListResponse = AgentRow[];

/** Params of [`CompanyWorkspaceBootstrapEnterprise`]. */
export interface CompanyWorkspaceBootstrapEnterpriseParams {
  /** The name of the company; `AgentCompany` if not given. */
  company_name?: string | null;
  /** The departments, by key. */
  departments?: string[] | null;
  /** The name of the executive manager. */
  executive_manager_name?: string | null;
  /** Replace a company that is there. The old one is kept beside the new one. */
  force?: boolean | null;
  /** Whether an agent is the head of the company; true if not given. */
  include_ceo?: boolean | null;
  /** Whether a director leads the departments of a standard company; true if not given. */
  include_director?: boolean | null;
  /** How it is built; `enterprise` if not given. */
  org_mode?: OrgMode | null;
  /** The name of the first project; `AgentCompany Ops` if not given. */
  project_name?: string | null;
  /** How many workers each department has; 1 if not given. */
  workers_per_dept?: number | null;
  /** The folder to make. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceBootstrapEnterprise`]. */
export interface CompanyWorkspaceBootstrapEnterpriseResponse {
  /** Who leads. */
  agents: LeadingAgents;
  /** Where the company that was there is now. */
  backup_relpath?: string | null;
  /** The name of the company. */
  company_name: string;
  /** Whom a person would talk to first. */
  default_session: DefaultSession;
  /** The departments. */
  departments: DepartmentRow[];
  /** How it is built. */
  org_mode: OrgMode;
  /** The first project. */
  project_id: string;
  /** The folder as it was given. */
  workspace_dir: string;
}

/** Params of [`CompanyWorkspaceDiagnostics`]. */
export interface CompanyWorkspaceDiagnosticsParams {
  /** How many decisions; 200 if not given. */
  decisions_limit?: number | null;
  /** How many rows of the monitor; 200 if not given. */
  monitor_limit?: number | null;
  /** Where the bundle goes. */
  out_dir: string;
  /** How many pending items; 200 if not given. */
  pending_limit?: number | null;
  /** Build the index anew. */
  rebuild_index?: boolean | null;
  /** Bring the index up to date; true if not given. */
  sync_index?: boolean | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceDiagnostics`]. */
export interface CompanyWorkspaceDiagnosticsResponse {
  /** The bundle. */
  bundle_dir: string;
  /** Its files. */
  files: DiagnosticsFiles;
  /** When it was made. */
  generated_at: string;
  /** Where the bundle went, as it was given. */
  out_dir: string;
  /** The folder as it was given. */
  workspace_dir: string;
}

/** Params of [`CompanyWorkspaceDoctor`]. */
export interface CompanyWorkspaceDoctorParams {
  /** Build the index anew. */
  rebuild_index?: boolean | null;
  /** Bring the index up to date. */
  sync_index?: boolean | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceDoctor`]. */
export interface CompanyWorkspaceDoctorResponse {
  /** The checks. */
  checks: DoctorCheck[];
  /** Whether no check failed. */
  ok: boolean;
  /** How many went how. */
  summary: DoctorSummary;
  /** The folder as it was given. */
  workspace_dir: string;
}

/** Params of [`CompanyWorkspaceExport`]. */
export interface CompanyWorkspaceExportParams {
  /** Replace a company folder or an earlier export that is there. */
  force?: boolean | null;
  /** Also what holds on this machine alone. */
  include_local?: boolean | null;
  /** Where the copy goes. */
  out_dir: string;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceExport`]. */
export interface CompanyWorkspaceExportResponse {
  /** What was copied. */
  exported_entries: string[];
  /** Whether it has what holds on this machine alone. */
  include_local: boolean;
  /** Where the copy is, as it was given. */
  out_dir: string;
  /** The folder as it was given. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceHomeSnapshot`]. */
export interface CompanyWorkspaceHomeSnapshotResponse {
  /** When it was looked at. */
  generated_at: string;
  /** The same for planning. */
  pm: PortfolioSnapshot;
  /** The projects, newest first. */
  projects: HomeProject[];
  /** All of them together. */
  summary: HomeSummary;
  /** The folder as it was given. */
  workspace_dir: string;
}

/** Params of [`CompanyWorkspaceImport`]. */
export interface CompanyWorkspaceImportParams {
  /** Replace a company folder that is there. */
  force?: boolean | null;
  /** Also what holds on this machine alone. */
  include_local?: boolean | null;
  /** The exported folder. */
  src_dir: string;
  /** Where it goes. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceImport`]. */
export interface CompanyWorkspaceImportResponse {
  /** What was copied. */
  imported_entries: string[];
  /** Whether it has what holds on this machine alone. */
  include_local: boolean;
  /** The exported folder as it was given. */
  src_dir: string;
  /** How many things are wrong with it. */
  validation_issues: number;
  /** Whether the new folder is well-formed. */
  validation_ok: boolean;
  /** The new folder as it was given. */
  workspace_dir: string;
}

/** Params of [`CompanyWorkspaceInit`]. */
export interface CompanyWorkspaceInitParams {
  /** The name of the company; `AgentCompany` if none is given. */
  company_name?: string | null;
  /** Also in a folder that is not empty. An identity and a machine file that are there are kept. */
  force?: boolean | null;
  /** The folder to make. */
  workspace_dir: string;
}

/** Params of [`CompanyWorkspaceMigrate`]. */
export interface CompanyWorkspaceMigrateParams {
  /** Only count. */
  dry_run?: boolean | null;
  /** Also if it was done before, and also logs with wrong hashes. */
  force?: boolean | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceMigrate`]. */
export interface CompanyWorkspaceMigrateResponse {
  /** Whether there was nothing to do because it was done before. */
  already_applied: boolean;
  /** Whether it was done now. */
  applied: boolean;
  /** Whether it only counted. */
  dry_run: boolean;
  /** How many events changed. */
  events_rewritten: number;
  /** How many logs were looked at. */
  files_scanned: number;
  /** How many logs changed. */
  files_updated: number;
  /** Whether it was forced. */
  forced: boolean;
  /** The migration. */
  migration_id: string;
  /** How many lines are not events. */
  parse_errors: number;
  /** Logs that were left alone because their hashes are wrong. */
  refused_files?: string[];
  /** Where it is noted. */
  state_relpath: string;
  /** The folder, resolved. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceOpen`]. */
export interface CompanyWorkspaceOpenResponse {
  /** What is wrong. */
  issues: ValidationIssue[];
  /** Whether nothing is wrong. */
  valid: boolean;
  /** The folder as it was given. */
  workspace_dir: string;
}

/** Params of [`CompanyWorkspaceProjectCreateWithDefaults`]. */
export interface CompanyWorkspaceProjectCreateWithDefaultsParams {
  /** Who leads the company; `human_ceo` if not given. */
  ceo_actor_id?: string | null;
  /** Who leads the work. */
  executive_manager_agent_id?: string | null;
  /** The name of the project. */
  name: string;
  /** Repositories to tie to it. */
  repo_ids?: string[] | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceProjectCreateWithDefaults`]. */
export interface CompanyWorkspaceProjectCreateWithDefaultsResponse {
  /** The conversations of the project. */
  conversation_ids: string[];
  /** Who assists the whole company. */
  global_manager_agent_id: string;
  /** The new project. */
  project_id: string;
  /** Who assists the project. */
  project_secretary_agent_id: string;
  /** Its repositories. */
  repo_links: RepoLink[];
}

/** Params of [`CompanyWorkspaceProjectLinkRepo`]. */
export interface CompanyWorkspaceProjectLinkRepoParams {
  /** What it is. */
  label?: string | null;
  /** The project. */
  project_id: string;
  /** The name the company gives the repository. */
  repo_id: string;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceProjectLinkRepo`]. */
export interface CompanyWorkspaceProjectLinkRepoResponse {
  /** The project. */
  project_id: string;
  /** Its repositories, sorted. */
  repos: RepoLink[];
  /** The folder as it was given. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceProjectsList`]. */
export interface CompanyWorkspaceProjectsListResponse {
  /** The projects, newest first. */
  projects: ProjectRow[];
  /** The folder as it was given. */
  workspace_dir: string;
}

/** Params of [`CompanyWorkspaceRepoRootSet`]. */
export interface CompanyWorkspaceRepoRootSetParams {
  /** The repository. */
  repo_id: string;
  /** Where it is: an absolute path. */
  repo_path: string;
  /** Whether it must be a Git repository; true if not given. */
  require_git?: boolean | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceRepoRootSet`]. */
export interface CompanyWorkspaceRepoRootSetResponse {
  /** The repository. */
  repo_id: string;
  /** Where it is. */
  repo_path: string;
  /** The folder as it was given. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceTeamsList`]. */
export type CompanyWorkspaceTeamsListResponse = TeamRow[];

/** Params of [`CompanyWorkspaceTrust`]. */
export interface CompanyWorkspaceTrustParams {
  /**
   * The `sha256` of [`CompanyWorkspaceTrustGet`] that the person looked at: if what the folder says about this
   * machine changed since, it stays untrusted. Absent for whatever it says.
   */
  expected_sha256?: string | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceTrustGet`], [`CompanyWorkspaceTrust`] and [`CompanyWorkspaceTrustWithdraw`]. */
export interface CompanyWorkspaceTrustResponse {
  /** Whether `.local/heartbeat/config.yaml` lets workers be woken without being asked. */
  heartbeat_enabled: boolean;
  /** The programs that `.local/machine.yaml` wants to use, by provider. They count only in a trusted folder. */
  programs: Record<string, string>;
  /**
   * The value for `expected_sha256`: SHA-256 of one line `<sha256>  <relpath>` and a line feed for
   * `.local/machine.yaml` and one for `.local/heartbeat/config.yaml`. A file that is not there has `-` for its hash.
   */
  sha256: string;
  /** Whether somebody made it on this machine or said to trust it. */
  trusted: boolean;
  /** The company folder, as the caller wrote it. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceValidate`]. */
export interface CompanyWorkspaceValidateResponse {
  /** What is wrong. */
  issues?: ValidationIssue[] | null;
  /** Whether nothing is wrong. */
  ok: boolean;
}

/** How context is planned. */
export interface ContextCapabilities {
  /** Whether `job.submit` plans context by itself. */
  job_submit_auto_default: boolean;
  /** The version of the layers. */
  layers_version: number;
}

/** What became of a candidate. */
export type ContextDecision =
  /** It is given. */
  | "included"
  /** The manager may not give it. */
  | "filtered_policy"
  /** It is too secret for the manager to give. */
  | "filtered_sensitivity"
  /** It holds a secret. */
  | "filtered_secret"
  /** Nobody approved it. */
  | "filtered_not_approved"
  /** There was no room. */
  | "filtered_limit";

/** How near to the core a reference is. */
export type ContextLayer =
  /** Governance and what the caller gave. */
  | "L0"
  /** Approved memory. */
  | "L1"
  /** What happened lately. */
  | "L2";

/** How it is decided what a worker knows. */
export type ContextMode =
  /** It is planned. */
  | "auto"
  /** The caller decides. */
  | "manual";

/** Params of [`ContextPlanForJob`]. */
export interface ContextPlanForJobParams {
  /** What it must keep to. */
  constraints?: string[] | null;
  /** What the worker should know in any case. */
  context_refs?: ContextRef[] | null;
  /** What it must give. */
  deliverables?: string[] | null;
  /** What the job is for. */
  goal: string;
  /** What kind of job it is. */
  job_kind?: JobKind | null;
  /** Who gives the job. */
  manager_actor_id: string;
  /** What they are. */
  manager_role: ActorRole;
  /** Their team. */
  manager_team_id?: string | null;
  /** How many references at most; 32 if not given, 8 for a heartbeat. */
  max_refs?: number | null;
  /** The project. */
  project_id: string;
  /** Who will work. */
  worker_agent_id?: string | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`ContextPlanForJob`]. */
export interface ContextPlanForJobResponse {
  /** What the worker is given. */
  context_refs: ContextRef[];
  /** How many the manager may not give. */
  filtered_by_policy_count: number;
  /** How many hold a secret. */
  filtered_by_secret_count: number;
  /** How many are too secret. */
  filtered_by_sensitivity_count: number;
  /** When it was planned. */
  generated_at: string;
  /** The layers it comes from. */
  layers_used: ContextLayer[];
  /** How many references there could be. */
  max_refs: number;
  /** What became of every candidate; at most 200 rows. */
  retrieval_trace: ContextTraceEntry[];
  /** Whose memory matters most. */
  scope_kind: MemoryScopeKind;
  /** Which agent or project that is. */
  scope_ref: string;
  /** How many rows the trace left out. */
  trace_truncated_count?: number | null;
}

/** Something a worker is given to know. */
export interface ContextRef {
  /** What it is for. */
  description?: string | null;
  /** What it is. */
  kind: ContextRefKind;
  /** Which one. */
  value: string;
}

/** What a reference is to. */
export type ContextRefKind =
  /** A file of the folder. */
  | "file"
  /** A command. */
  | "command"
  /** A document. */
  | "artifact"
  /** A remark. */
  | "note";

/** Where a reference comes from. */
export type ContextSourceKind =
  /** A file of the folder. */
  | "file"
  /** A document. */
  | "artifact"
  /** A run. */
  | "run"
  /** A remark. */
  | "note"
  /** A memory delta. */
  | "memory_delta"
  /** The caller. */
  | "seed";

/** What became of one candidate, and why. */
export interface ContextTraceEntry {
  /** When it was made. */
  created_at?: string | null;
  /** What became of it. */
  decision: ContextDecision;
  /** Its layer. */
  layer: ContextLayer;
  /** Why. */
  reason: string;
  /** How much of the score is for fitting the goal, at most 50. */
  relevance?: number | null;
  /** What it is worth. */
  score: number;
  /** How secret it is. */
  sensitivity?: Sensitivity | null;
  /** Which one; of a rejected seed only a hash. */
  source_id: string;
  /** Where it comes from. */
  source_kind: ContextSourceKind;
  /** Who may see it. */
  visibility?: Visibility | null;
}

/** A conversation, on the wire as in `conversation.yaml`. */
export interface Conversation {
  /** Whether the company made it by itself. */
  auto_generated?: boolean;
  /** When it was made. */
  created_at: string;
  /** Who made it. */
  created_by: string;
  /** The other one, between two. */
  dm_peer_agent_id?: string | null;
  /** Its id. */
  id: string;
  /** What it is. */
  kind: ConversationKind;
  /** Its name. */
  name: string;
  /** Who takes part. */
  participants: Participants;
  /** The project, if it is about one. */
  project_id?: string | null;
  /** 1. */
  schema_version: number;
  /** What it is about. */
  scope: CompanyScope;
  /** Its name in addresses. */
  slug: string;
  /** `conversation`. */
  type: ConversationTag;
  /** Who may see it. */
  visibility: Visibility;
}

/** Params of [`ConversationCreateChannel`]. */
export interface ConversationCreateChannelParams {
  /** Who makes it. */
  created_by: string;
  /** Its name. */
  name: string;
  /** Agents and people who take part. */
  participant_agent_ids?: string[] | null;
  /** Teams that take part. */
  participant_team_ids?: string[] | null;
  /** The project; needed for the scope `project`. */
  project_id?: string | null;
  /** What it is about. */
  scope: CompanyScope;
  /** Its name in addresses; `home` is taken. */
  slug: string;
  /** Who may see it; `team` if not given. */
  visibility?: Visibility | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Params of [`ConversationCreateDm`]. */
export interface ConversationCreateDmParams {
  /** Who begins it. */
  created_by: string;
  /** The other one. */
  peer_agent_id: string;
  /** The project; needed for the scope `project`. */
  project_id?: string | null;
  /** What it is about. */
  scope: CompanyScope;
  /** Who may see it; `private_agent` if not given. */
  visibility?: Visibility | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`ConversationCreateChannel`] and [`ConversationCreateDm`]. */
export type ConversationCreatedResponse = Conversation;

/** What a conversation is. */
export type ConversationKind =
  /** The first place of its scope. */
  | "home"
  /** Open to its members. */
  | "channel"
  /** Between two. */
  | "dm";

/** Params of [`ConversationList`]. */
export interface ConversationListParams {
  /** Who asks: conversations they may not see are left out. */
  actor_id?: string | null;
  /** What they are. */
  actor_role?: ActorRole | null;
  /** Their team. */
  actor_team_id?: string | null;
  /** The project; needed for the scope `project`. */
  project_id?: string | null;
  /** What they are about. */
  scope: CompanyScope;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`ConversationList`]. */
export type ConversationListResponse = Conversation[];

/** Params of [`ConversationMembersSync`]. */
export interface ConversationMembersSyncParams {
  /** Who leads the company. */
  ceo_actor_id?: string | null;
  /** Who leads the work. */
  executive_manager_agent_id?: string | null;
  /** The project. */
  project_id: string;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`ConversationMembersSync`]. */
export interface ConversationMembersSyncResponse {
  /** The conversations of the project. */
  conversation_ids: string[];
  /** Who assists the whole company. */
  global_manager_agent_id: string;
  /** Who assists the project. */
  project_secretary_agent_id: string;
}

/** A message, on the wire as in `messages.jsonl`. */
export interface ConversationMessage {
  /** Who sent it. */
  author_id: string;
  /** What they are. */
  author_role: ActorRole;
  /** What it says. */
  body: string;
  /** The conversation. */
  conversation_id: string;
  /** When it was sent. */
  created_at: string;
  /** Its id. */
  id: string;
  /** What it is. */
  kind?: MessageKind;
  /** Whom it names. */
  mentions?: string[];
  /** The project, if the conversation is about one. */
  project_id?: string | null;
  /** 1. */
  schema_version: number;
  /** `message`. */
  type: ConversationMessageTag;
  /** Who may see it. */
  visibility: Visibility;
}

/** Params of [`ConversationMessageSend`]. */
export interface ConversationMessageSendParams {
  /** Who says it. */
  author_id: string;
  /** What they are. */
  author_role: ActorRole;
  /** What they say. */
  body: string;
  /** The conversation. */
  conversation_id: string;
  /** What it is; `text` if not given. */
  kind?: MessageKind | null;
  /** Whom it names. */
  mentions?: string[] | null;
  /** The project; needed for the scope `project`. */
  project_id?: string | null;
  /** What the conversation is about. */
  scope: CompanyScope;
  /** Who may see it; as the conversation if not given. */
  visibility?: Visibility | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`ConversationMessageSend`]. */
export interface ConversationMessageSendResponse {
  /** The conversation. */
  conversation: Conversation;
  /** The message. */
  message: ConversationMessage;
}

/** The word `message`. */
export type ConversationMessageTag =
  /** The word `message`. */
  | "message";

/** Params of [`ConversationMessagesList`]. */
export interface ConversationMessagesListParams {
  /** Who asks: a conversation they may not see is refused. */
  actor_id?: string | null;
  /** What they are. */
  actor_role?: ActorRole | null;
  /** Their team. */
  actor_team_id?: string | null;
  /** Only those before this one, which is how to page. */
  before_message_id?: string | null;
  /** The conversation. */
  conversation_id: string;
  /** How many; 300 if not given. */
  limit?: number | null;
  /** The project; needed for the scope `project`. */
  project_id?: string | null;
  /** What it is about. */
  scope: CompanyScope;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`ConversationMessagesList`]. */
export type ConversationMessagesListResponse = ConversationMessage[];

/** What somebody said, as it is said. */
export interface ConversationNotification {
  /** Where it was said. */
  conversation: Conversation;
  /** What was said. */
  message: ConversationMessage;
  /** The subscription that asked for it. */
  subscription_id: string;
  /** The company folder, as the subscription named it. */
  workspace_dir: string;
}

/** The word `conversation`. */
export type ConversationTag =
  /** The word `conversation`. */
  | "conversation";

/** Whether tasks wait for each other in a circle. */
export type CpmStatus =
  /** They do not. */
  | "ok"
  /** They do. */
  | "dependency_cycle";

/** Whom a person would talk to first. */
export interface DefaultSession {
  /** The agent. */
  actor_id: string;
  /** What it is. */
  actor_role: AgentRole;
  /** Its team. */
  actor_team_id?: string | null;
  /** The project. */
  project_id: string;
}

/** Which deltas are wanted. */
export type DeltaFilter =
  /** Those nobody decided about. */
  | "pending"
  /** Those that were applied. */
  | "approved"
  /** Those that were refused. */
  | "denied"
  /** Those that can only be denied. */
  | "invalid"
  /** All. */
  | "all";

/** Where a delta stands. */
export type DeltaStatus =
  /** Nobody decided. */
  | "pending"
  /** It was applied. */
  | "approved"
  /** It was refused. */
  | "denied"
  /** Undecided, and it can only be denied: its file, its target or its patch cannot be used. */
  | "invalid";

/** Somebody who got no task. */
export interface DeniedAssignment {
  /** The team they belong to. */
  actual_team_id?: string | null;
  /** The team they would have to belong to. */
  expected_team_id?: string | null;
  /** Why: `agent_not_found`, `not_worker_role` or `cross_team_assignment_denied`. */
  reason: string;
  /** Who. */
  worker_agent_id: string;
}

/** A department of a new company. */
export interface DepartmentRow {
  /** Its key. */
  department_key: string;
  /** Its name. */
  department_label: string;
  /** Who leads it. */
  director_agent_id: string;
  /** Its team. */
  team_id: string;
  /** Who works in it. */
  worker_agent_ids: string[];
}

/** Params of [`DesktopBootstrapSnapshot`]. */
export interface DesktopBootstrapSnapshotParams {
  /** Who looks. */
  actor_id: string;
  /** The conversation; needed for the view `conversation`. */
  conversation_id?: string | null;
  /** The project; needed for the scope `project`. */
  project_id?: string | null;
  /** What they look at. */
  scope: CompanyScope;
  /** What is in the middle. */
  view: DesktopView;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`DesktopBootstrapSnapshot`]. */
export interface DesktopBootstrapSnapshotResponse {
  /** What happens, in short; counted for the view `activities` alone. */
  activity_summary: ActivitySummary;
  /** Who looks. */
  actor_id: string;
  /** As `workspace.agents.list` tells them. */
  agents: AgentRow[];
  /** The conversation. */
  conversation_id?: string | null;
  /** As `conversation.list` tells them. */
  conversations: Conversation[];
  /** How all projects stand, in short. */
  pm_summary: PortfolioSummary;
  /** The project. */
  project_id?: string | null;
  /** As `workspace.projects.list` tells them. */
  projects: ProjectRow[];
  /** What is used, in short. */
  resources_summary: ResourceTotals;
  /** What they look at. */
  scope: CompanyScope;
  /** When it was looked at. */
  sync_ts: string;
  /** As `workspace.teams.list` tells them. */
  teams: TeamRow[];
  /** What is in the middle. */
  view: DesktopView;
  /** What is in the middle. */
  view_data: DesktopViewData;
  /** The folder as it was given. */
  workspace_dir: string;
}

/** How everything stands. */
export interface DesktopHome {
  /** As `pm.snapshot` tells it. */
  pm: PmSnapshotResponse;
  /** Who should do what in the project. */
  recommendations: DesktopRecommendation[];
  /** As `resources.snapshot` tells it. */
  resources: ResourcesSnapshotResponse;
  /** All projects. */
  workspace_home: HomeSnapshot;
}

/** Who should do a task. */
export interface DesktopRecommendation {
  /** Which agent. */
  preferred_agent_id?: string | null;
  /** Which model suits. */
  preferred_model?: string | null;
  /** What should run it. */
  preferred_provider: string;
  /** Why, in one sentence. */
  rationale: string;
  /** Why, in one sentence. */
  reason: string;
  /** Why, one reason each. */
  reasons?: string[];
  /** The task. */
  task_id: string;
  /** With about how many tokens. */
  token_budget_hint: number;
}

/** A browser that is signed in. */
export interface DesktopSession {
  /** When it signed in, Unix seconds. */
  created_at: number;
  /** When it ends unless it is used before, Unix seconds: 30 days after the last use, 90 days after signing in at most. */
  expires_at: number;
  /** Its id. */
  id: DesktopSessionId;
  /** Whether the caller is this browser. */
  is_current: boolean;
  /** When it was last used, Unix seconds, to the hour. */
  last_used_at: number;
  /** What the browser said it is when it signed in, its `User-Agent`; empty when it said nothing. */
  user_agent: string;
}

/** Params of [`DesktopSessionEnd`]. */
export interface DesktopSessionEndParams {
  /** The session. */
  session_id: DesktopSessionId;
}

/** Response of [`DesktopSessionEnd`]. */
export interface DesktopSessionEndResponse {
  /** Whether there was such a session to end. */
  ended: boolean;
}

/** A browser that is signed in to the web desktop. */
export type DesktopSessionId = string;

/** Params of [`DesktopSessionList`]. */
export type DesktopSessionListParams = Record<string, never>;

/** Response of [`DesktopSessionList`]. */
export interface DesktopSessionListResponse {
  /** The sessions that have not ended. */
  items: DesktopSession[];
}

/** What is in the middle of the desktop. */
export type DesktopView =
  /** How everything stands. */
  | "home"
  /** What happens. */
  | "activities"
  /** What is used. */
  | "resources"
  /** One conversation. */
  | "conversation";

/** What is in the middle of the desktop. */
export type DesktopViewData =
  /** How everything stands. */
  | DesktopHome
  /** What happens. */
  | {
    /** As `ui.snapshot` tells it. */
    ui: UiSnapshotResponse;
  }
  /** What is used. */
  | {
    /** As `resources.snapshot` tells it. */
    resources: ResourcesSnapshotResponse;
  }
  /** One conversation. */
  | {
    /** Its last messages, oldest first. */
    messages: ConversationMessage[];
  };

/** The files of a diagnostics bundle. */
export interface DiagnosticsFiles {
  /** The answer of `adapter.status`. */
  adapters: string;
  /** The answer of `workspace.doctor`. */
  doctor: string;
  /** The answer of `index.stats`, if there is an index. */
  index_stats?: string | null;
  /** What is in the bundle. */
  manifest: string;
  /** The answer of `monitor.snapshot`. */
  monitor_snapshot: string;
  /** The answer of `inbox.snapshot`. */
  review_inbox_snapshot: string;
  /** The answer of `session.list`. */
  sessions: string;
}

/** One check of a company folder. */
export interface DoctorCheck {
  /** What was found, one line each. */
  details?: string[] | null;
  /** What was checked. */
  id: string;
  /** A sentence for people. */
  message: string;
  /** How it went. */
  status: DoctorStatus;
}

/** How a check went. */
export type DoctorStatus =
  /** Fine. */
  | "pass"
  /** Worth a look. */
  | "warn"
  /** Broken. */
  | "fail";

/** How many checks went how. */
export interface DoctorSummary {
  /** Broken. */
  fail: number;
  /** Fine. */
  pass: number;
  /** Worth a look. */
  warn: number;
}

/** A download. */
export type DownloadId = string;

/** Params of [`EventsAck`]. */
export interface EventsAckParams {
  /**
   * Acknowledges the sent events whose `ts_monotonic_ms` is at most this, and no others. That time counts from the
   * start of the process that wrote the event, so `last_event_id` is the exact way where several processes write.
   */
  last_ack_ts_monotonic_ms?: number | null;
  /** Acknowledges this event and all that were sent before it; decides alone when both are given. */
  last_event_id?: string | null;
  /** The subscription. */
  subscription_id: string;
}

/** Payload of `events.notification`. */
export interface EventsNotification {
  /** The event as it is in the file. */
  event: unknown;
  /** The project. */
  project_id?: string | null;
  /** Its line in the file, from 1. */
  seq?: number | null;
  /** The subscription it is for. */
  subscription_id: string;
  /** The company folder. */
  workspace_dir?: string | null;
}

/** Params of [`EventsSubscribe`]. */
export interface EventsSubscribeParams {
  /** Who listens: events they may not see are left out. */
  actor_id?: string | null;
  /** What they are. */
  actor_role?: ActorRole | null;
  /** Their team. */
  actor_team_id?: string | null;
  /** Only events after this one come first. Needs `workspace_dir` and `run_id`. */
  after_event_id?: string | null;
  /** How many of the newest events come first. Needs `workspace_dir`. */
  backfill_limit?: number | null;
  /** Only events of these types; none means all. */
  event_types?: string[] | null;
  /** Stop sending while this many events are not acknowledged. */
  max_unacked?: number | null;
  /** Only events of this project. */
  project_id?: string | null;
  /** Only events of this run. */
  run_id?: string | null;
  /** The name of the subscription; one is made if none is given. A subscription of this name is replaced. */
  subscription_id?: string | null;
  /** Only events of this company folder. */
  workspace_dir?: string | null;
}

/** Response of [`EventsSubscribe`]. */
export interface EventsSubscribeResponse {
  /** The name of the subscription. */
  subscription_id: string;
}

/** Params of [`EventsUnsubscribe`]. */
export interface EventsUnsubscribeParams {
  /** The subscription. */
  subscription_id: string;
}

/** Response of [`EventsUnsubscribe`]. */
export interface EventsUnsubscribeResponse {
  /** Whether there was one. */
  removed: boolean;
}

/** A prompt in pieces. */
export interface ExplainedPrompt {
  /** The compiler; absent when nothing was told yet. */
  compiler_version?: string | null;
  /** SHA-256 of the whole prompt. */
  fingerprint_full?: string | null;
  /** The pieces in the order of the prompt. */
  pieces: PromptPiece[];
  /** Where it stands. */
  status: TurnStatus;
  /** The turn. */
  turn_id: TurnId;
}

/** A folder of the thread tree. */
export type FolderId = string;

/** The tasks of a project in time. */
export interface Gantt {
  /** Whether tasks wait for each other in a circle. */
  cpm_status: CpmStatus;
  /** The tasks that wait for each other in a circle. They take no part in the arithmetic. */
  cycle_task_ids?: string[];
  /** How many days the longest chain of tasks takes. */
  project_span_days: number;
  /** The same without what is done or given up. */
  remaining_span_days?: number | null;
  /** The tasks, by when they begin. */
  tasks: GanttTask[];
}

/** A task in time. */
export interface GanttTask {
  /** The agent that does it. */
  assignee_agent_id?: string | null;
  /** Whether it cannot slip at all. */
  critical: boolean;
  /** What must be done before. */
  depends_on_task_ids: string[];
  /** How long it takes. */
  duration_days: number;
  /**
   * End of the bar: the planned end if there is one, shown even when it contradicts the dependencies and lies before
   * `start_at` (then `schedule_conflict` is true), else the earliest finish.
   */
  end_at: string;
  /** How far it is, from 0 to 100. */
  progress_pct: number;
  /** The same while what is done or given up takes no time. */
  remaining_slack_days?: number | null;
  /**
   * Whether the planned dates contradict the dependencies: the task begins before one of them ends, or must end
   * before it can begin. Absent when false.
   */
  schedule_conflict?: boolean;
  /** How many days it can slip without moving the end of the project. */
  slack_days: number;
  /** Start of the bar: the planned start, or the earliest start that the dependencies allow. */
  start_at: string;
  /** Where it stands. */
  status: TaskStatus;
  /** Its id. */
  task_id: string;
  /** The team that does it. */
  team_id?: string | null;
  /** What it is called. */
  title: string;
}

/** An action that was seen. */
export interface HeartbeatAction {
  /** What it is. */
  action_kind: string;
  /** How often it was done. */
  execution_count: number;
  /** When it is forgotten. */
  expires_at: string;
  /** When it was first seen. */
  first_seen_at: string;
  /** Its key. */
  idempotency_key: string;
  /** When it was last seen. */
  last_seen_at: string;
  /** What became of it. */
  status: HeartbeatActionStatus;
}

/** What became of an action. */
export type HeartbeatActionStatus =
  /** It waits for a decision. */
  | "queued"
  /** It was done. */
  | "executed";

/** A worker that was considered. */
export interface HeartbeatCandidate {
  /** The points. */
  components: HeartbeatComponents;
  /** The hash of what there is for it. */
  context_hash: string;
  /** What there is for it. */
  counts: HeartbeatCounts;
  /** All points together. */
  score: number;
  /** Whether it is left alone whatever its score. */
  suppressed: boolean;
  /** Why. */
  suppression_reason?: string | null;
  /** Its team. */
  team_id?: string | null;
  /** Its id. */
  worker_agent_id: string;
}

/** What speaks for and against waking a worker. */
export interface HeartbeatComponents {
  /** For tasks that are due soon. */
  due_points: number;
  /** For new events. */
  new_signal_points: number;
  /** For tasks that are late. */
  overdue_points: number;
  /** Because it is night. */
  quiet_hours_penalty: number;
  /** Because it had nothing to do a moment ago and nothing changed. */
  recent_ok_penalty: number;
  /** For jobs that do not move. */
  stuck_points: number;
}

/** How the heartbeat of a company is set, on the wire as in its file. */
export interface HeartbeatConfig {
  /** Whether directors may start workers of their team. */
  allow_director_to_spawn_workers?: boolean;
  /** How far ahead a task counts as due. */
  due_horizon_minutes?: number;
  /** Whether it beats. */
  enabled?: boolean;
  /** Who leads the work. */
  executive_manager_agent_id?: string | null;
  /** Who is in the pool. */
  hierarchy_mode?: HierarchyMode;
  /** For how long an action is remembered, so that it is not done twice. */
  idempotency_ttl_days?: number;
  /** By how much wakes are spread. */
  jitter_max_seconds?: number;
  /** How many in an hour. */
  max_auto_actions_per_hour?: number;
  /** How many actions may be done at once without asking. */
  max_auto_actions_per_tick?: number;
  /** How much reason there must be to wake one. */
  min_wake_score?: number;
  /** For how long a worker that had nothing to do is left alone. */
  ok_suppression_minutes?: number;
  /** When they end. */
  quiet_hours_end_hour?: number;
  /** When the quiet hours begin, in local time. */
  quiet_hours_start_hour?: number;
  /** 1. */
  schema_version?: number;
  /** After how long a running job counts as stuck. */
  stuck_job_running_minutes?: number;
  /** How often. */
  tick_interval_minutes?: number;
  /** How many workers are woken at once. */
  top_k_workers?: number;
  /** `heartbeat_config`. */
  type?: HeartbeatConfigTag;
}

/** Response of [`HeartbeatConfigGet`]. */
export type HeartbeatConfigResponse = HeartbeatConfig;

/** Params of [`HeartbeatConfigSet`]. */
export interface HeartbeatConfigSetParams {
  /** Whether directors may start workers of their team. */
  allow_director_to_spawn_workers?: boolean | null;
  /** Answer what the config would be and write nothing. False if absent. */
  dry_run?: boolean | null;
  /** How far ahead a task counts as due. */
  due_horizon_minutes?: number | null;
  /** Whether it beats. */
  enabled?: boolean | null;
  /** Who leads the work. */
  executive_manager_agent_id?: string | null;
  /** Who is in the pool. */
  hierarchy_mode?: HierarchyMode | null;
  /** For how long an action is remembered. */
  idempotency_ttl_days?: number | null;
  /** By how much wakes are spread. */
  jitter_max_seconds?: number | null;
  /** How many in an hour. */
  max_auto_actions_per_hour?: number | null;
  /** How many actions may be done at once without asking. */
  max_auto_actions_per_tick?: number | null;
  /** How much reason there must be to wake one. */
  min_wake_score?: number | null;
  /** For how long a worker that had nothing to do is left alone. */
  ok_suppression_minutes?: number | null;
  /** When they end. */
  quiet_hours_end_hour?: number | null;
  /** When the quiet hours begin, in local time. */
  quiet_hours_start_hour?: number | null;
  /** After how long a running job counts as stuck. */
  stuck_job_running_minutes?: number | null;
  /** How often. */
  tick_interval_minutes?: number | null;
  /** How many workers are woken at once. */
  top_k_workers?: number | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`HeartbeatConfigSet`]. */
export interface HeartbeatConfigSetResponse {
  /** Whether directors may start workers of their team. */
  allow_director_to_spawn_workers?: boolean;
  /** How far ahead a task counts as due. */
  due_horizon_minutes?: number;
  /** Whether it beats. */
  enabled?: boolean;
  /** Who leads the work. */
  executive_manager_agent_id?: string | null;
  /** What the heartbeat may start by itself; absent if it does not beat. */
  forecast?: HeartbeatForecast | null;
  /** Who is in the pool. */
  hierarchy_mode?: HierarchyMode;
  /** For how long an action is remembered, so that it is not done twice. */
  idempotency_ttl_days?: number;
  /** By how much wakes are spread. */
  jitter_max_seconds?: number;
  /** How many in an hour. */
  max_auto_actions_per_hour?: number;
  /** How many actions may be done at once without asking. */
  max_auto_actions_per_tick?: number;
  /** How much reason there must be to wake one. */
  min_wake_score?: number;
  /** For how long a worker that had nothing to do is left alone. */
  ok_suppression_minutes?: number;
  /** When they end. */
  quiet_hours_end_hour?: number;
  /** When the quiet hours begin, in local time. */
  quiet_hours_start_hour?: number;
  /** 1. */
  schema_version?: number;
  /** After how long a running job counts as stuck. */
  stuck_job_running_minutes?: number;
  /** How often. */
  tick_interval_minutes?: number;
  /** How many workers are woken at once. */
  top_k_workers?: number;
  /** `heartbeat_config`. */
  type?: HeartbeatConfigTag;
}

/** The word `heartbeat_config`. */
export type HeartbeatConfigTag =
  /** The word `heartbeat_config`. */
  | "heartbeat_config";

/** What there is for a worker. */
export interface HeartbeatCounts {
  /** Tasks that are due soon. */
  due_tasks: number;
  /** Events it has not seen. */
  new_signals: number;
  /** Tasks that are late. */
  overdue_tasks: number;
  /** Jobs that do not move. */
  stuck_jobs: number;
}

/** What a heartbeat that beats may start without being asked. */
export interface HeartbeatForecast {
  /** The agents that can be woken, sorted by id. */
  agents: HeartbeatForecastAgent[];
  /** How many actions of woken workers, which can be further jobs, are done without asking in an hour at most. */
  max_auto_actions_per_hour: number;
  /** How many workers the ticks of an hour start at most. */
  max_workers_per_hour: number;
  /** How many workers one tick starts at most. */
  max_workers_per_tick: number;
  /** The rest of this in one sentence. */
  summary: string;
  /** Minutes between two ticks. */
  tick_interval_minutes: number;
  /** The token cap of each project. */
  token_caps: HeartbeatForecastCap[];
}

/** An agent that can be woken. */
export interface HeartbeatForecastAgent {
  /** The agent. */
  agent_id: string;
  /** Its name. */
  name: string;
  /** The worker program that is started for it. */
  worker_kind: WorkerKind;
}

/** The token cap of a project. */
export interface HeartbeatForecastCap {
  /** Tokens after which no worker of the project starts any more; absent if the project's budget has no such limit. */
  hard_tokens?: number | null;
  /** Its name. */
  name: string;
  /** The project. */
  project_id: string;
}

/** The job of a woken worker. */
export interface HeartbeatJob {
  /** By how much its start was put off. */
  jitter_seconds: number;
  /** The job. */
  job_id: string;
  /** The project. */
  project_id: string;
  /** The worker. */
  worker_agent_id: string;
}

/** What a woken worker reports, as it prints it and as it is kept. */
export interface HeartbeatReport {
  /** What is to be done. */
  actions?: ProposedAction[] | null;
  /** 1. */
  schema_version?: number;
  /** Whether there is something to do. */
  status: HeartbeatReportStatus;
  /** In words. */
  summary: string;
  /** `HEARTBEAT_OK` when there is nothing to do. */
  token?: HeartbeatToken | null;
  /** `heartbeat_worker_report`. */
  type?: HeartbeatReportTag;
}

/** What a worker said. */
export type HeartbeatReportStatus =
  /** Nothing to do. */
  | "ok"
  /** Something to do. */
  | "actions";

/** The word `heartbeat_worker_report`. */
export type HeartbeatReportTag =
  /** The word `heartbeat_worker_report`. */
  | "heartbeat_worker_report";

/** What a heartbeat does now. */
export interface HeartbeatRuntime {
  /** What went wrong last in a tick that came by itself. */
  last_error?: string | null;
  /** What came of the last tick. */
  last_tick_summary?: HeartbeatTickResponse | null;
  /** Whether it ticks by itself. */
  loop_running: boolean;
  /** When the next one is. */
  next_scheduled_at?: string | null;
  /** Whether a tick runs. */
  tick_in_progress: boolean;
}

/** What a heartbeat remembers, on the wire as in its file. */
export interface HeartbeatState {
  /** How many actions were done in each hour, by `YYYY-MM-DD-HH`. */
  hourly_action_counters?: Record<string, number>;
  /** Actions that were seen, by their key. */
  idempotency?: Record<string, HeartbeatAction>;
  /** When it was. */
  last_tick_at?: string | null;
  /** The last tick. */
  last_tick_id?: string | null;
  /** Why it was. */
  last_tick_reason?: string | null;
  /** When the next one is. */
  next_tick_at?: string | null;
  /** The last event seen of each run, by `<project>::<run>`. */
  run_event_cursors?: Record<string, number>;
  /** Whether a tick runs. */
  running?: boolean;
  /** 1. */
  schema_version?: number;
  /** Everything counted. */
  stats?: HeartbeatStats;
  /** `heartbeat_state`. */
  type?: HeartbeatStateTag;
  /** What is known of each worker. */
  worker_state?: Record<string, HeartbeatWorkerState>;
}

/** The word `heartbeat_state`. */
export type HeartbeatStateTag =
  /** The word `heartbeat_state`. */
  | "heartbeat_state";

/** Everything a heartbeat counted. */
export interface HeartbeatStats {
  /** Actions done. */
  actions_executed_total?: number;
  /** Actions that waited for a decision. */
  approvals_queued_total?: number;
  /** Actions that were seen before. */
  deduped_actions_total?: number;
  /** Reports of something to do. */
  reports_actions_total?: number;
  /** Reports of nothing to do. */
  reports_ok_total?: number;
  /** Ticks. */
  ticks_total?: number;
  /** Workers woken. */
  workers_woken_total?: number;
}

/** Response of [`HeartbeatStatus`]. */
export interface HeartbeatStatusResponse {
  /** How it is set. */
  config: HeartbeatConfig;
  /** What is wrong with the file that says so; it does not beat then. */
  config_error?: string | null;
  /** Whether this process knows the folder. */
  observed: boolean;
  /** What it does now. */
  runtime: HeartbeatRuntime;
  /** What it remembers. */
  state: HeartbeatState;
  /** The company folder. */
  workspace_dir: string;
}

/** Params of [`HeartbeatTick`]. */
export interface HeartbeatTickParams {
  /** Only tell what would happen. */
  dry_run?: boolean | null;
  /** Why now; `rpc` if not given. */
  reason?: string | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`HeartbeatTick`]. */
export interface HeartbeatTickResponse {
  /** What was done. */
  actions_executed: number;
  /** What waits for a decision. */
  approvals_queued: number;
  /** Everybody who was considered. */
  candidates: HeartbeatCandidate[];
  /** How it is set. */
  config: HeartbeatConfig;
  /** What was seen before. */
  deduped_actions: number;
  /** Whether nothing was written. */
  dry_run: boolean;
  /** How long it took. */
  duration_ms: number;
  /** Whether the heartbeat beats. */
  enabled: boolean;
  /** When it was over. */
  finished_at: string;
  /** Their jobs. */
  jobs_submitted: HeartbeatJob[];
  /** Why it was. */
  reason: string;
  /** How many wanted something. */
  reports_actions: number;
  /** How many said that all is well. */
  reports_ok: number;
  /** How many reports came. */
  reports_processed: number;
  /** What could not even be decided about. */
  skipped_actions: number;
  /** Whether another tick runs, and this one did nothing. */
  skipped_due_to_running: boolean;
  /** Why it did nothing: `tick_already_in_progress` or `heartbeat_disabled`. */
  skipped_reason?: string | null;
  /** When it began. */
  started_at: string;
  /** The tick. */
  tick_id: string;
  /** Who is woken, the most urgent first. */
  woken_workers: HeartbeatWake[];
  /** The company folder. */
  workspace_dir: string;
}

/** The word by which a worker says that all is well. */
export type HeartbeatToken =
  /** The word `HEARTBEAT_OK`. */
  | "HEARTBEAT_OK";

/** A worker that is woken. */
export interface HeartbeatWake {
  /** The hash of what there is for it. */
  context_hash: string;
  /** By how much its start is put off. */
  jitter_seconds: number;
  /** The project it is woken for. */
  project_id?: string | null;
  /** Why it is woken, in words. */
  reasons: string[];
  /** How much reason there is. */
  score: number;
  /** Its team. */
  team_id?: string | null;
  /** Its id. */
  worker_agent_id: string;
}

/** What is known of a worker. */
export interface HeartbeatWorkerState {
  /** What it was woken about last. */
  last_context_hash?: string | null;
  /** When it last had nothing to do. */
  last_ok_at?: string | null;
  /** What it said last. */
  last_report_status?: HeartbeatReportStatus | null;
  /** When it was last woken. */
  last_wake_at?: string | null;
  /** Until when it is left alone. */
  suppressed_until?: string | null;
}

/** The head of a help request, on the wire as in its file. */
export interface HelpRequest {
  /** When it was asked. */
  created_at: string;
  /** Its id. */
  id: string;
  /** The project. */
  project_id?: string | null;
  /** Who asks. */
  requester: string;
  /** 1. */
  schema_version: number;
  /** What was shared for it. */
  share_pack_id?: string | null;
  /** Who is asked. */
  target_manager: string;
  /** Its title. */
  title: string;
  /** `help_request`. */
  type: HelpRequestTag;
  /** Who may see it. */
  visibility: Visibility;
}

/** The word `help_request`. */
export type HelpRequestTag =
  /** The word `help_request`. */
  | "help_request";

/** Who is in the pool of workers that can be woken. */
export type HierarchyMode =
  /** Workers, and managers without workers. */
  | "standard"
  /** Directors and workers. */
  | "enterprise_v1";

/** A project of a [`HomeSnapshot`]. */
export interface HomeProject {
  /** What runs. */
  active_runs: number;
  /** Tasks that wait for something. */
  blocked_tasks: number;
  /** When it was made. */
  created_at: string;
  /** Runs that were made and never started. */
  idle_runs: number;
  /** Its name. */
  name: string;
  /** What waits for a decision. */
  pending_reviews: number;
  /** How far it is, from 0 to 100. */
  progress_pct: number;
  /** Its id. */
  project_id: string;
  /** Its repositories. */
  repo_ids: string[];
  /** What deserves attention. */
  risk_flags: string[];
  /** Whether it is worked on. */
  status: ProjectStatus;
  /** How many tasks it has. */
  task_count: number;
}

/** How all projects stand. */
export interface HomeSnapshot {
  /** When it was looked at. */
  generated_at: string;
  /** The projects, newest first. */
  projects: HomeProject[];
  /** All of them together. */
  summary: HomeSummary;
  /** The folder as it was given. */
  workspace_dir: string;
}

/** All projects of a [`HomeSnapshot`] together. */
export interface HomeSummary {
  /** What runs. */
  active_runs: number;
  /** Projects with tasks that wait for something. */
  blocked_projects: number;
  /** Runs that were made and never started. */
  idle_runs: number;
  /** What waits for a decision. */
  pending_reviews: number;
  /** How far they are, from 0 to 100. */
  progress_pct: number;
  /** How many projects. */
  project_count: number;
  /** How many tasks. */
  task_count: number;
}

/** One run of a hook. */
export interface HookRun {
  /** How many tries there were. */
  attempt_count: number;
  /** Unix milliseconds. */
  completed_at_ms?: number | null;
  /** How much it brought. */
  contribution_count: number;
  /** The hashes of what it brought. */
  contribution_hashes: string[];
  /** How many remarks it made. */
  diagnostic_count: number;
  /** Its remarks, as far as users may read them. */
  diagnostic_previews: string[];
  /** Why it failed. */
  error?: HookRunError | null;
  /** The hook. */
  hook_id: string;
  /** The run. */
  id: string;
  /** The phase, such as `turn.pre_prompt_compile`. */
  phase: string;
  /** Unix milliseconds. */
  queued_at_ms: number;
  /** Unix milliseconds. */
  started_at_ms?: number | null;
  /** Where it stands. */
  status: HookRunStatus;
  /** The subscription. */
  subscription_id: string;
  /** The thread. */
  thread_id?: string | null;
  /** The turn. */
  turn_id?: string | null;
}

/** Why a run failed. */
export interface HookRunError {
  /** A stable name. */
  code: string;
  /** One sentence, as far as users may read it. */
  message: string;
  /** Whether another try could help. */
  retryable: boolean;
  /** Whether users may read the message. */
  safe_for_user: boolean;
}

/** Where a run stands. */
export type HookRunStatus =
  /** It waits. */
  | "queued"
  /** It is under way. */
  | "running"
  /** It ended well. */
  | "succeeded"
  /** It ended badly. */
  | "failed"
  /** It took too long. */
  | "timed_out"
  /** It did not take part. */
  | "skipped";

/** Params of [`HookRunsList`]. */
export interface HookRunsListParams {
  /** The `next_cursor` of the page before. */
  cursor?: string | null;
  /** Only runs of this hook. */
  hook_id?: string | null;
  /** The most runs to answer: 100 when absent, 500 at most. */
  limit?: number | null;
  /** Only runs that stand here. */
  status?: HookRunStatus | null;
  /** Only runs of this thread. */
  thread_id?: ThreadId | null;
  /** Only runs of this turn. */
  turn_id?: TurnId | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`HookRunsList`]. */
export interface HookRunsListResponse {
  /** The runs, newest first. */
  items: HookRun[];
  /** Where the next page begins; absent on the last one. */
  next_cursor?: string | null;
}

/** A decision. */
export interface InboxDecision {
  /** Who decided. */
  actor_id: string;
  /** What they are. */
  actor_role: ActorRole;
  /** The type of the document, if it is still there. */
  artifact_type?: string | null;
  /** When it was decided. */
  created_at: string;
  /** What was decided. */
  decision: ReviewDecision;
  /** What they said. */
  notes?: string | null;
  /** Lines of that run's log that are not JSON. */
  parse_error_count: number;
  /** The project. */
  project_id: string;
  /** The review. */
  review_id: string;
  /** The run it was made in, if it is still there. */
  run_id?: string | null;
  /** The document it is about. */
  subject_artifact_id: string;
  /** The kind of what it is about. */
  subject_kind: string;
}

/** A file that a decision rests on. */
export interface InboxFile {
  /** The file, below the company folder. */
  relpath: string;
  /** What the file is to the decision. */
  role: InboxFileRole;
  /** SHA-256 of the whole file; absent if it is not there or cannot be read. */
  sha256?: string | null;
  /** The text of the file, its first MiB if it is longer; absent if it is not there, and in errors. */
  text?: string | null;
  /** True if `text` is only the beginning of the file. */
  truncated?: boolean | null;
}

/** What a file is to a decision. */
export type InboxFileRole =
  /** The document that waits. */
  | "document"
  /** The patch of a memory delta. */
  | "patch"
  /** The memory or guidance that a memory delta changes. */
  | "target"
  /** The task of a milestone. */
  | "task"
  /** A file that a milestone report names as evidence or tests. */
  | "evidence"
  /** The executive plan that a proposal asks to approve. */
  | "plan";

/** Response of [`InboxListHelpRequests`]. */
export type InboxListHelpRequestsResponse = HelpRequest[];

/** Params of [`InboxListReviews`] and [`InboxListHelpRequests`]. */
export interface InboxListParams {
  /** Who asks: what they may not see is left out. */
  actor_id?: string | null;
  /** What they are. */
  actor_role?: ActorRole | null;
  /** Their team. */
  actor_team_id?: string | null;
  /** How many; 200 if not given. */
  limit?: number | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`InboxListReviews`]. */
export type InboxListReviewsResponse = Review[];

/** Whether logs of the runs behind an inbox have lines that are not JSON. */
export interface InboxParseErrors {
  /** Decisions about documents of such runs. */
  decisions_with_errors: number;
  /** Whether any has. */
  has_parse_errors: boolean;
  /** The most lines of one run. */
  max_parse_error_count: number;
  /** Pending documents of such runs. */
  pending_with_errors: number;
}

/** A document that waits for a decision. */
export interface InboxPending {
  /** Its id. */
  artifact_id: string;
  /** Its type. */
  artifact_type: string;
  /** When it was made. */
  created_at?: string | null;
  /** True if the document is malformed: it can be denied and not approved. */
  invalid?: boolean | null;
  /** Lines of that run's log that are not JSON. */
  parse_error_count: number;
  /** Who made it. */
  produced_by?: string | null;
  /** Its project. */
  project_id: string;
  /** The run it was made in. */
  run_id?: string | null;
  /** Its title. */
  title?: string | null;
  /** Who may see it. */
  visibility?: string | null;
}

/** Params of [`InboxRead`]. */
export interface InboxReadParams {
  /** The actor that reads. */
  actor_id: string;
  /** The role of that actor. */
  actor_role: ActorRole;
  /** The team of that actor. */
  actor_team_id?: string | null;
  /** The document. */
  artifact_id: string;
  /** The project. */
  project_id: string;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`InboxRead`]. */
export interface InboxReadResponse {
  /** The document. */
  artifact_id: string;
  /** The type of the document. */
  artifact_type: string;
  /** The files, the document first. */
  files: InboxFile[];
  /** The front matter of the document. */
  frontmatter: Record<string, unknown>;
  /** The project. */
  project_id: string;
  /**
   * The value for `expected_sha256`: SHA-256 of one line per file, `<sha256>  <relpath>` and a line feed, in the
   * order of `files`. That is what `sha256sum` prints; a file that is not there has `-` for its hash.
   */
  sha256: string;
}

/** Params of [`InboxResolve`]. */
export interface InboxResolveParams {
  /** Who decides. */
  actor_id: string;
  /** What they are. */
  actor_role: ActorRole;
  /** Their team. */
  actor_team_id?: string | null;
  /** The document. */
  artifact_id: string;
  /** What is decided. */
  decision: ReviewDecision;
  /**
   * The `sha256` of [`InboxRead`] that was looked at: if anything of it changed since, nothing is decided. Absent for
   * whatever is there.
   */
  expected_sha256?: string | null;
  /** What they say. */
  notes?: string | null;
  /** The project. */
  project_id: string;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`InboxResolve`]. */
export interface InboxResolveResponse {
  /** The document. */
  artifact_id: string;
  /** What was decided. */
  decision: ReviewDecision;
  /** What an approved action did. */
  execution?: ActionExecution | null;
  /** The milestone. */
  milestone_id?: string | null;
  /** Where the milestone stands now. */
  milestone_status?: MilestoneStatus | null;
  /** The project. */
  project_id: string;
  /** Whether the lines of a delta were put under their heading anew. */
  rebased?: boolean | null;
  /** The review. */
  review_id: string;
  /** What it was about: `memory_delta`, `milestone` or `heartbeat_action`. */
  subject_kind: string;
  /** The task of a milestone. */
  task_id?: string | null;
  /** Where the task stands now. */
  task_status?: TaskStatus | null;
}

/** Params of [`InboxSnapshot`]. */
export interface InboxSnapshotParams {
  /** Who asks: documents they may not see are left out. */
  actor_id?: string | null;
  /** What they are. */
  actor_role?: ActorRole | null;
  /** Their team. */
  actor_team_id?: string | null;
  /** How many decisions; 200 if not given. */
  decisions_limit?: number | null;
  /** How many that wait; 200 if not given. */
  pending_limit?: number | null;
  /** Only of this project. */
  project_id?: string | null;
  /** Build the index anew first. */
  refresh_index?: boolean | null;
  /** Bring the index up to date first; true if not given. */
  sync_index?: boolean | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`InboxSnapshot`]. */
export interface InboxSnapshotResponse {
  /**
   * The newest changes of AGENTS.md files that wait, of the workspace that the folder is linked to: 50 at most, and
   * those of the project's folder alone if one is named. `thread/agents_doc/proposal/decide` decides about them.
   */
  agents_doc_proposals?: ThreadAgentsDocProposal[];
  /** When it was looked at. */
  generated_at: string;
  /** Whether the index was built for it. */
  index_rebuilt: boolean;
  /** Whether the index was brought up to date for it. */
  index_synced: boolean;
  /** Whether logs of the runs behind it have lines that are not JSON. */
  parse_errors: InboxParseErrors;
  /** What waits for a decision, newest first. */
  pending: InboxPending[];
  /** What was decided, newest first. */
  recent_decisions: InboxDecision[];
  /** The folder as it was given. */
  workspace_dir: string;
}

/** Params of [`IndexListEventParseErrors`]. */
export interface IndexListEventParseErrorsParams {
  /** How many; 200 if not given. */
  limit?: number | null;
  /** Only of this project. */
  project_id?: string | null;
  /** Only of this run. */
  run_id?: string | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`IndexListEventParseErrors`]. */
export type IndexListEventParseErrorsResponse = IndexedParseError[];

/** Params of [`IndexListEvents`]. */
export interface IndexListEventsParams {
  /** Who asks: events they may not see are left out. */
  actor_id?: string | null;
  /** What they are. */
  actor_role?: ActorRole | null;
  /** Their team. */
  actor_team_id?: string | null;
  /** How many; 500 if not given. */
  limit?: number | null;
  /** Which end first; newest if not given. */
  order?: IndexOrder | null;
  /** Only of this project. */
  project_id?: string | null;
  /** Only of this run. */
  run_id?: string | null;
  /** Only after this place in their log. */
  since_seq?: number | null;
  /** Only of this type. */
  type?: string | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`IndexListEvents`]. */
export type IndexListEventsResponse = IndexedEvent[];

/** Params of [`IndexListHelpRequests`]. */
export interface IndexListHelpRequestsParams {
  /** How many; 200 if not given. */
  limit?: number | null;
  /** Only of this project. */
  project_id?: string | null;
  /** Only to this manager. */
  target_manager?: string | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`IndexListHelpRequests`]. */
export type IndexListHelpRequestsResponse = IndexedHelpRequest[];

/** Params of [`IndexListReviews`]. */
export interface IndexListReviewsParams {
  /** Only with this outcome. */
  decision?: ReviewDecision | null;
  /** How many; 200 if not given. */
  limit?: number | null;
  /** Only of this project. */
  project_id?: string | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`IndexListReviews`]. */
export type IndexListReviewsResponse = IndexedReview[];

/** Params of [`IndexListRuns`]. */
export interface IndexListRunsParams {
  /** The id of the person or agent that asks. The caller's own if absent. */
  actor_id?: string | null;
  /** The role of that actor, at most the role of the caller's token. The role of the token if absent. */
  actor_role?: ActorRole | null;
  /** The team of that actor. The team in the agent's file if absent, none for anybody else. */
  actor_team_id?: string | null;
  /** How many; 200 if not given. */
  limit?: number | null;
  /** Only of this project. */
  project_id?: string | null;
  /** Only where they stand like this. */
  status?: RunStatus | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`IndexListRuns`]. */
export type IndexListRunsResponse = IndexedRun[];

/** Which end of time a list begins at. */
export type IndexOrder =
  /** Oldest first. */
  | "asc"
  /** Newest first. */
  | "desc";

/** Response of [`IndexRebuild`]: how much was indexed. */
export interface IndexRebuildResponse {
  /** Agents with what they used. */
  agent_counters_indexed: number;
  /** Documents. */
  artifacts_indexed: number;
  /** Conversations. */
  conversations_indexed: number;
  /** Where the index is. */
  db_path: string;
  /** How long it took. */
  duration_ms: number;
  /** Lines of event logs that are not JSON. */
  event_parse_errors: number;
  /** Events. */
  events_indexed: number;
  /** Files that were looked at. */
  files_scanned: number;
  /** Help requests. */
  help_requests_indexed: number;
  /** Messages. */
  messages_indexed: number;
  /** Reviews. */
  reviews_indexed: number;
  /** Runs. */
  runs_indexed: number;
  /** Milestones of tasks. */
  task_milestones_indexed: number;
  /** Tasks. */
  tasks_indexed: number;
}

/** Params of [`IndexSearch`]. */
export interface IndexSearchParams {
  /** Who asks: what they may not see is not found. */
  actor_id?: string | null;
  /** What they are. */
  actor_role?: ActorRole | null;
  /** Their team. */
  actor_team_id?: string | null;
  /** Only in these; everywhere if not given. */
  kinds?: SearchKind[] | null;
  /** How many; 50 if not given. */
  limit?: number | null;
  /** Only of this project. */
  project_id?: string | null;
  /** Words that all have to be there; `"two words"` side by side, `begin*` for a beginning. */
  query: string;
  /** Bring the index up to date first; true if not given. */
  sync_index?: boolean | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`IndexSearch`]. */
export interface IndexSearchResponse {
  /** Whether there is more. */
  has_more: boolean;
  /** What was found: documents, messages, comments and tasks, the best first, then events, newest first. */
  items: SearchHit[];
  /** The folder as it was given. */
  workspace_dir: string;
}

/** Response of [`IndexStats`]: how many rows there are. */
export interface IndexStatsResponse {
  /** Agents with what they used. */
  agent_counters: number;
  /** Documents. */
  artifacts: number;
  /** Conversations. */
  conversations: number;
  /** Lines of event logs that are not JSON. */
  event_parse_errors: number;
  /** Events. */
  events: number;
  /** Help requests. */
  help_requests: number;
  /** Messages. */
  messages: number;
  /** Reviews. */
  reviews: number;
  /** Runs. */
  runs: number;
  /** Milestones of tasks. */
  task_milestones: number;
  /** Tasks. */
  tasks: number;
}

/** Response of [`IndexSync`]: what changed. Rows that stayed the same are not counted. */
export interface IndexSyncResponse {
  /** Agents that are gone. */
  agent_counters_deleted: number;
  /** Agents whose numbers changed. */
  agent_counters_upserted: number;
  /** Documents that are gone. */
  artifacts_deleted: number;
  /** Documents that are new or different. */
  artifacts_upserted: number;
  /** Conversations that are gone. */
  conversations_deleted: number;
  /** Conversations that are new or different. */
  conversations_upserted: number;
  /** Whether there was none. */
  db_created: boolean;
  /** Where the index is. */
  db_path: string;
  /** How long it took. */
  duration_ms: number;
  /** Lines that were not JSON and are mended or gone. */
  event_parse_errors_deleted: number;
  /** New lines that are not JSON. */
  event_parse_errors_indexed: number;
  /** Events that are gone. */
  events_deleted: number;
  /** New events. */
  events_indexed: number;
  /** Files that changed. */
  files_changed: number;
  /** Files that were looked at. */
  files_scanned: number;
  /** Help requests that are gone. */
  help_requests_deleted: number;
  /** Help requests that are new or different. */
  help_requests_upserted: number;
  /** Messages that are gone. */
  messages_deleted: number;
  /** New messages. */
  messages_indexed: number;
  /** Reviews that are gone. */
  reviews_deleted: number;
  /** Reviews that are new or different. */
  reviews_upserted: number;
  /** Runs that are gone. */
  runs_deleted: number;
  /** Runs that are new or different. */
  runs_upserted: number;
  /** Milestones that were replaced or are gone. */
  task_milestones_deleted: number;
  /** Milestones of those tasks. */
  task_milestones_indexed: number;
  /** Tasks that are gone. */
  tasks_deleted: number;
  /** Tasks that are new or different. */
  tasks_upserted: number;
}

/** Params of [`IndexSyncWorkerStatus`] and [`IndexSyncWorkerFlush`]: whatever is given is ignored. */
export type IndexSyncWorkerParams = Record<string, never>;

/** Response of [`IndexSyncWorkerStatus`] and [`IndexSyncWorkerFlush`]. */
export interface IndexSyncWorkerStatusResponse {
  /** Whether it has ended. */
  closed: boolean;
  /** How long it waits for more. */
  debounce_ms: number;
  /** Whether there is a worker. */
  enabled: boolean;
  /** When the last batch was done. */
  last_batch_completed_at_ms?: number | null;
  /** When the last batch began. */
  last_batch_started_at_ms?: number | null;
  /** When. */
  last_error_at_ms?: number | null;
  /** What went wrong last. */
  last_error_message?: string | null;
  /** In which company folder. */
  last_error_workspace?: string | null;
  /** In which company folder. */
  last_notified_workspace?: string | null;
  /** When an event was last written here. */
  last_notify_at_ms?: number | null;
  /** When the last batch ended. */
  last_run_at_ms?: number | null;
  /** How long it rests between two batches. */
  min_interval_ms: number;
  /** Company folders with events that wait to be indexed. */
  pending_workspaces: number;
  /** Whether it syncs at this moment. */
  running: boolean;
  /** How many batches there were. */
  total_batches: number;
  /** How often events were written here. */
  total_notify_calls: number;
  /** How often a watched folder was synced. */
  total_watch_syncs: number;
  /** How many folders were synced in them. */
  total_workspace_sync_attempts: number;
  /** How many of those failed. */
  total_workspace_sync_errors: number;
  /** Company folders that are watched for what other programs write. */
  watched_workspaces: number;
}

/** An indexed event. */
export interface IndexedEvent {
  /** Who did it. */
  actor?: string | null;
  /** What there is to say about it, as JSON text. */
  payload_json: string;
  /** Its project. */
  project_id: string;
  /** The line of the log. */
  raw_json: string;
  /** Its run. */
  run_id: string;
  /** Its place among the lines that are not blank, from 1. */
  seq: number;
  /** The session. */
  session_ref?: string | null;
  /** When, since the writing process began. */
  ts_monotonic_ms?: number | null;
  /** When. */
  ts_wallclock?: string | null;
  /** What happened. */
  type: string;
  /** Who may see it. */
  visibility?: string | null;
}

/** An indexed help request. */
export interface IndexedHelpRequest {
  /** When it was asked. */
  created_at: string;
  /** Its id. */
  help_request_id: string;
  /** The project. */
  project_id?: string | null;
  /** Who asks. */
  requester: string;
  /** What was shared for it. */
  share_pack_id?: string | null;
  /** Who is asked. */
  target_manager: string;
  /** What it is about. */
  title: string;
  /** Who may see it. */
  visibility: Visibility;
}

/** A line of an event log that is not JSON. */
export interface IndexedParseError {
  /** What is wrong. */
  error: string;
  /** The project. */
  project_id: string;
  /** The line. */
  raw_line: string;
  /** The run. */
  run_id: string;
  /** Its place among the lines that are not blank, from 1. */
  seq: number;
}

/** An indexed review. */
export interface IndexedReview {
  /** Who decided. */
  actor_id: string;
  /** What they are. */
  actor_role: ActorRole;
  /** When it was decided. */
  created_at: string;
  /** What was decided. */
  decision: ReviewDecision;
  /** What they said. */
  notes?: string | null;
  /** The project. */
  project_id: string;
  /** Its id. */
  review_id: string;
  /** The document it is about. */
  subject_artifact_id: string;
  /** The kind of what it is about. */
  subject_kind: string;
}

/** An indexed run. */
export interface IndexedRun {
  /** The agent that runs. */
  agent_id: string;
  /** How often its context was renewed. */
  context_cycles_count?: number | null;
  /** How we know: `provider_signal` or `unavailable`. */
  context_cycles_source?: string | null;
  /** What it was given to know. */
  context_pack_id: string;
  /** When it was made. */
  created_at: string;
  /** Its project. */
  project_id: string;
  /** What runs it. */
  provider: string;
  /** Its id. */
  run_id: string;
  /** The milestone it works on. */
  spec_milestone_id?: string | null;
  /** The model it was started with. */
  spec_model?: string | null;
  /** The task it works on. */
  spec_task_id?: string | null;
  /** Where it stands. */
  status: RunStatus;
  /** How sure that is: `high` or `low`. */
  usage_confidence?: string | null;
  /** What that cost. */
  usage_cost_usd?: number | null;
  /** Who counted: `provider_reported` or `estimated_chars`. */
  usage_source?: string | null;
  /** The tokens it used. */
  usage_total_tokens?: number | null;
}

/** A file among the tasks that is none. */
export interface InvalidTaskFile {
  /** What is wrong with it. */
  issues: Issue[];
  /** The file, below the company folder. */
  relpath: string;
}

/** One thing that does not fit. */
export interface Issue {
  /**
   * The kind of the issue: `invalid_type`, `invalid_value`, `too_small`, `too_big`, `unrecognized_keys`,
   * `invalid_format`, `invalid_union` or `custom`.
   */
  code: string;
  /** A sentence for people. */
  message: string;
  /** Keys and places from the outermost value down to the one that does not fit. */
  path: unknown[];
  [member: string]: unknown;
}

/** Payload of `item/agent_message/delta`. */
export interface ItemAgentMessageDeltaNotification {
  /** The text to append. */
  delta: string;
  /** The item. */
  item_id: string;
  /** The number of the delta within the item, from 0. */
  seq: number;
  /** The thread. */
  thread_id: ThreadId;
  /** The turn. */
  turn_id: TurnId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Payload of `item/completed`. */
export interface ItemCompletedNotification {
  /** The whole item. */
  item: TurnItem;
  /** The thread. */
  thread_id: ThreadId;
  /** The turn. */
  turn_id: TurnId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Payload of `item/started`. */
export interface ItemStartedNotification {
  /** The item as far as it is known. */
  item: TurnItem;
  /** The thread. */
  thread_id: ThreadId;
  /** The turn. */
  turn_id: TurnId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** One try of a job, which is a run of its own. */
export interface JobAttempt {
  /** Its number, from 1. */
  attempt: number;
  /** What the run was given to know. */
  context_pack_id: string;
  /** The hash of that file. */
  context_plan_hash?: string | null;
  /** What was planned for it to know. */
  context_plan_relpath?: string | null;
  /** When it was over. */
  ended_at?: string | null;
  /** What went wrong. */
  error?: string | null;
  /** How the program prints. */
  output_format?: string | null;
  /** The provider of that agent. */
  provider: string;
  /** The program. */
  provider_bin?: string | null;
  /** The hash of how the program explains itself. */
  provider_help_hash?: string | null;
  /** What the program says it is. */
  provider_version?: string | null;
  /** Its run. */
  run_id: string;
  /** Its session. */
  session_ref: string;
  /** When it began. */
  started_at: string;
  /** Where it stands. */
  status: RunStatus;
  /** The agent that works. */
  worker_agent_id: string;
  /** What runs it. */
  worker_kind: WorkerKind;
}

/** Response of [`JobCollect`]. */
export interface JobCollectResponse {
  /** All attempts, also one that runs. */
  attempts: JobAttempt[];
  /** Whether somebody asked for its end. */
  cancellation_requested: boolean;
  /** The last attempt; 0 before the first. */
  current_attempt: number;
  /** Its result, below the project's folder. */
  final_result_relpath?: string | null;
  /** The goal of its contract. */
  goal?: string | null;
  /** What a woken worker reported. */
  heartbeat_report?: HeartbeatReport | null;
  /** The job. */
  job_id: string;
  /** That, in short. */
  manager_digest?: ManagerDigest | null;
  /** The project. */
  project_id: string;
  /** What came of it. */
  result?: JobResult | null;
  /**
   * The status of its result. A `completed` job may have a result that says `blocked` or `needs_input`. Absent
   * while there is no result.
   */
  result_status?: JobResultStatus | null;
  /** Where it stands. */
  status: JobStatus;
  /** The company folder. */
  workspace_dir: string;
}

/** Something that went wrong in a job. */
export interface JobError {
  /** The kind of it. */
  code: string;
  /** Whatever else is known. */
  details?: unknown;
  /** In words. */
  message: string;
}

/** What a job is for. */
export type JobKind =
  /** Work. */
  | "execution"
  /** A look around. */
  | "heartbeat";

/** Params of [`JobList`]. */
export interface JobListParams {
  /** The id of the person or agent that asks. The caller's own if absent. */
  actor_id?: string | null;
  /** The role of that actor, at most the role of the caller's token. The role of the token if absent. */
  actor_role?: ActorRole | null;
  /** The team of that actor. The team in the agent's file if absent, none for anybody else. */
  actor_team_id?: string | null;
  /** At most so many; 200 if not given. */
  limit?: number | null;
  /** The project. */
  project_id: string;
  /** Only jobs that stand there. */
  status?: JobStatus | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`JobList`]. */
export type JobListResponse = JobPollResponse[];

/** Params of [`JobPoll`], [`JobCollect`] and [`JobCancel`]. */
export interface JobParams {
  /** The id of the person or agent that asks. The caller's own if absent. */
  actor_id?: string | null;
  /** The role of that actor, at most the role of the caller's token. The role of the token if absent. */
  actor_role?: ActorRole | null;
  /** The team of that actor. The team in the agent's file if absent, none for anybody else. */
  actor_team_id?: string | null;
  /** The job. */
  job_id: string;
  /** The project. */
  project_id: string;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`JobPoll`] and [`JobCancel`]. */
export interface JobPollResponse {
  /** All attempts, also one that runs. */
  attempts: JobAttempt[];
  /** Whether somebody asked for its end. */
  cancellation_requested: boolean;
  /** The last attempt; 0 before the first. */
  current_attempt: number;
  /** Its result, below the project's folder. */
  final_result_relpath?: string | null;
  /** The goal of its contract. */
  goal?: string | null;
  /** The job. */
  job_id: string;
  /** The project. */
  project_id: string;
  /**
   * The status of its result. A `completed` job may have a result that says `blocked` or `needs_input`. Absent
   * while there is no result.
   */
  result_status?: JobResultStatus | null;
  /** Where it stands. */
  status: JobStatus;
  /** The company folder. */
  workspace_dir: string;
}

/** What came of a job. */
export interface JobResult {
  /** What it made. */
  artifacts: ProducedFile[];
  /** The run it comes from; `none` if there was no attempt. */
  attempt_run_id: string;
  /** Commands the worker ran. */
  commands_run: CommandRun[];
  /** What went wrong. */
  errors: JobError[];
  /** Files that are different now. */
  files_changed: ChangedFile[];
  /** The job. */
  job_id: string;
  /** What should happen next. */
  next_actions: NextAction[];
  /** 1. */
  schema_version: number;
  /** How it went. */
  status: JobResultStatus;
  /** What happened, in words. */
  summary: string;
  /** `result`. */
  type: JobResultTag;
}

/** How a job went. */
export type JobResultStatus =
  /** Well. */
  | "succeeded"
  /** Somebody has to say something first. */
  | "needs_input"
  /** Something stands in the way. */
  | "blocked"
  /** Badly. */
  | "failed"
  /** Somebody did not want it any more. */
  | "canceled";

/** The word `result`. */
export type JobResultTag =
  /** The word `result`. */
  | "result";

/** The contract of a job, on the wire as in its file. */
export interface JobSpec {
  /** What it must keep to. */
  constraints: string[];
  /** How it is decided what the worker knows; planned unless said otherwise. */
  context_mode?: ContextMode | null;
  /** What the worker should know. */
  context_refs: ContextRef[];
  /** What it gives. */
  deliverables: string[];
  /** What it is to reach. */
  goal: string;
  /** Its id; a blank one is replaced. */
  job_id: string;
  /** What it is for. */
  job_kind?: JobKind;
  /** Who gives the job. */
  manager_actor_id?: string | null;
  /** What they are. */
  manager_role?: ActorRole | null;
  /** Their team. */
  manager_team_id?: string | null;
  /** How much it is given to know. */
  max_context_refs?: number | null;
  /** The model. */
  model?: string | null;
  /** What it may do. */
  permission_level: PermissionLevel;
  /** The project. */
  project_id: string;
  /** 1. */
  schema_version?: number;
  /** `job`. */
  type?: JobTag;
  /** The agent that works; one that fits is chosen otherwise. */
  worker_agent_id?: string | null;
  /** What runs it. */
  worker_kind: WorkerKind;
  /** The company folder. */
  workspace_dir: string;
}

/** Where a job stands. */
export type JobStatus =
  /** It has not begun. */
  | "queued"
  /** It is being worked on, or waits until its provider can be asked again. */
  | "running"
  /** There is a result, whatever it says. */
  | "completed"
  /** Somebody did not want it any more. */
  | "canceled";

/** Params of [`JobSubmit`]. */
export interface JobSubmitParams {
  /**
   * Run the worker in the repository itself, or in the company folder if there is none, instead of in a folder of
   * its own. Only a person (`manager_role` is `human`) may ask for it, and the log of each run says so. False if
   * absent.
   */
  in_place?: boolean | null;
  /** The contract. */
  job: JobSpec;
  /** The milestone of that task. */
  milestone_id?: string | null;
  /**
   * The repository the worker gets a worktree of. Absent: the one that `context_refs` name, or the only one of the
   * project; a job without a repository runs in a scratch folder of its run.
   */
  repo_id?: string | null;
  /** Do a job again that is over; its result is forgotten. */
  resubmit?: boolean | null;
  /** The task the job works on; its budget counts the attempts. */
  task_id?: string | null;
}

/** Response of [`JobSubmit`]. */
export interface JobSubmitResponse {
  /** The job. */
  job_id: string;
  /** The project. */
  project_id: string;
  /** Where it stands. */
  status: JobStatus;
  /** Names of the contract that stand for nothing here, in a sentence each; absent if there are none. */
  warnings?: string[];
  /** The company folder. */
  workspace_dir: string;
}

/** The word `job`. */
export type JobTag =
  /** The word `job`. */
  | "job";

/** Who leads a new company. */
export interface LeadingAgents {
  /** The head. */
  ceo_agent_id?: string | null;
  /** The director of a standard company. */
  director_agent_id?: string | null;
  /** The executive manager of an enterprise. */
  executive_manager_agent_id?: string | null;
}

/** What a manager needs to know of a result. */
export interface ManagerDigest {
  /** All files it made. */
  artifacts: ProducedFile[];
  /** The run it comes from. */
  attempt_run_id: string;
  /** At most 20 commands. */
  commands_run: CommandRun[];
  /** At most 20. */
  errors: JobError[];
  /** At most 20 files. */
  files_changed: ChangedFile[];
  /** The job. */
  job_id: string;
  /** At most 20. */
  next_actions: NextAction[];
  /** How the result came about: `retries_used`, `normalization`, `normalization_notes`, …. */
  signals: Record<string, unknown>;
  /** How it went. */
  status: JobResultStatus;
  /** What happened, shortened. */
  summary: string;
}

/** Params of [`MemoryApproveDelta`]. */
export interface MemoryApproveDeltaParams {
  /** Who approves. */
  actor_id: string;
  /** What they are. */
  actor_role: ActorRole;
  /** Their team. */
  actor_team_id?: string | null;
  /** The delta. */
  artifact_id: string;
  /**
   * The `sha256` of `inbox.read` that was looked at: if anything of it changed since, nothing is decided. Absent for
   * whatever is there.
   */
  expected_sha256?: string | null;
  /** What they say. */
  notes?: string | null;
  /** The project. */
  project_id: string;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`MemoryApproveDelta`]. */
export interface MemoryApproveDeltaResponse {
  /** `approved`. */
  decision: ReviewDecision;
  /** Whether the lines were put under their heading anew because the text around it had changed. */
  rebased?: boolean | null;
  /** The review. */
  review_id: string;
}

/** Something that could be proposed. */
export interface MemoryCandidate {
  /** How sure it is, from 0 to 1. */
  confidence: number;
  /** What it is based on. */
  evidence: string[];
  /** The lines. */
  insert_lines: string[];
  /** Why. */
  rationale: string;
  /** What kind of memory it would change. */
  scope_kind: MemoryScopeKind;
  /** Whose memory it would change. */
  scope_ref: string;
  /** How secret it is. */
  sensitivity: Sensitivity;
  /** The heading it would fit under. */
  suggested_heading?: string | null;
  /** What it is called. */
  title: string;
}

/** How memory changes. */
export interface MemoryCapabilities {
  /** What names the actor. */
  list_required_params: string[];
  /** Whether `memory.list_deltas` needs an actor. */
  list_requires_actor: boolean;
  /** The schemas that can be read. */
  parse_supported: number[];
  /** What a delta can be about. */
  scope_kind: string[];
  /** How secret a delta can be. */
  sensitivity: string[];
  /** What becomes of candidates found in sessions. */
  session_candidate_mode: string;
  /** The schema new deltas are written in. */
  write_schema_version: number;
}

/** What was decided about a delta. */
export interface MemoryDecision {
  /** Who decided. */
  actor_id: string;
  /** What they are. */
  actor_role: ActorRole;
  /** When. */
  created_at: string;
  /** What was decided. */
  decision: ReviewDecision;
  /** What they said. */
  notes: string;
  /** The review. */
  review_id: string;
}

/** A delta. */
export interface MemoryDeltaRow {
  /** Its id. */
  artifact_id: string;
  /** When it was proposed. */
  created_at: string;
  /** What was decided; null while it is pending. */
  decision?: MemoryDecision | null;
  /** What it is based on. */
  evidence: string[];
  /** Who proposed it. */
  produced_by: string;
  /** Its project. */
  project_id: string;
  /** Why it was proposed. */
  rationale: string;
  /** The run it comes from. */
  run_id: string;
  /** What kind of memory it changes. */
  scope_kind: MemoryScopeKind;
  /** Whose memory it changes. */
  scope_ref: string;
  /** How secret it is. */
  sensitivity: Sensitivity;
  /** The schema of its file. */
  source_schema_version: number;
  /** Where it stands. */
  status: DeltaStatus;
  /** What it is called. */
  title: string;
  /** Who may see it. */
  visibility: Visibility;
}

/** Params of [`MemoryExtractCandidates`]: a job or a run has to be named. */
export interface MemoryExtractCandidatesParams {
  /** Who asks. */
  actor_id: string;
  /** What they are. */
  actor_role: ActorRole;
  /** Their team. */
  actor_team_id?: string | null;
  /** The job. */
  job_id?: string | null;
  /** How many; 20 if not given. */
  limit?: number | null;
  /** The project. */
  project_id: string;
  /** A run of the job; the last one if not given. */
  run_id?: string | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`MemoryExtractCandidates`]. */
export interface MemoryExtractCandidatesResponse {
  /** How many were left out because of a secret. */
  blocked_secret_count: number;
  /** The candidates. */
  candidates: MemoryCandidate[];
  /** How many there are. */
  count: number;
  /** Where the candidates were written. */
  report_relpath: string;
}

/** Params of [`MemoryListDeltas`]. */
export interface MemoryListDeltasParams {
  /** Who asks. */
  actor_id: string;
  /** What they are. */
  actor_role: ActorRole;
  /** Their team. */
  actor_team_id?: string | null;
  /** How many; 200 if not given. */
  limit?: number | null;
  /** Only of this project. */
  project_id?: string | null;
  /** Only those that stand so; all if not given. */
  status?: DeltaFilter | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`MemoryListDeltas`]. */
export interface MemoryListDeltasResponse {
  /** How many there are below. */
  count: number;
  /** How many were left out because the actor may not see them. */
  filtered_by_policy_count: number;
  /** The deltas. */
  items: MemoryDeltaRow[];
  /** The project, if one was given. */
  project_id?: string | null;
  /** Which were asked for. */
  status: DeltaFilter;
  /** The folder as it was given. */
  workspace_dir: string;
}

/** Params of [`MemoryProposeDelta`]. */
export interface MemoryProposeDeltaParams {
  /** What that run was given to know. */
  context_pack_id: string;
  /** What it is based on. */
  evidence: string[];
  /** The lines. */
  insert_lines: string[];
  /** Who proposes it. */
  produced_by: string;
  /** The project. */
  project_id: string;
  /** Why it is proposed. */
  rationale: string;
  /** The run it comes from. */
  run_id: string;
  /** What kind of memory it changes. */
  scope_kind: MemoryScopeKind;
  /** Whose memory it changes; needed for `agent_guidance`. */
  scope_ref?: string | null;
  /** How secret it is. */
  sensitivity: Sensitivity;
  /** What it is called. */
  title: string;
  /** The line of the heading under which the lines go: `## Decisions`. */
  under_heading: string;
  /** Who may see it. */
  visibility: Visibility;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`MemoryProposeDelta`]. */
export interface MemoryProposeDeltaResponse {
  /** The delta. */
  artifact_id: string;
  /** Its file. */
  artifact_relpath: string;
  /** The patch. */
  patch_relpath: string;
  /** What kind of memory that is. */
  scope_kind: MemoryScopeKind;
  /** Whose memory that is. */
  scope_ref: string;
  /** What it changes. */
  target_file: string;
}

/** What a memory delta changes. */
export type MemoryScopeKind =
  /** The memory of a project. */
  | "project_memory"
  /** The guidance of an agent. */
  | "agent_guidance";

/** A message of a turn. */
export type MessageId = string;

/** What a message is. */
export type MessageKind =
  /** Somebody said it. */
  | "text"
  /** The company said it. */
  | "system"
  /** A worker's report. */
  | "report";

/** A step of a task. */
export interface Milestone {
  /** When it is good. */
  acceptance_criteria: string[];
  /** What must prove it. */
  evidence?: MilestoneEvidence | null;
  /** Its id. */
  id: string;
  /** What it asks for. */
  kind: MilestoneKind;
  /** Where it stands. */
  status: MilestoneStatus;
  /** What it is called. */
  title: string;
}

/** Params of [`MilestoneApprove`]. */
export interface MilestoneApproveParams {
  /** Who approves. */
  actor_id: string;
  /** What they are. */
  actor_role: ActorRole;
  /** Their team. */
  actor_team_id?: string | null;
  /**
   * The `sha256` of `inbox.read` that was looked at: if anything of it changed since, nothing is decided. Absent for
   * whatever is there.
   */
  expected_sha256?: string | null;
  /** The milestone. */
  milestone_id: string;
  /** What they say. */
  notes?: string | null;
  /** The project. */
  project_id: string;
  /** The report. */
  report_artifact_id: string;
  /** The task. */
  task_id: string;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`MilestoneApprove`]. */
export interface MilestoneApproveResponse {
  /** `approved`. */
  decision: ReviewDecision;
  /** Where the milestone stands now. */
  milestone_status: MilestoneStatus;
  /** The review. */
  review_id: string;
  /** Where the task stands now. */
  task_status: TaskStatus;
}

/** The milestones of a task by where they stand. */
export interface MilestoneCounts {
  /** Waiting for something. */
  blocked: number;
  /** Finished. */
  done: number;
  /** Being written. */
  draft: number;
  /** Being worked on. */
  in_progress: number;
  /** Ready to be started. */
  ready: number;
  /** All of them. */
  total: number;
}

/** What must prove a milestone. */
export interface MilestoneEvidence {
  /** A patch. */
  requires_patch: boolean;
  /** Tests. */
  requires_tests: boolean;
}

/** The kind of file that proves a milestone. */
export type MilestoneEvidenceKind =
  /** A `.patch` file: a unified diff. */
  | "patch"
  /** A `.txt` file. */
  | "text"
  /** A `.json` file. */
  | "json"
  /** A document with front matter. */
  | "document";

/** Params of [`MilestoneEvidenceRead`]. */
export interface MilestoneEvidenceReadParams {
  /** The actor that reads. */
  actor_id: string;
  /** The role of that actor. */
  actor_role: ActorRole;
  /** The team of that actor. */
  actor_team_id?: string | null;
  /** An id of the report's `evidence_artifacts` or `tests_artifacts`. */
  evidence_artifact_id: string;
  /** The project. */
  project_id: string;
  /** The milestone report. */
  report_artifact_id: string;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`MilestoneEvidenceRead`]. */
export interface MilestoneEvidenceReadResponse {
  /** The evidence. */
  evidence_artifact_id: string;
  /** The kind of file. */
  kind: MilestoneEvidenceKind;
  /** The file, below the company folder. */
  relpath: string;
  /** The text of the file: its first MiB if it is longer. */
  text: string;
  /** Whether `text` is only the beginning of the file. */
  truncated: boolean;
}

/** What a milestone asks for. */
export type MilestoneKind =
  /** Code. */
  | "coding"
  /** Knowledge. */
  | "research"
  /** A plan. */
  | "planning";

/** Where a milestone stands. */
export type MilestoneStatus =
  /** Being written. */
  | "draft"
  /** Can be started. */
  | "ready"
  /** Being worked on. */
  | "in_progress"
  /** Waits for something. */
  | "blocked"
  /** Finished. */
  | "done";

/** What was said about a budget. */
export interface MonitorBudgetDecision {
  /** What was used. */
  actual?: number | null;
  /** Of what: `cost_usd` or `tokens`. */
  metric?: string | null;
  /** `ok`, `alert` or `exceeded`. */
  result?: string | null;
  /** Whose budget: `run`, `task` or `project`. */
  scope?: string | null;
  /** `soft` or `hard`. */
  severity?: string | null;
  /** What may be used. */
  threshold?: number | null;
}

/** An event, in short. */
export interface MonitorEvent {
  /** Who did it. */
  actor?: string | null;
  /** Its place in the log. */
  seq: number;
  /** When. */
  ts_wallclock?: string | null;
  /** What happened. */
  type: string;
  /** Who may see it. */
  visibility?: string | null;
}

/** How many jobs stand how. */
export interface MonitorJobs {
  /** Given up. */
  canceled: number;
  /** Done. */
  completed: number;
  /** Waiting. */
  queued: number;
  /** At work. */
  running: number;
}

/** What policy said. */
export interface MonitorPolicyDecision {
  /** What was tried. */
  action?: string | null;
  /** Whether it was allowed. */
  allowed?: boolean | null;
  /** Why. */
  reason?: string | null;
  /** The rule that decided. */
  rule_id?: string | null;
}

/** What policy forbade. */
export interface MonitorPolicyDenied {
  /** What was tried. */
  action?: string | null;
  /** Why. */
  reason?: string | null;
  /** The rule that decided. */
  rule_id?: string | null;
}

/** A run, or a session without one. */
export interface MonitorRow {
  /** The agent that runs. */
  agent_id?: string | null;
  /** Budgets that are nearly used up. */
  budget_alert_count: number;
  /** Budget decisions. */
  budget_decision_count: number;
  /** Budgets that are used up. */
  budget_exceeded_count: number;
  /** What it was given to know. */
  context_pack_id?: string | null;
  /** When it was made. */
  created_at?: string | null;
  /** What the run is for, as in `run.list`; absent if it is not known. */
  goal?: string | null;
  /** What happened last. */
  last_event?: MonitorEvent | null;
  /** What was said last about a budget. */
  latest_budget_decision?: MonitorBudgetDecision | null;
  /** What policy said last. */
  latest_policy_decision?: MonitorPolicyDecision | null;
  /** What policy forbade last. */
  latest_policy_denied?: MonitorPolicyDenied | null;
  /** What went wrong. */
  live_error?: string | null;
  /** How it ended. */
  live_exit_code?: number | null;
  /** True while the session waits in the queue and has no process; absent otherwise. */
  live_queued?: boolean | null;
  /** What ended it. */
  live_signal?: string | null;
  /** Where it stands. */
  live_status?: RunStatus;
  /** Lines of its log that are not JSON. */
  parse_error_count: number;
  /** Policy decisions. */
  policy_decision_count: number;
  /** What policy forbade. */
  policy_denied_count: number;
  /** The project. */
  project_id: string;
  /** What runs it. */
  provider?: string | null;
  /** The run. */
  run_id: string;
  /** Where it stands, as its document says. */
  run_status?: RunStatus | null;
  /** When it ended. */
  session_ended_at_ms?: number | null;
  /** Its name. */
  session_ref?: string;
  /** When it began. */
  session_started_at_ms?: number | null;
  /** What it used. */
  token_usage?: MonitorTokenUsage | null;
}

/** Params of [`MonitorSnapshot`]. */
export interface MonitorSnapshotParams {
  /** Who asks: events they may not see are left out. */
  actor_id?: string | null;
  /** What they are. */
  actor_role?: ActorRole | null;
  /** Their team. */
  actor_team_id?: string | null;
  /** How many runs; 200 if not given. */
  limit?: number | null;
  /** Only of this project. */
  project_id?: string | null;
  /** Build the index anew first. */
  refresh_index?: boolean | null;
  /** Bring the index up to date first; true if not given. */
  sync_index?: boolean | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`MonitorSnapshot`]. */
export interface MonitorSnapshotResponse {
  /** When it was looked at. */
  generated_at: string;
  /** Whether the index was built for it. */
  index_rebuilt: boolean;
  /** Whether the index was brought up to date for it. */
  index_synced: boolean;
  /** The jobs of the projects that are shown; absent if none is. */
  jobs?: MonitorJobs | null;
  /** What is live, then the newest. */
  rows: MonitorRow[];
  /** The folder as it was given. */
  workspace_dir: string;
}

/** What a run used. */
export interface MonitorTokenUsage {
  /** How sure that is: `high` or `low`. */
  confidence: string;
  /** What it cost. */
  cost_usd?: number | null;
  /** Tokens in. */
  input_tokens?: number | null;
  /** Tokens out. */
  output_tokens?: number | null;
  /** Who counted: `provider_reported` or `estimated_chars`. */
  source: string;
  /** All tokens. */
  total_tokens: number;
}

/** A name: trimmed, without control characters. */
export type Name = string;

/** Something that should happen next. */
export interface NextAction {
  /** What. */
  action: string;
  /** Why. */
  rationale?: string | null;
}

/** How a company is built. */
export type OrgMode =
  /** An executive manager leads departments. */
  | "enterprise"
  /** A director leads departments. */
  | "standard";

/** Who takes part in a conversation. */
export interface Participants {
  /** Agents and people. */
  agent_ids: string[];
  /** Whole teams. */
  team_ids: string[];
}

/** What a job may do. */
export type PermissionLevel =
  /** Look. */
  | "read-only"
  /** Propose changes. */
  | "patch"
  /** Run commands. */
  | "run-commands";

/** The documents of a whole project. */
export interface PipelineArtifacts {
  /** The proposal that waits for the CEO. */
  approval_artifact_id: string;
  /** The plan of the company. */
  executive_plan_artifact_id: string;
  /** What the client wants. */
  intake_brief_artifact_id: string;
  /** What was said about it. */
  meeting_transcript_artifact_id: string;
}

/** Params of [`PipelineClientIntakeRun`]. */
export interface PipelineClientIntakeRunParams {
  /** Who leads the company. */
  ceo_actor_id: string;
  /** The agent that leads the project, which must exist. */
  executive_manager_agent_id: string;
  /** A file that says it instead: below the company folder, or an absolute path; at most 1 MiB. */
  intake_file?: string | null;
  /** What the client wants. */
  intake_text?: string | null;
  /** Lets workers write the plans and the transcript, those of the model's provider with this model. */
  model?: string | null;
  /** What the project is called. */
  project_name: string;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`PipelineClientIntakeRun`]. */
export interface PipelineClientIntakeRunResponse {
  /** The documents of the whole project. */
  artifacts: PipelineArtifacts;
  /** The same tasks in the order of the directors. */
  assigned_task_ids: string[];
  /** The plans by department; a second director of a department has `<key>#2`. */
  department_plan_artifact_ids: Record<string, string>;
  /** The tasks of the directors by department. */
  director_task_ids: Record<string, string>;
  /** What workers wrote. */
  generation: PipelineGeneration;
  /** Where the planning is talked about. */
  meeting_conversation_id: string;
  /** The project. */
  project_id: string;
}

/** Params of [`PipelineDepartmentAssignTasks`]. */
export interface PipelineDepartmentAssignTasksParams {
  /** Who assigns: a manager or above. */
  actor_id?: string | null;
  /** What they are. */
  actor_role?: ActorRole | null;
  /** The executive plan that the CEO approved. */
  approved_executive_plan_artifact_id: string;
  /** The department, whatever the case. */
  department_key: string;
  /** Its director. */
  director_agent_id: string;
  /** The project. */
  project_id: string;
  /** Who gets a task. */
  worker_agent_ids: string[];
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`PipelineDepartmentAssignTasks`]. */
export interface PipelineDepartmentAssignTasksResponse {
  /** The task of each worker. */
  assignment_map: Record<string, string>;
  /** The log of all this, relative to the company folder. */
  audit_log_relpath: string;
  /** Their milestones. */
  created_milestone_ids: string[];
  /** The tasks that were made. */
  created_task_ids: string[];
  /** Who got none. */
  denied_assignments: DeniedAssignment[];
  /** The department, as it was given. */
  department_key: string;
  /** Its director. */
  director_agent_id: string;
  /** The executive plan. */
  executive_plan_artifact_id: string;
  /** The project. */
  project_id: string;
  /** Open tasks for the plan that the workers had already. */
  reused_task_ids: string[];
}

/** What workers wrote. */
export interface PipelineGeneration {
  /** How many documents they were asked for. */
  attempted: number;
  /** The log of all this, relative to the company folder. */
  audit_log_relpath: string;
  /** How many stayed as they were made. */
  failed: number;
  /** A report about each of those. */
  failure_artifact_ids: string[];
  /** Whether they were asked. */
  mode: PipelineGenerationMode;
  /** How many they wrote. */
  succeeded: number;
}

/** Who writes the documents. */
export type PipelineGenerationMode =
  /** The gateway alone. */
  | "deterministic"
  /** Workers, and the gateway where they fail. */
  | "provider_with_fallback";

/** How a plan is printed. */
export type PlanFormat =
  /** A Gantt diagram for Markdown: Mermaid. */
  | "mermaid"
  /** A table: comma-separated values. */
  | "csv"
  /** A calendar: iCalendar. */
  | "ics";

/** Params of [`PmApplyAllocations`]. */
export interface PmApplyAllocationsParams {
  /** Who plans. */
  applied_by: string;
  /**
   * The plans to store, in this order; may be empty.
   *
   * The contract requires this list; the recorded reference took a missing one for an empty one.
   */
  items: Allocation[];
  /** The project. */
  project_id: string;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`PmApplyAllocations`]. */
export interface PmApplyAllocationsResponse {
  /** The time that was noted in every task. */
  applied_at: string;
  /** The project. */
  project_id: string;
  /** The tasks, each once. */
  updated_task_ids: string[];
  /** The folder as it was given. */
  workspace_dir: string;
}

/** Params of [`PmExport`]. */
export interface PmExportParams {
  /** How. */
  format: PlanFormat;
  /** The project. */
  project_id: string;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`PmExport`]. */
export interface PmExportResponse {
  /** The plan. */
  content: string;
  /** What a file with it could be called. */
  file_name: string;
  /** How. */
  format: PlanFormat;
  /** When it was looked at. */
  generated_at: string;
  /** What the text is: `text/csv`. */
  media_type: string;
  /** The project. */
  project_id: string;
  /** The folder as it was given. */
  workspace_dir: string;
}

/** Params of [`PmRecommendAllocations`]. */
export interface PmRecommendAllocationsParams {
  /** The project. */
  project_id: string;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`PmRecommendAllocations`]. */
export interface PmRecommendAllocationsResponse {
  /** When it was looked at. */
  generated_at: string;
  /** The project. */
  project_id: string;
  /** One for each task that is neither done nor given up, in the order of `task.list`. */
  recommendations: Recommendation[];
  /** The folder as it was given. */
  workspace_dir: string;
}

/** Params of [`PmSnapshot`]. */
export interface PmSnapshotParams {
  /** That project. */
  project_id?: string | null;
  /** Whether one project is told in full. */
  scope: CompanyScope;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`PmSnapshot`]. */
export interface PmSnapshotResponse {
  /** When it was looked at. */
  generated_at: string;
  /** The one project. */
  project?: ProjectPlan | null;
  /** Whether one project is told in full. */
  scope: CompanyScope;
  /** All projects. */
  workspace: PortfolioSnapshot;
  /** The folder as it was given. */
  workspace_dir: string;
}

/** What policy said. */
export interface PolicyOutcome {
  /** Whether it was allowed. */
  allowed: boolean;
  /** Why. */
  reason: string;
  /** The rule that decided. */
  rule_id: string;
}

/** A project of a [`PortfolioSnapshot`]. */
export interface PortfolioProject {
  /** What runs. */
  active_runs: number;
  /** Tasks that wait for something. */
  blocked_tasks: number;
  /** Its name. */
  name: string;
  /** What waits for a decision. */
  pending_reviews: number;
  /** How far it is, from 0 to 100. */
  progress_pct: number;
  /** Its id. */
  project_id: string;
  /** What deserves attention. */
  risk_flags: string[];
  /** Runs that were started more than a day ago and of which nothing is heard any more. */
  stale_runs?: number;
  /** How many tasks it has. */
  task_count: number;
}

/** All projects for planning. */
export interface PortfolioSnapshot {
  /** Each of them. */
  projects: PortfolioProject[];
  /** All of them together. */
  summary: PortfolioSummary;
}

/** All projects of a [`PortfolioSnapshot`] together. */
export interface PortfolioSummary {
  /** What runs. */
  active_runs: number;
  /** Projects with tasks that wait for something. */
  blocked_projects: number;
  /** What waits for a decision. */
  pending_reviews: number;
  /** How far they are, from 0 to 100. */
  progress_pct: number;
  /** How many projects. */
  project_count: number;
  /** Runs that were started more than a day ago and of which nothing is heard any more. */
  stale_runs?: number;
  /** What the agents used. */
  total_tokens: number;
}

/** How a deciding caller was present, as the gateway knows it from the connection. */
export type Presence =
  /** A browser that signed in to the desktop. */
  | "desktop"
  /** A process that can read the home: `ac`, a client on stdio, or one with the owner's token. */
  | "terminal"
  /** A client with a stored token. */
  | "token";

/** A file a worker made. */
export interface ProducedFile {
  /** The document it is. */
  artifact_id?: string | null;
  /** What it is. */
  kind?: string | null;
  /** Where it is. */
  relpath: string;
  /** Its hash. */
  sha256?: string | null;
}

/** The plan of a project. */
export interface ProjectPlan {
  /** Its tasks in time. */
  gantt: Gantt;
  /** The project. */
  project_id: string;
  /** Its tasks together. */
  summary: ProjectPlanSummary;
}

/** The tasks of a project together. */
export interface ProjectPlanSummary {
  /** Waiting for something. */
  blocked_tasks: number;
  /** Finished. */
  done_tasks: number;
  /** Being worked on. */
  in_progress_tasks: number;
  /** How far they are, from 0 to 100; each task counts the same. */
  progress_pct: number;
  /** How far they are, from 0 to 100; each task counts as many times as it has days. */
  progress_weighted_pct?: number;
  /** How many. */
  task_count: number;
}

/** A project with its progress. */
export interface ProjectRow {
  /** What runs. */
  active_runs: number;
  /** Tasks that wait for something. */
  blocked_tasks: number;
  /** When it was made. */
  created_at: string;
  /** Its name. */
  name: string;
  /** What waits for a decision. */
  pending_reviews: number;
  /** How far it is, from 0 to 100. */
  progress_pct: number;
  /** Its id. */
  project_id: string;
  /** Its repositories. */
  repo_links: RepoLink[];
  /** What deserves attention. */
  risk_flags: string[];
  /** Whether it is worked on. */
  status: ProjectStatus;
  /** How many tasks it has. */
  task_count: number;
}

/** Whether a project is worked on. */
export type ProjectStatus =
  /** It is. */
  | "active"
  /** It is over. */
  | "archived";

/** What a model was given of an attached file. */
export interface PromptAttachment {
  /** The artifact. */
  artifact_id: ArtifactId;
  /** Characters of its text that were given; 0 unless `form` is `text`. */
  characters: number;
  /** How it was given. */
  form: PromptAttachmentForm;
  /** SHA-256 of its bytes, lower-case hexadecimal. */
  sha256?: string | null;
  /** Characters of its whole text, where they were counted. */
  total_characters?: number | null;
  /**
   * Whether the model was given less than the file could give: a part of its text, or a description instead of a
   * picture that had no room.
   */
  truncated: boolean;
  /** The turn it was attached to: this one, or an earlier one of the thread. */
  turn_id: TurnId;
  /** Its version. */
  version_id?: ArtifactVersionId | null;
}

/** How a model was given an attached file. */
export type PromptAttachmentForm =
  /** As text. */
  | "text"
  /** As a picture. */
  | "image"
  /** As name, type, size and hash alone. */
  | "description";

/** How a section differs between two prompts. */
export interface PromptChange {
  /** How. */
  change: PromptChangeKind;
  /** The section. */
  section_id: string;
}

/** How a section differs between the compared turn and this one. */
export type PromptChangeKind =
  /** Not at all. */
  | "same"
  /** It was not there. */
  | "added"
  /** It is no longer there. */
  | "removed"
  /** It says something else. */
  | "changed";

/** What a hook can bring to a prompt. */
export type PromptContributionKind =
  /** Text for the context. */
  | "prompt_context"
  /** A section. */
  | "prompt_section"
  /** A remark. */
  | "prompt_manifest_diagnostic"
  /** A failure. */
  | "runtime_failure";

/** The version of an agents doc that was in a prompt. */
export interface PromptDocument {
  /** Its length in characters. */
  char_count?: number | null;
  /** SHA-256 of its text; absent when the version is no longer kept. */
  content_sha256?: string | null;
  /** The document. */
  doc_id: AgentsDocId;
  /** Unix seconds. */
  saved_at?: number | null;
  /** Who saved it. */
  saved_by?: string | null;
  /** The version. */
  version: number;
}

/** A hook and what it brought. */
export interface PromptHookSource {
  /** `sha256:` and the hash of the contribution. */
  contribution_hash?: string | null;
  /** The contribution. */
  contribution_id?: string | null;
  /** The hook. */
  hook_id: string;
  /** The phase with an underscore: `turn_pre_prompt_compile`. */
  phase: string;
  /** The phase with a dot: `turn.pre_prompt_compile`. */
  phase_name: string;
  /** The subscription. */
  subscription_id: string;
}

/** What the system prompt of a turn was made of. */
export interface PromptManifest {
  /** The files that went with the conversation, those of the newest message first; absent where there are none. */
  attachments?: PromptAttachment[];
  /** The compiler. */
  compiler_version: string;
  /** Remarks. */
  diagnostics: PromptManifestDiagnostic[];
  /** SHA-256 of the part that belongs to the turn. */
  fingerprint_dynamic: string;
  /** SHA-256 of the whole. */
  fingerprint_full: string;
  /** SHA-256 of the part that stays the same between turns. */
  fingerprint_stable: string;
  /** Which hook gave what. */
  hook_sources: PromptManifestHookSource[];
  /** How much of it was wanted. */
  profile: PromptProfile;
  /** The sections in their order. */
  section_ids: string[];
}

/** A remark about a prompt. */
export interface PromptManifestDiagnostic {
  /** A stable name, such as `dynamic_section_truncated`. */
  code: string;
  /** The hook it is about. */
  hook_source?: PromptHookSource | null;
  /** One sentence. */
  message: string;
  /** The section it is about. */
  section_id?: string | null;
}

/** What one hook gave. */
export interface PromptManifestHookSource {
  /** What kind of thing it is. */
  contribution_kind: PromptContributionKind;
  /** Its rank. */
  priority?: number | null;
  /** The section it went into. */
  section_id?: string | null;
  /** The hook. */
  source: PromptHookSource;
  /** How many sources it names. */
  source_count?: number | null;
  /** Who cut it. */
  truncation: PromptTruncation;
}

/** One piece of a prompt. */
export interface PromptPiece {
  /** `sha256:` and the hash of the contribution. */
  contribution_hash?: string | null;
  /** The contribution. */
  contribution_id?: string | null;
  /** The agents doc it is. */
  document?: PromptDocument | null;
  /** The hook that brought it; absent for what every prompt begins with. */
  hook_id?: string | null;
  /** The section it is in. */
  section_id: string;
  /** Who cut it. */
  truncation: PromptTruncation;
}

/** How much of a system prompt is wanted. */
export type PromptProfile =
  /** Everything. */
  | "assistant_full"
  /** Identity, safety and hooks. */
  | "assistant_minimal"
  /** Identity alone. */
  | "assistant_none";

/** Who cut a contribution. */
export type PromptTruncation =
  /** Nobody. */
  | "none"
  /** The hook. */
  | "hook"
  /** The compiler. */
  | "prompt"
  /** Both. */
  | "hook_and_prompt";

/** What a woken worker wants to happen. Every action has a key, so that it happens once. */
export type ProposedAction =
  /** Start a job. */
  | {
    /** What it must keep to. */
    constraints?: string[];
    /** What it should know. */
    context_note?: string | null;
    /** What it gives. */
    deliverables?: string[];
    /** What the job is to reach. */
    goal: string;
    /** The key of the action. */
    idempotency_key: string;
    /** What kind of job. */
    job_kind?: JobKind | null;
    kind: "launch_job";
    /** The milestone it works on. */
    milestone_id?: string | null;
    /** Whether somebody must decide first. */
    needs_approval: boolean;
    /** What it may do. */
    permission_level?: PermissionLevel;
    /** The project. */
    project_id: string;
    /** How risky it is. */
    risk: ActionRisk;
    /** What it is, in a sentence. */
    summary?: string | null;
    /** What the agent that does it must be. */
    target_role?: TargetRole | null;
    /** The task it works on. */
    task_id?: string | null;
    /** Who may see it. */
    visibility?: Visibility | null;
    /** The agent that does it. */
    worker_agent_id?: string | null;
    /** What runs it. */
    worker_kind?: WorkerKind;
  }
  /** Say something about an agent, a document or a run. */
  | {
    /** What is said. */
    body: string;
    /** The key of the action. */
    idempotency_key: string;
    kind: "add_comment";
    /** Whether somebody must decide first. */
    needs_approval: boolean;
    /** The project. */
    project_id: string;
    /** How risky it is. */
    risk: ActionRisk;
    /** What it is, in a sentence. */
    summary?: string | null;
    /** The agent it is about. */
    target_agent_id?: string | null;
    /** The document it is about. */
    target_artifact_id?: string | null;
    /** The run it is about. */
    target_run_id?: string | null;
    /** Who may see it. */
    visibility?: Visibility | null;
  }
  /** Ask somebody to decide. */
  | {
    /** The key of the action. */
    idempotency_key: string;
    kind: "create_approval_item";
    /** Whether somebody must decide first. */
    needs_approval: boolean;
    /** The project. */
    project_id: string;
    /** What happens if it is approved. */
    proposed_action?: ProposedAction | null;
    /** Why. */
    rationale?: string | null;
    /** How risky it is. */
    risk: ActionRisk;
    /** What it is, in a sentence. */
    summary?: string | null;
    /** What is to be decided. */
    title: string;
    /** Who may see it. */
    visibility?: Visibility | null;
  }
  /** Nothing. */
  | {
    /** The key of the action. */
    idempotency_key: string;
    kind: "noop";
    /** Whether somebody must decide first. */
    needs_approval: boolean;
    /** Why nothing. */
    reason: string;
    /** How risky it is. */
    risk: ActionRisk;
    /** What it is, in a sentence. */
    summary?: string | null;
    /** Who may see it. */
    visibility?: Visibility | null;
  };

/** A model service. */
export interface Provider {
  /** Whether it can be used as it is. */
  available: boolean;
  /** What is missing. */
  hint?: string | null;
  /** Its id: `echo`, `openai`, `anthropic`, `gemini`. */
  id: string;
  /** Where its key comes from. */
  key_source: ProviderKeySource;
  /** What people call it. */
  title: string;
}

/** Params of [`ProviderDeleteApiKey`]. */
export interface ProviderDeleteApiKeyParams {
  /** The provider. */
  provider: string;
}

/** Response of [`ProviderDeleteApiKey`]. */
export interface ProviderDeleteApiKeyResponse {
  /** Whether there was a stored key. */
  deleted: boolean;
}

/** Where a key comes from. */
export type ProviderKeySource =
  /** None is needed. */
  | "not_needed"
  /** There is none. */
  | "missing"
  /** Stored by `provider/set_api_key`. */
  | "stored"
  /** In `config.toml` of the home. */
  | "config"
  /** In the environment. */
  | "environment";

/** Params of [`ProviderList`]. */
export type ProviderListParams = Record<string, never>;

/** Response of [`ProviderList`]. */
export interface ProviderListResponse {
  /** The providers. */
  items: Provider[];
}

/** A model of a provider. */
export interface ProviderModel {
  /** Its id. */
  id: string;
  /** What people call it. */
  title: string;
}

/** Params of [`ProviderModelsList`]. */
export interface ProviderModelsListParams {
  /** The provider. */
  provider: string;
}

/** Response of [`ProviderModelsList`]. */
export interface ProviderModelsListResponse {
  /** The models. */
  items: ProviderModel[];
}

/** Params of [`ProviderSetApiKey`]. */
export interface ProviderSetApiKeyParams {
  /** The key. */
  api_key: string;
  /** The provider. */
  provider: string;
}

/** Response of [`ProviderSetApiKey`]. */
export interface ProviderSetApiKeyResponse {
  /** The provider as it is now. */
  provider: Provider;
}

/** Who should do a task. */
export interface Recommendation {
  /** Which agent. */
  preferred_agent_id?: string | null;
  /** Which model suits. */
  preferred_model?: string | null;
  /** What should run it. */
  preferred_provider: string;
  /** Why, in one sentence. */
  rationale: string;
  /** Why, one reason each. */
  reasons?: string[];
  /** The task. */
  task_id: string;
  /** With about how many tokens. */
  token_budget_hint: number;
}

/** What runs at this moment. */
export interface ReplayLive {
  /** Whether something does, or did a moment ago. */
  available: boolean;
  /** What went wrong. */
  error?: string | null;
  /** The session. */
  session_ref?: string | null;
  /** Where it stands. */
  status?: string | null;
}

/** How events are read back. */
export type ReplayMode =
  /** As they are. */
  | "raw"
  /** With every hash checked. */
  | "verified"
  /** The same, for callers that will run them again. */
  | "deterministic"
  /** With every hash checked, and what runs at this moment. */
  | "live";

/** A line that is not JSON. */
export interface ReplayParseIssue {
  /** What is wrong. */
  error: string;
  /** Its line in the file, from 1. */
  line: number;
  /** The line. */
  raw: string;
  /** Its place among the lines that are not blank, from 1. */
  seq: number;
}

/** An event that is not what was written. */
export interface ReplayVerificationIssue {
  /**
   * What is wrong: `invalid_shape`, `missing_key`, `invalid_schema_version`, `invalid_prev_hash_type`,
   * `invalid_event_hash`, `event_hash_mismatch`, `first_prev_hash_non_null`, `prev_hash_chain_mismatch` or
   * `truncated_log`.
   */
  code: string;
  /** Its line in the file, from 1. */
  line: number;
  /** A sentence for people. */
  message: string;
  /** Its place among the lines that are JSON, from 1. */
  seq: number;
}

/** A repository of a project. */
export interface RepoLink {
  /** What it is. */
  label?: string | null;
  /** The name the company gives it. */
  repo_id: string;
}

/** How many agents are meant for a model. */
export interface ResourceModel {
  /** How many agents. */
  agent_count: number;
  /** The model. */
  model: string;
}

/** What was used of one provider. */
export interface ResourceProvider {
  /** The provider. */
  provider: string;
  /** How many runs. */
  run_count: number;
  /** What they cost. */
  total_cost_usd: number;
  /** Their tokens. */
  total_tokens: number;
}

/** Everything together. */
export interface ResourceTotals {
  /**
   * Workers with a run that has a process, or was launched within the last day and has not ended. A run that was
   * created and never launched does not count, although its status is `running`.
   */
  active_workers: number;
  /** Agents of the company. */
  agents: number;
  /** Runs of which that is known. */
  context_cycles_known_runs: number;
  /** How often contexts were renewed. */
  context_cycles_total: number;
  /** Runs of which it is not. */
  context_cycles_unknown_runs: number;
  /** Runs. */
  runs_indexed: number;
  /** What they cost. */
  total_cost_usd: number;
  /** Their tokens. */
  total_tokens: number;
  /** Those that are workers. */
  workers: number;
}

/** Params of [`ResourcesSnapshot`]. */
export interface ResourcesSnapshotParams {
  /** Only runs of this project. */
  project_id?: string | null;
  /** Without effect: the answer is read from the documents, as they are now. */
  sync_index?: boolean | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`ResourcesSnapshot`]. */
export interface ResourcesSnapshotResponse {
  /** When it was looked at. */
  generated_at: string;
  /** Which models the agents are meant for. */
  models: ResourceModel[];
  /** The project, if one was asked for. */
  project_id?: string | null;
  /** What was used, by provider. */
  providers: ResourceProvider[];
  /** Everything together. */
  totals: ResourceTotals;
  /** The folder as it was given. */
  workspace_dir: string;
}

/** How retrieval is done. */
export interface RetrievalCapabilities {
  /** Where the metadata is. */
  storage: string;
}

/** A decision, on the wire as in its file. */
export interface Review {
  /** Who decided. */
  actor_id: string;
  /** What they are. */
  actor_role: ActorRole;
  /** When it was decided. */
  created_at: string;
  /** What they decided. */
  decision: ReviewDecision;
  /** Its id. */
  id: string;
  /** What they said. */
  notes?: string | null;
  /** Why they could. */
  policy: PolicyOutcome;
  /** 1. */
  schema_version: number;
  /** About what. */
  subject: ReviewSubject;
  /** `review`. */
  type: ReviewTag;
}

/** What was decided about something proposed. */
export type ReviewDecision =
  /** It happens. */
  | "approved"
  /** It does not. */
  | "denied";

/** What a review is about. */
export interface ReviewSubject {
  /** The document. */
  artifact_id: string;
  /** The kind of the document. */
  kind: string;
  /** How it changes that. */
  patch_file?: string | null;
  /** Its project. */
  project_id: string;
  /** Why it was proposed. */
  rationale?: string | null;
  /** What kind of memory it changes. */
  scope_kind?: MemoryScopeKind | null;
  /** Whose memory it changes. */
  scope_ref?: string | null;
  /** How secret it is. */
  sensitivity?: Sensitivity | null;
  /** What it changes. */
  target_file?: string | null;
}

/** The word `review`. */
export type ReviewTag =
  /** The word `review`. */
  | "review";

/** Params of [`RunCancel`]. */
export interface RunCancelParams {
  /** The person or agent that cancels, for the log of the run; the caller of the method if absent. */
  actor_id?: string | null;
  /** The role of that actor. */
  actor_role?: ActorRole | null;
  /** The team of that actor. */
  actor_team_id?: string | null;
  /** The project. */
  project_id: string;
  /** Why the run is not needed any more, for its log. */
  reason?: string | null;
  /** The run. */
  run_id: string;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`RunCancel`]. */
export interface RunCancelResponse {
  /** The run. */
  run_id: string;
  /** `stopped`. */
  status: RunStatus;
}

/** Params of [`RunCreate`]. */
export interface RunCreateParams {
  /** The agent that runs. */
  agent_id: string;
  /**
   * What the run is for, in one line of at most 500 characters. Lists show it as the name of the run. Absent: a
   * run of a job is named by the job's goal, a command by its command line.
   */
  goal?: string | null;
  /** The project. */
  project_id: string;
  /** What runs it: `cmd`, `codex`, `claude`, `gemini`. */
  provider: string;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`RunCreate`]. */
export interface RunCreateResponse {
  /** What it is given to know. */
  context_pack_id: string;
  /** Its folder. */
  run_dir: string;
  /** The new run. */
  run_id: string;
  /**
   * What looks wrong about the run although it was made: an agent or a provider that does not exist. One sentence
   * each; absent if nothing does.
   */
  warnings?: string[];
}

/** Params of [`RunList`]. */
export interface RunListParams {
  /** The id of the person or agent that asks. The caller's own if absent. */
  actor_id?: string | null;
  /** The role of that actor, at most the role of the caller's token. The role of the token if absent. */
  actor_role?: ActorRole | null;
  /** The team of that actor. The team in the agent's file if absent, none for anybody else. */
  actor_team_id?: string | null;
  /** Only runs of this project. */
  project_id?: string | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`RunList`]. */
export type RunListResponse = RunRow[];

/** Params of [`RunReplay`]. */
export interface RunReplayParams {
  /** Who asks: events they may not see are left out. */
  actor_id?: string | null;
  /** What they are. */
  actor_role?: ActorRole | null;
  /** Their team. */
  actor_team_id?: string | null;
  /** Only events after this one, counted from 1. */
  after_seq?: number | null;
  /** At most this many events; `next_cursor` tells where to go on. */
  limit?: number | null;
  /** How. */
  mode?: ReplayMode | null;
  /** The project. */
  project_id: string;
  /** The run. */
  run_id: string;
  /** Only the last events. */
  tail?: number | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`RunReplay`]. */
export interface RunReplayResponse {
  /** Whether everything was checked and nothing is wrong. */
  deterministic_ok: boolean;
  /** The events, as they are in the file. */
  events: unknown[];
  /** How many events were left out because who asks may not see them. */
  filtered_by_policy_count?: number | null;
  /** What runs at this moment. */
  live: ReplayLive;
  /** How it was read. */
  mode: ReplayMode;
  /** Where to go on, if `limit` left something. */
  next_cursor?: number | null;
  /** Lines that are not JSON. */
  parse_issues: ReplayParseIssue[];
  /** Its project. */
  project_id: string;
  /** The run. */
  run_id: string;
  /** Events that are not what was written. */
  verification_issues: ReplayVerificationIssue[];
}

/** A run. */
export interface RunRow {
  /** The agent that runs. */
  agent_id: string;
  /** When it was made. */
  created_at: string;
  /**
   * What the run is for: the goal it was made with, the goal of its job, or its command line. Absent if none of
   * them is known.
   */
  goal?: string | null;
  /** True if its status is `running` and it was never launched, so that it has no process; absent otherwise. */
  not_started?: boolean | null;
  /** Its project. */
  project_id: string;
  /** What runs it. */
  provider: string;
  /** Its id. */
  run_id: string;
  /** Where it stands. */
  status: RunStatus;
  /**
   * What looks wrong about it: an agent or a provider that does not exist. One sentence each; absent if nothing
   * does.
   */
  warnings?: string[];
}

/** Where a run stands. */
export type RunStatus =
  /** From its creation until it ends. */
  | "running"
  /** It ended well. */
  | "ended"
  /** It failed. */
  | "failed"
  /** Somebody stopped it. */
  | "stopped";

/** The sandbox of a thread. */
export interface Sandbox {
  /** What commands may touch. */
  mode: SandboxMode;
}

/** What commands of a thread may touch. */
export type SandboxMode =
  /** Everything the gateway's user may touch. */
  | "FullAccess";

/** What commands of a turn may touch. */
export interface SandboxPolicy {
  /** What commands may touch. */
  mode: SandboxMode;
}

/** Something that was found. */
export interface SearchHit {
  /** Who made it. */
  author_id?: string | null;
  /** The conversation of a message. */
  conversation_id?: string | null;
  /** When it was made. */
  created_at?: string | null;
  /** Its id; of an event, its run and its place: `run_1#7`. */
  id: string;
  /** What it is. */
  kind: SearchKind;
  /** The project, if it belongs to one. */
  project_id?: string | null;
  /** The run of an event. */
  run_id?: string | null;
  /** The place of an event in its log. */
  seq?: number | null;
  /** The words, and what is around them. */
  snippet: string;
  /** What it is called; of an event, its type. */
  title?: string | null;
  /** Who may see it. */
  visibility?: string | null;
}

/** What can be searched. */
export type SearchKind =
  /** Documents, which the wire calls artifacts. */
  | "artifact"
  /** Messages of conversations. */
  | "message"
  /** Comments. */
  | "comment"
  /** Tasks. */
  | "task"
  /** Events of runs. */
  | "event";

/** How a cycle ended. */
export type SelfImproveStatus =
  /** It was not made often enough. */
  | "recorded_only"
  /** There is a rule against it already. */
  | "already_guided"
  /** The evaluation failed. */
  | "evaluation_failed"
  /** A rule waits for approval. */
  | "proposal_created";

/** How secret something is. */
export type Sensitivity =
  /** For everybody. */
  | "public"
  /** For the company. */
  | "internal"
  /** For directors and above. */
  | "restricted";

/** Who answers, and what it adds to the protocol document. */
export interface ServerCapabilities {
  /**
   * What is offered beyond the protocol document: `tree_family` for the methods with slashes, and the name of every
   * method with dots that the document does not list.
   */
  extensions: string[];
  /** The product. */
  name: string;
  /** Its version. */
  version: string;
}

/** Params of [`SessionResume`]. */
export interface SessionResumeParams {
  /** The `seq` of the last notification the client saw. */
  after_seq: number;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`SessionResume`]. */
export interface SessionResumeResponse {
  /** Whether notifications after `after_seq` are no longer there. */
  gap: boolean;
  /** The lowest `seq` the next notification can have. */
  next_seq: number;
  /** How many notifications follow this answer. */
  replayed: number;
}

/** Params of [`SharepackCreate`]. */
export interface SharepackCreateParams {
  /** Who makes it; `human` if not given. */
  created_by?: string | null;
  /** The project. */
  project_id: string;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`SharepackCreate`]. */
export interface SharepackCreateResponse {
  /** Its files, relative to the company folder. */
  bundle_relpath: string;
  /** The documents in it, sorted. */
  included_artifact_ids: string[];
  /** The runs in it, sorted. */
  included_run_ids: string[];
  /** Its manifest, relative to the company folder. */
  manifest_relpath: string;
  /** The new pack. */
  share_pack_id: string;
}

/** How the events of a share pack are read back. */
export type SharepackReplayMode =
  /** As they are. */
  | "raw"
  /** With every hash checked. */
  | "verified"
  /** The same, for callers that will run them again. */
  | "deterministic";

/** Params of [`SharepackReplay`]. */
export interface SharepackReplayParams {
  /** Who asks; everything is shown if nobody is named. */
  actor_id?: string | null;
  /** What they are. */
  actor_role?: ActorRole | null;
  /** Their team. */
  actor_team_id?: string | null;
  /** How. */
  mode?: SharepackReplayMode | null;
  /** The project. */
  project_id: string;
  /** Only this run. */
  run_id?: string | null;
  /** The pack. */
  share_pack_id: string;
  /** Only the last events. */
  tail?: number | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`SharepackReplay`]. */
export interface SharepackReplayResponse {
  /** How many events the actor may not see; absent if nobody was named. */
  filtered_by_policy_count?: number | null;
  /** How it was read. */
  mode: SharepackReplayMode;
  /** The project. */
  project_id: string;
  /** The runs. */
  runs: SharepackRun[];
  /** The pack. */
  share_pack_id: string;
}

/** A run in a share pack. */
export interface SharepackRun {
  /** Where they are. */
  bundle_relpath: string;
  /** Events the pack says it left out, by id. */
  declared_omissions?: string[] | null;
  /** Events the pack says it blacked something out of, by id. */
  declared_redactions?: string[] | null;
  /** Whether everything was checked and nothing is wrong. */
  deterministic_ok: boolean;
  /** The events, as they are in the file. */
  events: unknown[];
  /** Where to go on, if `limit` left something. */
  next_cursor?: number | null;
  /** Lines that are not JSON. */
  parse_issues: ReplayParseIssue[];
  /** Its id. */
  run_id: string;
  /** Where its events came from. */
  source_relpath: string;
  /** Events that are not what was written. */
  verification_issues: ReplayVerificationIssue[];
}

/** Params of [`SystemCapabilities`]. */
export type SystemCapabilitiesParams = Record<string, never>;

/** Response of [`SystemCapabilities`]. */
export interface SystemCapabilitiesResponse {
  /** What is there beyond the methods, by name. */
  features: string[];
  /** The limits in force, by name. */
  limits: Record<string, number>;
  /** The version of the wire protocol. */
  protocol_version: number;
  /** Who answers. */
  server: SystemServer;
}

/** How bad a system event is. */
export type SystemEventLevel =
  /** Good to know. */
  | "info"
  /** Not as it should be. */
  | "warning"
  /** Wrong. */
  | "error";

/** One method of the gateway. */
export interface SystemMethod {
  /** `tree` or `company`. */
  family: string;
  /** The wire name again, for clients of the earlier member name. */
  method: string;
  /** The wire name. */
  name: string;
  /** JSON Schema of `params`. */
  params_schema: unknown;
  /** JSON Schema of `result`. */
  result_schema: unknown;
  /** The scope a token needs: `read`, `write` or `exec`. */
  scope: string;
  /** What it does, in one sentence. */
  summary: string;
}

/** Params of [`SystemMethods`]. */
export type SystemMethodsParams = Record<string, never>;

/** Response of [`SystemMethods`]. */
export interface SystemMethodsResponse {
  /** The methods, by family and in the order of the reference. */
  methods: SystemMethod[];
}

/** Who answers. */
export interface SystemServer {
  /** The product. */
  name: string;
  /** Its version. */
  version: string;
}

/** What the agent that does a job must be. */
export type TargetRole =
  /** The head of a department. */
  | "director"
  /** Does work. */
  | "worker";

/** The front matter of a task, on the wire as in its file. */
export interface Task {
  /** When it is good. */
  acceptance_criteria?: string[] | null;
  /** The agent that does it. */
  assignee_agent_id?: string | null;
  /** What it may cost. */
  budget?: Budget | null;
  /** When it was made. */
  created_at: string;
  /** What it gives. */
  deliverables?: string[] | null;
  /** How it should be run. */
  execution_plan?: TaskExecutionPlan | null;
  /** Its id. */
  id: string;
  /** Its steps. */
  milestones: Milestone[];
  /** Its project. */
  project_id: string;
  /** When it happens. */
  schedule?: TaskSchedule | null;
  /** 1. */
  schema_version: number;
  /** Where it happens. */
  scope?: TaskWorkScope | null;
  /** Where it stands. */
  status: TaskStatus;
  /** The team that does it. */
  team_id?: string | null;
  /** What it is called. */
  title: string;
  /** `task`. */
  type: TaskTag;
  /** Who may see it. */
  visibility: Visibility;
}

/** How a task should be run. */
export interface TaskExecutionPlan {
  /** When it was planned. */
  applied_at?: string | null;
  /** Who planned it. */
  applied_by?: string | null;
  /** By which agent. */
  preferred_agent_id?: string | null;
  /** With which model. */
  preferred_model?: string | null;
  /** By whom. */
  preferred_provider?: string | null;
  /** With about how many tokens. */
  token_budget_hint?: number | null;
}

/** How a task shall be run. */
export interface TaskExecutionPlanUpdate {
  /** When it was planned; counts only without `applied_by`. */
  applied_at?: string | null;
  /** Who plans it; the time is then noted, too. */
  applied_by?: string | null;
  /** By which agent. */
  preferred_agent_id?: string | null;
  /** With which model. */
  preferred_model?: string | null;
  /** By whom. */
  preferred_provider?: string | null;
  /** With about how many tokens. */
  token_budget_hint?: number | null;
}

/** Params of [`TaskList`]. */
export interface TaskListParams {
  /** The project. */
  project_id: string;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`TaskList`]. */
export interface TaskListResponse {
  /** Files among the tasks that cannot be read as a task. */
  invalid?: InvalidTaskFile[];
  /** The project. */
  project_id: string;
  /** Its tasks, newest first. */
  tasks: TaskRow[];
  /** The folder as it was given. */
  workspace_dir: string;
}

/** A task of a [`TaskListResponse`]. */
export interface TaskRow {
  /** Its file. */
  abs_path: string;
  /** What the file says of it. */
  frontmatter: Task;
  /** Its milestones by where they stand. */
  milestone_counts: MilestoneCounts;
  /** How far it is, from 0 to 1. */
  progress_ratio: number;
  /** Its project. */
  project_id: string;
  /** Its file, below the company folder. */
  relpath: string;
  /** Its id. */
  task_id: string;
}

/** When a task happens. */
export interface TaskSchedule {
  /** What must be done before. */
  depends_on_task_ids?: string[];
  /** How long it takes. */
  duration_days?: number | null;
  /** When it should be done. */
  planned_end?: string | null;
  /** When it should begin. */
  planned_start?: string | null;
}

/** When a task shall happen. */
export interface TaskScheduleUpdate {
  /** What must be done before; not the task itself. */
  depends_on_task_ids?: string[] | null;
  /** How long it takes. */
  duration_days?: number | null;
  /** When it should be done; not before it begins. */
  planned_end?: string | null;
  /** When it should begin. */
  planned_start?: string | null;
}

/** Where a task stands. */
export type TaskStatus =
  /** Being written. */
  | "draft"
  /** Can be started. */
  | "ready"
  /** Being worked on. */
  | "in_progress"
  /** Waits for something. */
  | "blocked"
  /** Finished. */
  | "done"
  /** Given up. */
  | "canceled";

/** The word `task`. */
export type TaskTag =
  /** The word `task`. */
  | "task";

/** Params of [`TaskUpdatePlan`]. */
export interface TaskUpdatePlanParams {
  /** Whether to forget how it should be run, whatever `execution_plan` says. */
  clear_execution_plan?: boolean | null;
  /** Whether to forget when it happens, whatever `schedule` says. */
  clear_schedule?: boolean | null;
  /** How it should be run: what is given is changed, the rest stays. */
  execution_plan?: TaskExecutionPlanUpdate | null;
  /** The project. */
  project_id: string;
  /** When it happens: takes the place of what was planned. */
  schedule?: TaskScheduleUpdate | null;
  /** The task. */
  task_id: string;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`TaskUpdatePlan`]. */
export interface TaskUpdatePlanResponse {
  /** What the file says of it now. */
  frontmatter: Task;
  /** The task. */
  task_id: string;
  /** Its file. */
  task_path: string;
  /** What deserves a look and was done all the same: `unknown_dependency:<id>`, `dependency_cycle`. */
  warnings?: string[];
}

/** Where a task happens. */
export interface TaskWorkScope {
  /** The files in it. */
  paths?: string[] | null;
  /** The repository. */
  repo_id?: string | null;
  /** Whether it needs its own copy of the repository. */
  requires_worktree_isolation?: boolean | null;
  /** The folder in it. */
  workdir_rel?: string | null;
}

/** A team. */
export interface TeamRow {
  /** What it is for. */
  charter?: string | null;
  /** When it was made. */
  created_at: string;
  /** The department it is, by key. */
  department_key?: string | null;
  /** The department it is, by name. */
  department_label?: string | null;
  /** Its name. */
  name: string;
  /** Its id. */
  team_id: string;
}

/** A part of a text that stands for something. */
export interface TextElement {
  /** Which part. */
  byte_range: ByteRange;
  /** What stands there. */
  placeholder?: string | null;
}

/** A conversation. */
export interface Thread {
  /** The name of the agent, for delegated threads. */
  agent_nickname?: string | null;
  /** The role of the agent, for delegated threads. */
  agent_role?: string | null;
  /** Unix seconds. */
  created_at: number;
  /** The thread. */
  id: ThreadId;
  /** What the model may do. */
  mode: ThreadMode;
  /** The model of new turns. */
  model: string;
  /** The provider of new turns. */
  model_provider: string;
  /** The title; absent until given or generated. */
  name?: string | null;
  /** Who the thread belongs to. */
  origin_kind: ThreadOriginKind;
  /** The first text that was said, empty before that. */
  preview: string;
  /** Whether the tree shows it. */
  sidebar_visibility: ThreadSidebarVisibility;
  /** Whether a turn runs. */
  status: ThreadStatus;
  /** The turns; empty in lists. */
  turns?: Turn[];
  /** Unix seconds; moves when a turn starts or ends. */
  updated_at: number;
  /** The workspace that owns the thread. */
  workspace_id: WorkspaceId;
}

/** Params of [`ThreadAgentsDocArchive`]. */
export interface ThreadAgentsDocArchiveParams {
  /** The version the client saw last. */
  expected_version?: number | null;
  /** The folder; absent for the root. */
  folder_id?: FolderId | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocArchive`]. */
export interface ThreadAgentsDocArchiveResponse {
  /** Whether there was a file. */
  archived: boolean;
  /** The file in force now. */
  effective?: ThreadAgentsDocResolvedPayload | null;
}

/** Payload of `thread/agents_doc/changed`. */
export interface ThreadAgentsDocChangedNotification {
  /** The file, if it was the file that changed. */
  doc?: ThreadAgentsDocPayload | null;
  /** What is in force in the scope now. */
  effective?: ThreadAgentsDocResolvedPayload | null;
  /** Whether another file, or another version, is in force than before. */
  effective_changed: boolean;
  /** The scope; absent for the root. */
  folder_id?: FolderId | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** What a person says to a proposal. */
export type ThreadAgentsDocDecision =
  /** Save it. */
  | "approve"
  /** Leave everything as it is. */
  | "deny";

/** Params of [`ThreadAgentsDocExport`]. */
export interface ThreadAgentsDocExportParams {
  /** The folder to begin at; absent for the root. */
  folder_id?: FolderId | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocExport`]. */
export interface ThreadAgentsDocExportResponse {
  /** The files, by path. */
  files: ThreadAgentsDocExportedFile[];
  /** Every folder below the scope, by path, also those without a file. */
  folders: ThreadAgentsDocExportedFolder[];
}

/** One file of the tree as a file of a repository. */
export interface ThreadAgentsDocExportedFile {
  /** The text. */
  content: string;
  /** SHA-256 of the text. */
  content_sha256: string;
  /** The path with `/`, ending in `AGENTS.md`. */
  path: string;
  /** The version. */
  version: number;
}

/** One folder of the tree as a directory of a repository. */
export interface ThreadAgentsDocExportedFolder {
  /** The folder. */
  folder_id: FolderId;
  /** The path with `/`. */
  path: string;
}

/** One instruction file of a repository. */
export interface ThreadAgentsDocFile {
  /** The text. */
  content: string;
  /** The version of the scope's file the client saw last, 0 for none: if there is another, nothing is imported. */
  expected_version?: number | null;
  /** The path in the repository with `/`, ending in `AGENTS.md` or `CLAUDE.md`. */
  path: string;
}

/** Params of [`ThreadAgentsDocGet`]. */
export interface ThreadAgentsDocGetParams {
  /** The folder; absent for the root. */
  folder_id?: FolderId | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocGet`]. */
export interface ThreadAgentsDocGetResponse {
  /** The file in force. */
  effective?: ThreadAgentsDocResolvedPayload | null;
  /** The file of the scope itself. */
  explicit?: ThreadAgentsDocPayload | null;
}

/** What an import does to files that are there. */
export type ThreadAgentsDocImportMode =
  /** They stay as they are. */
  | "create"
  /** They get the new text. */
  | "update";

/** Params of [`ThreadAgentsDocImport`]. */
export interface ThreadAgentsDocImportParams {
  /** The files. */
  files: ThreadAgentsDocFile[];
  /** The folder that stands for the root of the repository; absent for the root of the tree. */
  folder_id?: FolderId | null;
  /** What happens to files that are there. */
  mode: ThreadAgentsDocImportMode;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocImport`]. */
export interface ThreadAgentsDocImportResponse {
  /** The files that were created or changed. */
  docs: ThreadAgentsDocPayload[];
  /** The folders that were made. */
  folders: ThreadFolder[];
}

/** A file with its text. */
export interface ThreadAgentsDocPayload {
  /** The text. */
  content: string;
  /** SHA-256 of the text, lower-case hexadecimal. */
  content_sha256: string;
  /** Unix seconds. */
  created_at: number;
  /** The folder; absent for the root file. */
  folder_id?: FolderId | null;
  /** The document. */
  id: AgentsDocId;
  /** Whether it takes part in inheritance. */
  status: ThreadAgentsDocStatus;
  /** Always `AGENTS.md`. */
  title: string;
  /** Unix seconds. */
  updated_at: number;
  /** Grows with every save; the versions of a scope never repeat. */
  version: number;
  /** The workspace that owns it. */
  workspace_id: WorkspaceId;
}

/** Params of [`ThreadAgentsDocPreview`]. */
export interface ThreadAgentsDocPreviewParams {
  /** The thread. */
  thread_id: ThreadId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocPreview`]. */
export interface ThreadAgentsDocPreviewResponse {
  /** Its length in characters. */
  char_count: number;
  /** The document. */
  doc_id?: AgentsDocId | null;
  /** The names of the folders from the root down to the file's folder. */
  source_path: string[];
  /** Exactly the section a new turn would get; empty when nothing applies. */
  text: string;
  /** Whether the file is longer than what is shown. */
  truncated: boolean;
  /** Its version. */
  version?: number | null;
}

/** A proposal without its whole text. */
export interface ThreadAgentsDocProposal {
  /** Who proposes it: `owner`, a token or an agent. */
  author: string;
  /** The version it changes; 0 means that it makes a new file. */
  base_version: number;
  /** The length of the proposed text in characters. */
  char_count: number;
  /** SHA-256 of the proposed text, lower-case hexadecimal. */
  content_sha256: string;
  /** Unix seconds. */
  created_at: number;
  /** The version of the file now; 0 if there is none. */
  current_version: number;
  /** When that was, in Unix seconds. */
  decided_at?: number | null;
  /** Who decided or took it back. */
  decided_by?: string | null;
  /** How they were present. */
  decided_via?: Presence | null;
  /** The change as a unified diff against the version it changes. */
  diff: string;
  /** The folder whose file it changes; absent for the root file. */
  folder_id?: FolderId | null;
  /** The proposal. */
  id: AgentsDocProposalId;
  /** Whether it waits for a decision and the file has another version by now. */
  is_stale: boolean;
  /** What they said about it. */
  note?: string | null;
  /** Why it should be changed. */
  rationale: string;
  /** The file an approved text was saved in. */
  saved_doc_id?: AgentsDocId | null;
  /** The version it was saved as. */
  saved_version?: number | null;
  /** The value for `expected_sha256`: it changes with the version the proposal changes and with the proposed text. */
  sha256: string;
  /** What became of it. */
  status: ThreadAgentsDocProposalStatus;
  /** Unix seconds. */
  updated_at: number;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Payload of `thread/agents_doc/proposal/changed`. */
export interface ThreadAgentsDocProposalChangedNotification {
  /** The folder whose file it changes; absent for the root file. */
  folder_id?: FolderId | null;
  /** The proposal. */
  proposal_id: AgentsDocProposalId;
  /** What became of it. */
  status: ThreadAgentsDocProposalStatus;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ThreadAgentsDocProposalDecide`]. */
export interface ThreadAgentsDocProposalDecideParams {
  /** What is decided. */
  decision: ThreadAgentsDocDecision;
  /**
   * The `sha256` of the proposal that was looked at: if it was rebased since, nothing is decided. Absent for whatever
   * is there.
   */
  expected_sha256?: string | null;
  /** What to say about it, 4096 characters at most. */
  note?: string | null;
  /** The proposal. */
  proposal_id: AgentsDocProposalId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocProposalDecide`]. */
export interface ThreadAgentsDocProposalDecideResponse {
  /** The proposal as it is now. */
  proposal: ThreadAgentsDocProposal;
}

/** Params of [`ThreadAgentsDocProposalGet`]. */
export interface ThreadAgentsDocProposalGetParams {
  /** The proposal. */
  proposal_id: AgentsDocProposalId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocProposalGet`]. */
export interface ThreadAgentsDocProposalGetResponse {
  /** The text it changes; empty if it makes a new file. */
  base_content: string;
  /** The whole proposed text. */
  content: string;
  /** The text of the file now; empty if there is none. */
  current_content: string;
  /** The proposal. */
  proposal: ThreadAgentsDocProposal;
}

/** Params of [`ThreadAgentsDocProposalList`]. */
export interface ThreadAgentsDocProposalListParams {
  /** The `next_cursor` of the page before. */
  cursor?: string | null;
  /** The most proposals to answer: 20 when absent, 50 at most. */
  limit?: number | null;
  /** Only those of this scope; absent for all. */
  scope?: ThreadAgentsDocProposalScope | null;
  /** Only those with this status; absent for all. */
  status?: ThreadAgentsDocProposalStatus | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocProposalList`]. */
export interface ThreadAgentsDocProposalListResponse {
  /** The proposals. */
  items: ThreadAgentsDocProposal[];
  /** Where the next page begins; absent on the last one. */
  next_cursor?: string | null;
}

/** Params of [`ThreadAgentsDocProposalRebase`]. */
export interface ThreadAgentsDocProposalRebaseParams {
  /** The merged text, for lines that both sides changed; needs `current_version`. */
  content?: string | null;
  /** The version of the file that the text was merged with; absent for whichever there is. */
  current_version?: number | null;
  /** The proposal. */
  proposal_id: AgentsDocProposalId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocProposalRebase`]. */
export interface ThreadAgentsDocProposalRebaseResponse {
  /** The proposal as it is now. */
  proposal: ThreadAgentsDocProposal;
}

/** One scope of the tree. */
export interface ThreadAgentsDocProposalScope {
  /** The folder; absent for the root. */
  folder_id?: FolderId | null;
}

/** What became of a proposal. */
export type ThreadAgentsDocProposalStatus =
  /** It waits for a decision. */
  | "pending"
  /** Its text was saved. */
  | "approved"
  /** Nothing was changed. */
  | "denied"
  /** Whoever made it took it back, or its folder was deleted. */
  | "withdrawn";

/** Params of [`ThreadAgentsDocProposalWithdraw`]. */
export interface ThreadAgentsDocProposalWithdrawParams {
  /** The proposal. */
  proposal_id: AgentsDocProposalId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocProposalWithdraw`]. */
export interface ThreadAgentsDocProposalWithdrawResponse {
  /** The proposal as it is now. */
  proposal: ThreadAgentsDocProposal;
}

/** Params of [`ThreadAgentsDocPropose`]. */
export interface ThreadAgentsDocProposeParams {
  /** The version that was changed: the current one when absent, 0 for no file. */
  base_version?: number | null;
  /** The whole text as it should be, 65536 characters at most. */
  content: string;
  /** The folder; absent for the root. */
  folder_id?: FolderId | null;
  /** Why, 4096 characters at most. */
  rationale: string;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocPropose`]. */
export interface ThreadAgentsDocProposeResponse {
  /** The proposal. */
  proposal: ThreadAgentsDocProposal;
}

/** Params of [`ThreadAgentsDocResolveForThread`]. */
export interface ThreadAgentsDocResolveForThreadParams {
  /** The thread. */
  thread_id: ThreadId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocResolveForThread`]. */
export interface ThreadAgentsDocResolveForThreadResponse {
  /** The file in force. */
  effective?: ThreadAgentsDocResolvedPayload | null;
}

/** The file in force for a scope or a thread. */
export interface ThreadAgentsDocResolvedPayload {
  /** The file. */
  doc: ThreadAgentsDocPayload;
  /** Whether it comes from above the requested scope. */
  inherited: boolean;
  /** Unix seconds. */
  resolved_at: number;
  /** The requested folder; absent for the root. */
  resolved_for_folder_id?: FolderId | null;
  /** Its folder; absent for the root. */
  source_folder_id?: FolderId | null;
  /** The names of the folders from the root of the tree down to the file's folder. */
  source_path: string[];
}

/** Params of [`ThreadAgentsDocRestore`]. */
export interface ThreadAgentsDocRestoreParams {
  /** The document. */
  doc_id: AgentsDocId;
  /** The version the client saw last. */
  expected_version?: number | null;
  /** The version to write again; the one before the last when absent. */
  version?: number | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocRestore`]. */
export interface ThreadAgentsDocRestoreResponse {
  /** What to know about the text. */
  content_warnings?: string[];
  /** The file as it is now. */
  doc: ThreadAgentsDocPayload;
}

/** One version of a file. */
export interface ThreadAgentsDocRevision {
  /** The text. */
  content: string;
  /** SHA-256 of the text. */
  content_sha256: string;
  /** The document. */
  doc_id: AgentsDocId;
  /** `autosave`, `manual`, `restore` or `archive`. */
  save_reason: string;
  /** Unix seconds. */
  saved_at: number;
  /** Who saved it. */
  saved_by?: string | null;
  /** The version. */
  version: number;
}

/** Params of [`ThreadAgentsDocRevisionGet`]. */
export interface ThreadAgentsDocRevisionGetParams {
  /** The document. */
  doc_id: AgentsDocId;
  /** The version. */
  version: number;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocRevisionGet`]. */
export interface ThreadAgentsDocRevisionGetResponse {
  /** The version. */
  revision: ThreadAgentsDocRevision;
}

/** One version of a file without its text. */
export interface ThreadAgentsDocRevisionSummary {
  /** The length of the text in characters. */
  char_count: number;
  /** SHA-256 of the text. */
  content_sha256: string;
  /** `autosave`, `manual`, `restore`, `archive` or `proposal`. */
  save_reason: string;
  /** Unix seconds. */
  saved_at: number;
  /** Who saved it. */
  saved_by?: string | null;
  /** The version. */
  version: number;
}

/** Params of [`ThreadAgentsDocRevisions`]. */
export interface ThreadAgentsDocRevisionsParams {
  /** The `next_cursor` of the page before. */
  cursor?: string | null;
  /** The document. */
  doc_id: AgentsDocId;
  /** The most versions to answer: 100 when absent, 500 at most. */
  limit?: number | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocRevisions`]. */
export interface ThreadAgentsDocRevisionsResponse {
  /** The versions, newest first. */
  items: ThreadAgentsDocRevisionSummary[];
  /** Where the next page begins; absent on the last one. */
  next_cursor?: string | null;
}

/** Params of [`ThreadAgentsDocSave`]. */
export interface ThreadAgentsDocSaveParams {
  /** The whole text, 65536 characters at most. */
  content: string;
  /** The version the client saw last; 0 means that there must be no file yet. */
  expected_version?: number | null;
  /** The folder; absent for the root. */
  folder_id?: FolderId | null;
  /** Why; `autosave` when absent. */
  save_reason?: ThreadAgentsDocSaveReason | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Why a text was saved. */
export type ThreadAgentsDocSaveReason =
  /** The editor saved by itself. */
  | "autosave"
  /** Somebody asked for it. */
  | "manual";

/** Response of [`ThreadAgentsDocSave`]. */
export interface ThreadAgentsDocSaveResponse {
  /** What to know about the text, such as that it is longer than a prompt can take. */
  content_warnings?: string[];
  /** The file as it is now. */
  doc: ThreadAgentsDocPayload;
}

/** Whether a file takes part in inheritance. */
export type ThreadAgentsDocStatus =
  /** It exists and is empty: shown, never sent to a model. */
  | "draft"
  /** It has text and takes part in inheritance. */
  | "active"
  /** It was deleted from the tree. */
  | "archived";

/** A file without its text. */
export interface ThreadAgentsDocSummary {
  /** The length of the text in characters. */
  char_count: number;
  /** SHA-256 of the text, lower-case hexadecimal. */
  content_sha256: string;
  /** The folder; absent for the root file. */
  folder_id?: FolderId | null;
  /** The document. */
  id: AgentsDocId;
  /** Whether it takes part in inheritance. */
  status: ThreadAgentsDocStatus;
  /** Unix seconds. */
  updated_at: number;
  /** The version. */
  version: number;
  /** The workspace that owns it. */
  workspace_id: WorkspaceId;
}

/** Payload of `thread/artifacts/changed`. */
export interface ThreadArtifactsChangedNotification {
  /** The artifacts it is about. */
  artifact_ids: ArtifactId[];
  /** Unix seconds. */
  generated_at: number;
  /**
   * Why: `user_upload`, `new_version`, `user_input_binding`, `agent_output`, `task_result`, `bind`, `delete`,
   * `restore`, `damaged` or `healed`.
   */
  reason: string;
  /** The thread. */
  thread_id: ThreadId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Payload of `thread/closed`. */
export interface ThreadClosedNotification {
  /** The thread. */
  threadId: ThreadId;
  /** The workspace that owns the thread. */
  workspaceId: WorkspaceId;
}

/** Params of [`ThreadDelete`]. */
export interface ThreadDeleteParams {
  /** The thread. */
  thread_id: ThreadId;
  /** The workspace that owns the thread. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadDelete`]. */
export interface ThreadDeleteResponse {
  /** Whether there was such a thread. */
  deleted: boolean;
}

/** A node of the thread tree. */
export interface ThreadFolder {
  /** Unix seconds. */
  created_at: number;
  /** The folder. */
  id: FolderId;
  /** What people call it; siblings may share a name. */
  name: string;
  /** The folder it is in; absent at the root. */
  parent_folder_id?: FolderId | null;
  /** A place among its siblings for clients that sort by hand; absent until given. */
  position?: number | null;
  /** Unix seconds. */
  updated_at: number;
  /** The workspace that owns it. */
  workspace_id: WorkspaceId;
}

/** Params of [`ThreadFolderCreate`]. */
export interface ThreadFolderCreateParams {
  /** What to call it. */
  name: Name;
  /** The folder to create it in; absent for the root. */
  parent_folder_id?: FolderId | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadFolderCreate`]. */
export interface ThreadFolderCreateResponse {
  /** The new folder. */
  folder: ThreadFolder;
}

/** Params of [`ThreadFolderDelete`]. */
export interface ThreadFolderDeleteParams {
  /** The folder. */
  folder_id: FolderId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadFolderDelete`]. */
export interface ThreadFolderDeleteResponse {
  /** Whether there was such a folder. */
  deleted: boolean;
}

/** Params of [`ThreadFolderMove`]. */
export interface ThreadFolderMoveParams {
  /** The folder to move. */
  folder_id: FolderId;
  /** The folder to move it into; absent for the root. */
  parent_folder_id?: FolderId | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadFolderMove`]. */
export interface ThreadFolderMoveResponse {
  /** Always `true`, also when the folder was there already. */
  moved: boolean;
}

/** Params of [`ThreadFolderUpdate`]; at least one change is needed. */
export interface ThreadFolderUpdateParams {
  /** The folder. */
  folder_id: FolderId;
  /** The new name. */
  name?: Name | null;
  /** The new position. */
  position?: number | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadFolderUpdate`]. */
export interface ThreadFolderUpdateResponse {
  /** The folder as it is now. */
  folder: ThreadFolder;
}

/** Params of [`ThreadGet`]. */
export interface ThreadGetParams {
  /** The thread. */
  thread_id: ThreadId;
}

/** Response of [`ThreadGet`]. */
export interface ThreadGetResponse {
  /** The thread. */
  thread: Thread;
}

/** Params of [`ThreadHistory`]. */
export interface ThreadHistoryParams {
  /** The most events to answer, the newest ones; at least 1. */
  limit?: number | null;
  /** The thread. */
  thread_id: ThreadId;
}

/** Response of [`ThreadHistory`]. */
export interface ThreadHistoryResponse {
  /** What happened, oldest first. */
  events: TurnEvent[];
  /** The thread. */
  thread_id: ThreadId;
  /** The workspace that owns the thread. */
  workspace_id: WorkspaceId;
}

/** A thread. */
export type ThreadId = string;

/** The purpose of a thread. It is stored and shown, and hooks may filter by it; it changes nothing about a turn. */
export type ThreadMode =
  /** A conversation. */
  | "Chat"
  /** The work of an agent. Turns offer the model no tools in this mode either. */
  | "Agent";

/** Params of [`ThreadMove`]. */
export interface ThreadMoveParams {
  /** The folder; absent for the root. */
  folder_id?: FolderId | null;
  /** The thread. */
  thread_id: ThreadId;
  /** The workspace that owns both. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadMove`]. */
export interface ThreadMoveResponse {
  /** Always `true`, also when the thread was there already. */
  moved: boolean;
}

/** Where a thread comes from. */
export type ThreadOriginKind =
  /** A person. */
  | "user"
  /** A job or session. */
  | "task_run"
  /** The gateway. */
  | "system";

/** Where a thread hangs. */
export interface ThreadPlacement {
  /** The folder; absent for the root. */
  folder_id?: FolderId | null;
  /** The thread. */
  thread_id: ThreadId;
  /** The workspace that owns both. */
  workspace_id: WorkspaceId;
}

/** Whether the tree shows a thread. */
export type ThreadSidebarVisibility =
  /** It is listed. */
  | "visible"
  /** It is left out. */
  | "hidden";

/** Params of [`ThreadStart`]. On a thread that exists, only the given fields change. */
export interface ThreadStartParams {
  /** The name of the agent, for delegated threads. */
  agent_nickname?: string | null;
  /** The role of the agent, for delegated threads. */
  agent_role?: string | null;
  /** What the model may do. */
  mode?: ThreadMode | null;
  /** The model of new turns. */
  model?: string | null;
  /** The provider of new turns. */
  model_provider?: string | null;
  /** The title. */
  name?: string | null;
  /** Where the thread comes from; read only when the thread is new. */
  origin_kind?: ThreadOriginKind | null;
  /** Has no effect beyond being answered: `FullAccess` is the only value, and turns start no commands. */
  sandbox?: SandboxMode | null;
  /** Whether the tree shows it. */
  sidebar_visibility?: ThreadSidebarVisibility | null;
  /** The id of the thread, made by the client. */
  thread_id: ThreadId;
  /** The workspace that owns the thread. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadStart`]. */
export interface ThreadStartResponse {
  /** Its sandbox. */
  sandbox: Sandbox;
  /** The thread as it is now. */
  thread: Thread;
}

/** Payload of `thread/started`. */
export interface ThreadStartedNotification {
  /** The thread as it is now. */
  thread: Thread;
}

/** Whether a thread is at work. */
export type ThreadStatus =
  /** A turn runs. */
  | "Active"
  /** Nothing runs. */
  | "Idle"
  /** Nothing will run. */
  | "Closed";

/** Payload of `thread/tree/changed`. */
export interface ThreadTreeChangedNotification {
  /** The method that changed the tree, or `external` for a change made by another process. */
  reason?: string | null;
  /** The version of the tree after the change. */
  tree_version?: number | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ThreadTree`]. */
export interface ThreadTreeParams {
  /** The `next_cursor` of the page before. */
  cursor?: string | null;
  /** The most threads to answer: 500 when absent, 5000 at most. */
  limit?: number | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadTree`]. */
export interface ThreadTreeResponse {
  /** The AGENTS.md of each scope, without its text; empty on further pages. */
  agents_docs: ThreadAgentsDocSummary[];
  /** Every folder by name in byte order, then by id; empty on further pages. */
  folders: ThreadFolder[];
  /** Where the next page of threads begins; absent on the last one. */
  next_cursor?: string | null;
  /** Where the visible threads hang, by thread id; empty on further pages. */
  placements: ThreadPlacement[];
  /** The visible threads, newest `updated_at` first, then by id. */
  threads: Thread[];
  /** Grows with every change of the tree. */
  tree_version?: number | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ThreadUnsubscribe`]. */
export interface ThreadUnsubscribeParams {
  /** The thread; `thread_id` is understood too. */
  threadId: ThreadId;
}

/** Response of [`ThreadUnsubscribe`]. */
export interface ThreadUnsubscribeResponse {
  /** What the call found. */
  status: ThreadUnsubscribeStatus;
}

/** What [`ThreadUnsubscribe`] found. */
export type ThreadUnsubscribeStatus =
  /** Nobody is subscribed to the thread. */
  | "notLoaded"
  /** Others are subscribed, this connection is not. */
  | "notSubscribed"
  /** This connection was subscribed and is no longer. */
  | "unsubscribed";

/** Params of [`ThreadUpdate`]; at least one change is needed. */
export interface ThreadUpdateParams {
  /** Whether the thread is put away; archived threads are not in the tree. */
  archived?: boolean | null;
  /** The new title. */
  name?: Name | null;
  /** The thread. */
  thread_id: ThreadId;
  /** Whether the tree shows it. */
  visibility?: ThreadSidebarVisibility | null;
  /** The workspace that owns the thread. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadUpdate`]. */
export interface ThreadUpdateResponse {
  /** The thread as it is now. */
  thread: Thread;
}

/** Payload of `thread/updated`. */
export interface ThreadUpdatedNotification {
  /** Where it hangs; absent while it has no place in the tree. */
  placement?: ThreadPlacement | null;
  /** The thread as it is now. */
  thread: Thread;
}

/** One entry of a timeline. */
export interface TimelineItem {
  /** The entry. */
  id: string;
  /** Where it comes from. */
  origin: TimelineOrigin;
  /** What happened. */
  payload: TimelinePayload;
}

/** Where an entry of a timeline comes from. */
export interface TimelineOrigin {
  /** What recorded it. */
  kind: TimelineOriginKind;
  /** The column to show it in. */
  lane: number;
  /** Unix milliseconds. */
  occurredAt: number;
  /** Its place there. */
  originSequence: number;
}

/** What recorded an entry of a timeline. */
export type TimelineOriginKind =
  /** The turn itself. */
  | "parent_turn";

/** What happened. */
export type TimelinePayload =
  /** An event of an item. */
  | {
    /** The event. */
    event: TurnEventPayload;
    kind: "turn_item_event";
  };

/** Payload of `transport/frame_rejected`. */
export interface TransportFrameRejectedNotification {
  /** Why, in stable snake_case: `unknown_magic`. */
  kind: string;
  /** The first four bytes as text, when they are printable. */
  magic?: string | null;
  /** The length of the frame in bytes. */
  size_bytes: number;
}

/** A deleted thing that can still be restored. */
export interface TrashItem {
  /** Unix seconds. */
  deleted_at: number;
  /** Who deleted it. */
  deleted_by: string;
  /** Folders only: how many folders were directly in it; they moved one level up when it was deleted. */
  folder_count: number;
  /** The folder it was in, or the folder of the document; absent for the root. */
  folder_id?: FolderId | null;
  /** The name of that folder when the item was deleted. */
  folder_name?: string | null;
  /** Folders only: whether an AGENTS.md was archived with it. */
  has_agents_doc: boolean;
  /** The id of the thread, folder or document; with `kind` it names the item. */
  id: string;
  /** What it is. */
  kind: TrashItemKind;
  /** The title of the thread, the name of the folder, or `AGENTS.md`; empty for a thread without a title or text. */
  name: string;
  /** When it is deleted for good, in Unix seconds. */
  purge_at: number;
  /** Folders only: how many threads were directly in it; they moved one level up when it was deleted. */
  thread_count: number;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** What a trash item is. */
export type TrashItemKind =
  /** A thread with its turns. */
  | "thread"
  /** A folder with its AGENTS.md. */
  | "folder"
  /** An AGENTS.md that was archived on its own. */
  | "agents_doc";

/** Names one item of the trash. */
export interface TrashItemRef {
  /** The id of the thread, folder or document. */
  id: string;
  /** What it is. */
  kind: TrashItemKind;
}

/** Params of [`TrashList`]. */
export interface TrashListParams {
  /** The `next_cursor` of the page before. */
  cursor?: string | null;
  /** The most items to answer: 100 when absent, 1000 at most. */
  limit?: number | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`TrashList`]. */
export interface TrashListResponse {
  /** The items, those deleted last first. */
  items: TrashItem[];
  /** Where the next page begins; absent on the last one. */
  next_cursor?: string | null;
}

/** Params of [`TrashPurge`]. */
export interface TrashPurgeParams {
  /** The items to delete for good, 1 to 1000. */
  items: TrashItemRef[];
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`TrashPurge`]. */
export interface TrashPurgeResponse {
  /** How many items were deleted for good. */
  purged: number;
}

/** Params of [`TrashRestore`]. */
export interface TrashRestoreParams {
  /** The id of the thread, folder or document. */
  id: string;
  /** What the item is. */
  kind: TrashItemKind;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`TrashRestore`]. */
export interface TrashRestoreResponse {
  /** The restored AGENTS.md, with its id, its earlier versions and the next version of its scope. */
  doc?: ThreadAgentsDocPayload | null;
  /** The restored folder. */
  folder?: ThreadFolder | null;
  /** The item as it was in the trash. */
  item: TrashItem;
  /** Sentences for people about what could not be put back as it was; empty when everything was. */
  notes: string[];
  /** How many folders moved back into the folder. */
  returned_folders: number;
  /** How many threads moved back into the folder. */
  returned_threads: number;
  /** The restored thread. */
  thread?: Thread | null;
}

/** One exchange on a thread. */
export interface Turn {
  /** Why it failed or was interrupted. */
  error?: string | null;
  /** The turn. */
  id: TurnId;
  /** What the model was told, once it was told. */
  prompt_manifest?: PromptManifest | null;
  /** Where it stands. */
  status: TurnStatus;
}

/** Params of [`TurnCancel`]. */
export interface TurnCancelParams {
  /** Why; becomes the turn's `error`. */
  reason?: string | null;
  /** The thread. */
  thread_id: ThreadId;
  /** The turn. */
  turn_id: TurnId;
}

/** Response of [`TurnCancel`]. */
export interface TurnCancelResponse {
  /** The thread. */
  thread_id: ThreadId;
  /** The turn as it is now. */
  turn: Turn;
  /** Its workspace. */
  workspace_id: WorkspaceId;
}

/** Payload of `turn/completed`. */
export interface TurnCompletedNotification {
  /** The thread. */
  thread_id: ThreadId;
  /** The turn. */
  turn: Turn;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** One entry of the durable log. */
export interface TurnEvent {
  /** Unix milliseconds. */
  created_at: number;
  /** What happened. */
  payload: TurnEventPayload;
  /** Its place within the turn, from 1. */
  sequence: number;
  /** The turn it belongs to. */
  turn_id: TurnId;
}

/** What happened, as the durable log keeps it. */
export type TurnEventPayload =
  /** The turn was accepted. */
  | {
    /** What the user said. */
    input: UserInput[];
    type: "turnStarted";
  }
  /** An item began. */
  | {
    /** The item. */
    item: TurnItem;
    type: "itemStarted";
  }
  /** An item is complete. */
  | {
    /** The item. */
    item: TurnItem;
    type: "itemCompleted";
  }
  /** The turn ended well. */
  | {
    type: "turnCompleted";
    /** Tokens as the provider reported them. */
    usage?: TurnUsage | null;
  }
  /** The turn ended badly, or was interrupted. */
  | {
    /** Why. */
    error: string;
    /** How it ended. */
    status: TurnStatus;
    type: "turnFailed";
  };

/** Params of [`TurnExplain`](super::TurnExplain). */
export interface TurnExplainParams {
  /** The thread of that turn; the same one when absent. */
  compare_thread_id?: ThreadId | null;
  /** A turn to compare it with, of the same thread or of another one of the same workspace. */
  compare_turn_id?: TurnId | null;
  /** The thread. */
  thread_id: ThreadId;
  /** The turn. */
  turn_id: TurnId;
}

/** Response of [`TurnExplain`](super::TurnExplain). */
export interface TurnExplainResponse {
  /** How they differ, piece by piece; empty without another turn. */
  changes?: PromptChange[];
  /** What the other turn was told. */
  compared?: ExplainedPrompt | null;
  /** What the turn was told. */
  prompt: ExplainedPrompt;
  /** The thread. */
  thread_id: ThreadId;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Payload of `turn/failed`. */
export interface TurnFailedNotification {
  /** The thread. */
  thread_id: ThreadId;
  /** The turn, `Failed` or `Interrupted`. */
  turn: Turn;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`TurnGet`]. */
export interface TurnGetParams {
  /** The thread. */
  thread_id: ThreadId;
  /** The turn. */
  turn_id: TurnId;
}

/** Response of [`TurnGet`]. */
export interface TurnGetResponse {
  /** The thread. */
  thread_id: ThreadId;
  /** The turn. */
  turn: Turn;
  /** Its workspace. */
  workspace_id: WorkspaceId;
}

/** One exchange on a thread. */
export type TurnId = string;

/** Something said or done in a turn. */
export type TurnItem =
  /** What the user said. */
  | {
    /** What came with it. */
    attachments?: unknown[];
    /** `user_` and the turn's id. */
    id: string;
    /** The text, letter by letter. */
    text: string;
    type: "userMessage";
  }
  /** What the model said. */
  | {
    /** The item. */
    id: string;
    /** The text. */
    text: string;
    type: "agentMessage";
  }
  /** How the model came to it. */
  | {
    /** In full. */
    content: string[];
    /** The item. */
    id: string;
    /** In short. */
    summary: string[];
    type: "reasoning";
  }
  /** What the gateway has to say. */
  | {
    /** A stable name. */
    code?: string | null;
    /** The item. */
    id: string;
    /** How bad it is. */
    level: SystemEventLevel;
    /** One sentence. */
    message: string;
    type: "systemEvent";
  };

/** Params of [`TurnItems`]. */
export interface TurnItemsParams {
  /** Only events after this one. */
  after_sequence?: number | null;
  /** The thread. */
  thread_id: ThreadId;
  /** The turn. */
  turn_id: TurnId;
}

/** Response of [`TurnItems`]. */
export interface TurnItemsResponse {
  /** The item events, oldest first. */
  events: TurnEvent[];
  /** The last sequence of the turn so far. */
  last_sequence: number;
  /** The thread. */
  thread_id: ThreadId;
  /** The turn. */
  turn_id: TurnId;
  /** Its workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`TurnStart`]. */
export interface TurnStartParams {
  /** What the user says; never nothing. */
  input?: UserInput[];
  /** The mode of the thread from now on; unchanged when absent. `Agent` is refused: a turn offers the model no tools. */
  mode?: ThreadMode | null;
  /** The model; the thread's when absent. */
  model?: string | null;
  /** The provider; the thread's when absent. */
  model_provider?: string | null;
  /** Whether model, provider and mode become the thread's; `true` when absent. */
  remember?: boolean | null;
  /** Refused when given: a turn asks a model and starts no command that a sandbox could restrict. */
  sandbox_policy?: SandboxPolicy | null;
  /** The thread. */
  thread_id: ThreadId;
  /** The id of the turn, made by the client. */
  turn_id: TurnId;
}

/** Response of [`TurnStart`]. */
export interface TurnStartResponse {
  /** The turn. */
  turn: Turn;
}

/** Payload of `turn/started`. */
export interface TurnStartedNotification {
  /** The thread. */
  thread_id: ThreadId;
  /** The turn. */
  turn: Turn;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Where a turn stands. */
export type TurnStatus =
  /** Accepted and running. */
  | "InProgress"
  /** Finished normally. */
  | "Completed"
  /** Ended by a failure; `error` says which. */
  | "Failed"
  /** Cancelled, or found running after a restart. */
  | "Interrupted";

/** Params of [`TurnTimeline`]; snake_case is understood too. */
export interface TurnTimelineParams {
  /** The thread. */
  threadId: ThreadId;
  /** The turn. */
  turnId: TurnId;
}

/** Response of [`TurnTimeline`]. */
export interface TurnTimelineResponse {
  /** What happened, in the order of time. */
  items: TimelineItem[];
  /** The last sequence of the turn so far. */
  lastSequence: number;
  /** The thread. */
  threadId: ThreadId;
  /** The turn. */
  turnId: TurnId;
  /** Its workspace. */
  workspaceId: WorkspaceId;
}

/** Tokens of a turn as the provider reported them. */
export interface TurnUsage {
  /** Of these, tokens the provider had cached. */
  cachedInputTokens: number;
  /** Tokens of the question. */
  inputTokens: number;
  /** Tokens of the answer. */
  outputTokens: number;
}

/** An agent among its colleagues. */
export interface UiColleague {
  /** Runs of the monitor that are not over. */
  active_runs: number;
  /** Its id. */
  agent_id: string;
  /** All its runs, however many the monitor shows. */
  all_runs: number;
  /** When it was last heard of. */
  last_seen_at?: string | null;
  /** Its name. */
  name: string;
  /** Its documents that wait for a decision. */
  pending_reviews: number;
  /** What runs it. */
  provider: string;
  /** Its decisions. */
  recent_decisions: number;
  /** What it is. */
  role: AgentRole;
  /** What it is doing. */
  status: UiColleagueStatus;
  /** Its team. */
  team_id?: string | null;
  /** The name of its team. */
  team_name?: string | null;
  /** Runs of the monitor. */
  total_runs: number;
}

/** What an agent is doing. */
export type UiColleagueStatus =
  /** It runs something. */
  | "active"
  /** Something of it waits for a decision. */
  | "needs_review"
  /** Nothing. */
  | "idle";

/** The heartbeat in short. */
export interface UiHeartbeat {
  /** Whether directors may start workers. */
  allow_director_to_spawn_workers: boolean;
  /** Whether it is on. */
  enabled: boolean;
  /** Who leads. */
  executive_manager_agent_id?: string | null;
  /** Whom it may wake. */
  hierarchy_mode: string;
  /** When it beat last. */
  last_tick_at?: string | null;
  /** How much there must be to do. */
  min_wake_score: number;
  /** When it beats next. */
  next_tick_at?: string | null;
  /** Whether it beats at this moment. */
  running: boolean;
  /** What it did so far. */
  stats: UiHeartbeatStats;
  /** How often it beats. */
  tick_interval_minutes: number;
  /** How many workers it wakes. */
  top_k_workers: number;
}

/** What the heartbeat did so far. */
export interface UiHeartbeatStats {
  /** What was done at once. */
  actions_executed_total?: number;
  /** What waits for a decision. */
  approvals_queued_total?: number;
  /** What was asked for twice. */
  deduped_actions_total?: number;
  /** Workers with something to do. */
  reports_actions_total?: number;
  /** Workers with nothing to do. */
  reports_ok_total?: number;
  /** How often it beat. */
  ticks_total?: number;
  /** Workers it woke. */
  workers_woken_total?: number;
}

/** Params of [`UiResolve`]. */
export interface UiResolveParams {
  /** Who decides. */
  actor_id: string;
  /** What they are. */
  actor_role: ActorRole;
  /** Their team. */
  actor_team_id?: string | null;
  /** The document. */
  artifact_id: string;
  /** What is decided. */
  decision: ReviewDecision;
  /** How many decisions; 200 if not given. */
  decisions_limit?: number | null;
  /**
   * The `sha256` of `inbox.read` that was looked at: if anything of it changed since, nothing is decided. Absent for
   * whatever is there.
   */
  expected_sha256?: string | null;
  /** How many runs the snapshot shows; 200 if not given. */
  monitor_limit?: number | null;
  /** What they say. */
  notes?: string | null;
  /** How many documents that wait for a decision; 200 if not given. */
  pending_limit?: number | null;
  /** The project. */
  project_id: string;
  /** Build the index anew first. */
  refresh_index?: boolean | null;
  /** Bring the index up to date first; true if not given. */
  sync_index?: boolean | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`UiResolve`]. */
export interface UiResolveResponse {
  /** What was decided. */
  resolved: InboxResolveResponse;
  /** The answer of `ui.snapshot` after the decision; `null` if it could not be made. */
  snapshot?: UiSnapshotResponse | null;
  /** Why `snapshot` is `null`. The decision is stored nevertheless, and must not be repeated. */
  snapshot_error?: string | null;
}

/** Params of [`UiSnapshot`]. */
export interface UiSnapshotParams {
  /** Who asks: what they may not see is left out. */
  actor_id?: string | null;
  /** What they are. */
  actor_role?: ActorRole | null;
  /** Their team. */
  actor_team_id?: string | null;
  /** How many decisions; 200 if not given. */
  decisions_limit?: number | null;
  /** How many runs; 200 if not given. */
  monitor_limit?: number | null;
  /** How many documents that wait for a decision; 200 if not given. */
  pending_limit?: number | null;
  /** Only of this project. */
  project_id?: string | null;
  /** Build the index anew first. */
  refresh_index?: boolean | null;
  /** Bring the index up to date first; true if not given. */
  sync_index?: boolean | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`UiSnapshot`]. */
export interface UiSnapshotResponse {
  /** The agents: who is at work first. */
  colleagues: UiColleague[];
  /** What was said in the project, newest first; none without a project. */
  comments: Comment[];
  /** When it was looked at. */
  generated_at: string;
  /** The heartbeat. */
  heartbeat: UiHeartbeat;
  /** The worker that keeps indexes up to date. */
  index_sync_worker: IndexSyncWorkerStatusResponse;
  /** What runs. */
  monitor: MonitorSnapshotResponse;
  /** What waits for a decision. */
  review_inbox: InboxSnapshotResponse;
  /** What was used. */
  usage_analytics: UsageAnalyticsResponse;
  /** The folder as it was given. */
  workspace_dir: string;
}

/** An upload. */
export type UploadId = string;

/** Params of [`UsageAnalytics`]. */
export interface UsageAnalyticsParams {
  /** How many runs; 200 if not given. */
  limit?: number | null;
  /** Only of this project. */
  project_id?: string | null;
  /** Build the index anew first. */
  refresh_index?: boolean | null;
  /** Bring the index up to date first; true if not given. */
  sync_index?: boolean | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`UsageAnalytics`]. */
export interface UsageAnalyticsResponse {
  /** All runs together, however many there are. */
  all_time_totals: UsageTotals;
  /** The newest runs by provider, most tokens first. */
  by_provider: UsageByProvider[];
  /** When it was looked at. */
  generated_at: string;
  /** Whether the index was built for it. */
  index_rebuilt: boolean;
  /** Whether the index was brought up to date for it. */
  index_synced: boolean;
  /** The newest runs. */
  recent_runs: UsageRun[];
  /** The newest runs together. */
  totals: UsageTotals;
  /** The folder as it was given. */
  workspace_dir: string;
}

/** The runs of one provider. */
export interface UsageByProvider {
  /** Cost of a run. */
  average_cost_usd_per_run: number;
  /** Tokens of a run, rounded. */
  average_tokens_per_run: number;
  /** Those with lines that are not JSON. */
  parse_error_runs: number;
  /** The provider. */
  provider: string;
  /** How many runs. */
  run_count: number;
  /** What they cost. */
  total_cost_usd: number;
  /** Their tokens. */
  total_tokens: number;
}

/** What one run used. */
export interface UsageRun {
  /** What it cost. */
  cost_usd?: number | null;
  /** When it was made. */
  created_at: string;
  /** Lines of its log that are not JSON. */
  parse_error_count: number;
  /** Its project. */
  project_id: string;
  /** What ran it. */
  provider: string;
  /** Its id. */
  run_id: string;
  /** Where it stands. */
  status: RunStatus;
  /** Its tokens. */
  total_tokens: number;
  /** How sure that is. */
  usage_confidence?: string | null;
  /** Who counted. */
  usage_source?: string | null;
}

/** Runs together. */
export interface UsageTotals {
  /** Those that were estimated. */
  estimated_count: number;
  /** Those with lines that are not JSON. */
  parse_error_run_count: number;
  /** Those with a price. */
  priced_run_count: number;
  /** Those whose provider counted. */
  provider_reported_count: number;
  /** How many. */
  run_count: number;
  /** What they cost. */
  total_cost_usd: number;
  /** Their tokens. */
  total_tokens: number;
  /** Those without. */
  unpriced_run_count: number;
}

/** What the user says. */
export type UserInput =
  /** Words. */
  | {
    /** The text, kept letter by letter. */
    text: string;
    /** Parts of the text that stand for something. */
    textElements?: TextElement[];
    type: "text";
  }
  /** A picture on the web. */
  | {
    type: "image";
    /** Where it is. */
    url: string;
  }
  /** A file on the web. */
  | {
    type: "file";
    /** Where it is. */
    url: string;
  }
  /** A sound on the web. */
  | {
    type: "audio";
    /** Where it is. */
    url: string;
  }
  /** A film on the web. */
  | {
    type: "video";
    /** Where it is. */
    url: string;
  }
  /** A picture beside the gateway. */
  | {
    /** Where it is. */
    path: string;
    type: "localImage";
  }
  /** A file beside the gateway. */
  | {
    /** Where it is. */
    path: string;
    type: "localFile";
  }
  /** A sound beside the gateway. */
  | {
    /** Where it is. */
    path: string;
    type: "localAudio";
  }
  /** A film beside the gateway. */
  | {
    /** Where it is. */
    path: string;
    type: "localVideo";
  }
  /** Something the user points at. */
  | {
    /** What it is called. */
    name: string;
    /** Where it is. */
    path: string;
    type: "mention";
  }
  /** A skill the user chose. */
  | {
    /** What it is called. */
    name: string;
    /** Where it is. */
    path: string;
    type: "skill";
  }
  /** An artifact of the workspace. */
  | {
    /** The artifact. */
    artifact_id: string;
    type: "artifact";
    /** Its version; the newest when absent. */
    version_id?: string | null;
  };

/** One thing that is wrong with a company folder. */
export interface ValidationIssue {
  /**
   * What kind of thing: `missing_dir`, `missing_file`, `schema_invalid`, `parse_error`, `read_error`,
   * `frontmatter`, `frontmatter_schema`, `missing_heading`, `contract_incomplete`, `memory_delta_invalid` or
   * `milestone_report_invalid`.
   */
  code: string;
  /** A sentence for people that begins with the file. */
  message: string;
  /** The file, relative to the company folder. */
  path?: string | null;
}

/** Who may see something. */
export type Visibility =
  /** The agent that made it, and people. */
  | "private_agent"
  /** The team it belongs to, and managers. */
  | "team"
  /** Managers and above. */
  | "managers"
  /** Everybody in the company. */
  | "org";

/** What runs a job. */
export type WorkerKind =
  /** OpenAI's. */
  | "codex"
  /** Anthropic's. */
  | "claude"
  /** Google's. */
  | "gemini";

/** A tree of threads with its documents and artifacts. */
export interface Workspace {
  /** Unix seconds. */
  created_at: number;
  /** The company folder it stands for, if it does. */
  dir?: string | null;
  /** The workspace. */
  id: WorkspaceId;
  /** An inactive workspace cannot be named in a call. */
  is_active: boolean;
  /** At most one workspace is current: the one a client should open first. */
  is_current: boolean;
  /** What people call it. */
  name: string;
  /** Unix seconds. */
  updated_at: number;
}

/** Payload of `workspace/changed`. */
export interface WorkspaceChangedNotification {
  /** The workspace as it is now. */
  workspace: Workspace;
}

/** Params of [`WorkspaceCreate`]. */
export interface WorkspaceCreateParams {
  /** What to call it; `Workspace` and a number when absent. */
  name?: Name | null;
  /** The id of the new workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`WorkspaceCreate`]. */
export interface WorkspaceCreateResponse {
  /** The stored workspace. */
  workspace: Workspace;
}

/** Params of [`WorkspaceDefault`]. */
export type WorkspaceDefaultParams = Record<string, never>;

/** Response of [`WorkspaceDefault`]. */
export interface WorkspaceDefaultResponse {
  /** The workspace to start in. */
  workspace: Workspace;
}

/** Params of [`WorkspaceForget`]. */
export interface WorkspaceForgetParams {
  /** The workspace; it must stand for a company folder. */
  workspace_id: WorkspaceId;
}

/** Response of [`WorkspaceForget`]. */
export interface WorkspaceForgetResponse {
  /** The workspace as it is now: inactive. */
  workspace: Workspace;
}

/** A workspace of the gateway. */
export type WorkspaceId = string;

/** Params of [`WorkspaceList`]. */
export type WorkspaceListParams = Record<string, never>;

/** Response of [`WorkspaceList`]. */
export interface WorkspaceListResponse {
  /** The workspaces the caller may see, oldest first. */
  workspaces: Workspace[];
}

/** Params of [`WorkspaceSelect`]. */
export interface WorkspaceSelectParams {
  /** Whether it becomes the current one; `false` when absent. */
  make_current?: boolean | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`WorkspaceSelect`]. */
export interface WorkspaceSelectResponse {
  /** The workspace as it is now. */
  workspace: Workspace;
}

/** Params of [`WorkspaceSubscribe`]. */
export interface WorkspaceSubscribeParams {
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`WorkspaceSubscribe`]. */
export interface WorkspaceSubscribeResponse {
  /** Always `true`. */
  subscribed: boolean;
}

/** Params of [`WorkspaceUnsubscribe`]. */
export interface WorkspaceUnsubscribeParams {
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`WorkspaceUnsubscribe`]. */
export interface WorkspaceUnsubscribeResponse {
  /** Always `false`. */
  subscribed: boolean;
}

/** Params of [`WorkspaceUpdate`]; at least one change is needed. */
export interface WorkspaceUpdateParams {
  /** The new name. */
  name?: Name | null;
  /** The workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`WorkspaceUpdate`]. */
export interface WorkspaceUpdateResponse {
  /** The workspace as it is now. */
  workspace: Workspace;
}

/** What became of a worktree. */
export type WorktreeCleanupAction =
  /** It stays. */
  | "kept"
  /** It was gone already. */
  | "missing"
  /** It was removed. */
  | "removed"
  /** It could not be removed. */
  | "failed";

/** The worktree of a run. */
export interface WorktreeCleanupItem {
  /** What became of it. */
  action: WorktreeCleanupAction;
  /** Its branch. */
  branch?: string | null;
  /** Whether its branch was deleted; absent if that was not asked for, in a dry run, or if there is no branch. */
  branch_deleted?: boolean | null;
  /** Why its branch stays, such as `unmerged commits`; absent if it does not, or if deleting was not asked for. */
  branch_kept_reason?: string | null;
  /** When the run was over. */
  ended_at?: string | null;
  /** The project. */
  project_id: string;
  /** Why. */
  reason: string;
  /** The repository. */
  repo_id?: string | null;
  /** The run. */
  run_id: string;
  /** Where the run stands. */
  status: RunStatus;
  /** The worktree. */
  worktree_abs: string;
  /** The worktree, below the company folder. */
  worktree_relpath: string;
}

/** Params of [`WorktreeCleanup`]. */
export interface WorktreeCleanupParams {
  /**
   * Also delete the branches of worktrees that are removed or already gone: those that are merged into the current
   * branch of the repository, or all of them with `force`. `false` when absent.
   */
  delete_branches?: boolean | null;
  /** Only tell what would be removed, and what would fail and why. */
  dry_run?: boolean | null;
  /** Also remove what has changes that were not committed. */
  force?: boolean | null;
  /** How long a run must have been over; 72 if it is not given. */
  max_age_hours?: number | null;
  /** Only of this project. */
  project_id?: string | null;
  /** The company folder. */
  workspace_dir: string;
}

/** Response of [`WorktreeCleanup`]. */
export interface WorktreeCleanupResponse {
  /** Whether nothing was removed. */
  dry_run: boolean;
  /** How many of them are old enough. */
  eligible: number;
  /** How many could not be removed. */
  failed: number;
  /** One row each. */
  items: WorktreeCleanupItem[];
  /** How many stay. */
  kept: number;
  /** How long a run must have been over. */
  max_age_hours: number;
  /** How many were gone already. */
  missing: number;
  /** How many were removed. */
  removed: number;
  /** How many runs have a worktree. */
  scanned: number;
  /** The company folder. */
  workspace_dir: string;
}

/** Whether a worker should have its own copy of the repository. */
export type WorktreeIsolation =
  /** It cannot use one. */
  | "unsupported"
  /** It is better off with one. */
  | "recommended"
  /** It needs one. */
  | "required";

/** Every method: what it takes and what it answers. */
export interface Methods {
  /** List every workspace, oldest first. */
  "workspace/list": { params: WorkspaceListParams; result: WorkspaceListResponse };
  /**
   * Answer the workspace to start in.
   *
   * It is the current one, else the first active one, else a new default workspace, which needs scope `write`.
   */
  "workspace/default": { params: WorkspaceDefaultParams; result: WorkspaceDefaultResponse };
  /**
   * Create a workspace under an id the client made.
   *
   * An id that exists answers the stored workspace and changes nothing.
   */
  "workspace/create": { params: WorkspaceCreateParams; result: WorkspaceCreateResponse };
  /** Answer one workspace and, on request, make it the current one, which needs scope `write` and a token for all workspaces. */
  "workspace/select": { params: WorkspaceSelectParams; result: WorkspaceSelectResponse };
  /** Rename a workspace. */
  "workspace/update": { params: WorkspaceUpdateParams; result: WorkspaceUpdateResponse };
  /**
   * Forget the company folder of a workspace, such as one that was deleted; nothing on the disk changes.
   *
   * The workspace becomes inactive.
   * Opening the folder again brings it back with its threads and documents.
   */
  "workspace/forget": { params: WorkspaceForgetParams; result: WorkspaceForgetResponse };
  /**
   * Receive the notifications of a workspace on this connection.
   *
   * Naming a workspace in any other call has the same effect.
   */
  "workspace/subscribe": { params: WorkspaceSubscribeParams; result: WorkspaceSubscribeResponse };
  /** Stop receiving the notifications of a workspace on this connection. */
  "workspace/unsubscribe": { params: WorkspaceUnsubscribeParams; result: WorkspaceUnsubscribeResponse };
  /**
   * Create a thread, or open the one with this id, and subscribe to it.
   *
   * A thread that has neither a turn nor a place in the tree is a draft: only this connection sees it, and it is forgotten after a day.
   */
  "thread/start": { params: ThreadStartParams; result: ThreadStartResponse };
  /** Read one thread. */
  "thread/get": { params: ThreadGetParams; result: ThreadGetResponse };
  /** Read the recorded events of a thread, oldest first. */
  "thread/history": { params: ThreadHistoryParams; result: ThreadHistoryResponse };
  /**
   * Read the tree of a workspace.
   *
   * The first page carries every folder, placement and AGENTS.md summary; further pages carry threads only.
   */
  "thread/tree": { params: ThreadTreeParams; result: ThreadTreeResponse };
  /** Put a thread into a folder, or to the root. */
  "thread/move": { params: ThreadMoveParams; result: ThreadMoveResponse };
  /** Rename, archive, show or hide a thread. */
  "thread/update": { params: ThreadUpdateParams; result: ThreadUpdateResponse };
  /**
   * Move a thread with its turns into the trash; refused while a turn runs.
   *
   * A draft is deleted at once.
   * `trash/restore` brings a thread back within 30 days.
   */
  "thread/delete": { params: ThreadDeleteParams; result: ThreadDeleteResponse };
  /** Stop receiving the notifications of a thread on this connection. */
  "thread/unsubscribe": { params: ThreadUnsubscribeParams; result: ThreadUnsubscribeResponse };
  /** Create a folder. */
  "thread/folder/create": { params: ThreadFolderCreateParams; result: ThreadFolderCreateResponse };
  /** Put a folder with everything in it under another one, or to the root. */
  "thread/folder/move": { params: ThreadFolderMoveParams; result: ThreadFolderMoveResponse };
  /** Rename a folder or give it a position. */
  "thread/folder/update": { params: ThreadFolderUpdateParams; result: ThreadFolderUpdateResponse };
  /**
   * Move a folder into the trash; what is in it moves one level up.
   *
   * Its AGENTS.md is archived with it.
   * `trash/restore` brings both back within 30 days.
   */
  "thread/folder/delete": { params: ThreadFolderDeleteParams; result: ThreadFolderDeleteResponse };
  /** Load the explicit file for one root/folder scope and the effective inherited file. */
  "thread/agents_doc/get": { params: ThreadAgentsDocGetParams; result: ThreadAgentsDocGetResponse };
  /**
   * Create or update the explicit file for one root/folder scope.
   *
   * Line endings become LF and nothing else is changed, so that clients can compare hashes.
   * A text that is there already makes no new version.
   */
  "thread/agents_doc/save": { params: ThreadAgentsDocSaveParams; result: ThreadAgentsDocSaveResponse };
  /** Archive the explicit file for one root/folder scope. */
  "thread/agents_doc/archive": { params: ThreadAgentsDocArchiveParams; result: ThreadAgentsDocArchiveResponse };
  /** Resolve the effective file for one concrete thread. */
  "thread/agents_doc/resolve_for_thread": { params: ThreadAgentsDocResolveForThreadParams; result: ThreadAgentsDocResolveForThreadResponse };
  /** List the versions of a file, newest first, without their texts. */
  "thread/agents_doc/revisions": { params: ThreadAgentsDocRevisionsParams; result: ThreadAgentsDocRevisionsResponse };
  /** Read one version of a file, also of an archived one. */
  "thread/agents_doc/revision_get": { params: ThreadAgentsDocRevisionGetParams; result: ThreadAgentsDocRevisionGetResponse };
  /**
   * Write an old version as a new one.
   *
   * An archived file becomes the file of its scope again, unless the scope has another one by now.
   */
  "thread/agents_doc/restore": { params: ThreadAgentsDocRestoreParams; result: ThreadAgentsDocRestoreResponse };
  /** Show exactly the section a new turn of a thread would get. */
  "thread/agents_doc/preview": { params: ThreadAgentsDocPreviewParams; result: ThreadAgentsDocPreviewResponse };
  /**
   * Create the folders and files of a repository's AGENTS.md and CLAUDE.md files, all or nothing.
   *
   * A CLAUDE.md counts as the AGENTS.md of its folder when there is none.
   * Paths mean the folders that export gives them.
   */
  "thread/agents_doc/import": { params: ThreadAgentsDocImportParams; result: ThreadAgentsDocImportResponse };
  /** Answer the files below a scope the way import takes them. */
  "thread/agents_doc/export": { params: ThreadAgentsDocExportParams; result: ThreadAgentsDocExportResponse };
  /**
   * Propose a change of the file of one root/folder scope, for a person to decide about.
   *
   * The same text proposed again by the same author, while it waits, is the same proposal.
   */
  "thread/agents_doc/propose": { params: ThreadAgentsDocProposeParams; result: ThreadAgentsDocProposeResponse };
  /** List the proposals of a workspace: those that wait first, then those that are over, each newest first. */
  "thread/agents_doc/proposal/list": { params: ThreadAgentsDocProposalListParams; result: ThreadAgentsDocProposalListResponse };
  /** Read one proposal with its whole text. */
  "thread/agents_doc/proposal/get": { params: ThreadAgentsDocProposalGetParams; result: ThreadAgentsDocProposalGetResponse };
  /**
   * Approve or deny a proposal.
   * The first decision is final; the same again is answered the same.
   *
   * An approved text is saved with whoever approves as its author.
   * A proposal against an old version cannot be approved: rebase it first.
   */
  "thread/agents_doc/proposal/decide": { params: ThreadAgentsDocProposalDecideParams; result: ThreadAgentsDocProposalDecideResponse };
  /**
   * Put a proposal on the current version, for whoever made it or may decide about it.
   *
   * Lines that only one side changed are taken from that side.
   * Where both changed the same lines the answer is an error with all texts, and the caller gives the merged one.
   */
  "thread/agents_doc/proposal/rebase": { params: ThreadAgentsDocProposalRebaseParams; result: ThreadAgentsDocProposalRebaseResponse };
  /** Take a proposal back, for whoever made it. */
  "thread/agents_doc/proposal/withdraw": { params: ThreadAgentsDocProposalWithdrawParams; result: ThreadAgentsDocProposalWithdrawResponse };
  /**
   * List what was deleted in a workspace and can still be restored, the newest first.
   *
   * `thread/delete`, `thread/folder/delete` and `thread/agents_doc/archive` put things here; they are deleted for good 30 days later.
   */
  "trash/list": { params: TrashListParams; result: TrashListResponse };
  /**
   * Put a deleted thread, folder or AGENTS.md back where it was.
   *
   * If the folder it was in is gone, a thread or folder goes to the root and `notes` says so.
   * A folder gets back its AGENTS.md and those threads and folders that have not been moved since.
   * An AGENTS.md is refused while its folder is deleted or has another one.
   */
  "trash/restore": { params: TrashRestoreParams; result: TrashRestoreResponse };
  /**
   * Delete items of the trash for good, all of them or none.
   *
   * Saved versions of AGENTS.md stay readable by `thread/agents_doc/revision_get`, because prompt manifests refer to them.
   */
  "trash/purge": { params: TrashPurgeParams; result: TrashPurgeResponse };
  /**
   * Ask the model of a thread.
   *
   * Answers as soon as the turn is stored; the rest comes by notifications.
   * The same `turn_id` with the same input answers the stored turn and runs nothing.
   */
  "turn/start": { params: TurnStartParams; result: TurnStartResponse };
  /** End a running turn; a finished one is answered unchanged. */
  "turn/cancel": { params: TurnCancelParams; result: TurnCancelResponse };
  /** Read one turn with its prompt manifest. */
  "turn/get": { params: TurnGetParams; result: TurnGetResponse };
  /** Read the item events of a turn. */
  "turn/items": { params: TurnItemsParams; result: TurnItemsResponse };
  /** Read the item events of a turn in the order of time, ready to be shown. */
  "turn/timeline": { params: TurnTimelineParams; result: TurnTimelineResponse };
  /** List every piece of a turn's prompt with its document, version, hash and size; two turns can be compared. */
  "turn/explain": { params: TurnExplainParams; result: TurnExplainResponse };
  /** Read upload and download limits and chunk sizes for a workspace. */
  "artifact/capabilities": { params: ArtifactCapabilitiesParams; result: ArtifactCapabilitiesResponse };
  /** List workspace artifacts with optional scope filters. */
  "artifact/list": { params: ArtifactListParams; result: ArtifactListResponse };
  /** List artifacts for one thread. */
  "artifact/list/thread": { params: ArtifactListForThreadParams; result: ArtifactListResponse };
  /** List artifacts for one turn. */
  "artifact/list/turn": { params: ArtifactListForTurnParams; result: ArtifactListResponse };
  /** List artifacts for one message. */
  "artifact/list/message": { params: ArtifactListForMessageParams; result: ArtifactListResponse };
  /** Load one artifact summary. */
  "artifact/get": { params: ArtifactGetParams; result: ArtifactGetResponse };
  /** Read a small range of an artifact or projection as base64 JSON. */
  "artifact/read": { params: ArtifactReadParams; result: ArtifactReadResponse };
  /**
   * Attach an existing artifact to a thread, turn, message, item, tool or task.
   *
   * The same binding twice is one binding.
   */
  "artifact/bind": { params: ArtifactBindParams; result: ArtifactBindResponse };
  /** Soft-delete an artifact; its bytes go after 30 days. */
  "artifact/delete": { params: ArtifactDeleteParams; result: ArtifactDeleteResponse };
  /** Restore a soft-deleted artifact. */
  "artifact/restore": { params: ArtifactRestoreParams; result: ArtifactRestoreResponse };
  /** List the versions of an artifact, newest first. */
  "artifact/versions/list": { params: ArtifactVersionsListParams; result: ArtifactVersionsListResponse };
  /** Tell how much room the artifacts of a workspace take. */
  "artifact/usage": { params: ArtifactUsageParams; result: ArtifactUsageResponse };
  /** Start an upload, or go on with the one that has the same `client_attachment_id`, size and hash. */
  "artifact/upload/start": { params: ArtifactUploadStartParams; result: ArtifactUploadStartResponse };
  /**
   * Send a chunk of an upload as base64, for connections without binary frames, such as stdio.
   *
   * The rules are those of `ARTU` frames; the answer takes the place of `artifact/upload/chunk_ack`.
   * A refused chunk changes nothing: `data.rejection` has the `kind` of `artifact/upload/chunk_rejected`, and `data.next_offset` says where to go on.
   */
  "artifact/upload/chunk": { params: ArtifactUploadChunkParams; result: ArtifactUploadChunkResponse };
  /** Validate and persist a completed upload; twice answers the same artifact. */
  "artifact/upload/finish": { params: ArtifactUploadFinishParams; result: ArtifactUploadFinishResponse };
  /** Abort an upload and remove its bytes. */
  "artifact/upload/abort": { params: ArtifactUploadAbortParams; result: ArtifactUploadAbortResponse };
  /** Tell how far an upload has come, also after a lost connection or a restart. */
  "artifact/upload/status": { params: ArtifactUploadStatusParams; result: ArtifactUploadStatusResponse };
  /** Start a download; the bytes stay the same until it ends, whatever happens to the artifact. */
  "artifact/download/start": { params: ArtifactDownloadStartParams; result: ArtifactDownloadStartResponse };
  /**
   * Request a chunk, which comes as a binary `ARTD` frame before this answer.
   *
   * On a connection without binary frames, such as stdio, the answer carries the bytes itself.
   */
  "artifact/download/chunk": { params: ArtifactDownloadChunkParams; result: ArtifactDownloadChunkResponse };
  /** Finish a download. */
  "artifact/download/finish": { params: ArtifactDownloadFinishParams; result: ArtifactDownloadFinishResponse };
  /** Abort a download. */
  "artifact/download/abort": { params: ArtifactDownloadAbortParams; result: ArtifactDownloadAbortResponse };
  /**
   * List the hook runs of a workspace, newest first.
   * Runs of hooks with the visibility `internal` or `debug`, such as the AGENTS.md hook, are listed for the owner of the gateway only; every turn names its hooks in `prompt_manifest`.
   */
  "hook/runs/list": { params: HookRunsListParams; result: HookRunsListResponse };
  /** List the providers and whether they can be used. */
  "provider/list": { params: ProviderListParams; result: ProviderListResponse };
  /** List the models of a provider. */
  "provider/models/list": { params: ProviderModelsListParams; result: ProviderModelsListResponse };
  /** Store the key of a provider; it is never shown again. */
  "provider/set_api_key": { params: ProviderSetApiKeyParams; result: ProviderSetApiKeyResponse };
  /** Forget the stored key of a provider. */
  "provider/delete_api_key": { params: ProviderDeleteApiKeyParams; result: ProviderDeleteApiKeyResponse };
  /**
   * List the browsers that are signed in to the web desktop, the one used last first.
   * For the owner alone.
   */
  "desktop_session/list": { params: DesktopSessionListParams; result: DesktopSessionListResponse };
  /**
   * Sign a browser out; its connections are closed.
   * For the owner alone.
   */
  "desktop_session/end": { params: DesktopSessionEndParams; result: DesktopSessionEndResponse };
  /**
   * Receive the workspace notifications that were missed, and those to come.
   *
   * Every notification of a workspace carries a growing top-level `seq`.
   * The retained ones after `after_seq` follow this answer.
   * `gap` says that some are gone: read the state again instead.
   */
  "session/resume": { params: SessionResumeParams; result: SessionResumeResponse };
  /** List every method of both families with its schemas. */
  "system/methods": { params: SystemMethodsParams; result: SystemMethodsResponse };
  /** Tell limits and features. */
  "system/capabilities": { params: SystemCapabilitiesParams; result: SystemCapabilitiesResponse };
  /** Tell which company methods are there and which conventions they follow. */
  "system.capabilities": { params: CompanySystemCapabilitiesParams; result: CompanySystemCapabilitiesResponse };
  /** Look at a folder: is it a company folder, and is everything in it well-formed? */
  "workspace.open": { params: CompanyFolderParams; result: CompanyWorkspaceOpenResponse };
  /** Make a company folder. */
  "workspace.init": { params: CompanyWorkspaceInitParams; result: CompanyOkResponse };
  /** Tell whether a company folder counts on this machine, and what it says about this machine. */
  "workspace.trust.get": { params: CompanyFolderParams; result: CompanyWorkspaceTrustResponse };
  /** Say that you trust a company folder that came from elsewhere: what its `.local` says about this machine counts from now on, and the folder can be changed and worked in. */
  "workspace.trust": { params: CompanyWorkspaceTrustParams; result: CompanyWorkspaceTrustResponse };
  /** Take that back: the folder can be read and nothing else. */
  "workspace.trust.withdraw": { params: CompanyFolderParams; result: CompanyWorkspaceTrustResponse };
  /** Check every document of a company folder. */
  "workspace.validate": { params: CompanyFolderParams; result: CompanyWorkspaceValidateResponse };
  /** Check a company folder, the programs it needs, its repositories, its event logs and what crashes left behind. */
  "workspace.doctor": { params: CompanyWorkspaceDoctorParams; result: CompanyWorkspaceDoctorResponse };
  /** Write a bundle of facts about a company folder for somebody who helps; secrets are blacked out. */
  "workspace.diagnostics": { params: CompanyWorkspaceDiagnosticsParams; result: CompanyWorkspaceDiagnosticsResponse };
  /**
   * Bring old event logs up to the envelope of today.
   * A log with wrong hashes is left alone unless `force`.
   */
  "workspace.migrate": { params: CompanyWorkspaceMigrateParams; result: CompanyWorkspaceMigrateResponse };
  /** Copy a company folder to another place. */
  "workspace.export": { params: CompanyWorkspaceExportParams; result: CompanyWorkspaceExportResponse };
  /** Copy an exported company folder to a new place. */
  "workspace.import": { params: CompanyWorkspaceImportParams; result: CompanyWorkspaceImportResponse };
  /** List the projects with their progress. */
  "workspace.projects.list": { params: CompanyFolderParams; result: CompanyWorkspaceProjectsListResponse };
  /** List the agents. */
  "workspace.agents.list": { params: CompanyWorkspaceAgentsListParams; result: CompanyWorkspaceAgentsListResponse };
  /** List the teams. */
  "workspace.teams.list": { params: CompanyFolderParams; result: CompanyWorkspaceTeamsListResponse };
  /** Make a project with its secretary and its conversations. */
  "workspace.project.create_with_defaults": { params: CompanyWorkspaceProjectCreateWithDefaultsParams; result: CompanyWorkspaceProjectCreateWithDefaultsResponse };
  /** Tie a repository to a project. */
  "workspace.project.link_repo": { params: CompanyWorkspaceProjectLinkRepoParams; result: CompanyWorkspaceProjectLinkRepoResponse };
  /**
   * Say where a repository is on this machine.
   * A path that cannot be used is answered with -32601, as the recorded reference answers it, where the contract has -32602.
   */
  "workspace.repo_root.set": { params: CompanyWorkspaceRepoRootSetParams; result: CompanyWorkspaceRepoRootSetResponse };
  /** Make a whole company: departments, teams, agents, a project and its conversations. */
  "workspace.bootstrap.enterprise": { params: CompanyWorkspaceBootstrapEnterpriseParams; result: CompanyWorkspaceBootstrapEnterpriseResponse };
  /** Tell how all projects stand. */
  "workspace.home.snapshot": { params: CompanyFolderParams; result: CompanyWorkspaceHomeSnapshotResponse };
  /**
   * Make a run: its folder, its context pack and its first event.
   * Nothing is started.
   */
  "run.create": { params: RunCreateParams; result: RunCreateResponse };
  /**
   * End a run that was never launched, or whose session is still queued.
   * Its status becomes `stopped`.
   *
   * A run with a process is refused: `session.stop` ends its session.
   */
  "run.cancel": { params: RunCancelParams; result: RunCancelResponse };
  /** List the runs of a project or of the whole company, newest first. */
  "run.list": { params: RunListParams; result: RunListResponse };
  /** Read the events of a run and prove that nobody changed them. */
  "run.replay": { params: RunReplayParams; result: RunReplayResponse };
  /**
   * Start a worker program, or any command, for a run.
   *
   * Policy and budgets are looked at first.
   * A session that has to wait for a free place is answered as `queued`.
   * What cannot be prepared, such as an unknown repository, is answered as `failed`, and a program that the system cannot start is an error; both fail the run.
   * With `explain` nothing is started and nothing is written.
   */
  "session.launch": { params: CompanySessionLaunchParams; result: CompanySessionLaunchResponse };
  /** List sessions, newest first: of one company folder, or those of this gateway process. */
  "session.list": { params: CompanySessionListParams; result: CompanySessionListResponse };
  /** Tell where a session stands. */
  "session.poll": { params: CompanySessionParams; result: CompanySessionStateResponse };
  /** Wait until a session is over and tell what it left. */
  "session.collect": { params: CompanySessionParams; result: CompanySessionCollectResponse };
  /**
   * Stop a session and everything it started.
   * Answers at once; `session.collect` waits for the end.
   */
  "session.stop": { params: CompanySessionParams; result: CompanySessionStateResponse };
  /** List the providers that cool down in a company folder, with the cause and the end of each cool-down. */
  "session.cooldown.list": { params: CompanySessionCooldownListParams; result: CompanySessionCooldownListResponse };
  /**
   * End cool-downs now.
   * Sessions that waited for them start as far as limits allow.
   */
  "session.cooldown.clear": { params: CompanySessionCooldownClearParams; result: CompanySessionCooldownListResponse };
  /**
   * Give a worker something to do.
   * Answers at once; `job.poll` tells how it goes.
   *
   * An id that is blank is chosen by the server.
   * An id that is active already is answered with where it stands; one that is over is refused unless `resubmit` is true, which forgets its result.
   */
  "job.submit": { params: JobSubmitParams; result: JobSubmitResponse };
  /** List the jobs of a project: the newest ones, sorted by id. */
  "job.list": { params: JobListParams; result: JobListResponse };
  /** Tell where a job stands. */
  "job.poll": { params: JobParams; result: JobPollResponse };
  /** Tell where a job stands and what came of it. */
  "job.collect": { params: JobParams; result: JobCollectResponse };
  /**
   * Ask for the end of a job.
   * Its worker is stopped; a job that is over only remembers that somebody asked.
   */
  "job.cancel": { params: JobParams; result: JobPollResponse };
  /**
   * Remove the worktrees of runs that ended long ago.
   * Nothing outside `.local/worktrees` is ever touched.
   */
  "worktree.cleanup": { params: WorktreeCleanupParams; result: WorktreeCleanupResponse };
  /**
   * Bundle what managers and everybody may see of a project, with secrets blacked out: documents, memory and the events of every run.
   * `SHA256SUMS` beside the manifest has the hash of every file.
   */
  "sharepack.create": { params: SharepackCreateParams; result: SharepackCreateResponse };
  /** Read the events in a share pack and tell what was left out from what was changed. */
  "sharepack.replay": { params: SharepackReplayParams; result: SharepackReplayResponse };
  /** Hear of events from now on, and of the newest ones before, if wanted. */
  "events.subscribe": { params: EventsSubscribeParams; result: EventsSubscribeResponse };
  /** Hear of them no longer. */
  "events.unsubscribe": { params: EventsUnsubscribeParams; result: EventsUnsubscribeResponse };
  /**
   * Acknowledge events of a subscription with `max_unacked`, so that further ones are sent.
   * Without `last_event_id` and `last_ack_ts_monotonic_ms`, all events sent so far are acknowledged.
   */
  "events.ack": { params: EventsAckParams; result: CompanyOkResponse };
  /** Tell which worker programs can be started, and why others cannot. */
  "adapter.status": { params: CompanyFolderParams; result: AdapterStatusResponse };
  /**
   * Choose how the sessions of a worker program are paid for: by its subscription login or by an API key.
   *
   * Changes `provider_execution_policy` in `.local/machine.yaml`.
   * With `api`, workers get the key variables of the gateway's environment; with `subscription_cli`, they get none and a launch checks the login.
   */
  "adapter.channel.set": { params: AdapterChannelSetParams; result: AdapterChannelSetResponse };
  /** List the tasks of a project, newest first, with how far each is. */
  "task.list": { params: TaskListParams; result: TaskListResponse };
  /**
   * Change when a task happens and how it should be run.
   * The rest of its file stays.
   * With `execution_plan.applied_by`, the gateway sets `applied_at` to the current time, as the recorded reference does, although the contract lets the caller give it.
   */
  "task.update_plan": { params: TaskUpdatePlanParams; result: TaskUpdatePlanResponse };
  /**
   * Tell how all projects stand and, for one of them, when its tasks happen and which of them decide when it ends.
   * A missing `project_id` is answered with -32601, as the recorded reference answers it, where the contract has -32602.
   */
  "pm.snapshot": { params: PmSnapshotParams; result: PmSnapshotResponse };
  /**
   * Say for each open task of a project who should do it and with how many tokens, and why.
   * Nothing is changed.
   */
  "pm.recommend_allocations": { params: PmRecommendAllocationsParams; result: PmRecommendAllocationsResponse };
  /** Note for several tasks how they should be run: all of them, or none if one cannot be changed. */
  "pm.apply_allocations": { params: PmApplyAllocationsParams; result: PmApplyAllocationsResponse };
  /** Print the plan of a project so that other tools can show it: as a Mermaid diagram, a table or a calendar. */
  "pm.export": { params: PmExportParams; result: PmExportResponse };
  /**
   * List the conversations of the company or of a project.
   * A missing `project_id` is answered with -32601, as the recorded reference answers it, where the contract has -32602.
   */
  "conversation.list": { params: ConversationListParams; result: ConversationListResponse };
  /**
   * Make a channel.
   * A missing `project_id` is answered with -32601, as the recorded reference answers it, where the contract has -32602.
   */
  "conversation.create_channel": { params: ConversationCreateChannelParams; result: ConversationCreatedResponse };
  /**
   * Make a conversation between two, or find the one they have.
   * A missing `project_id` is answered with -32601, as the recorded reference answers it, where the contract has -32602.
   */
  "conversation.create_dm": { params: ConversationCreateDmParams; result: ConversationCreatedResponse };
  /**
   * Read the last messages of a conversation.
   * A missing `project_id` is answered with -32601, as the recorded reference answers it, where the contract has -32602.
   */
  "conversation.messages.list": { params: ConversationMessagesListParams; result: ConversationMessagesListResponse };
  /**
   * Say something.
   * A missing `project_id` is answered with -32601, as the recorded reference answers it, where the contract has -32602.
   */
  "conversation.message.send": { params: ConversationMessageSendParams; result: ConversationMessageSendResponse };
  /** Make the conversations a project should have, and add who should be in them. */
  "conversation.members.sync": { params: ConversationMembersSyncParams; result: ConversationMembersSyncResponse };
  /**
   * Say something about an agent, a document or a run.
   * At least one target is needed, as in the recorded reference, although the contract calls each of them optional.
   */
  "comment.add": { params: CommentAddParams; result: CommentAddResponse };
  /** List what was said, newest first. */
  "comment.list": { params: CommentListParams; result: CommentListResponse };
  /** Tell how the heartbeat stands: how it is set, what it remembers, what it does now. */
  "heartbeat.status": { params: CompanyFolderParams; result: HeartbeatStatusResponse };
  /**
   * Look around now: wake who has reason to be woken, wait for their reports, do or queue what they want.
   *
   * With `dry_run` nothing is written and nobody is woken.
   */
  "heartbeat.tick": { params: HeartbeatTickParams; result: HeartbeatTickResponse };
  /** Tell how the heartbeat of a company is set. */
  "heartbeat.config.get": { params: CompanyFolderParams; result: HeartbeatConfigResponse };
  /**
   * Change how it is set; what is not given stays.
   *
   * If it beats afterwards, `forecast` says what it may start by itself, how often, and the token caps.
   * With `dry_run` nothing is written.
   */
  "heartbeat.config.set": { params: HeartbeatConfigSetParams; result: HeartbeatConfigSetResponse };
  /** Build the index anew, beside the old one, and take it into use. */
  "index.rebuild": { params: CompanyFolderParams; result: IndexRebuildResponse };
  /**
   * Bring the index up to date.
   * The cost follows what changed; the counts say what changed.
   */
  "index.sync": { params: CompanyFolderParams; result: IndexSyncResponse };
  /** Count what is in the index. */
  "index.stats": { params: CompanyFolderParams; result: IndexStatsResponse };
  /** Tell what the worker that keeps indexes up to date is doing. */
  "index.sync_worker_status": { params: IndexSyncWorkerParams; result: IndexSyncWorkerStatusResponse };
  /** Let the worker do now what it would do in a moment. */
  "index.sync_worker_flush": { params: IndexSyncWorkerParams; result: IndexSyncWorkerStatusResponse };
  /** List indexed runs, newest first. */
  "index.list_runs": { params: IndexListRunsParams; result: IndexListRunsResponse };
  /** List indexed events by time. */
  "index.list_events": { params: IndexListEventsParams; result: IndexListEventsResponse };
  /** List lines of event logs that are not JSON. */
  "index.list_event_parse_errors": { params: IndexListEventParseErrorsParams; result: IndexListEventParseErrorsResponse };
  /** List indexed reviews, newest first. */
  "index.list_reviews": { params: IndexListReviewsParams; result: IndexListReviewsResponse };
  /** List indexed help requests, newest first. */
  "index.list_help_requests": { params: IndexListHelpRequestsParams; result: IndexListHelpRequestsResponse };
  /**
   * Find words in documents, messages, comments, tasks and events.
   * What the actor may not see is not found.
   */
  "index.search": { params: IndexSearchParams; result: IndexSearchResponse };
  /** Show the newest runs with their last event, their decisions and what they used. */
  "monitor.snapshot": { params: MonitorSnapshotParams; result: MonitorSnapshotResponse };
  /** List reviews, newest first. */
  "inbox.list_reviews": { params: InboxListParams; result: InboxListReviewsResponse };
  /** List help requests, newest first. */
  "inbox.list_help_requests": { params: InboxListParams; result: InboxListHelpRequestsResponse };
  /** Show what waits for a decision and what was decided last. */
  "inbox.snapshot": { params: InboxSnapshotParams; result: InboxSnapshotResponse };
  /**
   * Show exactly what a decision about a document rests on, and the `sha256` that binds a decision to it.
   * Actors that may not decide about the document are refused.
   */
  "inbox.read": { params: InboxReadParams; result: InboxReadResponse };
  /**
   * Decide about a document that waits for it.
   * The first decision is final.
   */
  "inbox.resolve": { params: InboxResolveParams; result: InboxResolveResponse };
  /** Add up what the newest runs used, and what all of them used. */
  "usage.analytics": { params: UsageAnalyticsParams; result: UsageAnalyticsResponse };
  /** Count agents, providers and models, and add up what they used. */
  "resources.snapshot": { params: ResourcesSnapshotParams; result: ResourcesSnapshotResponse };
  /** Show an agent and what it did. */
  "agent.profile.snapshot": { params: AgentProfileSnapshotParams; result: AgentProfileSnapshotResponse };
  /** Write down that an agent made a mistake. */
  "agent.record_mistake": { params: AgentRecordMistakeParams; result: AgentRecordMistakeResponse };
  /** Write down a mistake and, when it was made often enough and the evaluation passes, propose a rule against it. */
  "agent.self_improve_cycle": { params: AgentSelfImproveCycleParams; result: AgentSelfImproveCycleResponse };
  /** Write the list of what an agent should read. */
  "agent.refresh_context": { params: AgentRefreshContextParams; result: AgentRefreshContextResponse };
  /** Show the monitor, the inbox, what was used, the colleagues and the comments, all of one moment. */
  "ui.snapshot": { params: UiSnapshotParams; result: UiSnapshotResponse };
  /** Decide about a document that waits for it, and show what is left. */
  "ui.resolve": { params: UiResolveParams; result: UiResolveResponse };
  /**
   * Tell everything a desktop shows when it opens.
   * Nothing is made or changed.
   * A missing `project_id` or `conversation_id` is answered with -32601, as the recorded reference answers it, where the contract has -32602.
   */
  "desktop.bootstrap.snapshot": { params: DesktopBootstrapSnapshotParams; result: DesktopBootstrapSnapshotResponse };
  /** Read a document, if policy lets the actor see it. */
  "artifact.read": { params: CompanyArtifactReadParams; result: CompanyArtifactReadResponse };
  /**
   * Propose lines for the memory of a project or the guidance of an agent.
   * For `project_memory`, a `scope_ref` other than `project_id` is refused, as in the recorded reference, although the contract ignores it.
   */
  "memory.propose_delta": { params: MemoryProposeDeltaParams; result: MemoryProposeDeltaResponse };
  /**
   * Apply a proposed delta.
   * It is applied whole, and once.
   */
  "memory.approve_delta": { params: MemoryApproveDeltaParams; result: MemoryApproveDeltaResponse };
  /** List the deltas the actor may see, newest first. */
  "memory.list_deltas": { params: MemoryListDeltasParams; result: MemoryListDeltasResponse };
  /**
   * Suggest what a job taught that could be proposed.
   * It changes no memory.
   */
  "memory.extract_candidates": { params: MemoryExtractCandidatesParams; result: MemoryExtractCandidatesResponse };
  /** Choose what a worker should know for a job: governance first, then approved memory, then what happened. */
  "context.plan_for_job": { params: ContextPlanForJobParams; result: ContextPlanForJobResponse };
  /** Accept a milestone by its report and what proves it. */
  "milestone.approve": { params: MilestoneApproveParams; result: MilestoneApproveResponse };
  /**
   * Read a file that a milestone report names as evidence.
   * Callers that may read the report may read its evidence.
   */
  "milestone.evidence.read": { params: MilestoneEvidenceReadParams; result: MilestoneEvidenceReadResponse };
  /**
   * Make a project of what a client wants: a brief, the plans of the departments and of the company, a transcript, a task for each director, and a proposal that waits for the CEO.
   *
   * Everything is there at once or not at all.
   * With `model`, workers then write the plans and the transcript anew; what they cannot do stays as it was made and is told in the audit log.
   */
  "pipeline.client_intake.run": { params: PipelineClientIntakeRunParams; result: PipelineClientIntakeRunResponse };
  /**
   * Give the workers of a department their tasks, once the CEO approved the executive plan.
   *
   * A worker that has an open task for the plan keeps it.
   * A later denial of the plan closes the gate.
   */
  "pipeline.department.assign_tasks": { params: PipelineDepartmentAssignTasksParams; result: PipelineDepartmentAssignTasksResponse };
}

/** Every notification: what it carries. */
export interface Notifications {
  /** A workspace was created, renamed, forgotten or became current; sent to every connection that may see it. */
  "workspace/changed": WorkspaceChangedNotification;
  /** A thread was created or opened; sent to the caller of `thread/start`. */
  "thread/started": ThreadStartedNotification;
  /** A thread changed; sent to its subscribers. */
  "thread/updated": ThreadUpdatedNotification;
  /** The last subscriber of a thread left; sent to that subscriber. */
  "thread/closed": ThreadClosedNotification;
  /**
   * The tree of a workspace changed: read it again before showing it.
   *
   * Several changes may be told by one notification.
   */
  "thread/tree/changed": ThreadTreeChangedNotification;
  /** The file of a scope, or what is in force there, changed: load the scope again. */
  "thread/agents_doc/changed": ThreadAgentsDocChangedNotification;
  /** A proposal was made, rebased, decided or taken back. */
  "thread/agents_doc/proposal/changed": ThreadAgentsDocProposalChangedNotification;
  /** A turn was accepted and runs. */
  "turn/started": TurnStartedNotification;
  /** A turn ended well. */
  "turn/completed": TurnCompletedNotification;
  /** A turn ended badly, or was interrupted. */
  "turn/failed": TurnFailedNotification;
  /**
   * An item begins.
   *
   * Who joins in the middle of an answer gets it with the text so far.
   */
  "item/started": ItemStartedNotification;
  /**
   * More text of an answer.
   *
   * A connection that reads too slowly may miss some, which `seq` shows; `item/completed` has it all.
   */
  "item/agent_message/delta": ItemAgentMessageDeltaNotification;
  /** An item is complete. */
  "item/completed": ItemCompletedNotification;
  /** An artifact was created and is ready to display. */
  "artifact/created": ArtifactCreatedNotification;
  /** Artifact metadata, status or current version changed. */
  "artifact/updated": ArtifactUpdatedNotification;
  /** An artifact was soft-deleted. */
  "artifact/deleted": ArtifactDeletedNotification;
  /** A thread's list of artifacts should be refreshed. */
  "thread/artifacts/changed": ThreadArtifactsChangedNotification;
  /** A projection, such as a thumbnail, changed state. */
  "artifact/projection/updated": ArtifactProjectionUpdatedNotification;
  /** A binary upload chunk was accepted; `next_offset` is where to go on. */
  "artifact/upload/chunk_ack": ArtifactUploadChunkAckNotification;
  /** A binary upload chunk was refused and changed nothing. */
  "artifact/upload/chunk_rejected": ArtifactUploadChunkRejectedNotification;
  /** How far an upload has come, now and then. */
  "artifact/upload/progress": ArtifactUploadProgressNotification;
  /** How far a download has come, now and then. */
  "artifact/download/progress": ArtifactDownloadProgressNotification;
  /** A binary frame was not understood and was ignored. */
  "transport/frame_rejected": TransportFrameRejectedNotification;
  /** An event was written. */
  "events.notification": EventsNotification;
  /**
   * Somebody said something in a conversation.
   * Told to subscriptions of `events.subscribe` whose `event_types` name `conversation.message`.
   */
  "conversation.notification": ConversationNotification;
}

/** The methods that change nothing, so that asking twice does no harm. */
export const READS: ReadonlySet<keyof Methods> = new Set<keyof Methods>([
  "workspace/list",
  "workspace/default",
  "workspace/select",
  "workspace/subscribe",
  "workspace/unsubscribe",
  "thread/get",
  "thread/history",
  "thread/tree",
  "thread/unsubscribe",
  "thread/agents_doc/get",
  "thread/agents_doc/resolve_for_thread",
  "thread/agents_doc/revisions",
  "thread/agents_doc/revision_get",
  "thread/agents_doc/preview",
  "thread/agents_doc/export",
  "thread/agents_doc/proposal/list",
  "thread/agents_doc/proposal/get",
  "trash/list",
  "turn/get",
  "turn/items",
  "turn/timeline",
  "turn/explain",
  "artifact/capabilities",
  "artifact/list",
  "artifact/list/thread",
  "artifact/list/turn",
  "artifact/list/message",
  "artifact/get",
  "artifact/read",
  "artifact/versions/list",
  "artifact/usage",
  "artifact/upload/status",
  "artifact/download/start",
  "artifact/download/chunk",
  "artifact/download/finish",
  "artifact/download/abort",
  "hook/runs/list",
  "provider/list",
  "desktop_session/list",
  "session/resume",
  "system/methods",
  "system/capabilities",
  "system.capabilities",
  "workspace.open",
  "workspace.trust.get",
  "workspace.validate",
  "workspace.doctor",
  "workspace.projects.list",
  "workspace.agents.list",
  "workspace.teams.list",
  "workspace.home.snapshot",
  "run.list",
  "run.replay",
  "session.list",
  "session.poll",
  "session.collect",
  "session.cooldown.list",
  "job.list",
  "job.poll",
  "job.collect",
  "sharepack.replay",
  "events.subscribe",
  "events.unsubscribe",
  "events.ack",
  "adapter.status",
  "task.list",
  "pm.snapshot",
  "pm.recommend_allocations",
  "pm.export",
  "conversation.list",
  "conversation.messages.list",
  "comment.list",
  "heartbeat.status",
  "heartbeat.config.get",
  "index.stats",
  "index.sync_worker_status",
  "index.list_runs",
  "index.list_events",
  "index.list_event_parse_errors",
  "index.list_reviews",
  "index.list_help_requests",
  "index.search",
  "monitor.snapshot",
  "inbox.list_reviews",
  "inbox.list_help_requests",
  "inbox.snapshot",
  "inbox.read",
  "usage.analytics",
  "resources.snapshot",
  "agent.profile.snapshot",
  "ui.snapshot",
  "desktop.bootstrap.snapshot",
  "artifact.read",
  "memory.list_deltas",
  "context.plan_for_job",
  "milestone.evidence.read",
]);
