// Generated from `schemas/` and `docs/protocol/reference.md` by `generate.mjs`; do not edit.

/** Result of the execution of actions. */
export interface ActionExecution {
  /** Number of actions skipped because they had been executed before. */
  deduped_actions: number;
  /** Number of actions executed. */
  executed_actions: number;
  /** Ids of new jobs. */
  launched_job_ids: string[];
  /** Ids of new proposals. */
  proposal_artifact_ids: string[];
  /** Number of actions queued for another approval. */
  queued_for_approval: number;
  /** Number of actions that were not executed for other reasons. */
  skipped_actions: number;
}

/** Risk of an action, as the agent states it. */
export type ActionRisk =
  /** Harmless: the gateway may execute the action without approval. */
  | "low"
  /** The action needs approval. */
  | "medium"
  /** The action needs approval. */
  | "high";

/** Counts of the view `activities`. */
export interface ActivitySummary {
  /** Number of runs in the monitor, at most 200. */
  monitor_rows: number;
  /** Number of documents that wait for a decision, at most 200. */
  pending_reviews: number;
  /** Number of recent decisions, at most 200. */
  recent_decisions: number;
}

/** The role of an actor, a person or an agent. Ranked from `human`, the highest, to `worker`. */
export type ActorRole =
  /** A person. */
  | "human"
  /** The head of the company. */
  | "ceo"
  /** The head of a department. */
  | "director"
  /** An actor that leads and delegates work. */
  | "manager"
  /** An actor that executes work. */
  | "worker";

/** Features that the sessions of a worker program support in this gateway. */
export interface AdapterCapabilities {
  /** Whether the program asks for approval before it acts, and the gateway answers. */
  supports_interactive_approval_callbacks: boolean;
  /** Whether the program can return its changes as a patch. */
  supports_patch_export: boolean;
  /** Whether a later session can continue an earlier one. */
  supports_resumable_session: boolean;
  /** Whether the program reports its progress while it works. */
  supports_streaming_events: boolean;
  /** Whether the program can answer in a given format. */
  supports_structured_output: boolean;
  /** Whether the program reports the tokens it used. */
  supports_token_usage: boolean;
  /** Whether sessions of the program should run in a git worktree of their own. */
  supports_worktree_isolation: WorktreeIsolation;
}

/** How the sessions of a worker program are paid for. */
export type AdapterChannel =
  /** The subscription login of the program. The gateway checks it before each launch. */
  | "subscription_cli"
  /** An API key in the environment of the gateway. */
  | "api";

/** Params of [`AdapterChannelSet`]. */
export interface AdapterChannelSetParams {
  /** The payment channel of sessions launched from now on. */
  channel: AdapterChannel;
  /** The worker program, `codex`, `claude` or `gemini`, or a provider name that it runs, such as `claude_code`. */
  provider: string;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`AdapterChannelSet`]. */
export interface AdapterChannelSetResponse {
  /** The keys of `provider_execution_policy` whose policy changed. Empty if the channel was already set. */
  changed: string[];
  /** The payment channel that is now set. */
  channel: AdapterChannel;
  /** Name of the worker program: `codex`, `claude` or `gemini`. */
  provider: string;
}

/** Current result of the check that precedes every launch of a worker program. */
export interface AdapterLaunch {
  /** How the sessions of the program are paid for. */
  channel: AdapterChannel;
  /** Whether a launch would pass the check. */
  ready: boolean;
  /**
   * Why the check fails, as a sentence that names the setting and the command that changes it. Absent if `ready` is
   * true.
   */
  reason?: string | null;
  /**
   * Why the check fails: `unapproved_worker_binary`, `auth_probe_failed`, `api_key_present` or
   * `unknown_proof_strategy`. Absent if `ready` is true.
   */
  reason_code?: string | null;
}

/** How the gateway communicates with a worker program. */
export type AdapterMode =
  /** Messages in both directions, over the program's app server. */
  | "protocol"
  /** A command line whose output the gateway reads. */
  | "cli";

/** Why a worker program cannot be started. */
export type AdapterReasonCode =
  /** The program is not installed on this machine or not executable. */
  | "not_installed"
  /** `.local/machine.yaml` names a binary whose file name is not approved for the provider. */
  | "unapproved_binary"
  /** The program is installed but has no `app-server` command. */
  | "no_app_server"
  /** The gateway did not probe the program for an app server because the caller lacks the scope `exec`. */
  | "not_asked"
  /** `.local/machine.yaml` cannot be read. */
  | "machine_file";

/** An adapter: one worker program in one mode of communication. */
export interface AdapterRow {
  /** Whether the program can be started on this machine. */
  available: boolean;
  /** The features that sessions of this program support. */
  capabilities: AdapterCapabilities;
  /**
   * Result of the check that precedes a launch. Absent if the program is not available or the caller lacks the scope
   * `exec`.
   */
  launch?: AdapterLaunch | null;
  /** How the gateway communicates with the program. */
  mode: AdapterMode;
  /** Name of the adapter: `codex_app_server`, `codex_cli`, `claude_cli` or `gemini_cli`. */
  name: string;
  /** The worker program that the adapter runs: `codex`, `claude` or `gemini`. */
  provider: string;
  /** Why the program cannot be started, as a sentence. Absent if `available` is true. */
  reason?: string | null;
  /** Why the program cannot be started, as a code. Absent if `available` is true. */
  reason_code?: AdapterReasonCode | null;
}

/** Response of [`AdapterStatus`]: one row per adapter, in a fixed order. */
export type AdapterStatusResponse = AdapterRow[];

/** Where a count of context cycles originates. */
export type AgentCyclesSource =
  /** At least one run has a count reported by its provider. */
  | "provider_signal"
  /** No run has a reported count. */
  | "unknown";

/** Totals over the indexed runs of an agent. */
export interface AgentMetrics {
  /**
   * Number of context cycles (compactions of the model's context) in runs whose provider reports them. Null if no
   * run reports them.
   */
  context_cycles_count?: number | null;
  /** Where `context_cycles_count` originates. */
  context_cycles_source: AgentCyclesSource;
  /** Number of runs with the status `ended`, which succeeded. */
  ended_runs: number;
  /** Number of runs with the status `failed`. */
  failed_runs: number;
  /** Number of runs with the status `running`. */
  running_runs: number;
  /** Number of runs with the status `stopped`. */
  stopped_runs: number;
  /** Cost of the runs in US dollars. */
  total_cost_usd: number;
  /** Number of runs. */
  total_runs: number;
  /** Tokens that the runs used. */
  total_tokens: number;
}

/** Profile of an agent, from its `agent.yaml`. */
export interface AgentProfile {
  /** Id of the agent. */
  agent_id: string;
  /** Avatar of the agent. Absent if `agent.yaml` has none. */
  avatar?: string | null;
  /** Time the agent was created, ISO-8601. */
  created_at: string;
  /** Job title shown to people. Absent if `agent.yaml` has none. */
  display_title?: string | null;
  /** Preferred model of the agent. Absent if `agent.yaml` has none. */
  model_hint?: string | null;
  /** Name of the agent. */
  name: string;
  /** Provider that runs the agent, such as `codex` or `claude_code`. */
  provider: string;
  /** Role of the agent in the company. */
  role: AgentRole;
  /** Id of the agent's team. Absent if it has no team. */
  team_id?: string | null;
  /** Whole days since `created_at`. */
  tenure_days: number;
}

/** Params of [`AgentProfileSnapshot`]. */
export interface AgentProfileSnapshotParams {
  /** Id of the agent. */
  agent_id: string;
  /** Count only runs of this project. Default: runs of all projects. */
  project_id?: string | null;
  /** Whether to sync the index first. Default: true. */
  sync_index?: boolean | null;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`AgentProfileSnapshot`]. */
export interface AgentProfileSnapshotResponse {
  /** The profile of the agent. */
  agent: AgentProfile;
  /** Time of the response, ISO-8601 in UTC. */
  generated_at: string;
  /** Totals over the agent's runs. */
  metrics: AgentMetrics;
  /** Path of the company folder as the request named it. */
  workspace_dir: string;
}

/** Params of [`AgentRecordMistake`]. */
export interface AgentRecordMistakeParams {
  /** Ids of the documents that show the mistake. Default: none. */
  evidence_artifact_ids?: string[] | null;
  /** Id of the manager who observed the mistake. */
  manager_actor_id: string;
  /** Role of that manager. The role `worker` is rejected. */
  manager_role: ActorRole;
  /** Id of the milestone in which the mistake occurred. */
  milestone_id?: string | null;
  /** Key that identifies the kind of mistake. Mistakes with the same key are counted together. */
  mistake_key: string;
  /** Rule that prevents the mistake. Replaces the rule of earlier observations. */
  prevention_rule: string;
  /** Id of the project in which the mistake occurred. */
  project_id?: string | null;
  /** Threshold that is recorded in the event; it has no other effect. Default: 3. */
  promote_threshold?: number | null;
  /**
   * Id of the run in which the mistake occurred. With `project_id`, the event `evaluation.mistake_recorded` is
   * appended to its log.
   */
  run_id?: string | null;
  /** Description of what happened. Replaces the summary of earlier observations. */
  summary: string;
  /** Id of the task in which the mistake occurred. */
  task_id?: string | null;
  /** Id of the agent that made the mistake. */
  worker_agent_id: string;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`AgentRecordMistake`]. */
export interface AgentRecordMistakeResponse {
  /** Path of the agent's `AGENTS.md`, relative to the company folder. */
  agents_md_relpath: string;
  /** How often this mistake has been recorded, including this time. */
  count: number;
  /** Path of the mistake log, relative to the company folder. */
  log_relpath: string;
  /** Key of the mistake, without surrounding white space. */
  mistake_key: string;
  /** Always false: rules enter an agent's `AGENTS.md` only through approved memory deltas. */
  promoted_to_agents_md: boolean;
  /** Id of the agent that made the mistake. */
  worker_agent_id: string;
}

/** Params of [`AgentRefreshContext`]. */
export interface AgentRefreshContextParams {
  /** Id of the agent. */
  agent_id: string;
  /** Maximum number of scope paths to list over all tasks. Default: 40. */
  max_scope_paths?: number | null;
  /** Maximum number of tasks to list; open tasks take precedence over done and canceled ones. Default: 20. */
  max_tasks?: number | null;
  /** List only tasks of this project. Default: tasks of all projects. */
  project_id?: string | null;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`AgentRefreshContext`]. */
export interface AgentRefreshContextResponse {
  /** Id of the agent. */
  agent_id: string;
  /** Number of tasks listed. */
  assignment_count: number;
  /** Path of the context index, relative to the company folder. */
  context_index_relpath: string;
  /** Time of the response, ISO-8601 in UTC. */
  generated_at: string;
  /** The project of the request. Absent if none was given. */
  project_id?: string | null;
  /** Number of reference lines written. */
  reference_count: number;
  /** Whether the file changed. */
  updated: boolean;
}

/** The role of an agent. */
export type AgentRole =
  /** The head of the company. */
  | "ceo"
  /** The head of a department. */
  | "director"
  /** An agent that leads and delegates work. */
  | "manager"
  /** An agent that executes work. */
  | "worker";

/** An agent in a list. */
export interface AgentRow {
  /** The id of the agent. */
  agent_id: string;
  /** The avatar of the agent. Absent if there is none. */
  avatar?: string | null;
  /** The time the agent was created, in ISO-8601. */
  created_at: string;
  /** The job title of the agent. Absent if there is none. */
  display_title?: string | null;
  /** The preferred model of the agent. Absent if there is none. */
  model_hint?: string | null;
  /** The name of the agent. */
  name: string;
  /** The provider that runs the agent. */
  provider: string;
  /** The role of the agent. */
  role: AgentRole;
  /** The id of the agent's team. Absent if it has none. */
  team_id?: string | null;
}

/** Params of [`AgentSelfImproveCycle`]. */
export interface AgentSelfImproveCycleParams {
  /**
   * Program and arguments of the command that must exit with code 0 before a rule is proposed. Default: a no-op that
   * always passes.
   */
  evaluation_argv?: string[] | null;
  /** Environment variables of the command. Default: none. */
  evaluation_env?: Record<string, string> | null;
  /** Id of the repository in which the command runs. */
  evaluation_repo_id?: string | null;
  /** Working directory of the command, relative to the repository. */
  evaluation_workdir_rel?: string | null;
  /** Ids of the documents that show the mistake. Default: none. */
  evidence_artifact_ids?: string[] | null;
  /** Id of the manager who observed the mistake. */
  manager_actor_id: string;
  /** Role of that manager. The role `worker` is rejected. */
  manager_role: ActorRole;
  /** Id of the milestone in which the mistake occurred; the evaluation session is launched for it too. */
  milestone_id?: string | null;
  /**
   * Key that identifies the kind of mistake. Mistakes with the same key are counted together. A proposal requires 1
   * to 64 of the characters `A-Z a-z 0-9 . _ -`.
   */
  mistake_key: string;
  /** Rule that prevents the mistake. Replaces the rule of earlier observations. */
  prevention_rule: string;
  /** Id of the project. */
  project_id: string;
  /** Accepted for compatibility; it has no effect. */
  promote_threshold?: number | null;
  /** Count from which on a rule is proposed. Default: 3. */
  proposal_threshold?: number | null;
  /** Description of what happened. Replaces the summary of earlier observations. */
  summary: string;
  /** Id of the task in which the mistake occurred; the evaluation session is launched for it too. */
  task_id?: string | null;
  /** Id of the agent that made the mistake. */
  worker_agent_id: string;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`AgentSelfImproveCycle`]. */
export interface AgentSelfImproveCycleResponse {
  /** Id of the context pack of that run. */
  context_pack_id?: string;
  /** Id of the report document. */
  evaluation_artifact_id?: string;
  /** Path of the report, relative to the company folder. */
  evaluation_artifact_relpath?: string;
  /** Type of the report: `manager_digest` if the command passed, else `failure_report`. */
  evaluation_artifact_type?: string;
  /** Exit code of the command. Null if a signal ended it. */
  evaluation_exit_code?: number | null;
  /** Name of the signal that ended the command. Null if it exited. */
  evaluation_signal?: string | null;
  /** Id of the memory delta. */
  memory_delta_artifact_id?: string;
  /** Path of the memory delta, relative to the company folder. */
  memory_delta_artifact_relpath?: string;
  /** Path of its patch file, relative to the company folder. */
  memory_delta_patch_relpath?: string;
  /** How often this mistake has been recorded, including this time. */
  mistake_count: number;
  /** Key of the mistake, without surrounding white space. */
  mistake_key: string;
  /** Id of the project. */
  project_id: string;
  /** Always false: rules enter an agent's `AGENTS.md` only through approved memory deltas. */
  promoted_to_agents_md: boolean;
  /** Count from which on a rule is proposed. */
  proposal_threshold: number;
  /** True if `memory_delta_artifact_id` names an earlier proposal that is still pending. Absent otherwise. */
  reused?: boolean | null;
  /** Id of the run that recorded the evaluation. */
  run_id?: string;
  /** Outcome of the cycle. */
  status: SelfImproveStatus;
  /** Path of the file that the delta changes, relative to the company folder. */
  target_file?: string;
  /** Id of the agent that made the mistake. */
  worker_agent_id: string;
}

/** The id of an AGENTS.md document. */
export type AgentsDocId = string;

/** The id of a proposed change to an AGENTS.md document. */
export type AgentsDocProposalId = string;

/** The execution plan of a task. Fields that are absent keep their stored value. */
export interface Allocation {
  /** The id of the agent that should work on the task. The agent must exist. */
  preferred_agent_id?: string | null;
  /** The model that should run the task. */
  preferred_model?: string | null;
  /** The provider that should run the task. */
  preferred_provider?: string | null;
  /** The id of the task. */
  task_id: string;
  /** The expected budget in tokens. */
  token_budget_hint?: number | null;
}

/**
 * Params of `artifact/bind`. At least one target is required: a thread, turn, message, item, tool call, task or task
 * run.
 */
export interface ArtifactBindParams {
  /** The id of the artifact. */
  artifact_id: ArtifactId;
  /** The reason for the binding. */
  binding_kind: ArtifactBindingKind;
  /** The direction of the artifact, seen from the target. */
  direction: ArtifactBindingDirection;
  /** The zero-based position of the artifact among others. Absent if it has none. */
  item_index?: number | null;
  /** The id of the message to bind to. */
  message_id?: MessageId | null;
  /** The role of the party that provided the artifact. Absent if it is unknown. */
  role?: ArtifactBindingRole | null;
  /** The id of the task to bind to, which is the id of a job. */
  task_id?: string | null;
  /** The id of the task run to bind to, which is the id of a run. */
  task_run_id?: string | null;
  /** The id of the thread to bind to. */
  thread_id?: ThreadId | null;
  /** The id of the tool call to bind to. */
  tool_call_id?: string | null;
  /** The id of the turn to bind to. */
  turn_id?: TurnId | null;
  /** The id of the item of the turn to bind to. */
  turn_item_id?: string | null;
  /** The id of the version. Absent to bind the artifact without a particular version. */
  version_id?: ArtifactVersionId | null;
  /** The id of the workspace that owns the artifact and the targets. */
  workspace_id: WorkspaceId;
}

/** Response of `artifact/bind`. */
export interface ArtifactBindResponse {
  /** The new binding, or the existing one if it is the same. */
  binding: ArtifactBindingSummary;
}

/** The direction of a bound artifact, seen from its target. */
export type ArtifactBindingDirection =
  /** The artifact is an input of the target. */
  | "input"
  /** The artifact is an output of the target. */
  | "output"
  /** The artifact is context of the target. */
  | "context"
  /** The artifact is derived from another one. */
  | "derived";

/** The reason why an artifact is bound. */
export type ArtifactBindingKind =
  /** The user sent the artifact as input of a turn. */
  | "user_input"
  /** A model generated the artifact in an answer. */
  | "agent_output"
  /** A tool created the artifact. The gateway itself does not create such bindings. */
  | "tool_output"
  /** The run of a worker produced the artifact. */
  | "task_result"
  /** The artifact was given to the run of a worker as context. */
  | "context_attachment"
  /** The artifact was derived from another one. The gateway itself does not create such bindings. */
  | "derived_from"
  /** The artifact is a preview of another one. The gateway itself does not create such bindings. */
  | "preview"
  /** The artifact is a system capture. The gateway itself does not create such bindings. */
  | "system_capture"
  /** A user or client attached the artifact explicitly. */
  | "manual_attach"
  /** The artifact was uploaded for a message that has not been sent yet. */
  | "draft_upload";

/** The role of the party that provided a bound artifact. */
export type ArtifactBindingRole =
  /** The user provided it. */
  | "user"
  /** The model provided it. */
  | "assistant"
  /** A tool provided it. */
  | "tool"
  /** The gateway provided it. */
  | "system"
  /** A task provided or received it. */
  | "task";

/** A binding of an artifact to one or more targets. */
export interface ArtifactBindingSummary {
  /** The id of the binding. */
  binding_id: BindingId;
  /** The reason for the binding. */
  binding_kind: ArtifactBindingKind;
  /** The time of creation in Unix seconds. */
  created_at: number;
  /** The direction of the artifact, seen from the target. */
  direction: ArtifactBindingDirection;
  /** The zero-based position of the artifact in the input. Absent if it has none. */
  item_index?: number | null;
  /** The id of the message. Absent if the binding has none. */
  message_id?: MessageId | null;
  /** The role of the party that provided the artifact. Absent if it is unknown. */
  role?: ArtifactBindingRole | null;
  /** The id of the task, which is the id of a job. Absent if the binding has none. */
  task_id?: string | null;
  /** The id of the task run, which is the id of a run. Absent if the binding has none. */
  task_run_id?: string | null;
  /** The id of the thread. Absent if the binding has none. */
  thread_id?: ThreadId | null;
  /** The id of the tool call. Absent if the binding has none. */
  tool_call_id?: string | null;
  /** The id of the turn. Absent if the binding has none. */
  turn_id?: TurnId | null;
  /** The id of the item of the turn. Absent if the binding has none. */
  turn_item_id?: string | null;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ArtifactCapabilities`]. */
export interface ArtifactCapabilitiesParams {
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactCapabilities`]. */
export interface ArtifactCapabilitiesResponse {
  /** The limits of downloads. */
  download: ArtifactDownloadCapabilities;
  /** The limits of uploads. */
  upload: ArtifactUploadCapabilities;
}

/** The kind of creator of an artifact. */
export type ArtifactCreatedByKind =
  /** A person uploaded the artifact. */
  | "user"
  /** An agent created it: the output of a worker, or an image in the answer of a model. */
  | "agent"
  /** Not produced: the gateway runs no tools of its own. */
  | "tool"
  /** The output of a worker, recorded by version 0.1. Later versions record `agent`. */
  | "task"
  /** Not produced: the gateway creates no artifacts on its own. */
  | "system"
  /** An upload with `source_kind` `import`, `worktree` or `folder_manifest`. */
  | "import"
  /** Not produced: external agents connect with a token and count as the person who issued it. */
  | "external_agent";

/** Payload of `artifact/created`. */
export interface ArtifactCreatedNotification {
  /** The new artifact. */
  artifact: ArtifactSummary;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ArtifactDelete`]. */
export interface ArtifactDeleteParams {
  /** The id of the artifact. */
  artifact_id: ArtifactId;
  /** The id of the workspace that owns the artifact. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactDelete`]. */
export interface ArtifactDeleteResponse {
  /** The id of the artifact. */
  artifact_id: ArtifactId;
  /** The status after the call; always `deleted`. */
  status: ArtifactStatus;
}

/** Payload of `artifact/deleted`. */
export interface ArtifactDeletedNotification {
  /** The id of the artifact. */
  artifact_id: ArtifactId;
  /** The time of deletion in Unix seconds. */
  deleted_at: number;
  /** The status of the artifact; always `deleted`. */
  status: ArtifactStatus;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ArtifactDownloadAbort`]. */
export interface ArtifactDownloadAbortParams {
  /** The id of the download. */
  download_id: DownloadId;
  /** The id of the workspace that owns the artifact. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactDownloadAbort`]. */
export interface ArtifactDownloadAbortResponse {
  /** The id of the download. */
  download_id: DownloadId;
  /** The final status; always `aborted`. */
  status: ArtifactDownloadEndStatus;
}

/** The limits of downloads. */
export interface ArtifactDownloadCapabilities {
  /** The maximum chunk size in bytes; 1 MiB. */
  max_chunk_size_bytes: number;
  /** The maximum number of open downloads per connection and workspace; 2. */
  max_concurrent_downloads: number;
  /** The recommended chunk size in bytes; 256 KiB. */
  recommended_chunk_size_bytes: number;
}

/**
 * The JSON header of an `ARTD` frame.
 *
 * A frame consists of the magic `ARTD`, the length of the header as a big-endian u32, the header, and the bytes of the
 * chunk.
 */
export interface ArtifactDownloadChunkHeader {
  /** The id of the artifact. */
  artifact_id: ArtifactId;
  /** The SHA-256 of the bytes of the chunk in lower-case hexadecimal. */
  chunk_sha256: string;
  /** The id of the download. */
  download_id: DownloadId;
  /** Whether the chunk ends at the end of the file. */
  final_chunk: boolean;
  /** The number of bytes. */
  len: number;
  /** The offset of the first byte in the file. */
  offset: number;
  /** The size of the whole file in bytes. */
  total_size_bytes: number;
  /** The id of the version. */
  version_id: ArtifactVersionId;
  /** The id of the workspace that owns the artifact. */
  workspace_id: WorkspaceId;
}

/** Params of [`ArtifactDownloadChunk`]. */
export interface ArtifactDownloadChunkParams {
  /** The id of the download. */
  download_id: DownloadId;
  /** The number of bytes, 1 to 1048576. The range must not exceed the file. */
  len: number;
  /** The offset of the first byte. */
  offset: number;
  /** The id of the workspace that owns the artifact. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactDownloadChunk`]. */
export interface ArtifactDownloadChunkResponse {
  /** The SHA-256 of the bytes in `content_base64`, in lower-case hexadecimal. Absent if `queued` is `true`. */
  chunk_sha256?: string | null;
  /** The bytes, encoded as base64. Absent if `queued` is `true`. */
  content_base64?: string | null;
  /** The id of the download. */
  download_id: DownloadId;
  /** Whether the chunk ends at the end of the file. Absent if `queued` is `true`. */
  final_chunk?: boolean | null;
  /** The number of bytes. */
  len: number;
  /** The offset of the first byte. */
  offset: number;
  /**
   * `true` if the gateway sent the bytes as a binary frame before this response, `false` if they are in
   * `content_base64`.
   */
  queued: boolean;
}

/** The final status of a download. */
export type ArtifactDownloadEndStatus =
  /** The client finished the download. */
  | "finished"
  /** The client aborted the download. */
  | "aborted";

/** Params of [`ArtifactDownloadFinish`]. */
export interface ArtifactDownloadFinishParams {
  /** The id of the download. */
  download_id: DownloadId;
  /** The id of the workspace that owns the artifact. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactDownloadFinish`]. */
export interface ArtifactDownloadFinishResponse {
  /** The id of the download. */
  download_id: DownloadId;
  /** The final status; always `finished`. */
  status: ArtifactDownloadEndStatus;
}

/** Payload of `artifact/download/progress`. */
export interface ArtifactDownloadProgressNotification {
  /** The id of the artifact. */
  artifact_id: ArtifactId;
  /** The id of the download. */
  download_id: DownloadId;
  /** The number of bytes that the gateway has sent so far. */
  received_bytes: number;
  /** The size of the whole file in bytes. */
  total_size_bytes: number;
  /** The id of the workspace that owns the artifact. */
  workspace_id: WorkspaceId;
}

/** Params of [`ArtifactDownloadStart`]. */
export interface ArtifactDownloadStartParams {
  /** The id of the artifact. */
  artifact_id: ArtifactId;
  /** The chunk size in bytes that the client prefers, limited to 1 MiB. Default 256 KiB. */
  preferred_chunk_size_bytes?: number | null;
  /** The id of the version. Default: the newest version. */
  version_id?: ArtifactVersionId | null;
  /** The id of the workspace that owns the artifact. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactDownloadStart`]. */
export interface ArtifactDownloadStartResponse {
  /** The artifact and the version to download. */
  artifact: ArtifactRef;
  /** The id of the download, valid on this connection. */
  download_id: DownloadId;
  /** The time at which the download expires, in Unix seconds; one hour after its start. */
  expires_at_unix: number;
  /** The suggested file name, which is safe to use on the client. */
  file_name: string;
  /** The maximum chunk size in bytes; 1 MiB. */
  max_chunk_size_bytes: number;
  /** The chunk size in bytes that the client should request. */
  recommended_chunk_size_bytes: number;
  /** The SHA-256 of the whole file in lower-case hexadecimal. */
  sha256: string;
  /** The size of the file in bytes. */
  size_bytes: number;
}

/** Params of [`ArtifactGet`]. */
export interface ArtifactGetParams {
  /** The id of the artifact. */
  artifact_id: ArtifactId;
  /** The id of the version. Default: the newest version. */
  version_id?: ArtifactVersionId | null;
  /** The id of the workspace that owns the artifact. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactGet`]. */
export interface ArtifactGetResponse {
  /** The requested artifact. */
  artifact: ArtifactSummary;
  /** The origin of the version. Absent unless an agent created it in a turn or a run. */
  lineage?: ArtifactLineage | null;
}

/** The id of an artifact. */
export type ArtifactId = string;

/** The type of an artifact, detected from its content and name. */
export type ArtifactKind =
  /** A file of no other kind. */
  | "file"
  /** A text file. */
  | "text"
  /** An image. */
  | "image"
  /** An audio file. */
  | "audio"
  /** A video. */
  | "video"
  /** A PDF document. */
  | "pdf"
  /** A spreadsheet. */
  | "spreadsheet"
  /** An archive, such as a ZIP file. */
  | "archive"
  /** A JSON file. */
  | "json"
  /** An image in the answer of a model. */
  | "generated_image"
  /** An image that was uploaded with `source_kind` `screenshot`. */
  | "screenshot"
  /** A file that was uploaded with `source_kind` `worktree`. */
  | "workspace_file"
  /** A list of the files in an uploaded folder. */
  | "directory_manifest"
  /** Not produced: a file whose type cannot be detected has the kind `file`. */
  | "unknown";

/** The turn or run that created an artifact version. */
export interface ArtifactLineage {
  /** The AGENTS.md documents in the prompt of the turn, with their versions. Empty if there is no turn. */
  instructions: PromptDocument[];
  /** The id of the job to which the run belongs. Absent if there is none. */
  job_id?: string | null;
  /** The id of the run in a company folder. Absent if no run created the version. */
  run_id?: string | null;
  /** The id of the thread. Absent if there is none. */
  thread_id?: ThreadId | null;
  /** The id of the turn, whose prompt `turn/explain` describes. Absent if there is none. */
  turn_id?: TurnId | null;
}

/** Params of [`ArtifactListForMessage`]. */
export interface ArtifactListForMessageParams {
  /** The `next_cursor` of the previous page. Absent for the first page. */
  cursor?: string | null;
  /** Whether to include soft-deleted artifacts. Default `false`. */
  include_deleted?: boolean | null;
  /** Return only artifacts of these kinds. Absent or empty for all. */
  kinds?: ArtifactKind[] | null;
  /** The maximum number of artifacts to return. Default 50, maximum 200. */
  limit?: number | null;
  /** The id of the message. */
  message_id: MessageId;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ArtifactListForThread`]. */
export interface ArtifactListForThreadParams {
  /** The `next_cursor` of the previous page. Absent for the first page. */
  cursor?: string | null;
  /** Whether to include soft-deleted artifacts. Default `false`. */
  include_deleted?: boolean | null;
  /** Return only artifacts of these kinds. Absent or empty for all. */
  kinds?: ArtifactKind[] | null;
  /** The maximum number of artifacts to return. Default 50, maximum 200. */
  limit?: number | null;
  /** The id of the thread. */
  thread_id: ThreadId;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ArtifactListForTurn`]. */
export interface ArtifactListForTurnParams {
  /** The `next_cursor` of the previous page. Absent for the first page. */
  cursor?: string | null;
  /** Whether to include soft-deleted artifacts. Default `false`. */
  include_deleted?: boolean | null;
  /** Return only artifacts of these kinds. Absent or empty for all. */
  kinds?: ArtifactKind[] | null;
  /** The maximum number of artifacts to return. Default 50, maximum 200. */
  limit?: number | null;
  /** The id of the turn. */
  turn_id: TurnId;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ArtifactList`]. One binding must match all scope filters that are present. */
export interface ArtifactListParams {
  /** The `next_cursor` of the previous page. Absent for the first page. */
  cursor?: string | null;
  /** Whether to include soft-deleted artifacts. Default `false`. */
  include_deleted?: boolean | null;
  /** Return only artifacts of these kinds. Absent or empty for all. */
  kinds?: ArtifactKind[] | null;
  /** The maximum number of artifacts to return. Default 50, maximum 200. */
  limit?: number | null;
  /** Return only artifacts that are bound to the message with this id. Absent for all. */
  message_id?: MessageId | null;
  /** Return only artifacts that are bound to the task with this id, which is the id of a job. Absent for all. */
  task_id?: string | null;
  /** Return only artifacts that are bound to the task run with this id, which is the id of a run. Absent for all. */
  task_run_id?: string | null;
  /** Return only artifacts that are bound to the thread with this id. Absent for all. */
  thread_id?: ThreadId | null;
  /** Return only artifacts that are bound to the turn with this id. Absent for all. */
  turn_id?: TurnId | null;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Response of the `artifact/list` methods. */
export interface ArtifactListResponse {
  /** The artifacts, newest first. */
  items: ArtifactSummary[];
  /** The cursor of the next page; `null` on the last page. */
  next_cursor?: string | null;
}

/** A projection that clients can display as a preview. */
export interface ArtifactPreviewRef {
  /** The id of the artifact. */
  artifact_id: ArtifactId;
  /**
   * The id of the stored bytes of the projection. Absent for text projections and for projections that are not
   * ready.
   */
  blob_id?: BlobId | null;
  /** The MIME type of the projection. Absent if it is not ready. */
  mime_type?: string | null;
  /** The kind of the projection. */
  projection_kind: ArtifactProjectionKind;
  /** The SHA-256 of the projection in lower-case hexadecimal. Absent if it is not ready. */
  sha256?: string | null;
  /** The size of the projection in bytes. Absent if it is not ready. */
  size_bytes?: number | null;
  /** Whether the projection can be read. */
  status: ArtifactProjectionStatus;
  /** The id of the version from which the projection was created. */
  version_id: ArtifactVersionId;
}

/** The kind of a projection, which is data derived from an artifact. */
export type ArtifactProjectionKind =
  /** The text of the artifact. */
  | "plain_text"
  /** A reduced image. */
  | "thumbnail"
  /** A summary of the structure of a JSON file. */
  | "json_summary"
  /** The text of a PDF document. */
  | "pdf_text";

/** The status of a projection. */
export type ArtifactProjectionStatus =
  /** The projection has not been created yet. */
  | "pending"
  /** The projection can be read. */
  | "ready"
  /** The projection could not be created. */
  | "failed"
  /** An older extractor created the projection; the gateway will create it again. */
  | "stale";

/** Payload of `artifact/projection/updated`. */
export interface ArtifactProjectionUpdatedNotification {
  /** The id of the artifact. */
  artifact_id: ArtifactId;
  /** The kind of the projection. */
  projection_kind: ArtifactProjectionKind;
  /** The status of the projection after the change. */
  status: ArtifactProjectionStatus;
  /** The time of the change in Unix seconds. */
  updated_at: number;
  /** The id of the version from which the projection was created. */
  version_id: ArtifactVersionId;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ArtifactRead`]. */
export interface ArtifactReadParams {
  /** The id of the artifact. */
  artifact_id: ArtifactId;
  /** The maximum number of bytes to return. Default and maximum 1 MiB. */
  max_bytes?: number | null;
  /** The offset of the first byte to read. Default 0. */
  offset?: number | null;
  /** The projection to read. Absent to read the artifact itself. */
  projection_kind?: ArtifactProjectionKind | null;
  /** The id of the version. Default: the newest version. */
  version_id?: ArtifactVersionId | null;
  /** The id of the workspace that owns the artifact. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactRead`]. */
export interface ArtifactReadResponse {
  /** The artifact and the version that was read. */
  artifact: ArtifactRef;
  /** The bytes, encoded as base64. */
  content_base64: string;
  /** The number of bytes returned. */
  len: number;
  /** The offset of the first byte returned. */
  offset: number;
  /** The SHA-256 of the whole artifact version or projection in lower-case hexadecimal. */
  sha256: string;
  /** The size of the whole artifact version or projection in bytes. */
  total_size_bytes: number;
  /** Whether more bytes follow the returned range. */
  truncated: boolean;
}

/** A short description of an artifact version. */
export interface ArtifactRef {
  /** The id of the artifact. */
  artifact_id: ArtifactId;
  /** The name to display, usually the file name. */
  display_name: string;
  /** The type of the artifact. */
  kind: ArtifactKind;
  /** The MIME type of the version. Absent if it is unknown. */
  mime_type?: string | null;
  /** The projection to display as a preview. Absent if the version has none. */
  preview?: ArtifactPreviewRef | null;
  /** The SHA-256 of the bytes in lower-case hexadecimal. The gateway always sends it. */
  sha256?: string | null;
  /** The size of the version in bytes. The gateway always sends it. */
  size_bytes?: number | null;
  /** Whether the artifact can be used. */
  status: ArtifactStatus;
  /** The id of the described version. The gateway always sends it. */
  version_id?: ArtifactVersionId | null;
}

/** Params of [`ArtifactRestore`]. */
export interface ArtifactRestoreParams {
  /** The id of the artifact. */
  artifact_id: ArtifactId;
  /** The id of the workspace that owns the artifact. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactRestore`]. */
export interface ArtifactRestoreResponse {
  /** The id of the artifact. */
  artifact_id: ArtifactId;
  /** The status after the call: `ready`, `quarantined` if the bytes are damaged, or `failed` if they are missing. */
  status: ArtifactStatus;
}

/** Whether an artifact can be used. */
export type ArtifactStatus =
  /** The artifact can be used. */
  | "ready"
  /** Not produced: an artifact is created only after its bytes are complete and verified. */
  | "pending"
  /** The stored bytes no longer match their hash; the gateway does not serve them. */
  | "quarantined"
  /** The artifact was soft-deleted and can be restored. */
  | "deleted"
  /** Not produced: the gateway copies the bytes, so an artifact does not depend on the original file. */
  | "missing_external_source"
  /** The stored bytes are missing. */
  | "failed";

/** An artifact with its creator and its bindings. */
export interface ArtifactSummary {
  /** The artifact and one of its versions. */
  artifact: ArtifactRef;
  /** The bindings of the artifact, newest first. */
  bindings: ArtifactBindingSummary[];
  /** The time of creation in Unix seconds. */
  created_at: number;
  /**
   * The creator: `owner`, the id of a token, the id of an agent, or the id of a model provider. Absent if it is
   * unknown.
   */
  created_by_actor_id?: string | null;
  /** The kind of creator. */
  created_by_kind: ArtifactCreatedByKind;
  /** Additional properties, for example `source_kind`. Default: empty. */
  metadata?: Record<string, unknown>;
  /** The id of the thread for which the artifact was created. Absent if there is none. */
  primary_thread_id?: ThreadId | null;
  /** The time of the last change in Unix seconds. */
  updated_at: number;
  /** The id of the workspace that owns the artifact. */
  workspace_id: WorkspaceId;
}

/** Payload of `artifact/updated`. */
export interface ArtifactUpdatedNotification {
  /** The artifact after the change. */
  artifact: ArtifactSummary;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ArtifactUploadAbort`]. */
export interface ArtifactUploadAbortParams {
  /** The id of the upload. */
  upload_id: UploadId;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactUploadAbort`]. */
export interface ArtifactUploadAbortResponse {
  /** The final status; always `aborted`. */
  status: ArtifactUploadAbortStatus;
  /** The id of the upload. */
  upload_id: UploadId;
}

/** The final status of an aborted upload. */
export type ArtifactUploadAbortStatus =
  /** The upload and its bytes were deleted. */
  | "aborted";

/** The limits of uploads. */
export interface ArtifactUploadCapabilities {
  /** The maximum chunk size in bytes; 1 MiB. */
  max_chunk_size_bytes: number;
  /** The maximum file size in bytes; 50 MiB. */
  max_file_size_bytes: number;
  /** The maximum number of artifacts in the input of one turn; 32. */
  max_files_per_turn: number;
  /** The recommended chunk size in bytes; 256 KiB. */
  recommended_chunk_size_bytes: number;
  /** Whether clients must upload local files before a turn can refer to them; always `true`. */
  required_for_local_paths: boolean;
}

/** Payload of `artifact/upload/chunk_ack`. */
export interface ArtifactUploadChunkAckNotification {
  /** The number of bytes in the chunk. */
  len: number;
  /** The offset of the next chunk. */
  next_offset: number;
  /** The offset of the chunk in the file. */
  offset: number;
  /** The number of bytes received so far. */
  received_bytes: number;
  /** The id of the upload. */
  upload_id: UploadId;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/**
 * The JSON header of an `ARTU` frame.
 *
 * A frame consists of the magic `ARTU`, the length of the header as a big-endian u32, the header, and the bytes of the
 * chunk.
 */
export interface ArtifactUploadChunkHeader {
  /**
   * The SHA-256 of the bytes in lower-case hexadecimal. The chunk is rejected if it differs. Absent to skip this
   * check.
   */
  chunk_sha256?: string | null;
  /** The number of bytes in the frame after the header. */
  len: number;
  /** The offset of the first byte in the file. */
  offset: number;
  /** The id of the upload. */
  upload_id: UploadId;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ArtifactUploadChunk`]. */
export interface ArtifactUploadChunkParams {
  /**
   * The SHA-256 of the bytes in lower-case hexadecimal. The chunk is rejected if it differs. Absent to skip this
   * check.
   */
  chunk_sha256?: string | null;
  /** The bytes, 1 to 1048576, encoded as base64 with padding. */
  content_base64: string;
  /** The number of bytes. The chunk is rejected if `content_base64` has another length. Absent to skip this check. */
  len?: number | null;
  /**
   * The offset of the first byte in the file, which must be the number of bytes received so far. Repeating a chunk
   * that was already received is accepted.
   */
  offset: number;
  /** The id of the upload. */
  upload_id: UploadId;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Payload of `artifact/upload/chunk_rejected`. */
export interface ArtifactUploadChunkRejectedNotification {
  /**
   * The reason as a stable snake_case name: `malformed_frame`, `length_mismatch`, `hash_mismatch`, `unknown_upload`,
   * `not_receiving`, `chunk_too_large`, `empty_chunk`, `offset_mismatch`, `exceeds_size` or `internal`.
   */
  kind: string;
  /** A one-sentence description of the reason. */
  message: string;
  /** The offset that the gateway expects. Present only if `kind` is `offset_mismatch`. */
  next_offset?: number | null;
  /** The offset in the frame's header. Absent if the header could not be parsed. */
  offset?: number | null;
  /** The id of the upload in the frame's header. Absent if the header could not be parsed. */
  upload_id?: string | null;
  /** The id of the workspace in the frame's header. Absent if the header could not be parsed. */
  workspace_id?: string | null;
}

/** Response of [`ArtifactUploadChunk`]. */
export interface ArtifactUploadChunkResponse {
  /** The number of bytes in the chunk. */
  len: number;
  /** The offset of the next chunk. */
  next_offset: number;
  /** The offset of the chunk in the file. */
  offset: number;
  /** The number of bytes received so far. */
  received_bytes: number;
  /** The id of the upload. */
  upload_id: UploadId;
}

/** Params of [`ArtifactUploadFinish`]. */
export interface ArtifactUploadFinishParams {
  /** The id of the upload. */
  upload_id: UploadId;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactUploadFinish`]. */
export interface ArtifactUploadFinishResponse {
  /** The artifact with the uploaded version. */
  artifact: ArtifactRef;
  /** The id of the upload. */
  upload_id: UploadId;
}

/** Payload of `artifact/upload/progress`. */
export interface ArtifactUploadProgressNotification {
  /** The offset of the next chunk. */
  next_offset: number;
  /** The number of bytes received so far. */
  received_bytes: number;
  /** The declared size of the file in bytes. */
  total_size_bytes: number;
  /** The id of the upload. */
  upload_id: UploadId;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** The status of an upload. */
export type ArtifactUploadSessionStatus =
  /** The upload accepts chunks. */
  | "receiving"
  /** The gateway is validating the upload. Not produced at present. */
  | "finalizing"
  /** The upload is complete and its artifact exists. */
  | "completed";

/** The source of an uploaded file. */
export type ArtifactUploadSourceKind =
  /** The user selected the file in the message composer. */
  | "user_composer"
  /** The user dropped the file onto the client. */
  | "drag_drop"
  /** The user pasted the file. */
  | "paste"
  /** A program uploaded the file. */
  | "api"
  /** The file was imported from another system. The artifact's creator kind is `import`. */
  | "import"
  /** The file comes from a worktree. The artifact's kind is `workspace_file` and its creator kind `import`. */
  | "worktree"
  /** The file is a screenshot. If it is an image, the artifact's kind is `screenshot`. */
  | "screenshot"
  /**
   * The file lists the files of an uploaded folder. If it is JSON, the artifact's kind is `directory_manifest`; its
   * creator kind is `import`.
   */
  | "folder_manifest";

/** Params of [`ArtifactUploadStart`]. */
export interface ArtifactUploadStartParams {
  /** The id of the artifact that gets a new version. Absent to create a new artifact. */
  artifact_id?: ArtifactId | null;
  /** The client's own id for the upload, 1 to 255 characters; used to resume it. */
  client_attachment_id: string;
  /** The name of the file, 1 to 255 characters. */
  file_name: string;
  /** The MIME type, if the client knows it. The gateway also inspects the content. */
  mime_type?: string | null;
  /**
   * The id of the turn for which the file is uploaded; recorded in the binding to the thread and ignored without
   * `thread_id`. Absent if it is unknown.
   */
  planned_turn_id?: TurnId | null;
  /** The SHA-256 of the file, 64 lower-case hexadecimal characters. */
  sha256: string;
  /** The size of the file in bytes, at most 50 MiB. */
  size_bytes: number;
  /** The source of the file. */
  source_kind: ArtifactUploadSourceKind;
  /** The id of the thread to which the artifact is bound. Absent for no binding. */
  thread_id?: ThreadId | null;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactUploadStart`]. */
export interface ArtifactUploadStartResponse {
  /**
   * `true` if the gateway already stores these bytes, so that the client can finish without sending chunks. Absent
   * otherwise.
   */
  already_present?: boolean | null;
  /**
   * The time at which the upload expires, in Unix seconds. Accepted chunks extend it to one hour from then, up to 24
   * hours after the start.
   */
  expires_at_unix: number;
  /** The maximum chunk size in bytes; 1 MiB. */
  max_chunk_size_bytes: number;
  /** The maximum file size in bytes; 50 MiB. */
  max_size_bytes: number;
  /** The offset at which to resume. Absent for a new upload. */
  next_offset?: number | null;
  /** The recommended chunk size in bytes; 256 KiB. */
  recommended_chunk_size_bytes: number;
  /** The id of the upload. */
  upload_id: UploadId;
}

/** Params of [`ArtifactUploadStatus`]. */
export interface ArtifactUploadStatusParams {
  /** The id of the upload. */
  upload_id: UploadId;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactUploadStatus`]. */
export interface ArtifactUploadStatusResponse {
  /** The artifact with the uploaded version. Absent until the upload is complete. */
  artifact?: ArtifactRef | null;
  /** The time at which the upload expires, in Unix seconds. */
  expires_at_unix: number;
  /** The offset of the next chunk. */
  next_offset: number;
  /** The number of bytes received so far. */
  received_bytes: number;
  /** The status of the upload. */
  status: ArtifactUploadSessionStatus;
  /** The id of the upload. */
  upload_id: UploadId;
}

/** Params of [`ArtifactUsage`]. */
export interface ArtifactUsageParams {
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactUsage`]. Identical content counts once. */
export interface ArtifactUsageResponse {
  /** The bytes used by artifacts that are not deleted, including their projections. */
  bytes: number;
  /** The number of distinct stored files of these artifacts and projections. */
  files: number;
  /** The limit of `bytes`. Default 10 GiB. */
  max_bytes: number;
  /** The limit of `files`. Default 100000. */
  max_files: number;
  /** The limit of the sum of `stored_bytes` and `open_upload_bytes`. Default 20 GiB. */
  max_stored_bytes: number;
  /** The sum of the declared sizes of open uploads, in bytes. */
  open_upload_bytes: number;
  /** The stored bytes that only deleted artifacts use. */
  reclaimable_bytes: number;
  /** All stored bytes, including those that only deleted artifacts use. */
  stored_bytes: number;
}

/** The id of one version of an artifact. */
export type ArtifactVersionId = string;

/** One version of an artifact. */
export interface ArtifactVersionSummary {
  /** The time of creation in Unix seconds. */
  created_at: number;
  /** The MIME type of the version. Absent if it is unknown. */
  mime_type?: string | null;
  /** The SHA-256 of the bytes in lower-case hexadecimal. */
  sha256: string;
  /** The size of the version in bytes. */
  size_bytes: number;
  /** The id of the version. */
  version_id: ArtifactVersionId;
  /** The number of the version, from 1. */
  version_number: number;
}

/** Params of [`ArtifactVersionsList`]. */
export interface ArtifactVersionsListParams {
  /** The id of the artifact. */
  artifact_id: ArtifactId;
  /** The `next_cursor` of the previous page. Absent for the first page. */
  cursor?: string | null;
  /** The maximum number of versions to return. Default 50, maximum 200. */
  limit?: number | null;
  /** The id of the workspace that owns the artifact. */
  workspace_id: WorkspaceId;
}

/** Response of [`ArtifactVersionsList`]. */
export interface ArtifactVersionsListResponse {
  /** The versions, newest first. */
  items: ArtifactVersionSummary[];
  /** The cursor of the next page; `null` on the last page. */
  next_cursor?: string | null;
}

/** The id of a binding between an artifact and a thread, turn, message or task. */
export type BindingId = string;

/** The id of the stored bytes of an artifact version or of a projection. */
export type BlobId = string;

/** Limits on cost and tokens. Exceeding a soft limit raises an alert; exceeding a hard limit stops the work. */
export interface Budget {
  /** Cost in US dollars above which the work stops. Absent: no limit. */
  hard_cost_usd?: number | null;
  /** Number of tokens above which the work stops. Absent: no limit. */
  hard_tokens?: number | null;
  /** Cost in US dollars above which an alert is raised. Absent: no limit. */
  soft_cost_usd?: number | null;
  /** Number of tokens above which an alert is raised. Absent: no limit. */
  soft_tokens?: number | null;
}

/** A range of a UTF-8 text in bytes. */
export interface ByteRange {
  /** The offset after the last byte. */
  end: number;
  /** The offset of the first byte, from 0. */
  start: number;
}

/** The kind of change to a file. */
export type ChangeType =
  /** The file was created. */
  | "added"
  /** The content of the file was changed. */
  | "modified"
  /** The file was deleted. */
  | "deleted"
  /** The file was renamed. */
  | "renamed";

/** A file changed by a worker. */
export interface ChangedFile {
  /** The kind of change. Absent if not reported. */
  change_type?: ChangeType | null;
  /** The path of the file, as reported by the worker. */
  path: string;
  /** A description of the change. Absent if not reported. */
  summary?: string | null;
}

/** A command run by a worker. */
export interface CommandRun {
  /** The command line. */
  command: string;
  /** The exit code of the command. Absent if not reported. */
  exit_code?: number | null;
  /** A description of the outcome. Absent if not reported. */
  summary?: string | null;
}

/** A comment, on the wire as in its file `inbox/comments/<id>.yaml`. */
export interface Comment {
  /** Id of the person or agent that wrote the comment. */
  author_id: string;
  /** Role of the author. */
  author_role: ActorRole;
  /** Text of the comment. */
  body: string;
  /** Time the comment was added, ISO-8601. */
  created_at: string;
  /** Id of the comment. */
  id: string;
  /** Schema version of the document. The gateway writes 1. */
  schema_version: number;
  /** Target of the comment: a project, and at least one agent, document or run of it. */
  target: CommentTarget;
  /** Document type: always `comment`. */
  type: CommentTag;
  /** Who may read the comment. */
  visibility: Visibility;
}

/** Params of [`CommentAdd`]. */
export interface CommentAddParams {
  /** Id of the person or agent that writes the comment. */
  author_id: string;
  /** Role of the author. */
  author_role: ActorRole;
  /** Text of the comment. Surrounding white space is removed; text with a secret is rejected. */
  body: string;
  /** Id of the project. */
  project_id: string;
  /** Id of the agent that the comment refers to. */
  target_agent_id?: string | null;
  /** Id of the document that the comment refers to. */
  target_artifact_id?: string | null;
  /** Id of the run that the comment refers to. The event `comment.added` is appended to its log. */
  target_run_id?: string | null;
  /** Who may read the comment. Default: `managers`. */
  visibility?: Visibility | null;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`CommentAdd`]. */
export interface CommentAddResponse {
  /** The new comment. */
  comment: Comment;
  /** Id of the new comment. */
  comment_id: string;
}

/** Params of [`CommentList`]. */
export interface CommentListParams {
  /** Id of the person or agent that reads; comments it may not read are omitted. Default: the caller's own id. */
  actor_id?: string | null;
  /** Role of that actor, at most the role of the caller's token. Default: the role of the token. */
  actor_role?: ActorRole | null;
  /** Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people. */
  actor_team_id?: string | null;
  /** Cursor: list only comments older than this one. An unknown id returns an empty list. */
  before_comment_id?: string | null;
  /** Maximum number of comments. Default: 300. */
  limit?: number | null;
  /** Id of the project. */
  project_id: string;
  /** List only comments on this agent. */
  target_agent_id?: string | null;
  /** List only comments on this document. */
  target_artifact_id?: string | null;
  /** List only comments on this run. */
  target_run_id?: string | null;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`CommentList`]. */
export type CommentListResponse = Comment[];

/** The document type `comment`. */
export type CommentTag =
  /** The only value. */
  | "comment";

/** Target of a comment: a project, and at least one agent, document or run of it. */
export interface CommentTarget {
  /** Id of the agent. Absent if the comment does not refer to an agent. */
  agent_id?: string | null;
  /** Id of the document. Absent if the comment does not refer to a document. */
  artifact_id?: string | null;
  /** Id of the project. */
  project_id: string;
  /** Id of the run. Absent if the comment does not refer to a run. */
  run_id?: string | null;
}

/** Params of [`CompanyArtifactRead`]. */
export interface CompanyArtifactReadParams {
  /** Id of the person or agent that reads. */
  actor_id: string;
  /** Role of that actor. */
  actor_role: ActorRole;
  /** Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people. */
  actor_team_id?: string | null;
  /** Id of the document. */
  artifact_id: string;
  /** Id of the project. */
  project_id: string;
  /** Id of the run whose log records the policy decision. Default: the `run_id` in the document's front matter. */
  run_id?: string | null;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`CompanyArtifactRead`]. */
export interface CompanyArtifactReadResponse {
  /** The `id` in the document's front matter. */
  artifact_id: string;
  /** Path of the document, relative to the company folder. */
  artifact_relpath: string;
  /** The parsed front matter, including unknown keys. */
  frontmatter: Record<string, unknown>;
  /** The whole file, front matter included. */
  markdown: string;
}

/** Params of methods that need only a company folder. */
export interface CompanyFolderParams {
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of methods that return no data. */
export interface CompanyOkResponse {
  /** Always true. */
  ok: boolean;
}

/** The scope of a conversation, a plan or a snapshot. */
export type CompanyScope =
  /** The whole company. */
  | "workspace"
  /** One project. */
  | "project";

/** One limit of a budget, compared with the amount spent. */
export interface CompanySessionBudgetCheck {
  /** The amount spent and reserved, in US dollars or tokens according to `metric`. */
  actual: number;
  /** The limited quantity: `cost_usd` or `tokens`. */
  metric: string;
  /** The outcome: `ok`, `alert` or `exceeded`. */
  result: string;
  /** The owner of the budget: `run`, `project` or `task`. */
  scope: string;
  /** The kind of limit: `soft` or `hard`. */
  severity: string;
  /** The limit, in US dollars or tokens according to `metric`. */
  threshold: number;
}

/** When the gateway enforces the hard limits of a run's budget. */
export type CompanySessionBudgetEnforcement =
  /** Before the session starts and after it has ended. */
  | "completion"
  /** Also while the session runs, as soon as the worker reports usage above a limit. */
  | "live";

/** Response of [`CompanySessionCollect`]. */
export interface CompanySessionCollectResponse {
  /** The error of the session. Absent if there is none. */
  error?: string | null;
  /** The path of the event log of the run, relative to the project folder. */
  events_relpath: string;
  /** The exit code of the program. `null` if it has not exited or was killed by a signal. */
  exit_code?: number | null;
  /** The paths of the output files of the run, relative to the project folder. */
  output_relpaths: string[];
  /** The id of the project. */
  project_id: string;
  /** The position in the queue, starting at 1. Absent unless the session is queued. */
  queue_position?: number | null;
  /** Why the session is queued. Absent unless the session is queued. */
  queue_reason?: CompanySessionQueueReason | null;
  /** True while the session waits for a free slot. Absent otherwise. */
  queued?: boolean | null;
  /** The id of the run of the session. */
  run_id: string;
  /** The reference of the session. */
  session_ref: string;
  /** The name of the signal that ended the program, such as `SIGTERM`. `null` if there was none. */
  signal?: string | null;
  /** The status of the session; `running` also while it is queued. */
  status: RunStatus;
}

/** The command of a session. */
export interface CompanySessionCommand {
  /** The program and its arguments, with secrets redacted. */
  argv: string[];
  /** The absolute path of the working directory. */
  cwd: string;
  /** The driver that starts the program and reads its output. */
  driver: string;
  /** The names of the environment variables of the program. */
  env: string[];
  /** The maximum time without output in milliseconds. */
  idle_timeout_ms: number;
  /** The length of the standard input, in characters. */
  stdin_chars: number;
  /** The signal that stops the program first, such as `SIGTERM`. */
  stop_signal: string;
  /** The maximum running time in milliseconds. */
  timeout_ms: number;
  /** The branch of the worktree. Absent if the session uses none. */
  worktree_branch?: string | null;
  /** The path of the worktree, relative to the company folder. Absent if the session uses none. */
  worktree_relpath?: string | null;
}

/** A period in which no sessions of a provider are started. */
export interface CompanySessionCooldown {
  /**
   * The number of consecutive cool-downs, starting at 1 and at most 6. Each one doubles the duration, up to 30
   * minutes.
   */
  level: number;
  /** The provider. */
  provider: string;
  /** A description of the cause, in one sentence. */
  reason: string;
  /** The cause: `rate_limit`, `transient`, `interactive` or `auth`. */
  reason_code: string;
  /** The end of the cool-down, in ISO-8601. */
  until: string;
  /** The number of sessions of the provider that are queued in this gateway process. */
  waiting: number;
}

/** Params of [`CompanySessionCooldownClear`]. */
export interface CompanySessionCooldownClearParams {
  /** End only the cool-down of this provider. All cool-downs if absent. */
  provider?: string | null;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Params of [`CompanySessionCooldownList`]. */
export interface CompanySessionCooldownListParams {
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`CompanySessionCooldownList`], and of [`CompanySessionCooldownClear`] with the cool-downs it ended. */
export interface CompanySessionCooldownListResponse {
  /** The cool-downs, sorted by provider. */
  items: CompanySessionCooldown[];
}

/** A run that is only explained and never created. */
export interface CompanySessionExplainRun {
  /** The id of the agent of the run. */
  agent_id: string;
  /** The provider of the run, such as `cmd` or `codex`. */
  provider: string;
}

/** A description of what a launch would do. */
export interface CompanySessionExplanation {
  /** The budget checks, one per configured limit. */
  budget: CompanySessionBudgetCheck[];
  /** The command that would run. Absent if it cannot be determined. */
  command?: CompanySessionCommand | null;
  /** The instruction files the worker would receive. */
  instructions: CompanySessionInstruction[];
  /** The limits, and the position in the queue. */
  lane: CompanySessionLane;
  /** The policy decision about the launch. */
  policy: CompanySessionPolicy;
  /** The first reason why the launch would fail. Absent if `would_launch` is true. */
  refusal?: string | null;
  /** True if the session would be started or queued. */
  would_launch: boolean;
}

/** An instruction file for a worker. */
export interface CompanySessionInstruction {
  /**
   * How the worker receives the file: `read_by_worker`, `system_prompt_file`, `prompt`, `argument`, or
   * `prompt_and_file` for an AGENTS.md of the thread tree that is also written into the worktree.
   */
  delivery: string;
  /** The path or the name of the file. */
  path: string;
}

/** The limits that apply to a session, and its position in the queue. */
export interface CompanySessionLane {
  /** The end of the provider's cool-down, in ISO-8601. Absent if there is none. */
  cooldown_until?: string | null;
  /** The priority of the session. */
  priority: CompanySessionPriority;
  /** The provider of the session. */
  provider: string;
  /** The maximum number of sessions of the provider that run at a time. */
  provider_limit: number;
  /** The position the session would get in the queue, starting at 1. Absent if it would start at once. */
  queue_position?: number | null;
  /** The number of sessions that currently run in the company folder. */
  running: number;
  /** The id of the team of the session's agent. Absent if the agent has no team. */
  team_id?: string | null;
  /** The maximum number of sessions of the team that run at a time. */
  team_limit: number;
  /** The maximum number of sessions that run in the company folder at a time. */
  workspace_limit: number;
}

/** Params of [`CompanySessionLaunch`]. */
export interface CompanySessionLaunchParams {
  /**
   * The id of the actor that launches the session. Default `human`, or the identity of the caller's token if its
   * role is limited.
   */
  actor_id?: string | null;
  /** The role of that actor. Default `human`, or the role of the caller's token if it is limited. */
  actor_role?: ActorRole | null;
  /** The id of the actor's team. If absent, the gateway uses the team stored for the agent, if the actor is an agent. */
  actor_team_id?: string | null;
  /**
   * Whether to check the worker program against the execution policy of this machine. Defaults to true for known
   * worker programs and false otherwise.
   */
  apply_guard?: boolean | null;
  /**
   * The program and its arguments. If absent, the driver of the run's provider builds the command line from
   * `prompt_text`.
   */
  argv?: string[] | null;
  /** The budget of the run. No budget if absent. */
  budget?: Budget | null;
  /**
   * When hard limits of the run's budget are enforced. If absent, `live` for workers whose output reports usage
   * reliably, `completion` otherwise.
   */
  budget_enforcement?: CompanySessionBudgetEnforcement | null;
  /** Additional environment variables of the program, by name. */
  env?: Record<string, string> | null;
  /** Names of environment variables of the gateway to pass on in addition to the default allow-list. */
  env_passthrough?: string[] | null;
  /** If true, returns what a launch would do and starts nothing. Default false. */
  explain?: boolean | null;
  /**
   * With `explain`, explains the launch of a run that does not exist yet; `run_id` is then any unused id and nothing
   * is stored. Ignored without `explain`.
   */
  explain_run?: CompanySessionExplainRun | null;
  /** The maximum time without output in milliseconds. Defaults to the configured timeout, 2 hours unless changed. */
  idle_timeout_ms?: number | null;
  /**
   * If true, a worker program runs in the repository itself, or in the company folder if no repository is given,
   * instead of in a folder of its own. Requires role `human`, and the run logs it. Default false.
   */
  in_place?: boolean | null;
  /** If true, passes on the whole environment of the gateway. Default false. */
  inherit_env?: boolean | null;
  /** The priority in the queue. Default `normal`. */
  lane_priority?: CompanySessionPriority | null;
  /**
   * The maximum number of sessions of this provider that run at a time. Defaults to the configured limit, 2 unless
   * changed. Only roles `human` and `ceo` can exceed the configured limit.
   */
  lane_provider_limit?: number | null;
  /**
   * The maximum number of sessions of this team that run at a time. Defaults to the configured limit, 2 unless
   * changed. Only roles `human` and `ceo` can exceed the configured limit.
   */
  lane_team_limit?: number | null;
  /**
   * The maximum number of sessions that run in this company folder at a time. Defaults to the configured limit, 4
   * unless changed. Only roles `human` and `ceo` can exceed the configured limit.
   */
  lane_workspace_limit?: number | null;
  /** The id of the milestone of the task. Absent if there is none. */
  milestone_id?: string | null;
  /** The model the worker program is asked to use. The program's own default if absent. */
  model?: string | null;
  /** The permissions of the worker program, if the driver builds the command line. Default `read-only`. */
  permission_level?: CompanySessionPermission | null;
  /** The id of the project of the run. */
  project_id: string;
  /** The prompt for the worker program. Required if the driver builds the command line. */
  prompt_text?: string | null;
  /** The maximum time in the queue in milliseconds; the session then fails. No limit if absent. */
  queue_timeout_ms?: number | null;
  /**
   * The id of the repository to work in. A worker program that may write runs in a worktree of it; a command runs in
   * the repository itself, unless the task requires a worktree. If absent, a worker program runs in a scratch folder
   * of its run and a command in the company folder.
   */
  repo_id?: string | null;
  /** The id of the run. Its status must be `running`, and it must have no active session. */
  run_id: string;
  /** The reference of the session, at most 80 characters without control characters. Default `local_<run_id>`. */
  session_ref?: string | null;
  /** The text written to the standard input of the program. No input if absent. */
  stdin_text?: string | null;
  /** The id of the task the session works on; its budget applies. Absent if there is none. */
  task_id?: string | null;
  /** The maximum running time in milliseconds. Defaults to the configured timeout, 24 hours unless changed. */
  timeout_ms?: number | null;
  /**
   * The working directory, relative to the repository. Defaults to the root of the repository. Has no effect without
   * `repo_id`.
   */
  workdir_rel?: string | null;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`CompanySessionLaunch`]. */
export interface CompanySessionLaunchResponse {
  /** Why the session failed. Absent if there is no error. */
  error?: string | null;
  /** The description of the launch. Present only if the request had `explain`. */
  explain?: CompanySessionExplanation | null;
  /** The position in the queue, starting at 1. Absent unless the session is queued. */
  queue_position?: number | null;
  /** Why the session is queued. Absent unless the session is queued. */
  queue_reason?: CompanySessionQueueReason | null;
  /** The reference of the session. */
  session_ref: string;
  /** The state of the session. */
  state: CompanySessionLaunchState;
  /**
   * Warnings about an agent or a provider of the run that does not exist. One sentence each; absent if there are
   * none.
   */
  warnings?: string[];
}

/** The state of a session when the launch request returns. */
export type CompanySessionLaunchState =
  /** The session is running. */
  | "running"
  /** The session waits for a free slot. */
  | "queued"
  /** The session has already completed successfully. */
  | "ended"
  /** The session could not be started, or has already failed. */
  | "failed"
  /** The session has already been stopped. */
  | "stopped"
  /** Nothing was started; `explain` describes the launch. */
  | "explained";

/** Params of [`CompanySessionList`]. */
export interface CompanySessionListParams {
  /** Id of the person or agent that reads. Default: the caller's own id. */
  actor_id?: string | null;
  /** Role of that actor, at most the role of the caller's token. Default: the role of the token. */
  actor_role?: ActorRole | null;
  /** Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people. */
  actor_team_id?: string | null;
  /** Return only sessions of this project. All projects if absent. */
  project_id?: string | null;
  /** Return only sessions of this run. All runs if absent. */
  run_id?: string | null;
  /** Return only sessions with this status. All if absent. */
  status?: RunStatus | null;
  /**
   * Absolute path of the company folder. If absent, only sessions of this gateway process are returned. Required if
   * the visibility of an actor applies.
   */
  workspace_dir?: string | null;
}

/** Response of [`CompanySessionList`]. */
export type CompanySessionListResponse = CompanySessionRow[];

/** How the gateway communicates with the program of a session. */
export type CompanySessionMode =
  /** The gateway runs a command line and reads its output. */
  | "command"
  /** The gateway exchanges messages with the Codex app server. */
  | "codex_app_server";

/** Params of [`CompanySessionPoll`], [`CompanySessionCollect`] and [`CompanySessionStop`]. */
export interface CompanySessionParams {
  /** Id of the person or agent that reads. Default: the caller's own id. */
  actor_id?: string | null;
  /** Role of that actor, at most the role of the caller's token. Default: the role of the token. */
  actor_role?: ActorRole | null;
  /** Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people. */
  actor_team_id?: string | null;
  /** The reference of the session. */
  session_ref: string;
  /**
   * Absolute path of the company folder. Required for sessions of an earlier gateway process, and if the visibility
   * of an actor applies.
   */
  workspace_dir?: string | null;
}

/** The actions a worker program may take without asking. */
export type CompanySessionPermission =
  /** Read files. */
  | "read-only"
  /** Read files and change files in its working directory. */
  | "patch"
  /** Read and change files, and run commands. */
  | "run-commands";

/** A policy decision. */
export interface CompanySessionPolicy {
  /** True if policy allows the launch. */
  allowed: boolean;
  /** The reason code of the decision, such as `org_visible`. */
  reason: string;
  /** The id of the rule that decided, such as `vis.org`. */
  rule_id: string;
}

/** The priority of a queued session. */
export type CompanySessionPriority =
  /** Starts before sessions with normal and low priority. */
  | "high"
  /** The default priority. */
  | "normal"
  /** Starts after sessions with high and normal priority. Waiting sessions move up one level per minute. */
  | "low";

/** Why a session is queued. */
export interface CompanySessionQueueReason {
  /** The maximum number of sessions that run at a time. Absent unless the reason is a limit. */
  limit?: number | null;
  /** A description of the reason, in one sentence. */
  reason: string;
  /** The reason code. */
  reason_code: CompanySessionQueueReasonCode;
  /** The name of the provider, the team or the company folder the cool-down or the limit belongs to. */
  subject: string;
  /** The end of the cool-down, in ISO-8601. `null` unless the reason is a cool-down. */
  until?: string | null;
}

/** The reason code of a queued session. */
export type CompanySessionQueueReasonCode =
  /** The provider cools down after a rate limit, a network failure, an interactive prompt or a rejected login. */
  | "cooldown"
  /** The limit of running sessions in the company folder is reached. */
  | "workspace_limit"
  /** The limit of running sessions of the provider is reached. */
  | "provider_limit"
  /** The limit of running sessions of the team is reached. */
  | "team_limit"
  /** A slot has become free and the session is about to start. */
  | "starting";

/** A session in a list. */
export interface CompanySessionRow {
  /** The time the session ended, in Unix milliseconds. Absent while it runs. */
  ended_at_ms?: number | null;
  /** The error of the session. Absent if there is none. */
  error?: string | null;
  /** The exit code of the program. `null` if it has not exited or was killed by a signal. */
  exit_code?: number | null;
  /** How the gateway communicates with the program. */
  mode: CompanySessionMode;
  /** The process id of the program. Absent if no process was started. */
  pid?: number | null;
  /** The time the process id was recorded, in Unix milliseconds. Absent if no process was started. */
  pid_claimed_at_ms?: number | null;
  /** The id of the project. */
  project_id: string;
  /** The id of the thread of the Codex app server. Absent in mode `command`. */
  protocol_thread_id?: string | null;
  /** The id of the turn on that thread. Absent in mode `command`. */
  protocol_turn_id?: string | null;
  /** The position in the queue, starting at 1. Absent unless the session is queued. */
  queue_position?: number | null;
  /** Why the session is queued. Absent unless the session is queued. */
  queue_reason?: CompanySessionQueueReason | null;
  /** True while the session waits for a free slot. Absent otherwise. */
  queued?: boolean | null;
  /** The id of the run of the session. */
  run_id: string;
  /** The reference of the session. */
  session_ref: string;
  /** The name of the signal that ended the program, such as `SIGTERM`. `null` if there was none. */
  signal?: string | null;
  /** The time the session was launched, in Unix milliseconds. */
  started_at_ms: number;
  /** The status of the session; `running` also while it is queued. */
  status: RunStatus;
  /**
   * The path of the file that marks a requested stop, relative to the project folder. The file exists only after a
   * stop was requested.
   */
  stop_marker_relpath?: string | null;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** The status of a session. */
export interface CompanySessionState {
  /** The error of the session. Absent if there is none. */
  error?: string | null;
  /** The exit code of the program. `null` if it has not exited or was killed by a signal. */
  exit_code?: number | null;
  /** The id of the project. */
  project_id: string;
  /** The position in the queue, starting at 1. Absent unless the session is queued. */
  queue_position?: number | null;
  /** Why the session is queued. Absent unless the session is queued. */
  queue_reason?: CompanySessionQueueReason | null;
  /** True while the session waits for a free slot. Absent otherwise. */
  queued?: boolean | null;
  /** The id of the run of the session. */
  run_id: string;
  /** The reference of the session. */
  session_ref: string;
  /** The name of the signal that ended the program, such as `SIGTERM`. `null` if there was none. */
  signal?: string | null;
  /** The status of the session; `running` also while it is queued. */
  status: RunStatus;
}

/** Response of [`CompanySessionPoll`] and [`CompanySessionStop`]. */
export type CompanySessionStateResponse = CompanySessionState;

/** Params of [`CompanySystemCapabilities`]. Any params are ignored. */
export type CompanySystemCapabilitiesParams = Record<string, never>;

/** Response of [`CompanySystemCapabilities`]. */
export interface CompanySystemCapabilitiesResponse {
  /** The names of the company methods of this gateway, sorted by code unit. */
  available_methods: string[];
  /** The capabilities of context planning. */
  context: ContextCapabilities;
  /** The capabilities of governed memory. */
  memory: MemoryCapabilities;
  /** The version of the protocol document, currently `v1`. */
  protocol_version: string;
  /** The capabilities of retrieval. */
  retrieval: RetrievalCapabilities;
  /** The product, its version, and its extensions of the protocol document. */
  server: ServerCapabilities;
}

/** Params of [`CompanyWorkspaceAgentsList`]. */
export interface CompanyWorkspaceAgentsListParams {
  /** Return only agents with this role. All roles if absent. */
  role?: AgentRole | null;
  /** Return only agents of this team. All teams if absent. */
  team_id?: string | null;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceAgentsList`]. */
export type CompanyWorkspaceAgentsListResponse = AgentRow[];

/** Params of [`CompanyWorkspaceBootstrapEnterprise`]. */
export interface CompanyWorkspaceBootstrapEnterpriseParams {
  /** The name of the company, at most 200 characters. Default `AgentCompany`. */
  company_name?: string | null;
  /**
   * The keys of the departments; unknown keys are ignored. If absent, `frontend`, `backend`, `agent_resources`,
   * `marketing`, `infra` and `data` in mode `enterprise`, `engineering` and `product` in mode `standard`.
   */
  departments?: string[] | null;
  /** The name of the executive manager, in mode `enterprise`. Default `Executive Manager`. */
  executive_manager_name?: string | null;
  /** If true, also uses a folder that is not empty. An existing company is moved to `backup_relpath`. Default false. */
  force?: boolean | null;
  /** Whether to create an agent with role CEO. Default true. */
  include_ceo?: boolean | null;
  /** Whether to create a director above the departments, in mode `standard`. Default true. */
  include_director?: boolean | null;
  /** The organization of the company. Default `enterprise`. */
  org_mode?: OrgMode | null;
  /** The name of the first project, at most 200 characters. Default `AgentCompany Ops`. */
  project_name?: string | null;
  /** The number of workers per department. Default 1. */
  workers_per_dept?: number | null;
  /** Absolute path of the folder to create. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceBootstrapEnterprise`]. */
export interface CompanyWorkspaceBootstrapEnterpriseResponse {
  /** The ids of the leading agents. */
  agents: LeadingAgents;
  /** The path of the replaced company, relative to the company folder. Absent if none was replaced. */
  backup_relpath?: string | null;
  /** The name of the company. */
  company_name: string;
  /** The project and the agent a client should open first. */
  default_session: DefaultSession;
  /** The created departments. */
  departments: DepartmentRow[];
  /** The organization of the company. */
  org_mode: OrgMode;
  /** The id of the first project. */
  project_id: string;
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** Params of [`CompanyWorkspaceDiagnostics`]. */
export interface CompanyWorkspaceDiagnosticsParams {
  /** The maximum number of decisions in the inbox snapshot. Default 200. */
  decisions_limit?: number | null;
  /** The maximum number of runs in the monitor snapshot. Default 200. */
  monitor_limit?: number | null;
  /** Absolute path of the directory in which the bundle is created. */
  out_dir: string;
  /** The maximum number of pending documents in the inbox snapshot. Default 200. */
  pending_limit?: number | null;
  /** If true, rebuilds the index first. Default false. */
  rebuild_index?: boolean | null;
  /** If true, syncs the index first. Default true. */
  sync_index?: boolean | null;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceDiagnostics`]. */
export interface CompanyWorkspaceDiagnosticsResponse {
  /** The path of the bundle: a new folder in `out_dir`. */
  bundle_dir: string;
  /** The names of the files in the bundle. */
  files: DiagnosticsFiles;
  /** The time the bundle was generated, in ISO-8601. */
  generated_at: string;
  /** The output directory, as given in the request. */
  out_dir: string;
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** Params of [`CompanyWorkspaceDoctor`]. */
export interface CompanyWorkspaceDoctorParams {
  /** If true, rebuilds the index. Default false. */
  rebuild_index?: boolean | null;
  /** If true, syncs the index. Default false. */
  sync_index?: boolean | null;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceDoctor`]. */
export interface CompanyWorkspaceDoctorResponse {
  /** The results of the checks. */
  checks: DoctorCheck[];
  /** True if no check failed. Warnings are allowed. */
  ok: boolean;
  /** The number of checks by status. */
  summary: DoctorSummary;
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** Params of [`CompanyWorkspaceExport`]. */
export interface CompanyWorkspaceExportParams {
  /** If true, replaces an existing company folder or export at `out_dir`. Default false. */
  force?: boolean | null;
  /** If true, also copies `.local`, the machine-specific data. Default false. */
  include_local?: boolean | null;
  /** Absolute path of the copy. */
  out_dir: string;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceExport`]. */
export interface CompanyWorkspaceExportResponse {
  /** The names of the copied top-level folders. */
  exported_entries: string[];
  /** True if `.local` was requested. */
  include_local: boolean;
  /** The path of the copy, as given in the request. */
  out_dir: string;
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceHomeSnapshot`]. */
export interface CompanyWorkspaceHomeSnapshotResponse {
  /** The time the snapshot was generated, in ISO-8601. */
  generated_at: string;
  /** The projects and their totals for planning. */
  pm: PortfolioSnapshot;
  /** The projects, newest first. */
  projects: HomeProject[];
  /** Totals over all projects. */
  summary: HomeSummary;
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** Params of [`CompanyWorkspaceImport`]. */
export interface CompanyWorkspaceImportParams {
  /** If true, replaces an existing company folder at `workspace_dir`. Default false. */
  force?: boolean | null;
  /** If true, also copies `.local`, the machine-specific data; the new folder is then not trusted. Default false. */
  include_local?: boolean | null;
  /** Absolute path of the exported folder. */
  src_dir: string;
  /** Absolute path of the company folder to create. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceImport`]. */
export interface CompanyWorkspaceImportResponse {
  /** The names of the copied top-level folders. */
  imported_entries: string[];
  /** True if `.local` was requested. */
  include_local: boolean;
  /** The exported folder, as given in the request. */
  src_dir: string;
  /** The number of validation issues of the new folder. */
  validation_issues: number;
  /** True if the new folder is valid. */
  validation_ok: boolean;
  /** The new company folder, as given in the request. */
  workspace_dir: string;
}

/** Params of [`CompanyWorkspaceInit`]. */
export interface CompanyWorkspaceInitParams {
  /** The name of the company, at most 200 characters. Default `AgentCompany`. */
  company_name?: string | null;
  /**
   * If true, also uses a folder that is not empty. Its company identity and machine file are kept if they are valid.
   * Default false.
   */
  force?: boolean | null;
  /** Absolute path of the folder to create. */
  workspace_dir: string;
}

/** Params of [`CompanyWorkspaceMigrate`]. */
export interface CompanyWorkspaceMigrateParams {
  /** If true, reports what would change and writes nothing. Default false. */
  dry_run?: boolean | null;
  /** If true, repeats a migration that was already applied and also rewrites logs with invalid hashes. Default false. */
  force?: boolean | null;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceMigrate`]. */
export interface CompanyWorkspaceMigrateResponse {
  /** True if the migration had been applied before and nothing was done. */
  already_applied: boolean;
  /** True if this call ran the migration. False in a dry run. */
  applied: boolean;
  /** True if the call was a dry run. */
  dry_run: boolean;
  /** The number of events that were rewritten, or would be in a dry run. */
  events_rewritten: number;
  /** The number of event logs that were checked. */
  files_scanned: number;
  /** The number of event logs that were rewritten, or would be in a dry run. */
  files_updated: number;
  /** True if the call was forced. */
  forced: boolean;
  /** The id of the migration. */
  migration_id: string;
  /** The number of lines that are not JSON objects. */
  parse_errors: number;
  /**
   * The paths of event logs that were skipped because of invalid hashes, relative to the company folder. Absent if
   * there are none.
   */
  refused_files?: string[];
  /** The path of the file that records applied migrations, relative to the company folder. */
  state_relpath: string;
  /** Absolute path of the company folder, with links resolved. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceOpen`]. */
export interface CompanyWorkspaceOpenResponse {
  /** The issues of the folder. Empty if it is valid. */
  issues: ValidationIssue[];
  /** True if there are no issues. */
  valid: boolean;
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** Params of [`CompanyWorkspaceProjectCreateWithDefaults`]. */
export interface CompanyWorkspaceProjectCreateWithDefaultsParams {
  /** The id of the actor that acts as CEO. Default `human_ceo`. */
  ceo_actor_id?: string | null;
  /**
   * The id of the executive manager. If absent, the first agent with role manager and title `Executive Manager`, or
   * else the general manager.
   */
  executive_manager_agent_id?: string | null;
  /** The name of the project, at most 200 characters. */
  name: string;
  /** The ids of repositories to link to the project; blank ids are ignored. Default empty. */
  repo_ids?: string[] | null;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceProjectCreateWithDefaults`]. */
export interface CompanyWorkspaceProjectCreateWithDefaultsResponse {
  /** The ids of the default conversations of the project. */
  conversation_ids: string[];
  /** The id of the general manager of the company. */
  global_manager_agent_id: string;
  /** The id of the new project. */
  project_id: string;
  /** The id of the secretary of the project. */
  project_secretary_agent_id: string;
  /** The repositories linked to the project. */
  repo_links: RepoLink[];
}

/** Params of [`CompanyWorkspaceProjectLinkRepo`]. */
export interface CompanyWorkspaceProjectLinkRepoParams {
  /** A label that is shown to people. Optional. */
  label?: string | null;
  /** The id of the project. */
  project_id: string;
  /** The id of the repository within the company. An existing link with this id is replaced. */
  repo_id: string;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceProjectLinkRepo`]. */
export interface CompanyWorkspaceProjectLinkRepoResponse {
  /** The id of the project. */
  project_id: string;
  /** All repositories linked to the project, sorted by id. */
  repos: RepoLink[];
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceProjectsList`]. */
export interface CompanyWorkspaceProjectsListResponse {
  /** The projects, newest first. */
  projects: ProjectRow[];
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** Params of [`CompanyWorkspaceRepoRootSet`]. */
export interface CompanyWorkspaceRepoRootSetParams {
  /** The id of the repository within the company. */
  repo_id: string;
  /** Absolute path of the repository on this machine. It must be an existing directory. */
  repo_path: string;
  /** If true, rejects a directory without `.git`. Default true. */
  require_git?: boolean | null;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceRepoRootSet`]. */
export interface CompanyWorkspaceRepoRootSetResponse {
  /** The id of the repository. */
  repo_id: string;
  /** The stored absolute path, without `.` and `..`. */
  repo_path: string;
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceTeamsList`]. */
export type CompanyWorkspaceTeamsListResponse = TeamRow[];

/** Params of [`CompanyWorkspaceTrust`]. */
export interface CompanyWorkspaceTrustParams {
  /**
   * The `sha256` returned by [`CompanyWorkspaceTrustGet`]. If the machine-specific settings have changed since, the
   * call fails and the folder stays untrusted. If absent, the current settings are not compared.
   */
  expected_sha256?: string | null;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceTrustGet`], [`CompanyWorkspaceTrust`] and [`CompanyWorkspaceTrustWithdraw`]. */
export interface CompanyWorkspaceTrustResponse {
  /** True if `.local/heartbeat/config.yaml` enables the heartbeat, which starts workers on its own. */
  heartbeat_enabled: boolean;
  /** The worker programs configured in `.local/machine.yaml`, by provider. They take effect only in a trusted folder. */
  programs: Record<string, string>;
  /**
   * The value for `expected_sha256`: SHA-256 of two lines `<sha256>  <relpath>`, each ending with a line feed, for
   * `.local/machine.yaml` and `.local/heartbeat/config.yaml`. The hash of a missing file is `-`.
   */
  sha256: string;
  /** True if the folder was created or trusted on this machine. */
  trusted: boolean;
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** Response of [`CompanyWorkspaceValidate`]. */
export interface CompanyWorkspaceValidateResponse {
  /** The issues of the folder. Absent if there are none. */
  issues?: ValidationIssue[] | null;
  /** True if there are no issues. */
  ok: boolean;
}

/** The capabilities of context planning. */
export interface ContextCapabilities {
  /** True if `job.submit` plans the context by default. */
  job_submit_auto_default: boolean;
  /** The version of the layer contract (L0, L1, L2) of the planner. */
  layers_version: number;
}

/** Why a candidate was included or filtered out. */
export type ContextDecision =
  /** The plan includes the candidate. */
  | "included"
  /** Policy does not allow the manager to pass it on. */
  | "filtered_policy"
  /** It is restricted, which requires a director or above. */
  | "filtered_sensitivity"
  /** It contains a secret. */
  | "filtered_secret"
  /** The memory delta is not approved. */
  | "filtered_not_approved"
  /** The maximum number of references was reached. */
  | "filtered_limit";

/** Layer of a reference. Layers are filled in this order. */
export type ContextLayer =
  /** Governance files and the seed references of the caller. */
  | "L0"
  /** Approved memory deltas. */
  | "L1"
  /** Recent history: manager digests, failure reports and runs with context cycles. */
  | "L2";

/** How the context of a worker is selected. */
export type ContextMode =
  /** The gateway plans the context, starting from `context_refs`. */
  | "auto"
  /** The worker receives exactly the `context_refs` of the contract. */
  | "manual";

/** Params of [`ContextPlanForJob`]. */
export interface ContextPlanForJobParams {
  /** Constraints of the job; they count for the ranking like the goal. Default: none. */
  constraints?: string[] | null;
  /** Seed references, which rank above all others. Default: none. */
  context_refs?: ContextRef[] | null;
  /** Deliverables of the job; they count for the ranking like the goal. Default: none. */
  deliverables?: string[] | null;
  /** Goal of the job. Documents that match its words rank higher. */
  goal: string;
  /** Kind of the job. Default: `execution`. */
  job_kind?: JobKind | null;
  /** Id of the manager who delegates the job. The plan contains only what this actor may pass on. */
  manager_actor_id: string;
  /** Role of that manager. */
  manager_role: ActorRole;
  /** Team id of that manager. Default: the team in the agent's `agent.yaml`; none for people. */
  manager_team_id?: string | null;
  /** Maximum number of references. Default: 32, or 8 for a heartbeat job. */
  max_refs?: number | null;
  /** Id of the project. */
  project_id: string;
  /** Id of the agent that will work. Its files and guidance are considered only if given. */
  worker_agent_id?: string | null;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`ContextPlanForJob`]. */
export interface ContextPlanForJobResponse {
  /** The chosen references, in order of layer and rank. */
  context_refs: ContextRef[];
  /** Number of candidates with the decision `filtered_policy`. */
  filtered_by_policy_count: number;
  /** Number of candidates with the decision `filtered_secret`. */
  filtered_by_secret_count: number;
  /** Number of candidates with the decision `filtered_sensitivity`. */
  filtered_by_sensitivity_count: number;
  /** Time of the plan, ISO-8601 in UTC. */
  generated_at: string;
  /** The layers of the chosen references, sorted. */
  layers_used: ContextLayer[];
  /** Maximum number of references that applied. */
  max_refs: number;
  /** The decision about each candidate; at most 200 entries. */
  retrieval_trace: ContextTraceEntry[];
  /** `agent_guidance` if a worker was named, else `project_memory`. */
  scope_kind: MemoryScopeKind;
  /** Id of the worker or the project that `scope_kind` refers to. */
  scope_ref: string;
  /** Number of entries left out of the trace. Absent if it is complete. */
  trace_truncated_count?: number | null;
}

/** A reference that a worker receives with its job. */
export interface ContextRef {
  /** Why the worker receives the reference. Absent if not given. */
  description?: string | null;
  /** Kind of the reference. */
  kind: ContextRefKind;
  /** The path, command, document id or text, depending on `kind`. */
  value: string;
}

/** Kind of a context reference. */
export type ContextRefKind =
  /** The path of a file in the company folder. */
  | "file"
  /** A command line. */
  | "command"
  /** The id of a document. */
  | "artifact"
  /** A free text. */
  | "note";

/** Kind of the source of a candidate. */
export type ContextSourceKind =
  /** A governance file of the company folder. */
  | "file"
  /** A manager digest or failure report. */
  | "artifact"
  /** A run with context cycles. */
  | "run"
  /** A free text. The planner does not use it at present. */
  | "note"
  /** A memory delta. */
  | "memory_delta"
  /** A seed reference of the caller. */
  | "seed";

/** The decision about one candidate. */
export interface ContextTraceEntry {
  /** Creation time of the source, ISO-8601. Absent for files and seeds. */
  created_at?: string | null;
  /** Decision of the planner. */
  decision: ContextDecision;
  /** Layer of the candidate. */
  layer: ContextLayer;
  /** Reason of the decision as a code, such as `base_context`, `max_refs_reached` or a policy reason. */
  reason: string;
  /** Part of `score` for matching the goal, at most 50. Absent if it is zero. */
  relevance?: number | null;
  /** Rank within the layer; higher is better. */
  score: number;
  /** Sensitivity of a memory delta. Absent for other sources and for deltas that are not approved. */
  sensitivity?: Sensitivity | null;
  /**
   * File path, document id or run id of the source, or `seed:<kind>:<value>`. For a seed with a secret, the value is
   * replaced by a hash.
   */
  source_id: string;
  /** Kind of its source. */
  source_kind: ContextSourceKind;
  /** Who may read the source. Absent if the source has no visibility or it was not read. */
  visibility?: Visibility | null;
}

/** A conversation, on the wire as in `conversation.yaml`. */
export interface Conversation {
  /** Whether the gateway created the conversation as a default. Default: false. */
  auto_generated?: boolean;
  /** Time the conversation was created, ISO-8601. */
  created_at: string;
  /** Id of the person or agent that created the conversation. */
  created_by: string;
  /** Id of the other participant of a direct conversation. Absent for other kinds. */
  dm_peer_agent_id?: string | null;
  /** Id of the conversation. */
  id: string;
  /** Kind of the conversation. */
  kind: ConversationKind;
  /** Display name of the conversation. */
  name: string;
  /** The participants of the conversation. */
  participants: Participants;
  /** Id of the project. Absent for the scope `workspace`. */
  project_id?: string | null;
  /** Schema version of the document. The gateway writes 1. */
  schema_version: number;
  /** Whether the conversation belongs to the company (`workspace`) or to a project. */
  scope: CompanyScope;
  /** Short name of the conversation, such as `home` or `executive-office`. */
  slug: string;
  /** Document type: always `conversation`. */
  type: ConversationTag;
  /** Who may read the conversation besides its participants. */
  visibility: Visibility;
}

/** Params of [`ConversationCreateChannel`]. */
export interface ConversationCreateChannelParams {
  /** Id of the person or agent that creates the channel. The creator is not added to the participants. */
  created_by: string;
  /** Display name of the channel. */
  name: string;
  /** Ids of the agents and people that participate. Default: none. */
  participant_agent_ids?: string[] | null;
  /** Ids of the teams that participate. Default: none. */
  participant_team_ids?: string[] | null;
  /** Id of the project. Required for the scope `project`; ignored otherwise. */
  project_id?: string | null;
  /** Whether the conversation belongs to the company (`workspace`) or to a project. */
  scope: CompanyScope;
  /** Short name of the channel, unique within its scope. `home` is reserved. */
  slug: string;
  /** Who may read the channel. Default: `team`. */
  visibility?: Visibility | null;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Params of [`ConversationCreateDm`]. */
export interface ConversationCreateDmParams {
  /** Id of the person or agent that starts the conversation. */
  created_by: string;
  /** Id of the other participant. */
  peer_agent_id: string;
  /** Id of the project. Required for the scope `project`; ignored otherwise. */
  project_id?: string | null;
  /** Whether the conversation belongs to the company (`workspace`) or to a project. */
  scope: CompanyScope;
  /** Who may read a new conversation. Default: `private_agent`. */
  visibility?: Visibility | null;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`ConversationCreateChannel`] and [`ConversationCreateDm`]. */
export type ConversationCreatedResponse = Conversation;

/** The kind of a conversation. */
export type ConversationKind =
  /** The main conversation of its scope. */
  | "home"
  /** A named conversation of several members. */
  | "channel"
  /** A direct conversation between two actors. */
  | "dm";

/** Params of [`ConversationList`]. */
export interface ConversationListParams {
  /** Id of the person or agent that reads; conversations it may not read are omitted. Default: the caller's own id. */
  actor_id?: string | null;
  /** Role of that actor, at most the role of the caller's token. Default: the role of the token. */
  actor_role?: ActorRole | null;
  /** Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people. */
  actor_team_id?: string | null;
  /** Id of the project. Required for the scope `project`; ignored otherwise. */
  project_id?: string | null;
  /** Whether to list the conversations of the company (`workspace`) or of a project. */
  scope: CompanyScope;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`ConversationList`]. */
export type ConversationListResponse = Conversation[];

/** Params of [`ConversationMembersSync`]. */
export interface ConversationMembersSyncParams {
  /** Id of the person who acts as CEO. Default: `human_ceo`. */
  ceo_actor_id?: string | null;
  /** Id of the executive manager. Default: an agent chosen from the company's managers. */
  executive_manager_agent_id?: string | null;
  /** Id of the project. */
  project_id: string;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`ConversationMembersSync`]. */
export interface ConversationMembersSyncResponse {
  /** Ids of the default conversations of the project, in order of creation. */
  conversation_ids: string[];
  /** Id of the agent that assists the whole company. */
  global_manager_agent_id: string;
  /** Id of the agent that assists the project. */
  project_secretary_agent_id: string;
}

/** A message, on the wire as in `messages.jsonl`. */
export interface ConversationMessage {
  /** Id of the person or agent that sent the message. */
  author_id: string;
  /** Role of the author. */
  author_role: ActorRole;
  /** Text of the message. */
  body: string;
  /** Id of the conversation. */
  conversation_id: string;
  /** Time the message was sent, ISO-8601. */
  created_at: string;
  /** Id of the message. */
  id: string;
  /** Kind of the message. Default: `text`. */
  kind?: MessageKind;
  /** Ids of the agents and people mentioned in the message. Default: none. */
  mentions?: string[];
  /** Id of the project. Absent if the conversation belongs to the company. */
  project_id?: string | null;
  /** Schema version of the document. The gateway writes 1. */
  schema_version: number;
  /** Document type: always `message`. */
  type: ConversationMessageTag;
  /** Who may read the message among those who may read the conversation. */
  visibility: Visibility;
}

/** Params of [`ConversationMessageSend`]. */
export interface ConversationMessageSendParams {
  /** Id of the person or agent that sends the message. It must be allowed to read the conversation. */
  author_id: string;
  /** Role of the author. */
  author_role: ActorRole;
  /** Text of the message. Surrounding white space is removed; text with a secret is rejected. */
  body: string;
  /** Id of the conversation. */
  conversation_id: string;
  /** Kind of the message. Default: `text`. */
  kind?: MessageKind | null;
  /** Ids of the agents and people mentioned in the message. Default: none. */
  mentions?: string[] | null;
  /** Id of the project. Required for the scope `project`; ignored otherwise. */
  project_id?: string | null;
  /** Whether the conversation belongs to the company (`workspace`) or to a project. */
  scope: CompanyScope;
  /** Who may read the message. Default: the visibility of the conversation. */
  visibility?: Visibility | null;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`ConversationMessageSend`]. */
export interface ConversationMessageSendResponse {
  /** The conversation of the message. */
  conversation: Conversation;
  /** The message as stored. */
  message: ConversationMessage;
}

/** The document type `message`. */
export type ConversationMessageTag =
  /** The only value. */
  | "message";

/** Params of [`ConversationMessagesList`]. */
export interface ConversationMessagesListParams {
  /**
   * Id of the person or agent that reads; the call fails if it may not read the conversation. Default: the caller's
   * own id.
   */
  actor_id?: string | null;
  /** Role of that actor, at most the role of the caller's token. Default: the role of the token. */
  actor_role?: ActorRole | null;
  /** Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people. */
  actor_team_id?: string | null;
  /** Cursor: list only messages before this one. An unknown id returns an empty list. */
  before_message_id?: string | null;
  /** Id of the conversation. */
  conversation_id: string;
  /** Maximum number of messages. Default: 300. */
  limit?: number | null;
  /** Id of the project. Required for the scope `project`; ignored otherwise. */
  project_id?: string | null;
  /** Whether the conversation belongs to the company (`workspace`) or to a project. */
  scope: CompanyScope;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`ConversationMessagesList`]. */
export type ConversationMessagesListResponse = ConversationMessage[];

/** Payload of `conversation.notification`: a message and its conversation. */
export interface ConversationNotification {
  /** The conversation of the message. */
  conversation: Conversation;
  /** The message that was sent. */
  message: ConversationMessage;
  /** Id of the subscription that receives the message. */
  subscription_id: string;
  /** Path of the company folder as the subscription named it, else as the sender named it. */
  workspace_dir: string;
}

/** The document type `conversation`. */
export type ConversationTag =
  /** The only value. */
  | "conversation";

/** Whether the dependencies of the tasks contain a cycle. */
export type CpmStatus =
  /** The dependencies contain no cycle. */
  | "ok"
  /** The dependencies contain at least one cycle. */
  | "dependency_cycle";

/** The project and the agent a client should open first. */
export interface DefaultSession {
  /** The id of the agent. */
  actor_id: string;
  /** The role of the agent. */
  actor_role: AgentRole;
  /** The id of the team of the first department. */
  actor_team_id?: string | null;
  /** The id of the project. */
  project_id: string;
}

/** A filter on the status of memory deltas. */
export type DeltaFilter =
  /** Deltas that wait for a decision. */
  | "pending"
  /** Deltas that were approved and applied. */
  | "approved"
  /** Deltas that were denied. */
  | "denied"
  /** Undecided deltas that can only be denied. */
  | "invalid"
  /** Deltas of any status. */
  | "all";

/** The status of a memory delta. */
export type DeltaStatus =
  /** The delta waits for a decision. */
  | "pending"
  /** The delta was approved and applied. */
  | "approved"
  /** The delta was denied. */
  | "denied"
  /** The delta is undecided and can only be denied, because its file, its target or its patch is unusable. */
  | "invalid";

/** A worker that got no task. */
export interface DeniedAssignment {
  /** The id of the worker's team. Absent if the agent is unknown or has no team. */
  actual_team_id?: string | null;
  /** The id of the director's team, which the worker must belong to. */
  expected_team_id?: string | null;
  /** The reason code: `agent_not_found`, `not_worker_role` or `cross_team_assignment_denied`. */
  reason: string;
  /** The id of the worker, as given in the request. */
  worker_agent_id: string;
}

/** A department of a new company. */
export interface DepartmentRow {
  /** The key of the department. */
  department_key: string;
  /** The name of the department. */
  department_label: string;
  /** The id of the director of the department. */
  director_agent_id: string;
  /** The id of the department's team. */
  team_id: string;
  /** The ids of the workers of the department. */
  worker_agent_ids: string[];
}

/** Params of [`DesktopBootstrapSnapshot`]. */
export interface DesktopBootstrapSnapshotParams {
  /** Id of the person or agent that reads. Its role is that of the caller's token. */
  actor_id: string;
  /** Id of the conversation. Required for the view `conversation`. */
  conversation_id?: string | null;
  /** Id of the project. Required for the scope `project`; ignored otherwise. */
  project_id?: string | null;
  /** Whether to show the company (`workspace`) or one project. */
  scope: CompanyScope;
  /** The main view to fill `view_data` for. */
  view: DesktopView;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`DesktopBootstrapSnapshot`]. */
export interface DesktopBootstrapSnapshotResponse {
  /** Counts of the view `activities`. All zero for other views. */
  activity_summary: ActivitySummary;
  /** The actor id of the request. */
  actor_id: string;
  /** All agents, as `workspace.agents.list` returns them. */
  agents: AgentRow[];
  /** The conversation id of the request. Absent if none was given. */
  conversation_id?: string | null;
  /** The conversations of the scope, as `conversation.list` returns them. */
  conversations: Conversation[];
  /** Progress and counts over all projects. */
  pm_summary: PortfolioSummary;
  /** Id of the project. Absent for the scope `workspace`. */
  project_id?: string | null;
  /** All projects, as `workspace.projects.list` returns them. */
  projects: ProjectRow[];
  /** Totals of agents, runs, tokens and cost in the scope. */
  resources_summary: ResourceTotals;
  /** The scope of the request. */
  scope: CompanyScope;
  /** Time of the response, ISO-8601 in UTC. */
  sync_ts: string;
  /** All teams, as `workspace.teams.list` returns them. */
  teams: TeamRow[];
  /** The view of the request. */
  view: DesktopView;
  /** The data of the requested view. */
  view_data: DesktopViewData;
  /** Path of the company folder as the request named it. */
  workspace_dir: string;
}

/** Data of the desktop view `home`. */
export interface DesktopHome {
  /** The response of `pm.snapshot` for the scope. */
  pm: PmSnapshotResponse;
  /** Recommended allocations of the project's tasks. Empty for the scope `workspace`. */
  recommendations: DesktopRecommendation[];
  /** The response of `resources.snapshot` for the scope. */
  resources: ResourcesSnapshotResponse;
  /** State of all projects, as `workspace.home.snapshot` returns it. */
  workspace_home: HomeSnapshot;
}

/** The recommended allocation of a task. */
export interface DesktopRecommendation {
  /** The id of the recommended agent. Absent if no agent is suitable. */
  preferred_agent_id?: string | null;
  /** The recommended model. Absent if the agent has no model hint. */
  preferred_model?: string | null;
  /** The recommended provider. */
  preferred_provider: string;
  /** The reason for the recommendation, in one sentence. */
  rationale: string;
  /** Why the allocation is recommended, in one sentence. */
  reason: string;
  /** The individual reasons, one per item. Absent if there are none. */
  reasons?: string[];
  /** The id of the task. */
  task_id: string;
  /** The recommended budget in tokens. */
  token_budget_hint: number;
}

/** A browser that is signed in to the web desktop. */
export interface DesktopSession {
  /** The time of sign-in in Unix seconds. */
  created_at: number;
  /**
   * The time in Unix seconds at which the session expires: 30 days after the last use, but at most 90 days after
   * sign-in.
   */
  expires_at: number;
  /** The id of the desktop session. */
  id: DesktopSessionId;
  /** Whether the request was sent by this browser. */
  is_current: boolean;
  /** The time of last use in Unix seconds; updated at most once per hour. */
  last_used_at: number;
  /** The `User-Agent` header that the browser sent when it signed in, at most 256 characters; empty if it sent none. */
  user_agent: string;
}

/** Params of [`DesktopSessionEnd`]. */
export interface DesktopSessionEndParams {
  /** The id of the desktop session to end. */
  session_id: DesktopSessionId;
}

/** Response of [`DesktopSessionEnd`]. */
export interface DesktopSessionEndResponse {
  /** Whether the session existed. */
  ended: boolean;
}

/** The id of a browser session of the web desktop. */
export type DesktopSessionId = string;

/** Params of [`DesktopSessionList`]. */
export type DesktopSessionListParams = Record<string, never>;

/** Response of [`DesktopSessionList`]. */
export interface DesktopSessionListResponse {
  /** The sessions that have not expired, most recently used first. */
  items: DesktopSession[];
}

/** The main view of the desktop. */
export type DesktopView =
  /** The state of all projects. */
  | "home"
  /** Runs, pending decisions and usage. */
  | "activities"
  /** Agents, providers, models and their usage. */
  | "resources"
  /** The messages of one conversation. */
  | "conversation";

/** The data of a desktop view. The shape depends on the requested view. */
export type DesktopViewData =
  /** Data of the view `home`. */
  | DesktopHome
  /** Data of the view `activities`. */
  | {
    /** The response of `ui.snapshot`. */
    ui: UiSnapshotResponse;
  }
  /** Data of the view `resources`. */
  | {
    /** The response of `resources.snapshot`. */
    resources: ResourcesSnapshotResponse;
  }
  /** Data of the view `conversation`. */
  | {
    /** The newest messages of the conversation, at most 3000, oldest first. */
    messages: ConversationMessage[];
  };

/** The names of the files in a diagnostics bundle, relative to `bundle_dir`. */
export interface DiagnosticsFiles {
  /** The file name of the response of `adapter.status`. */
  adapters: string;
  /** The file name of the response of `workspace.doctor`. */
  doctor: string;
  /** The file name of the response of `index.stats`. `null` if there is no readable index. */
  index_stats?: string | null;
  /** The file name of the manifest. */
  manifest: string;
  /** The file name of the response of `monitor.snapshot`. */
  monitor_snapshot: string;
  /** The file name of the response of `inbox.snapshot`. */
  review_inbox_snapshot: string;
  /** The file name of the response of `session.list`. */
  sessions: string;
}

/** The result of one check of a company folder. */
export interface DoctorCheck {
  /** The individual findings, one per item. Absent if there are none. */
  details?: string[] | null;
  /** The id of the check, such as `workspace.schema`. */
  id: string;
  /** A description of the outcome. */
  message: string;
  /** The outcome of the check. */
  status: DoctorStatus;
}

/** The outcome of a check. */
export type DoctorStatus =
  /** The check passed. */
  | "pass"
  /** The check found something that may need attention. */
  | "warn"
  /** The check failed. */
  | "fail";

/** The number of checks by outcome. */
export interface DoctorSummary {
  /** The number of checks that failed. */
  fail: number;
  /** The number of checks that passed. */
  pass: number;
  /** The number of checks with a warning. */
  warn: number;
}

/** The id of a download. */
export type DownloadId = string;

/** Params of [`EventsAck`]. */
export interface EventsAckParams {
  /**
   * Acknowledges the sent events whose `ts_monotonic_ms` is at most this, and no others. The value counts
   * milliseconds from the start of the process that wrote the event, so use `last_event_id` where several processes
   * write.
   */
  last_ack_ts_monotonic_ms?: number | null;
  /** Acknowledges this event and all events sent before it. Takes precedence over `last_ack_ts_monotonic_ms`. */
  last_event_id?: string | null;
  /** Id of the subscription. */
  subscription_id: string;
}

/** Payload of `events.notification`. */
export interface EventsNotification {
  /** The event as stored in `events.jsonl`. */
  event: unknown;
  /** Id of the project of the event. */
  project_id?: string | null;
  /** Position of the event among the lines of its log, starting at 1. */
  seq?: number | null;
  /** Id of the subscription that receives the event. */
  subscription_id: string;
  /** Path of the company folder as the subscription named it, else its root path. */
  workspace_dir?: string | null;
}

/** Params of [`EventsSubscribe`]. */
export interface EventsSubscribeParams {
  /** Id of the person or agent that subscribes; events it may not read are omitted. Default: the caller's own id. */
  actor_id?: string | null;
  /** Role of that actor, at most the role of the caller's token. Default: the role of the token. */
  actor_role?: ActorRole | null;
  /** Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people. */
  actor_team_id?: string | null;
  /**
   * Resume: send first the existing events after this one. Ignored without `workspace_dir`. If the event is not
   * found, the whole backfill is sent.
   */
  after_event_id?: string | null;
  /**
   * Maximum number of the newest existing events to send first, oldest first. Ignored without `workspace_dir`.
   * Default: no backfill, unless `after_event_id` is given.
   */
  backfill_limit?: number | null;
  /** Send only events of these types. Empty or absent: all types. */
  event_types?: string[] | null;
  /** Flow control: the gateway pauses while this many events are unacknowledged. Default: no limit. */
  max_unacked?: number | null;
  /** Send only events of this project. */
  project_id?: string | null;
  /** Send only events of this run. */
  run_id?: string | null;
  /**
   * Id of the subscription. An existing subscription of the connection with this id is replaced. Default: the
   * gateway generates one.
   */
  subscription_id?: string | null;
  /** Send only events of this company folder. Required by `backfill_limit` and `after_event_id`. */
  workspace_dir?: string | null;
}

/** Response of [`EventsSubscribe`]. */
export interface EventsSubscribeResponse {
  /** Id of the subscription. */
  subscription_id: string;
}

/** Params of [`EventsUnsubscribe`]. */
export interface EventsUnsubscribeParams {
  /** Id of the subscription to end. */
  subscription_id: string;
}

/** Response of [`EventsUnsubscribe`]. */
export interface EventsUnsubscribeResponse {
  /** Whether a subscription with this id existed. */
  removed: boolean;
}

/** The system prompt of a turn, split into its parts. */
export interface ExplainedPrompt {
  /** The version of the prompt compiler. Absent if the prompt is not compiled yet. */
  compiler_version?: string | null;
  /** The SHA-256 of the whole system prompt, in lower-case hexadecimal. Absent if the prompt is not compiled yet. */
  fingerprint_full?: string | null;
  /** The parts, in prompt order. Empty if the prompt is not compiled yet. */
  pieces: PromptPiece[];
  /** The status of the turn. */
  status: TurnStatus;
  /** The id of the turn. */
  turn_id: TurnId;
}

/** The id of a folder of the thread tree. */
export type FolderId = string;

/** The schedule of the tasks of a project. */
export interface Gantt {
  /** Whether the dependencies contain a cycle. */
  cpm_status: CpmStatus;
  /**
   * The ids of the tasks in a dependency cycle, which are left out of the critical path computation. Absent if there
   * are none.
   */
  cycle_task_ids?: string[];
  /** The length of the critical path in days, over all tasks. */
  project_span_days: number;
  /** The length of the critical path in days if done tasks take no time and canceled tasks are left out. */
  remaining_span_days?: number | null;
  /** The tasks, ordered by `start_at`. */
  tasks: GanttTask[];
}

/** A task in a schedule. */
export interface GanttTask {
  /** The id of the agent the task is assigned to. Absent if there is none. */
  assignee_agent_id?: string | null;
  /** True if the task is on the critical path, so that any delay delays the project. */
  critical: boolean;
  /** The ids of the tasks that must be done first. */
  depends_on_task_ids: string[];
  /** The duration in days: the stored one, else the time between the planned dates, else 1. */
  duration_days: number;
  /**
   * The end of the bar, in ISO-8601: the planned end if there is one, otherwise the earliest finish. A planned end
   * is returned even if it is before `start_at` because of the dependencies; `schedule_conflict` is then true.
   */
  end_at: string;
  /** The progress of the task in percent, from 0 to 100 with one decimal. */
  progress_pct: number;
  /**
   * The slack in days if done tasks take no time and canceled tasks are left out. Absent for canceled tasks and for
   * tasks in a dependency cycle.
   */
  remaining_slack_days?: number | null;
  /**
   * True if the planned dates contradict the dependencies: the task starts before a dependency ends, or ends before
   * it can start. Absent when false.
   */
  schedule_conflict?: boolean;
  /** The number of days the task can be delayed without delaying the project. 0 for tasks in a dependency cycle. */
  slack_days: number;
  /** The start of the bar, in ISO-8601: the planned start, or the earliest start that the dependencies allow. */
  start_at: string;
  /** The status of the task. */
  status: TaskStatus;
  /** The id of the task. */
  task_id: string;
  /** The id of the team the task is assigned to. Absent if there is none. */
  team_id?: string | null;
  /** The title of the task. If the caller may not see the task, its id. */
  title: string;
}

/** An action that was seen, kept to recognize it by its key. */
export interface HeartbeatAction {
  /** Kind of the action: `launch_job`, `add_comment`, `create_approval_item` or `noop`. */
  action_kind: string;
  /** Number of times it was executed. */
  execution_count: number;
  /** Time at which the entry is dropped, ISO-8601 in UTC. */
  expires_at: string;
  /** Time it was first seen, ISO-8601 in UTC. */
  first_seen_at: string;
  /** Idempotency key of the action. */
  idempotency_key: string;
  /** Time it was last seen, ISO-8601 in UTC. */
  last_seen_at: string;
  /** Current status of the action. */
  status: HeartbeatActionStatus;
}

/** Status of an action that was seen. */
export type HeartbeatActionStatus =
  /** It waits for approval. */
  | "queued"
  /** It was executed. */
  | "executed";

/** An agent that was scored. */
export interface HeartbeatCandidate {
  /** The parts of the score. */
  components: HeartbeatComponents;
  /** SHA-256 of these facts in hexadecimal; it shows whether they changed since the last tick. */
  context_hash: string;
  /** The facts that were counted for the agent. */
  counts: HeartbeatCounts;
  /** Sum of `components`. */
  score: number;
  /** Whether the agent is not woken, whatever its score. */
  suppressed: boolean;
  /** Why: `suppressed_until=<time>` after a report with nothing to do, or `quiet_hours`. Absent if not suppressed. */
  suppression_reason?: string | null;
  /** Id of its team. Absent if it has none. */
  team_id?: string | null;
  /** Id of the agent. */
  worker_agent_id: string;
}

/** The parts of the score of an agent. */
export interface HeartbeatComponents {
  /** 3 if a task is due, else 0. */
  due_points: number;
  /** 5 if there are new events, else 0. */
  new_signal_points: number;
  /** 2 if a task is overdue, else 0. */
  overdue_points: number;
  /** -2 during the quiet hours, else 0. */
  quiet_hours_penalty: number;
  /** -3 if the agent recently reported nothing to do and its facts are unchanged, else 0. */
  recent_ok_penalty: number;
  /** 4 if a job is stuck, else 0. */
  stuck_points: number;
}

/** Heartbeat configuration, on the wire as in its file `.local/heartbeat/config.yaml`. */
export interface HeartbeatConfig {
  /**
   * Whether actions reported by a director run in the name of that director, so that it can start workers of its
   * team. Used in mode `enterprise_v1`. Default: false.
   */
  allow_director_to_spawn_workers?: boolean;
  /** A task counts as due if its planned end is at most this many minutes ahead. Default: 120. */
  due_horizon_minutes?: number;
  /**
   * Whether ticks run, periodic or requested. Default: true. Periodic ticks run only if the configuration file
   * exists.
   */
  enabled?: boolean;
  /** Id of the agent that is the manager of heartbeat jobs in mode `enterprise_v1`. Absent: `heartbeat_coordinator`. */
  executive_manager_agent_id?: string | null;
  /** Which agents can be woken. Default: `standard`. */
  hierarchy_mode?: HierarchyMode;
  /** Days for which an action is remembered by its idempotency key, so that it is not executed twice. Default: 14. */
  idempotency_ttl_days?: number;
  /** Upper limit in seconds of the random delay of each job of a periodic tick. Default: 90. */
  jitter_max_seconds?: number;
  /** Maximum number of reported actions executed without approval per hour (UTC). Default: 60. */
  max_auto_actions_per_hour?: number;
  /** Maximum number of reported actions that one tick executes without approval. Default: 10. */
  max_auto_actions_per_tick?: number;
  /** Minimum score for which an agent is woken. Default: 3. */
  min_wake_score?: number;
  /** Minutes for which an agent that reported nothing to do is not woken again unless its facts change. Default: 60. */
  ok_suppression_minutes?: number;
  /** Hour at which the quiet hours end. The same hour as the start means no quiet hours. Default: 7. */
  quiet_hours_end_hour?: number;
  /**
   * Hour at which the quiet hours begin, 0 to 23 in local time of the gateway. No agent is woken during them.
   * Default: 22.
   */
  quiet_hours_start_hour?: number;
  /** Schema version of the document. The gateway writes 1. Default: 1. */
  schema_version?: number;
  /** Minutes after which a running job counts as stuck. Default: 30. */
  stuck_job_running_minutes?: number;
  /** Minutes between two ticks. Default: 20. */
  tick_interval_minutes?: number;
  /** Maximum number of agents woken per tick. Default: 2. */
  top_k_workers?: number;
  /** Document type: always `heartbeat_config`. */
  type?: HeartbeatConfigTag;
}

/** Response of [`HeartbeatConfigGet`]. */
export type HeartbeatConfigResponse = HeartbeatConfig;

/** Params of [`HeartbeatConfigSet`]. */
export interface HeartbeatConfigSetParams {
  /** Whether actions reported by a director run in the name of that director. */
  allow_director_to_spawn_workers?: boolean | null;
  /** If true, return the resulting configuration and write nothing. Default: false. */
  dry_run?: boolean | null;
  /** A task counts as due if its planned end is at most this many minutes ahead. */
  due_horizon_minutes?: number | null;
  /** Whether ticks run, periodic or requested. */
  enabled?: boolean | null;
  /**
   * Id of the agent that is the manager of heartbeat jobs in mode `enterprise_v1`. It can be changed but not
   * removed.
   */
  executive_manager_agent_id?: string | null;
  /** Which agents can be woken. */
  hierarchy_mode?: HierarchyMode | null;
  /** Days for which an action is remembered by its idempotency key. */
  idempotency_ttl_days?: number | null;
  /** Upper limit in seconds of the random delay of each job of a periodic tick. */
  jitter_max_seconds?: number | null;
  /** Maximum number of reported actions executed without approval per hour (UTC). */
  max_auto_actions_per_hour?: number | null;
  /** Maximum number of reported actions that one tick executes without approval. */
  max_auto_actions_per_tick?: number | null;
  /** Minimum score for which an agent is woken. */
  min_wake_score?: number | null;
  /** Minutes for which an agent that reported nothing to do is not woken again unless its facts change. */
  ok_suppression_minutes?: number | null;
  /** Hour at which the quiet hours end. The same hour as the start means no quiet hours. */
  quiet_hours_end_hour?: number | null;
  /** Hour at which the quiet hours begin, in local time of the gateway. */
  quiet_hours_start_hour?: number | null;
  /** Minutes after which a running job counts as stuck. */
  stuck_job_running_minutes?: number | null;
  /** Minutes between two ticks. */
  tick_interval_minutes?: number | null;
  /** Maximum number of agents woken per tick. */
  top_k_workers?: number | null;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`HeartbeatConfigSet`]. */
export interface HeartbeatConfigSetResponse {
  /**
   * Whether actions reported by a director run in the name of that director, so that it can start workers of its
   * team. Used in mode `enterprise_v1`. Default: false.
   */
  allow_director_to_spawn_workers?: boolean;
  /** A task counts as due if its planned end is at most this many minutes ahead. Default: 120. */
  due_horizon_minutes?: number;
  /**
   * Whether ticks run, periodic or requested. Default: true. Periodic ticks run only if the configuration file
   * exists.
   */
  enabled?: boolean;
  /** Id of the agent that is the manager of heartbeat jobs in mode `enterprise_v1`. Absent: `heartbeat_coordinator`. */
  executive_manager_agent_id?: string | null;
  /** Limits of automatic work. Absent if the heartbeat is disabled. */
  forecast?: HeartbeatForecast | null;
  /** Which agents can be woken. Default: `standard`. */
  hierarchy_mode?: HierarchyMode;
  /** Days for which an action is remembered by its idempotency key, so that it is not executed twice. Default: 14. */
  idempotency_ttl_days?: number;
  /** Upper limit in seconds of the random delay of each job of a periodic tick. Default: 90. */
  jitter_max_seconds?: number;
  /** Maximum number of reported actions executed without approval per hour (UTC). Default: 60. */
  max_auto_actions_per_hour?: number;
  /** Maximum number of reported actions that one tick executes without approval. Default: 10. */
  max_auto_actions_per_tick?: number;
  /** Minimum score for which an agent is woken. Default: 3. */
  min_wake_score?: number;
  /** Minutes for which an agent that reported nothing to do is not woken again unless its facts change. Default: 60. */
  ok_suppression_minutes?: number;
  /** Hour at which the quiet hours end. The same hour as the start means no quiet hours. Default: 7. */
  quiet_hours_end_hour?: number;
  /**
   * Hour at which the quiet hours begin, 0 to 23 in local time of the gateway. No agent is woken during them.
   * Default: 22.
   */
  quiet_hours_start_hour?: number;
  /** Schema version of the document. The gateway writes 1. Default: 1. */
  schema_version?: number;
  /** Minutes after which a running job counts as stuck. Default: 30. */
  stuck_job_running_minutes?: number;
  /** Minutes between two ticks. Default: 20. */
  tick_interval_minutes?: number;
  /** Maximum number of agents woken per tick. Default: 2. */
  top_k_workers?: number;
  /** Document type: always `heartbeat_config`. */
  type?: HeartbeatConfigTag;
}

/** The document type `heartbeat_config`. */
export type HeartbeatConfigTag =
  /** The only value. */
  | "heartbeat_config";

/** The facts that count for the score of an agent. */
export interface HeartbeatCounts {
  /** Number of tasks whose planned end is within `due_horizon_minutes`. */
  due_tasks: number;
  /** Number of new events of its runs and by the agent itself since the last tick. */
  new_signals: number;
  /** Number of tasks whose planned end has passed. */
  overdue_tasks: number;
  /** Number of running jobs whose last attempt started `stuck_job_running_minutes` ago, or with two failed attempts. */
  stuck_jobs: number;
}

/** Limits of the work that an enabled heartbeat starts without a request. */
export interface HeartbeatForecast {
  /** The agents that can be woken, sorted by id. */
  agents: HeartbeatForecastAgent[];
  /** Maximum number of reported actions executed without approval per hour; an action can be a further job. */
  max_auto_actions_per_hour: number;
  /** Maximum number of workers that the ticks of one hour start. */
  max_workers_per_hour: number;
  /** Maximum number of workers that one tick starts. */
  max_workers_per_tick: number;
  /** The other fields in one sentence, for people. */
  summary: string;
  /** Minutes between two ticks. */
  tick_interval_minutes: number;
  /** The token cap of each readable project. */
  token_caps: HeartbeatForecastCap[];
}

/** An agent that can be woken. */
export interface HeartbeatForecastAgent {
  /** Id of the agent. */
  agent_id: string;
  /** Name of the agent. */
  name: string;
  /** Worker program that is started for the agent. */
  worker_kind: WorkerKind;
}

/** The token cap of a project. */
export interface HeartbeatForecastCap {
  /**
   * Number of tokens after which no worker of the project starts. Absent if the budget of the project has no such
   * limit.
   */
  hard_tokens?: number | null;
  /** Name of the project. */
  name: string;
  /** Id of the project. */
  project_id: string;
}

/** The heartbeat job of a woken agent. */
export interface HeartbeatJob {
  /** Random delay in seconds before the job starts. Only periodic ticks apply it. */
  jitter_seconds: number;
  /** Id of the job. */
  job_id: string;
  /** Id of the project of the job. */
  project_id: string;
  /** Id of the agent. */
  worker_agent_id: string;
}

/** The report of a heartbeat job, as printed by the worker and as stored in `heartbeat_report.json`. */
export interface HeartbeatReport {
  /** The proposed actions. At least one for status `actions`; empty or absent for status `ok`. */
  actions?: ProposedAction[] | null;
  /** The schema version of the report. Default 1. */
  schema_version?: number;
  /** `ok` if the worker has nothing to do, `actions` if it proposes actions. */
  status: HeartbeatReportStatus;
  /** A summary of what the worker found. */
  summary: string;
  /** `HEARTBEAT_OK`. Required for status `ok` and absent for status `actions`. */
  token?: HeartbeatToken | null;
  /** The document type, always `heartbeat_worker_report`. */
  type?: HeartbeatReportTag;
}

/** Status of a report. */
export type HeartbeatReportStatus =
  /** The agent has nothing to do. */
  | "ok"
  /** The agent proposes actions. */
  | "actions";

/** The document type of a heartbeat report. */
export type HeartbeatReportTag =
  /** The literal `heartbeat_worker_report`. */
  | "heartbeat_worker_report";

/** Runtime state of a heartbeat in this process. */
export interface HeartbeatRuntime {
  /** Error of the last periodic tick. Absent if it succeeded or none ran. */
  last_error?: string | null;
  /** Response of the last tick of this process, dry runs included. Absent before the first tick. */
  last_tick_summary?: HeartbeatTickResponse | null;
  /** Whether periodic ticks are scheduled. */
  loop_running: boolean;
  /** Time of the next periodic tick, ISO-8601 in UTC. Absent if none is scheduled. */
  next_scheduled_at?: string | null;
  /** Whether a tick is running in this process. */
  tick_in_progress: boolean;
}

/** Stored state of a heartbeat, on the wire as in its file `.local/heartbeat/state.yaml`. */
export interface HeartbeatState {
  /** Number of actions executed in each hour, by `YYYY-MM-DD-HH` in UTC. Hours older than two days are dropped. */
  hourly_action_counters?: Record<string, number>;
  /** Actions that were seen and have not expired, by idempotency key. */
  idempotency?: Record<string, HeartbeatAction>;
  /** Start of the last tick, ISO-8601 in UTC. Absent before the first tick. */
  last_tick_at?: string | null;
  /** Id of the last tick. Absent before the first tick. */
  last_tick_id?: string | null;
  /** Reason of the last tick. Absent before the first tick. */
  last_tick_reason?: string | null;
  /** Planned time of the next periodic tick, ISO-8601 in UTC. Absent before the first tick. */
  next_tick_at?: string | null;
  /** Number of the last event seen of each run, by `<project>::<run>`. */
  run_event_cursors?: Record<string, number>;
  /** Whether a tick is running. */
  running?: boolean;
  /** Schema version of the document. The gateway writes 1. Default: 1. */
  schema_version?: number;
  /** Counters since the state file was created. */
  stats?: HeartbeatStats;
  /** Document type: always `heartbeat_state`. */
  type?: HeartbeatStateTag;
  /** State of each agent, by agent id. */
  worker_state?: Record<string, HeartbeatWorkerState>;
}

/** The document type `heartbeat_state`. */
export type HeartbeatStateTag =
  /** The only value. */
  | "heartbeat_state";

/** Counters of a heartbeat. */
export interface HeartbeatStats {
  /** Number of actions executed by ticks. */
  actions_executed_total?: number;
  /** Number of actions queued for approval. */
  approvals_queued_total?: number;
  /** Number of actions skipped because their key was seen before. */
  deduped_actions_total?: number;
  /** Number of reports with status `actions`. */
  reports_actions_total?: number;
  /** Number of reports with status `ok`. */
  reports_ok_total?: number;
  /** Number of ticks. */
  ticks_total?: number;
  /** Number of agents woken. */
  workers_woken_total?: number;
}

/** Response of [`HeartbeatStatus`]. */
export interface HeartbeatStatusResponse {
  /** The effective configuration. */
  config: HeartbeatConfig;
  /** Why the configuration file is invalid; the heartbeat is disabled then. Absent if the file is valid or missing. */
  config_error?: string | null;
  /** Always true: a request that names a folder observes it. */
  observed: boolean;
  /** The state of this process. */
  runtime: HeartbeatRuntime;
  /** The stored state. */
  state: HeartbeatState;
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** Params of [`HeartbeatTick`]. */
export interface HeartbeatTickParams {
  /** If true, compute the scores and change nothing. Default: false. */
  dry_run?: boolean | null;
  /** Reason of the tick, recorded in the state. Default: `rpc`. */
  reason?: string | null;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`HeartbeatTick`]. */
export interface HeartbeatTickResponse {
  /** Number of actions executed. */
  actions_executed: number;
  /** Number of actions queued for approval. */
  approvals_queued: number;
  /** All agents that were scored. */
  candidates: HeartbeatCandidate[];
  /** The configuration that applied. */
  config: HeartbeatConfig;
  /** Number of actions skipped because their idempotency key was seen before. */
  deduped_actions: number;
  /** Whether the tick only computed scores. */
  dry_run: boolean;
  /** Duration in milliseconds. */
  duration_ms: number;
  /** Whether the heartbeat is enabled. */
  enabled: boolean;
  /** End of the tick, ISO-8601 in UTC. */
  finished_at: string;
  /** The jobs that were started for them. Empty in a dry run. */
  jobs_submitted: HeartbeatJob[];
  /** Reason of the tick: `interval` for periodic ticks, otherwise the reason of the request. */
  reason: string;
  /** Number of reports with status `actions`. */
  reports_actions: number;
  /** Number of reports with status `ok`. */
  reports_ok: number;
  /** Number of reports received, including late reports of earlier ticks. */
  reports_processed: number;
  /** Number of actions that need approval but name no project, so that no proposal can be written. */
  skipped_actions: number;
  /** True if the tick did nothing because another tick of the company is running. */
  skipped_due_to_running: boolean;
  /**
   * Why the tick did nothing: `tick_already_in_progress`, `heartbeat_disabled` or `ticked_by_another_process`.
   * Absent if it ran.
   */
  skipped_reason?: string | null;
  /** Start of the tick, ISO-8601 in UTC. */
  started_at: string;
  /** Id of the tick: `hbtick_` and a suffix. */
  tick_id: string;
  /** The agents that are woken, highest score first. In a dry run, those that would be woken. */
  woken_workers: HeartbeatWake[];
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** The token a worker prints if it has nothing to do. */
export type HeartbeatToken =
  /** The literal `HEARTBEAT_OK`. */
  | "HEARTBEAT_OK";

/** An agent that is woken. */
export interface HeartbeatWake {
  /** SHA-256 of the facts of the agent, in hexadecimal. */
  context_hash: string;
  /** Random delay in seconds of its job. Only periodic ticks apply it. */
  jitter_seconds: number;
  /** Project of most of its facts, otherwise that of its latest run. Absent if there is neither. */
  project_id?: string | null;
  /** The reasons as phrases, such as `2 new events`. */
  reasons: string[];
  /** Score of the agent. */
  score: number;
  /** Id of its team. Absent if it has none. */
  team_id?: string | null;
  /** Id of the agent. */
  worker_agent_id: string;
}

/** Stored state of one agent. */
export interface HeartbeatWorkerState {
  /** Hash of its facts at the last tick. Absent before the first tick. */
  last_context_hash?: string | null;
  /** Time of its last report with nothing to do, ISO-8601 in UTC. Absent if there was none. */
  last_ok_at?: string | null;
  /** Status of its last report. Absent if there was none. */
  last_report_status?: HeartbeatReportStatus | null;
  /** Time it was last woken, ISO-8601 in UTC. Absent if it never was. */
  last_wake_at?: string | null;
  /** Time until which it is not woken unless its facts change, ISO-8601 in UTC. Absent if it is not suppressed. */
  suppressed_until?: string | null;
}

/** Front matter of a help request, on the wire as in its file `inbox/help_requests/<id>.md`. */
export interface HelpRequest {
  /** Time of the request, ISO-8601. */
  created_at: string;
  /** Id of the help request. */
  id: string;
  /** Id of the project. Absent if the request belongs to none. */
  project_id?: string | null;
  /** Id of the person or agent that asks for help. */
  requester: string;
  /** Schema version of the document. The gateway writes 1. */
  schema_version: number;
  /** Id of the share pack attached to the request. Absent if there is none. */
  share_pack_id?: string | null;
  /** Id of the manager that is asked. */
  target_manager: string;
  /** Title of the request. */
  title: string;
  /** Document type: always `help_request`. */
  type: HelpRequestTag;
  /** Who may read the request. The target manager always may. */
  visibility: Visibility;
}

/** The document type `help_request`. */
export type HelpRequestTag =
  /** The only value. */
  | "help_request";

/** Which agents can be woken. */
export type HierarchyMode =
  /** Workers, and managers without a team or whose team has no worker. */
  | "standard"
  /** Directors and workers. */
  | "enterprise_v1";

/** A project in a [`HomeSnapshot`]. */
export interface HomeProject {
  /**
   * The number of runs that were launched and have not ended. Runs older than 24 hours count only if their session
   * is known to be live.
   */
  active_runs: number;
  /** The number of tasks with status `blocked`. */
  blocked_tasks: number;
  /** The time the project was created, in ISO-8601. */
  created_at: string;
  /** The number of runs with status `running` that were never launched. */
  idle_runs: number;
  /** The name of the project. */
  name: string;
  /** The number of documents that wait for a decision. */
  pending_reviews: number;
  /** The mean progress of the tasks in percent, from 0 to 100 with one decimal. */
  progress_pct: number;
  /** The id of the project. */
  project_id: string;
  /** The ids of the repositories linked to the project. */
  repo_ids: string[];
  /** The risks of the project: `pending_reviews` and `blocked_tasks`, as far as they apply. */
  risk_flags: string[];
  /** The status of the project. */
  status: ProjectStatus;
  /** The number of tasks. */
  task_count: number;
}

/** The projects of a company and their totals. */
export interface HomeSnapshot {
  /** The time the snapshot was generated, in ISO-8601. */
  generated_at: string;
  /** The projects, newest first. */
  projects: HomeProject[];
  /** Totals over all projects. */
  summary: HomeSummary;
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** Totals over all projects of a [`HomeSnapshot`]. */
export interface HomeSummary {
  /**
   * The number of runs that were launched and have not ended. Runs older than 24 hours count only if their session
   * is known to be live.
   */
  active_runs: number;
  /** The number of projects with at least one blocked task. */
  blocked_projects: number;
  /** The number of runs with status `running` that were never launched. */
  idle_runs: number;
  /** The number of documents that wait for a decision. */
  pending_reviews: number;
  /** The mean progress of the projects in percent, from 0 to 100 with one decimal. */
  progress_pct: number;
  /** The number of projects. */
  project_count: number;
  /** The number of tasks. */
  task_count: number;
}

/** One run of a hook. */
export interface HookRun {
  /** The number of attempts so far. */
  attempt_count: number;
  /** The time at which the run ended, in Unix milliseconds. Absent if it has not ended. */
  completed_at_ms?: number | null;
  /** The number of contributions that the run returned. */
  contribution_count: number;
  /** The hash of each contribution, `sha256:` followed by lower-case hexadecimal. */
  contribution_hashes: string[];
  /** The number of diagnostics that the run returned. */
  diagnostic_count: number;
  /** The message of each diagnostic; messages that users may not read are replaced by a placeholder. */
  diagnostic_previews: string[];
  /** The error of the run or of its last attempt. Absent if none occurred. */
  error?: HookRunError | null;
  /** The id of the hook. */
  hook_id: string;
  /** The id of the run, `hkr_…`. */
  id: string;
  /** The phase of the turn, for example `turn.pre_prompt_compile`. */
  phase: string;
  /** The time at which the run was queued, in Unix milliseconds. */
  queued_at_ms: number;
  /** The time at which the run started, in Unix milliseconds. Absent if it has not started. */
  started_at_ms?: number | null;
  /** The current status of the run. */
  status: HookRunStatus;
  /** The id of the subscription that started the run. */
  subscription_id: string;
  /** The id of the thread. Absent if the run does not belong to a thread. */
  thread_id?: string | null;
  /** The id of the turn. Absent if the run does not belong to a turn. */
  turn_id?: string | null;
}

/** The error of a hook run. */
export interface HookRunError {
  /** A stable name for the error. */
  code: string;
  /** A one-sentence description. Replaced by a placeholder if `safe_for_user` is `false`. */
  message: string;
  /** Whether another attempt may succeed. */
  retryable: boolean;
  /** Whether users may read the original message. */
  safe_for_user: boolean;
}

/** The status of a hook run. */
export type HookRunStatus =
  /** The run waits to be started or retried. */
  | "queued"
  /** The run is in progress. */
  | "running"
  /** The run ended without an error. */
  | "succeeded"
  /** The run ended with an error. */
  | "failed"
  /** The run exceeded its timeout. */
  | "timed_out"
  /** The run was not started because the phase failed before it. */
  | "skipped";

/** Params of [`HookRunsList`]. All filters that are present must match. */
export interface HookRunsListParams {
  /** The `next_cursor` of the previous page. Absent for the first page. */
  cursor?: string | null;
  /** Return only runs of the hook with this id. Absent for all. */
  hook_id?: string | null;
  /** The maximum number of runs to return. Default 100, maximum 500. */
  limit?: number | null;
  /** Return only runs with this status. Absent for all. */
  status?: HookRunStatus | null;
  /** Return only runs of the thread with this id. Absent for all. */
  thread_id?: ThreadId | null;
  /** Return only runs of the turn with this id. Absent for all. */
  turn_id?: TurnId | null;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`HookRunsList`]. */
export interface HookRunsListResponse {
  /** The runs, newest first. */
  items: HookRun[];
  /** The cursor of the next page. Absent on the last page. */
  next_cursor?: string | null;
}

/** A decision about a document. */
export interface InboxDecision {
  /** Id of the person or agent that decided. */
  actor_id: string;
  /** Role of that actor. */
  actor_role: ActorRole;
  /** Type of the document. Null if it no longer exists. */
  artifact_type?: string | null;
  /** Time of the decision, ISO-8601. */
  created_at: string;
  /** The decision. */
  decision: ReviewDecision;
  /** Comment of the actor. Null or empty if there is none. */
  notes?: string | null;
  /** Number of lines of the event log of that run that are not JSON. */
  parse_error_count: number;
  /** Id of the project. */
  project_id: string;
  /** Id of the review. */
  review_id: string;
  /** Id of the run that produced the document. Null if unknown or if the document no longer exists. */
  run_id?: string | null;
  /** Id of the document that was decided about. */
  subject_artifact_id: string;
  /** Kind of the subject: `memory_delta`, `milestone` or `heartbeat_action`. */
  subject_kind: string;
}

/** A file that a decision depends on. */
export interface InboxFile {
  /** Path relative to the company folder. */
  relpath: string;
  /** Role of the file in the decision. */
  role: InboxFileRole;
  /** SHA-256 of the whole file, in hexadecimal. Absent if the file is missing or cannot be read. */
  sha256?: string | null;
  /**
   * Text of the file, at most its first MiB. Absent if the file is missing, if the actor may not read it, and in
   * errors.
   */
  text?: string | null;
  /** True if `text` is only the beginning of the file. Absent otherwise. */
  truncated?: boolean | null;
}

/** Role of a file in a decision. */
export type InboxFileRole =
  /** The document that needs the decision. */
  | "document"
  /** The patch of a memory delta. */
  | "patch"
  /** The memory or guidance file that a memory delta changes. */
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
  /** Id of the person or agent that reads; items it may not read are omitted. Default: the caller's own id. */
  actor_id?: string | null;
  /** Role of that actor, at most the role of the caller's token. Default: the role of the token. */
  actor_role?: ActorRole | null;
  /** Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people. */
  actor_team_id?: string | null;
  /** Maximum number of items. Default: 200. */
  limit?: number | null;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`InboxListReviews`]. */
export type InboxListReviewsResponse = Review[];

/** Summary of event log lines that are not JSON, over the runs of an inbox. */
export interface InboxParseErrors {
  /** Number of decisions about documents of such runs. */
  decisions_with_errors: number;
  /** Whether any run has such lines. */
  has_parse_errors: boolean;
  /** Largest number of such lines of one run. */
  max_parse_error_count: number;
  /** Number of pending documents of such runs. */
  pending_with_errors: number;
}

/** A document that needs a decision. */
export interface InboxPending {
  /** Id of the document. */
  artifact_id: string;
  /** Type of the document: `memory_delta`, `milestone_report` or `heartbeat_action_proposal`. */
  artifact_type: string;
  /** Creation time, ISO-8601. Null if the document does not state it. */
  created_at?: string | null;
  /** True if the document is malformed: it can be denied but not approved. Absent otherwise. */
  invalid?: boolean | null;
  /** Number of lines of the event log of that run that are not JSON. */
  parse_error_count: number;
  /** Id of the agent or person that wrote it. Null if the document does not state it. */
  produced_by?: string | null;
  /** Id of its project. */
  project_id: string;
  /** Id of the run that produced it. Null if the document does not state it. */
  run_id?: string | null;
  /** Title of the document. Null if it has none. */
  title?: string | null;
  /** Who may read the document. Null if the document does not state it. */
  visibility?: string | null;
}

/** Params of [`InboxRead`]. */
export interface InboxReadParams {
  /** Id of the person or agent that reads. */
  actor_id: string;
  /** Role of that actor, at most the role of the caller's token. */
  actor_role: ActorRole;
  /** Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people. */
  actor_team_id?: string | null;
  /** Id of the document. */
  artifact_id: string;
  /** Id of the project. */
  project_id: string;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`InboxRead`]. */
export interface InboxReadResponse {
  /** Id of the document. */
  artifact_id: string;
  /** Type of the document. */
  artifact_type: string;
  /** The files that the decision depends on, the document first. */
  files: InboxFile[];
  /** Front matter of the document. */
  frontmatter: Record<string, unknown>;
  /** Id of the project. */
  project_id: string;
  /**
   * The value for `expected_sha256`: SHA-256 of one line per file, `<sha256>  <relpath>` and a line feed, in the
   * order of `files`. This is the output format of `sha256sum`; a missing file has `-` in place of its hash.
   */
  sha256: string;
}

/** Params of [`InboxResolve`]. */
export interface InboxResolveParams {
  /** Id of the person or agent that decides. */
  actor_id: string;
  /** Role of that actor, at most the role of the caller's token. */
  actor_role: ActorRole;
  /** Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people. */
  actor_team_id?: string | null;
  /** Id of the document. */
  artifact_id: string;
  /** The decision. */
  decision: ReviewDecision;
  /**
   * The `sha256` that [`InboxRead`] returned: if any of its files changed since, the request is rejected and nothing
   * is decided. Absent: the current files are decided about.
   */
  expected_sha256?: string | null;
  /** Comment on the decision; text with a secret is rejected. Default: none. */
  notes?: string | null;
  /** Id of the project. */
  project_id: string;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`InboxResolve`]. */
export interface InboxResolveResponse {
  /** Id of the document. */
  artifact_id: string;
  /** The decision. */
  decision: ReviewDecision;
  /** Result of an approved action. Present for approved heartbeat actions only. */
  execution?: ActionExecution | null;
  /** Id of the milestone. Present for milestones only. */
  milestone_id?: string | null;
  /** Status of the milestone after the decision. Present for milestones only. */
  milestone_status?: MilestoneStatus | null;
  /** Id of the project. */
  project_id: string;
  /**
   * True if the patch of an approved memory delta no longer applied and its lines were inserted under their heading
   * instead. Absent otherwise.
   */
  rebased?: boolean | null;
  /** Id of the new review. */
  review_id: string;
  /** Kind of the subject: `memory_delta`, `milestone` or `heartbeat_action`. */
  subject_kind: string;
  /** Id of the task. Present for milestones only. */
  task_id?: string | null;
  /** Status of the task after the decision. Present for milestones only. */
  task_status?: TaskStatus | null;
}

/** Params of [`InboxSnapshot`]. */
export interface InboxSnapshotParams {
  /** Id of the person or agent that reads; documents it may not read are omitted. Default: the caller's own id. */
  actor_id?: string | null;
  /** Role of that actor, at most the role of the caller's token. Default: the role of the token. */
  actor_role?: ActorRole | null;
  /** Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people. */
  actor_team_id?: string | null;
  /** Maximum number of decisions. Default: 200. */
  decisions_limit?: number | null;
  /** Maximum number of pending documents. Default: 200. */
  pending_limit?: number | null;
  /** List only items of this project. Default: all projects. */
  project_id?: string | null;
  /** If true, rebuild the index first. Default: false. */
  refresh_index?: boolean | null;
  /** If true, sync the index first. Default: true. */
  sync_index?: boolean | null;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`InboxSnapshot`]. */
export interface InboxSnapshotResponse {
  /**
   * Pending proposals for AGENTS.md files in the workspace linked to the company folder, newest first: at most 50,
   * and only those of the project's folder if `project_id` is given. `thread/agents_doc/proposal/decide` decides
   * about them. Absent if there are none.
   */
  agents_doc_proposals?: ThreadAgentsDocProposal[];
  /** Time of the snapshot, ISO-8601 in UTC. */
  generated_at: string;
  /** Whether the request rebuilt the index. */
  index_rebuilt: boolean;
  /** Whether the request synced the index. */
  index_synced: boolean;
  /** Summary of event log lines that are not JSON, over the runs of the listed documents. */
  parse_errors: InboxParseErrors;
  /** Documents that need a decision, newest first. */
  pending: InboxPending[];
  /** Decisions, newest first. */
  recent_decisions: InboxDecision[];
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** Params of [`IndexListEventParseErrors`]. */
export interface IndexListEventParseErrorsParams {
  /** Maximum number of lines. Default: 200. */
  limit?: number | null;
  /** List only lines of this project. Default: all projects. */
  project_id?: string | null;
  /** List only lines of this run. Default: all runs. */
  run_id?: string | null;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`IndexListEventParseErrors`]. */
export type IndexListEventParseErrorsResponse = IndexedParseError[];

/** Params of [`IndexListEvents`]. */
export interface IndexListEventsParams {
  /** Id of the person or agent that reads; events it may not read are omitted. Default: the caller's own id. */
  actor_id?: string | null;
  /** Role of that actor, at most the role of the caller's token. Default: the role of the token. */
  actor_role?: ActorRole | null;
  /** Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people. */
  actor_team_id?: string | null;
  /** Maximum number of events. Default: 500. */
  limit?: number | null;
  /** Order by time. Default: `desc`. */
  order?: IndexOrder | null;
  /** List only events of this project. Default: all projects. */
  project_id?: string | null;
  /** List only events of this run. Default: all runs. */
  run_id?: string | null;
  /** List only events with a greater `seq`. Meant for use with `run_id`. Default: all. */
  since_seq?: number | null;
  /** List only events of this type. Default: all types. */
  type?: string | null;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`IndexListEvents`]. */
export type IndexListEventsResponse = IndexedEvent[];

/** Params of [`IndexListHelpRequests`]. */
export interface IndexListHelpRequestsParams {
  /** Maximum number of help requests. Default: 200. */
  limit?: number | null;
  /** List only help requests of this project. Default: all projects. */
  project_id?: string | null;
  /** List only help requests to this manager. Default: any. */
  target_manager?: string | null;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`IndexListHelpRequests`]. */
export type IndexListHelpRequestsResponse = IndexedHelpRequest[];

/** Params of [`IndexListReviews`]. */
export interface IndexListReviewsParams {
  /** List only reviews with this decision. Default: any. */
  decision?: ReviewDecision | null;
  /** Maximum number of reviews. Default: 200. */
  limit?: number | null;
  /** List only reviews of this project. Default: all projects. */
  project_id?: string | null;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`IndexListReviews`]. */
export type IndexListReviewsResponse = IndexedReview[];

/** Params of [`IndexListRuns`]. */
export interface IndexListRunsParams {
  /** Id of the person or agent that reads. Default: the caller's own id. */
  actor_id?: string | null;
  /** Role of that actor, at most the role of the caller's token. Default: the role of the token. */
  actor_role?: ActorRole | null;
  /** Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people. */
  actor_team_id?: string | null;
  /** Maximum number of runs. Default: 200. */
  limit?: number | null;
  /** List only runs of this project. Default: all projects. */
  project_id?: string | null;
  /** List only runs with this status. Default: any. */
  status?: RunStatus | null;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`IndexListRuns`]. */
export type IndexListRunsResponse = IndexedRun[];

/** Order of a list by time. */
export type IndexOrder =
  /** Oldest first. */
  | "asc"
  /** Newest first. */
  | "desc";

/** Response of [`IndexRebuild`]: numbers of indexed items. */
export interface IndexRebuildResponse {
  /** Number of agents with usage counters. */
  agent_counters_indexed: number;
  /** Number of documents. */
  artifacts_indexed: number;
  /** Number of conversations. */
  conversations_indexed: number;
  /** Path of the index file. */
  db_path: string;
  /** Duration in milliseconds. */
  duration_ms: number;
  /** Number of event log lines that are not JSON. */
  event_parse_errors: number;
  /** Number of events. */
  events_indexed: number;
  /** Number of files found by the scan. */
  files_scanned: number;
  /** Number of help requests. */
  help_requests_indexed: number;
  /** Number of messages. */
  messages_indexed: number;
  /** Number of reviews. */
  reviews_indexed: number;
  /** Number of runs. */
  runs_indexed: number;
  /** Number of milestones of tasks. */
  task_milestones_indexed: number;
  /** Number of tasks. */
  tasks_indexed: number;
}

/** Params of [`IndexSearch`]. */
export interface IndexSearchParams {
  /** Id of the person or agent that reads; texts it may not read are omitted. Default: the caller's own id. */
  actor_id?: string | null;
  /** Role of that actor, at most the role of the caller's token. Default: the role of the token. */
  actor_role?: ActorRole | null;
  /** Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people. */
  actor_team_id?: string | null;
  /** Search only texts of these kinds. Default: all kinds. */
  kinds?: SearchKind[] | null;
  /** Maximum number of hits. Default: 50. */
  limit?: number | null;
  /** Search only texts of this project. Default: all projects. */
  project_id?: string | null;
  /** Words that must all occur. `"two words"` matches a phrase, `begin*` a prefix. */
  query: string;
  /** If true, sync the index first. Default: true. */
  sync_index?: boolean | null;
  /** Path of the company folder. */
  workspace_dir: string;
}

/** Response of [`IndexSearch`]. */
export interface IndexSearchResponse {
  /** Whether there are more hits than `limit`. */
  has_more: boolean;
  /** The hits: documents, messages, comments and tasks by relevance, then events, newest first. */
  items: SearchHit[];
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** Response of [`IndexStats`]: numbers of rows. */
export interface IndexStatsResponse {
  /** Number of agents with usage counters. */
  agent_counters: number;
  /** Number of documents. */
  artifacts: number;
  /** Number of conversations. */
  conversations: number;
  /** Number of event log lines that are not JSON. */
  event_parse_errors: number;
  /** Number of events. */
  events: number;
  /** Number of help requests. */
  help_requests: number;
  /** Number of messages. */
  messages: number;
  /** Number of reviews. */
  reviews: number;
  /** Number of runs. */
  runs: number;
  /** Number of milestones of tasks. */
  task_milestones: number;
  /** Number of tasks. */
  tasks: number;
}

/** Response of [`IndexSync`]: numbers of changed rows. Unchanged rows are not counted. */
export interface IndexSyncResponse {
  /** Number of agents whose usage counters were deleted. */
  agent_counters_deleted: number;
  /** Number of agents whose usage counters changed. */
  agent_counters_upserted: number;
  /** Number of documents deleted. */
  artifacts_deleted: number;
  /** Number of documents added or changed. */
  artifacts_upserted: number;
  /** Number of conversations deleted. */
  conversations_deleted: number;
  /** Number of conversations added or changed. */
  conversations_upserted: number;
  /** Whether the index did not exist and was created. */
  db_created: boolean;
  /** Path of the index file. */
  db_path: string;
  /** Duration in milliseconds. */
  duration_ms: number;
  /** Number of lines that were not JSON and were repaired or removed. */
  event_parse_errors_deleted: number;
  /** Number of lines added that are not JSON. */
  event_parse_errors_indexed: number;
  /** Number of events deleted. */
  events_deleted: number;
  /** Number of events added. */
  events_indexed: number;
  /** Number of files added, changed or deleted. */
  files_changed: number;
  /** Number of files found by the scan. */
  files_scanned: number;
  /** Number of help requests deleted. */
  help_requests_deleted: number;
  /** Number of help requests added or changed. */
  help_requests_upserted: number;
  /** Number of messages deleted. */
  messages_deleted: number;
  /** Number of messages added. */
  messages_indexed: number;
  /** Number of reviews deleted. */
  reviews_deleted: number;
  /** Number of reviews added or changed. */
  reviews_upserted: number;
  /** Number of runs deleted. */
  runs_deleted: number;
  /** Number of runs added or changed. */
  runs_upserted: number;
  /** Number of milestones replaced or deleted. */
  task_milestones_deleted: number;
  /** Number of milestones written with those tasks. */
  task_milestones_indexed: number;
  /** Number of tasks deleted. */
  tasks_deleted: number;
  /** Number of tasks added or changed. */
  tasks_upserted: number;
}

/** Params of [`IndexSyncWorkerStatus`] and [`IndexSyncWorkerFlush`]: none; given fields are ignored. */
export type IndexSyncWorkerParams = Record<string, never>;

/**
 * Response of [`IndexSyncWorkerStatus`] and [`IndexSyncWorkerFlush`]. Times are Unix milliseconds and null before the
 * first occurrence.
 */
export interface IndexSyncWorkerStatusResponse {
  /** Whether the worker was stopped. */
  closed: boolean;
  /** Time in milliseconds that the worker waits for further events before it syncs. */
  debounce_ms: number;
  /** Whether the worker is enabled. Always true. */
  enabled: boolean;
  /** End of the last batch. */
  last_batch_completed_at_ms?: number | null;
  /** Start of the last batch. */
  last_batch_started_at_ms?: number | null;
  /** Time of the last failed sync. */
  last_error_at_ms?: number | null;
  /** Error message of the last failed sync. Null if there was none, and for tokens limited to some workspaces. */
  last_error_message?: string | null;
  /**
   * Path of the company folder of the last failed sync. Null if there was none, and for tokens limited to some
   * workspaces.
   */
  last_error_workspace?: string | null;
  /** Path of the company folder of that event. Null also for tokens limited to some workspaces. */
  last_notified_workspace?: string | null;
  /** Last time that this process wrote an event. */
  last_notify_at_ms?: number | null;
  /** End of the last batch. The same as `last_batch_completed_at_ms`. */
  last_run_at_ms?: number | null;
  /** Minimum pause in milliseconds between two batches. */
  min_interval_ms: number;
  /** Number of company folders with events that wait to be indexed. */
  pending_workspaces: number;
  /** Whether a batch is running. */
  running: boolean;
  /** Number of batches. */
  total_batches: number;
  /** Number of times that this process wrote events. */
  total_notify_calls: number;
  /** Number of syncs of watched folders. */
  total_watch_syncs: number;
  /** Number of company folders synced in batches. */
  total_workspace_sync_attempts: number;
  /** Number of those syncs that failed. */
  total_workspace_sync_errors: number;
  /** Number of company folders watched for changes by other programs. */
  watched_workspaces: number;
}

/** An indexed event. */
export interface IndexedEvent {
  /** Id of the actor that caused the event. Null if the event has none. */
  actor?: string | null;
  /** Payload as compact JSON text; `null` if the event has none. */
  payload_json: string;
  /** Id of the project. */
  project_id: string;
  /** The line of the log as it was written. */
  raw_json: string;
  /** Id of the run. */
  run_id: string;
  /** Number of the line in the event log, blank lines not counted, from 1. */
  seq: number;
  /** Id of the session. Null if the event has none. */
  session_ref?: string | null;
  /** Milliseconds since the writing process started. Null if the event has none. */
  ts_monotonic_ms?: number | null;
  /** Time of the event, ISO-8601. Null if the event has none. */
  ts_wallclock?: string | null;
  /** Type of the event; `unknown` if the line has none. */
  type: string;
  /** Who may read the event. Null if the event does not state it. */
  visibility?: string | null;
}

/** An indexed help request. */
export interface IndexedHelpRequest {
  /** Time of the request, ISO-8601. */
  created_at: string;
  /** Id of the help request. */
  help_request_id: string;
  /** Id of the project. Null if the request belongs to none. */
  project_id?: string | null;
  /** Id of the person or agent that asks for help. */
  requester: string;
  /** Id of the share pack attached to the request. Null if there is none. */
  share_pack_id?: string | null;
  /** Id of the manager that is asked. */
  target_manager: string;
  /** Title of the request. */
  title: string;
  /** Who may read the request. The target manager always may. */
  visibility: Visibility;
}

/** A line of an event log that is not JSON. */
export interface IndexedParseError {
  /** Message of the JSON parser. */
  error: string;
  /** Id of the project. */
  project_id: string;
  /** The line. Empty if the role of the caller is below `human`, because the line carries no visibility. */
  raw_line: string;
  /** Id of the run. */
  run_id: string;
  /** Number of the line in the event log, blank lines not counted, from 1. */
  seq: number;
}

/** An indexed review. */
export interface IndexedReview {
  /** Id of the person or agent that decided. */
  actor_id: string;
  /** Role of that actor. */
  actor_role: ActorRole;
  /** Time of the decision, ISO-8601. */
  created_at: string;
  /** The decision. */
  decision: ReviewDecision;
  /** Comment of the actor. Null or empty if there is none. */
  notes?: string | null;
  /** Id of the project. */
  project_id: string;
  /** Id of the review. */
  review_id: string;
  /** Id of the document that was decided about. */
  subject_artifact_id: string;
  /** Kind of the subject: `memory_delta`, `milestone` or `heartbeat_action`. */
  subject_kind: string;
}

/** An indexed run. */
export interface IndexedRun {
  /** Id of the agent. */
  agent_id: string;
  /** Number of context cycles: how often the provider compacted or renewed its context. Null if not recorded. */
  context_cycles_count?: number | null;
  /** Source of that number: `provider_signal` or `unavailable`. Null if not recorded. */
  context_cycles_source?: string | null;
  /** Id of the context pack that the run received. */
  context_pack_id: string;
  /** Creation time, ISO-8601. */
  created_at: string;
  /** Id of the project. */
  project_id: string;
  /** Provider that executes the run, such as `codex`. */
  provider: string;
  /** Id of the run. */
  run_id: string;
  /** Id of the milestone the run works on. Null if none. */
  spec_milestone_id?: string | null;
  /** Model the run was started with. Null if none was chosen. */
  spec_model?: string | null;
  /** Id of the task the run works on. Null if none. */
  spec_task_id?: string | null;
  /** Status of the run. */
  status: RunStatus;
  /** Confidence of the token count: `high` or `low`. Null without usage. */
  usage_confidence?: string | null;
  /** Cost in US dollars. Null if unknown. */
  usage_cost_usd?: number | null;
  /** Source of the token count: `provider_reported` or `estimated_chars`. Null without usage. */
  usage_source?: string | null;
  /** Number of tokens used. Null if unknown. */
  usage_total_tokens?: number | null;
}

/** A file in the task folder that cannot be read as a task. */
export interface InvalidTaskFile {
  /** The issues of the file. */
  issues: Issue[];
  /** The path of the file, relative to the company folder. */
  relpath: string;
}

/** One violation of the schema or of a rule. */
export interface Issue {
  /**
   * Kind of the issue: `invalid_type`, `invalid_value`, `too_small`, `too_big`, `unrecognized_keys`,
   * `invalid_format`, `invalid_union` or `custom`.
   */
  code: string;
  /** Description of the issue for people. */
  message: string;
  /** Keys and array positions from the outermost value down to the invalid one. Empty for the whole value. */
  path: unknown[];
  [member: string]: unknown;
}

/** Payload of `item/agent_message/delta`. */
export interface ItemAgentMessageDeltaNotification {
  /** The text to append to the message. */
  delta: string;
  /** The id of the agent message. */
  item_id: string;
  /** The number of the delta within the item, from 0. */
  seq: number;
  /** The id of the thread. */
  thread_id: ThreadId;
  /** The id of the turn. */
  turn_id: TurnId;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Payload of `item/completed`. */
export interface ItemCompletedNotification {
  /** The complete item. */
  item: TurnItem;
  /** The id of the thread. */
  thread_id: ThreadId;
  /** The id of the turn. */
  turn_id: TurnId;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Payload of `item/started`. */
export interface ItemStartedNotification {
  /** The item; an agent message contains the text generated so far. */
  item: TurnItem;
  /** The id of the thread. */
  thread_id: ThreadId;
  /** The id of the turn. */
  turn_id: TurnId;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** One attempt at a job. Each attempt has its own run. */
export interface JobAttempt {
  /** The number of the attempt, starting at 1. */
  attempt: number;
  /** The id of the context pack of the run. */
  context_pack_id: string;
  /** SHA-256 of the stored context plan. Absent in context mode `manual`. */
  context_plan_hash?: string | null;
  /** The path of the stored context plan, relative to the company folder. Absent in context mode `manual`. */
  context_plan_relpath?: string | null;
  /** The time the attempt ended, in ISO-8601. Absent while it runs. */
  ended_at?: string | null;
  /** Why the attempt failed, was stopped, or waits for its provider. Absent if there was no error. */
  error?: string | null;
  /** The output format the program is asked for, such as `json` or `stream-json`. Absent if the driver uses none. */
  output_format?: string | null;
  /** The provider of that agent. */
  provider: string;
  /** The worker program. Absent until the program is resolved. */
  provider_bin?: string | null;
  /** SHA-256 of the text the program prints for `--help`. Absent if unknown. */
  provider_help_hash?: string | null;
  /** The first line the program prints for `--version`. Absent if unknown. */
  provider_version?: string | null;
  /** The id of the run of this attempt. */
  run_id: string;
  /** The reference of the session of this attempt. */
  session_ref: string;
  /** The time the attempt started, in ISO-8601. */
  started_at: string;
  /** The status of the attempt. */
  status: RunStatus;
  /** The id of the agent that worked on the attempt. */
  worker_agent_id: string;
  /** The kind of worker program that ran the attempt. */
  worker_kind: WorkerKind;
}

/** Response of [`JobCollect`]. */
export interface JobCollectResponse {
  /** All attempts in order, including one that is running. */
  attempts: JobAttempt[];
  /** True once `job.cancel` was called for the job. */
  cancellation_requested: boolean;
  /** The number of the latest attempt. 0 before the first one. */
  current_attempt: number;
  /** The path of `result.json`, relative to the project folder. Absent until the job is finished. */
  final_result_relpath?: string | null;
  /** The goal in the contract of the job. */
  goal?: string | null;
  /** The report of the worker. Present only for finished `heartbeat` jobs with a valid report. */
  heartbeat_report?: HeartbeatReport | null;
  /** The id of the job. */
  job_id: string;
  /** A shortened form of the result for managers. Absent until the job is finished. */
  manager_digest?: ManagerDigest | null;
  /** The id of the project. */
  project_id: string;
  /** The result of the job. Absent until the job is finished. */
  result?: JobResult | null;
  /**
   * The status of the result; a `completed` job may have a result with status `blocked` or `needs_input`. Absent
   * until the job has a result.
   */
  result_status?: JobResultStatus | null;
  /** The current status of the job. */
  status: JobStatus;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** An error of a job. */
export interface JobError {
  /** The error code, such as `worker_unavailable` or `result_unparseable`. */
  code: string;
  /** Further data about the error. Absent if there is none. */
  details?: unknown;
  /** The error message. */
  message: string;
}

/** The kind of a job. */
export type JobKind =
  /** The worker executes work and returns a result. */
  | "execution"
  /** The worker checks for work and returns a heartbeat report. */
  | "heartbeat";

/** Params of [`JobList`]. */
export interface JobListParams {
  /** Id of the person or agent that reads. Default: the caller's own id. */
  actor_id?: string | null;
  /** Role of that actor, at most the role of the caller's token. Default: the role of the token. */
  actor_role?: ActorRole | null;
  /** Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people. */
  actor_team_id?: string | null;
  /** The maximum number of jobs to return. Default 200. */
  limit?: number | null;
  /** The id of the project. */
  project_id: string;
  /** Return only jobs with this status. All if absent. */
  status?: JobStatus | null;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`JobList`]. */
export type JobListResponse = JobPollResponse[];

/** Params of [`JobPoll`], [`JobCollect`] and [`JobCancel`]. */
export interface JobParams {
  /** Id of the person or agent that reads. Default: the caller's own id. */
  actor_id?: string | null;
  /** Role of that actor, at most the role of the caller's token. Default: the role of the token. */
  actor_role?: ActorRole | null;
  /** Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people. */
  actor_team_id?: string | null;
  /** The id of the job. */
  job_id: string;
  /** The id of the project. */
  project_id: string;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`JobPoll`] and [`JobCancel`]. */
export interface JobPollResponse {
  /** All attempts in order, including one that is running. */
  attempts: JobAttempt[];
  /** True once `job.cancel` was called for the job. */
  cancellation_requested: boolean;
  /** The number of the latest attempt. 0 before the first one. */
  current_attempt: number;
  /** The path of `result.json`, relative to the project folder. Absent until the job is finished. */
  final_result_relpath?: string | null;
  /** The goal in the contract of the job. */
  goal?: string | null;
  /** The id of the job. */
  job_id: string;
  /** The id of the project. */
  project_id: string;
  /**
   * The status of the result; a `completed` job may have a result with status `blocked` or `needs_input`. Absent
   * until the job has a result.
   */
  result_status?: JobResultStatus | null;
  /** The current status of the job. */
  status: JobStatus;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** The result of a job, in responses and in `result.json`. */
export interface JobResult {
  /** The files the worker reports to have produced. */
  artifacts: ProducedFile[];
  /** The id of the run that produced the result. `none` if there was no attempt. */
  attempt_run_id: string;
  /** The commands the worker reports to have run. */
  commands_run: CommandRun[];
  /** The errors reported by the worker or by the gateway. */
  errors: JobError[];
  /** The files the worker reports as changed. */
  files_changed: ChangedFile[];
  /** The id of the job. */
  job_id: string;
  /** The follow-up actions the worker recommends. */
  next_actions: NextAction[];
  /** The schema version of the result, currently 1. */
  schema_version: number;
  /** The outcome of the job. */
  status: JobResultStatus;
  /** A summary of the outcome, as prose. */
  summary: string;
  /** The document type, always `result`. */
  type: JobResultTag;
}

/** The outcome of a job. */
export type JobResultStatus =
  /** The worker reached the goal. */
  | "succeeded"
  /** The job needs input from a person or a manager, also when no attempt returned a valid result. */
  | "needs_input"
  /** The job cannot proceed, for example because no worker is available or its checks failed. */
  | "blocked"
  /** The job failed. */
  | "failed"
  /** The job was canceled. */
  | "canceled";

/** The document type of a job result. */
export type JobResultTag =
  /** The literal `result`. */
  | "result";

/** The contract of a job, in requests and in `job.yaml`. Unknown fields are rejected. */
export interface JobSpec {
  /** The constraints the worker must respect, one per item. May be empty. */
  constraints: string[];
  /** How the context of the worker is selected. Default `auto`, which requires `manager_actor_id` and `manager_role`. */
  context_mode?: ContextMode | null;
  /**
   * References to context for the worker. In mode `auto` they are the seeds of the context plan, and the stored
   * contract lists the planned references instead.
   */
  context_refs: ContextRef[];
  /** The deliverables the worker must produce, one per item. May be empty. */
  deliverables: string[];
  /** The goal of the job, as given to the worker. */
  goal: string;
  /** The id of the job. If it contains only whitespace, the gateway generates an id. */
  job_id: string;
  /** Whether the job does work or prepares a heartbeat report. Default `execution`. */
  job_kind?: JobKind;
  /** The id of the actor that delegates the job. Required in context mode `auto`; otherwise `manager` if absent. */
  manager_actor_id?: string | null;
  /**
   * The role of the delegating actor. Required in context mode `auto`; otherwise `manager` if absent, or the role of
   * the caller's token if that is lower.
   */
  manager_role?: ActorRole | null;
  /** The id of the delegating actor's team. Absent if unknown. */
  manager_team_id?: string | null;
  /**
   * The maximum number of references in the context plan. Default 32 for `execution` jobs and 8 for `heartbeat`
   * jobs.
   */
  max_context_refs?: number | null;
  /** The model the worker program is asked to use. If absent, the `model_hint` of the agent applies. */
  model?: string | null;
  /** The permissions of the worker. */
  permission_level: PermissionLevel;
  /** The id of the project the job belongs to. */
  project_id: string;
  /** The schema version of the contract. Default 1. */
  schema_version?: number;
  /** The document type, always `job`. */
  type?: JobTag;
  /**
   * The id of the agent that does the work; its provider must match `worker_kind`. If absent, the gateway chooses
   * the first agent by name with role worker or manager and a matching provider.
   */
  worker_agent_id?: string | null;
  /** The kind of worker program that runs the job. */
  worker_kind: WorkerKind;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** The status of a job. */
export type JobStatus =
  /** The job is accepted and has not started. */
  | "queued"
  /** A worker runs, or the job waits until its provider accepts requests again. */
  | "running"
  /** The job has a result. The outcome is in the `status` of the result, which may also be `failed` or `blocked`. */
  | "completed"
  /** The job was canceled before it had another result. */
  | "canceled";

/** Params of [`JobSubmit`]. */
export interface JobSubmitParams {
  /**
   * If true, the worker runs in the repository itself, or in the company folder if no repository applies, instead of
   * in a folder of its own. Requires `manager_role` `human`, and each run logs it. Default false.
   */
  in_place?: boolean | null;
  /** The contract of the job. */
  job: JobSpec;
  /** The id of the milestone the job works on. Requires `task_id`. */
  milestone_id?: string | null;
  /**
   * The id of the repository the worker gets a worktree of. If absent, the repository named by `context_refs` is
   * used, or else the only repository linked to the project. Without a repository the job runs in a scratch folder
   * of its run.
   */
  repo_id?: string | null;
  /** If true, replaces an existing job of the same id and discards its result. Default false. */
  resubmit?: boolean | null;
  /**
   * The id of the task the job works on; attempts count against the budget of this task. Absent if the job belongs
   * to no task.
   */
  task_id?: string | null;
}

/** Response of [`JobSubmit`]. */
export interface JobSubmitResponse {
  /** The id of the job. */
  job_id: string;
  /** The id of the project. */
  project_id: string;
  /** `queued` for a new job, or the current status of a job that is already active. */
  status: JobStatus;
  /**
   * Warnings about names in the contract that do not exist in this company, such as an unknown agent. One sentence
   * each; absent if there are none.
   */
  warnings?: string[];
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** The document type of a job contract. */
export type JobTag =
  /** The literal `job`. */
  | "job";

/** The leading agents of a new company. */
export interface LeadingAgents {
  /** The id of the CEO. Absent if none was created. */
  ceo_agent_id?: string | null;
  /** The id of the director above the departments. Absent in mode `enterprise`, or if none was created. */
  director_agent_id?: string | null;
  /** The id of the executive manager. Absent in mode `standard`. */
  executive_manager_agent_id?: string | null;
}

/** A shortened job result for managers, in responses and in `manager_digest.json`. */
export interface ManagerDigest {
  /** All produced files. */
  artifacts: ProducedFile[];
  /** The id of the run that produced the result. `none` if there was no attempt. */
  attempt_run_id: string;
  /** The first 20 commands, cut to 220 characters, with summaries cut to 180 characters. */
  commands_run: CommandRun[];
  /** The first 20 errors. */
  errors: JobError[];
  /** The first 20 changed files, with summaries cut to 180 characters. */
  files_changed: ChangedFile[];
  /** The id of the job. */
  job_id: string;
  /** The first 20 recommended actions, with both fields cut to 220 characters. */
  next_actions: NextAction[];
  /** How the gateway obtained the result, such as `retries_used`, `normalization` and `normalization_notes`. */
  signals: Record<string, unknown>;
  /** The outcome of the job. */
  status: JobResultStatus;
  /** The summary of the result, cut to 1200 characters. */
  summary: string;
}

/** Params of [`MemoryApproveDelta`]. */
export interface MemoryApproveDeltaParams {
  /** The id of the actor that approves the delta. */
  actor_id: string;
  /** The role of that actor. Approval requires `director` or above. */
  actor_role: ActorRole;
  /** The id of the actor's team. If absent, the gateway uses the team stored for the agent, if the actor is an agent. */
  actor_team_id?: string | null;
  /** The id of the delta. */
  artifact_id: string;
  /**
   * The `sha256` returned by `inbox.read` for this delta. If any of the files has changed since, the call fails and
   * nothing is decided. If absent, the decision applies to the current files.
   */
  expected_sha256?: string | null;
  /** Notes that are stored with the review. Optional. */
  notes?: string | null;
  /** The id of the project. */
  project_id: string;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`MemoryApproveDelta`]. */
export interface MemoryApproveDeltaResponse {
  /** The stored decision, always `approved`. */
  decision: ReviewDecision;
  /**
   * True if the stored patch no longer applied and the lines were inserted below their heading in the current file.
   * Absent otherwise.
   */
  rebased?: boolean | null;
  /** The id of the review that records the decision. */
  review_id: string;
}

/** A suggested memory delta. */
export interface MemoryCandidate {
  /** The confidence in the suggestion, from 0 to 1. */
  confidence: number;
  /** References that support the suggestion, such as `run:<id>`, `job:<id>` and document ids. */
  evidence: string[];
  /** The lines to insert. */
  insert_lines: string[];
  /** Why the lines are suggested. */
  rationale: string;
  /** Which kind of memory the delta would change. */
  scope_kind: MemoryScopeKind;
  /** The id of the project or of the agent whose memory the delta would change. */
  scope_ref: string;
  /** The suggested sensitivity. */
  sensitivity: Sensitivity;
  /** The heading the lines fit below, for `under_heading`. Absent if none is suggested. */
  suggested_heading?: string | null;
  /** The suggested title. */
  title: string;
}

/** The capabilities of governed memory. */
export interface MemoryCapabilities {
  /** The names of the params that identify the actor. */
  list_required_params: string[];
  /** True if `memory.list_deltas` requires an actor. */
  list_requires_actor: boolean;
  /** The schema versions of memory deltas that the gateway can read. */
  parse_supported: number[];
  /** The supported values of `scope_kind`. */
  scope_kind: string[];
  /** The supported values of `sensitivity`. */
  sensitivity: string[];
  /** How extracted candidates are handled. `review_only`: they are suggested and never applied. */
  session_candidate_mode: string;
  /** The schema version of new memory deltas. */
  write_schema_version: number;
}

/** The decision about a memory delta. */
export interface MemoryDecision {
  /** The id of the actor that decided. */
  actor_id: string;
  /** The role of that actor. */
  actor_role: ActorRole;
  /** The time of the decision, in ISO-8601. */
  created_at: string;
  /** Whether the delta was approved or denied. */
  decision: ReviewDecision;
  /** The notes stored with the review. Empty if there are none. */
  notes: string;
  /** The id of the review that records the decision. */
  review_id: string;
}

/** A memory delta in a list. */
export interface MemoryDeltaRow {
  /** The id of the delta. */
  artifact_id: string;
  /** The time the delta was proposed, in ISO-8601. */
  created_at: string;
  /** The decision about the delta. `null` if there is none, that is for status `pending` and `invalid`. */
  decision?: MemoryDecision | null;
  /** References that support the proposal. */
  evidence: string[];
  /** The id of the actor that proposed the delta. */
  produced_by: string;
  /** The id of the project. */
  project_id: string;
  /** Why the change was proposed. A fixed sentence for deltas of schema version 1, which do not store it. */
  rationale: string;
  /** The id of the run the delta originates from. */
  run_id: string;
  /** Which kind of memory the delta changes. */
  scope_kind: MemoryScopeKind;
  /** The id of the project or of the agent whose memory the delta changes. */
  scope_ref: string;
  /** The sensitivity of the content. `internal` for deltas of schema version 1, which do not store it. */
  sensitivity: Sensitivity;
  /** The schema version of the delta's file, 1 or 2. 0 if the file cannot be read as a delta. */
  source_schema_version: number;
  /** The current status of the delta. */
  status: DeltaStatus;
  /** The title of the delta. */
  title: string;
  /** Which actors may see the delta. */
  visibility: Visibility;
}

/** Params of [`MemoryExtractCandidates`]. At least one of `job_id` and `run_id` is required. */
export interface MemoryExtractCandidatesParams {
  /** The id of the actor that requests the candidates; stored in the report. */
  actor_id: string;
  /** The role of that actor. */
  actor_role: ActorRole;
  /** The id of the actor's team. If absent, the gateway uses the team stored for the agent, if the actor is an agent. */
  actor_team_id?: string | null;
  /** The id of the job. If absent, the job that has an attempt with `run_id`. */
  job_id?: string | null;
  /** The maximum number of candidates to return. Default 20. */
  limit?: number | null;
  /** The id of the project. */
  project_id: string;
  /** The id of a run of the job. If absent, the run of its last attempt. */
  run_id?: string | null;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`MemoryExtractCandidates`]. */
export interface MemoryExtractCandidatesResponse {
  /** The number of candidates omitted because they contain a secret. */
  blocked_secret_count: number;
  /** The candidates. Pass one to `memory.propose_delta` to propose it. */
  candidates: MemoryCandidate[];
  /** The number of candidates in `candidates`. */
  count: number;
  /** The path of the stored report, relative to the company folder. */
  report_relpath: string;
}

/** Params of [`MemoryListDeltas`]. */
export interface MemoryListDeltasParams {
  /** The id of the actor whose visibility applies to the list. */
  actor_id: string;
  /** The role of that actor. */
  actor_role: ActorRole;
  /** The id of the actor's team. If absent, the gateway uses the team stored for the agent, if the actor is an agent. */
  actor_team_id?: string | null;
  /** The maximum number of deltas to return. Default 200. */
  limit?: number | null;
  /** Return only deltas of this project. All projects if absent. */
  project_id?: string | null;
  /** Return only deltas with this status. Default `all`. */
  status?: DeltaFilter | null;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`MemoryListDeltas`]. */
export interface MemoryListDeltasResponse {
  /** The number of deltas in `items`. */
  count: number;
  /** The number of deltas omitted because policy hides them from the actor. Counting stops when `limit` is reached. */
  filtered_by_policy_count: number;
  /** The deltas, newest first. */
  items: MemoryDeltaRow[];
  /** The project filter of the request. Absent if none was given. */
  project_id?: string | null;
  /** The status filter that was applied. */
  status: DeltaFilter;
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** Params of [`MemoryProposeDelta`]. */
export interface MemoryProposeDeltaParams {
  /** The id of the context pack of that run. */
  context_pack_id: string;
  /** References that support the proposal, such as document ids or `run:<id>` and `job:<id>` tags. */
  evidence: string[];
  /** The lines to insert. Each item is one line. */
  insert_lines: string[];
  /** The id of the actor that proposes the delta. */
  produced_by: string;
  /** The id of the project. */
  project_id: string;
  /** Why the change is proposed. Must not be blank. */
  rationale: string;
  /** The id of the run the delta originates from. */
  run_id: string;
  /** Which kind of memory the delta changes. */
  scope_kind: MemoryScopeKind;
  /**
   * The id of the agent for `agent_guidance`, where it is required. For `project_memory` the id of the project,
   * which is also the default.
   */
  scope_ref?: string | null;
  /** The sensitivity of the content. `restricted` cannot be combined with visibility `org`. */
  sensitivity: Sensitivity;
  /** The title of the delta, at most 200 characters. */
  title: string;
  /** The heading line below which the lines are inserted, exactly as in the target file, for example `## Decisions`. */
  under_heading: string;
  /** Which actors may see the delta. */
  visibility: Visibility;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`MemoryProposeDelta`]. */
export interface MemoryProposeDeltaResponse {
  /** The id of the new delta. */
  artifact_id: string;
  /** The path of the delta, relative to the company folder. */
  artifact_relpath: string;
  /** The path of its patch file, relative to the company folder. */
  patch_relpath: string;
  /** Which kind of memory the delta changes. */
  scope_kind: MemoryScopeKind;
  /** The id of the project or of the agent whose memory the delta changes. */
  scope_ref: string;
  /** The path of the memory file the patch applies to, relative to the company folder. */
  target_file: string;
}

/** The kind of memory a delta changes. */
export type MemoryScopeKind =
  /** The memory of a project, `memory.md`. */
  | "project_memory"
  /** The guidance of an agent, its `AGENTS.md`. */
  | "agent_guidance";

/** The id of a message of a turn. */
export type MessageId = string;

/** The kind of a message. */
export type MessageKind =
  /** A message written by an actor. */
  | "text"
  /** A message generated by the gateway. */
  | "system"
  /** A report of a worker. */
  | "report";

/** A milestone of a task. */
export interface Milestone {
  /** The criteria for accepting the milestone, one per item. May be empty. */
  acceptance_criteria: string[];
  /**
   * The evidence that approval requires. If absent, `coding` milestones require a patch and tests, other milestones
   * nothing.
   */
  evidence?: MilestoneEvidence | null;
  /** The id of the milestone. */
  id: string;
  /** The kind of work the milestone requires. */
  kind: MilestoneKind;
  /** The status of the milestone. */
  status: MilestoneStatus;
  /** The title of the milestone. */
  title: string;
}

/** Params of [`MilestoneApprove`]. */
export interface MilestoneApproveParams {
  /** The id of the actor that approves the milestone. */
  actor_id: string;
  /** The role of that actor. Approval requires `manager` or above. */
  actor_role: ActorRole;
  /** The id of the actor's team. If absent, the gateway uses the team stored for the agent, if the actor is an agent. */
  actor_team_id?: string | null;
  /**
   * The `sha256` returned by `inbox.read` for this report. If any of the files has changed since, the call fails and
   * nothing is decided. If absent, the decision applies to the current files.
   */
  expected_sha256?: string | null;
  /** The id of the milestone. */
  milestone_id: string;
  /** Notes that are stored with the review. Optional. */
  notes?: string | null;
  /** The id of the project. */
  project_id: string;
  /** The id of the milestone report, which must be about this milestone. */
  report_artifact_id: string;
  /** The id of the task the milestone belongs to. */
  task_id: string;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`MilestoneApprove`]. */
export interface MilestoneApproveResponse {
  /** The stored decision, always `approved`. */
  decision: ReviewDecision;
  /** The status of the milestone after the approval. */
  milestone_status: MilestoneStatus;
  /** The id of the review that records the decision. */
  review_id: string;
  /** The status of the task after the approval. */
  task_status: TaskStatus;
}

/** The number of milestones of a task by status. */
export interface MilestoneCounts {
  /** The number of milestones with status `blocked`. */
  blocked: number;
  /** The number of milestones with status `done`. */
  done: number;
  /** The number of milestones with status `draft`. */
  draft: number;
  /** The number of milestones with status `in_progress`. */
  in_progress: number;
  /** The number of milestones with status `ready`. */
  ready: number;
  /** The number of all milestones. */
  total: number;
}

/** The evidence that the approval of a milestone requires. */
export interface MilestoneEvidence {
  /** True if the report must name a patch file as evidence. */
  requires_patch: boolean;
  /** True if the report must name a file with test results. */
  requires_tests: boolean;
}

/** The kind of an evidence file, by its extension. */
export type MilestoneEvidenceKind =
  /** A `.patch` file: a unified diff. */
  | "patch"
  /** A `.txt` file. */
  | "text"
  /** A `.json` file. */
  | "json"
  /** A `.md` file: a document with front matter. */
  | "document";

/** Params of [`MilestoneEvidenceRead`]. */
export interface MilestoneEvidenceReadParams {
  /** The id of the actor that reads the evidence. */
  actor_id: string;
  /** The role of that actor. */
  actor_role: ActorRole;
  /** The id of the actor's team. If absent, the gateway uses the team stored for the agent, if the actor is an agent. */
  actor_team_id?: string | null;
  /** The id of the evidence, from `evidence_artifacts` or `tests_artifacts` of the report. */
  evidence_artifact_id: string;
  /** The id of the project. */
  project_id: string;
  /** The id of the milestone report. */
  report_artifact_id: string;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`MilestoneEvidenceRead`]. */
export interface MilestoneEvidenceReadResponse {
  /** The id of the evidence. */
  evidence_artifact_id: string;
  /** The kind of the evidence file. */
  kind: MilestoneEvidenceKind;
  /** The path of the file, relative to the company folder. */
  relpath: string;
  /** The content of the file, at most the first 1,048,576 bytes. Bytes that are not UTF-8 are replaced. */
  text: string;
  /** True if `text` contains only the beginning of the file. */
  truncated: boolean;
}

/** The kind of work a milestone requires. */
export type MilestoneKind =
  /** A change of code. Requires a patch and tests as evidence unless the milestone states otherwise. */
  | "coding"
  /** An investigation. */
  | "research"
  /** A plan. */
  | "planning";

/** The status of a milestone. */
export type MilestoneStatus =
  /** The milestone is being written. */
  | "draft"
  /** The milestone can be started. */
  | "ready"
  /** The milestone is in progress. */
  | "in_progress"
  /** The milestone cannot proceed. */
  | "blocked"
  /** The milestone is finished. */
  | "done";

/** A budget decision. A field is absent if the event does not contain it. */
export interface MonitorBudgetDecision {
  /** The amount used, in US dollars or tokens according to `metric`. */
  actual?: number | null;
  /** The limited quantity: `cost_usd` or `tokens`. */
  metric?: string | null;
  /** The outcome: `ok`, `alert` or `exceeded`. */
  result?: string | null;
  /** The owner of the budget: `run`, `task` or `project`. */
  scope?: string | null;
  /** The kind of limit: `soft` or `hard`. */
  severity?: string | null;
  /** The limit, in US dollars or tokens according to `metric`. */
  threshold?: number | null;
}

/** The header of an event. */
export interface MonitorEvent {
  /** The id of the actor that caused the event. `null` if the event has none. */
  actor?: string | null;
  /** The number of the event within the log of its run, starting at 1. */
  seq: number;
  /** The time of the event, in ISO-8601. `null` if the event has none. */
  ts_wallclock?: string | null;
  /** The type of the event, such as `run.started`. */
  type: string;
  /** The visibility of the event. `null` if the event has none. */
  visibility?: string | null;
}

/** The number of jobs by status. */
export interface MonitorJobs {
  /** The number of jobs with status `canceled`. */
  canceled: number;
  /** The number of jobs with status `completed`. */
  completed: number;
  /** The number of jobs with status `queued`. */
  queued: number;
  /** The number of jobs with status `running`. */
  running: number;
}

/** A policy decision. A field is absent if the event does not contain it. */
export interface MonitorPolicyDecision {
  /** The action that was checked, such as `launch` or `read`. */
  action?: string | null;
  /** True if policy allowed the action. */
  allowed?: boolean | null;
  /** The reason code of the decision, such as `org_visible`. */
  reason?: string | null;
  /** The id of the rule that decided, such as `vis.org`. */
  rule_id?: string | null;
}

/** A policy denial. A field is absent if the event does not contain it. */
export interface MonitorPolicyDenied {
  /** The action that was denied, such as `launch` or `read`. */
  action?: string | null;
  /** The reason code of the denial, such as `role_not_allowed`. */
  reason?: string | null;
  /** The id of the rule that denied the action. */
  rule_id?: string | null;
}

/** A run, or a session whose run is not indexed yet or is not among the newest runs. */
export interface MonitorRow {
  /** The id of the agent the run belongs to. Absent if the row comes from a session only. */
  agent_id?: string | null;
  /** The number of `budget.alert` events, which report a soft limit that was reached. */
  budget_alert_count: number;
  /** The number of `budget.decision` events. */
  budget_decision_count: number;
  /** The number of `budget.exceeded` events, which report a hard limit that was reached. */
  budget_exceeded_count: number;
  /** The id of the context pack of the run. Absent if the row comes from a session only. */
  context_pack_id?: string | null;
  /** The time the run was created, in ISO-8601. Absent if the row comes from a session only. */
  created_at?: string | null;
  /** The purpose of the run, as in `run.list`. Absent if unknown. */
  goal?: string | null;
  /** The last event of the run that the actor may see. Absent if there is none. */
  last_event?: MonitorEvent | null;
  /** The latest budget decision. Absent if there is none. */
  latest_budget_decision?: MonitorBudgetDecision | null;
  /** The latest policy decision. Absent if there is none. */
  latest_policy_decision?: MonitorPolicyDecision | null;
  /** The latest policy denial. Absent if there is none. */
  latest_policy_denied?: MonitorPolicyDenied | null;
  /** The error of the session. Absent if there is none. */
  live_error?: string | null;
  /** The exit code of the program. `null` if it has not exited or was killed by a signal. */
  live_exit_code?: number | null;
  /** True while the session waits in the queue and has no process. Absent otherwise. */
  live_queued?: boolean | null;
  /** The name of the signal that ended the program, such as `SIGTERM`. `null` if there was none. */
  live_signal?: string | null;
  /** The status of the session. */
  live_status?: RunStatus;
  /** The number of lines in the event log that are not valid JSON. */
  parse_error_count: number;
  /** The number of `policy.decision` events. */
  policy_decision_count: number;
  /** The number of `policy.denied` events. */
  policy_denied_count: number;
  /** The id of the project. */
  project_id: string;
  /** The provider of the run. Absent if the row comes from a session only. */
  provider?: string | null;
  /** The id of the run. */
  run_id: string;
  /** The status stored in `run.yaml`. Absent if the row comes from a session only. */
  run_status?: RunStatus | null;
  /** The time the session ended, in Unix milliseconds. Absent while it runs. */
  session_ended_at_ms?: number | null;
  /** The reference of the session. */
  session_ref?: string;
  /** The time the session was launched, in Unix milliseconds. Absent if unknown. */
  session_started_at_ms?: number | null;
  /** The token usage of the run. Absent if none is recorded. */
  token_usage?: MonitorTokenUsage | null;
}

/** Params of [`MonitorSnapshot`]. */
export interface MonitorSnapshotParams {
  /**
   * The id of the actor whose visibility applies: runs and events the actor may not see are omitted. If absent, the
   * identity of the caller's token applies.
   */
  actor_id?: string | null;
  /** The role of that actor. If absent, the role of the caller's token applies; the owner sees everything. */
  actor_role?: ActorRole | null;
  /** The id of the actor's team. If absent, the gateway uses the team stored for the agent, if the actor is an agent. */
  actor_team_id?: string | null;
  /** The maximum number of rows to return. Default 200. */
  limit?: number | null;
  /** Return only runs of this project. All projects if absent. */
  project_id?: string | null;
  /** If true, rebuilds the index first. Default false. */
  refresh_index?: boolean | null;
  /** If true, syncs the index first. Default true. */
  sync_index?: boolean | null;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`MonitorSnapshot`]. */
export interface MonitorSnapshotResponse {
  /** The time the snapshot was generated, in ISO-8601. */
  generated_at: string;
  /** True if the call rebuilt the index. */
  index_rebuilt: boolean;
  /** True if the call synced the index. */
  index_synced: boolean;
  /**
   * The number of jobs by status, over all projects in `rows` and the requested project. Absent if there is no
   * project.
   */
  jobs?: MonitorJobs | null;
  /** The runs: those with a running session first, then newest first. */
  rows: MonitorRow[];
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** The token usage of a run. */
export interface MonitorTokenUsage {
  /** The confidence in the numbers: `high` or `low`. */
  confidence: string;
  /** The cost in US dollars. Absent if no price is known. */
  cost_usd?: number | null;
  /** The number of input tokens. Absent if unknown. */
  input_tokens?: number | null;
  /** The number of output tokens. Absent if unknown. */
  output_tokens?: number | null;
  /** The origin of the numbers: `provider_reported` or `estimated_chars`. */
  source: string;
  /** The total number of tokens. */
  total_tokens: number;
}

/** A display name: trimmed, without control characters. */
export type Name = string;

/** A follow-up action recommended by a worker. */
export interface NextAction {
  /** The recommended action. */
  action: string;
  /** Why the action is recommended. Absent if not given. */
  rationale?: string | null;
}

/** The organization of a new company. */
export type OrgMode =
  /** An executive manager leads the departments. */
  | "enterprise"
  /** A director leads the departments. */
  | "standard";

/** The participants of a conversation. */
export interface Participants {
  /** Ids of participating agents and people. */
  agent_ids: string[];
  /** Ids of participating teams. */
  team_ids: string[];
}

/** The actions a worker may take without asking. */
export type PermissionLevel =
  /** Read files. */
  | "read-only"
  /** Read and change files. */
  | "patch"
  /** Read and change files, and run commands. */
  | "run-commands";

/** The ids of the documents that concern the whole project. */
export interface PipelineArtifacts {
  /** The id of the proposal that waits for CEO approval. */
  approval_artifact_id: string;
  /** The id of the executive plan. */
  executive_plan_artifact_id: string;
  /** The id of the intake brief, which contains the client request. */
  intake_brief_artifact_id: string;
  /** The id of the meeting transcript. */
  meeting_transcript_artifact_id: string;
}

/** Params of [`PipelineClientIntakeRun`]. */
export interface PipelineClientIntakeRunParams {
  /** The id of the actor that acts as CEO. */
  ceo_actor_id: string;
  /** The id of the agent that leads the project. The agent must exist. */
  executive_manager_agent_id: string;
  /**
   * The path of a UTF-8 file with the request of the client, relative to the company folder or absolute, at most 1
   * MiB. Cannot be combined with `intake_text`.
   */
  intake_file?: string | null;
  /**
   * The request of the client. A placeholder is used if neither this nor `intake_file` is given. Cannot be combined
   * with `intake_file`.
   */
  intake_text?: string | null;
  /**
   * The model that rewrites the plans and the transcript. Agents of another provider use their own `model_hint`. If
   * absent or blank, no worker is started.
   */
  model?: string | null;
  /** The name of the new project, at most 200 characters. */
  project_name: string;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`PipelineClientIntakeRun`]. */
export interface PipelineClientIntakeRunResponse {
  /** The ids of the documents that concern the whole project. */
  artifacts: PipelineArtifacts;
  /** The ids of the director tasks, ordered by the name of the director. */
  assigned_task_ids: string[];
  /**
   * The ids of the department plans by department key. A second director of a department has the key `<key>#2`, and
   * so on.
   */
  department_plan_artifact_ids: Record<string, string>;
  /** The ids of the director tasks by department key, with the same keys. */
  director_task_ids: Record<string, string>;
  /** The outcome of the generation by workers. */
  generation: PipelineGeneration;
  /** The id of the planning council conversation of the project. */
  meeting_conversation_id: string;
  /** The id of the new project. */
  project_id: string;
}

/** Params of [`PipelineDepartmentAssignTasks`]. */
export interface PipelineDepartmentAssignTasksParams {
  /** The id of the actor that assigns the tasks. If absent, the identity of the caller's token applies. */
  actor_id?: string | null;
  /** The role of that actor, `manager` or above. If absent, the role of the caller's token applies. */
  actor_role?: ActorRole | null;
  /** The id of the executive plan that the CEO approved. */
  approved_executive_plan_artifact_id: string;
  /** The key of the department, compared without regard to case. */
  department_key: string;
  /** The id of the director whose team is the department. */
  director_agent_id: string;
  /** The id of the project. */
  project_id: string;
  /** The ids of the workers that get a task. Duplicates are ignored. */
  worker_agent_ids: string[];
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`PipelineDepartmentAssignTasks`]. */
export interface PipelineDepartmentAssignTasksResponse {
  /** The id of the created or reused task by worker id. */
  assignment_map: Record<string, string>;
  /** The path of the audit log, relative to the company folder. */
  audit_log_relpath: string;
  /** The ids of the milestones of the created tasks, in the same order. */
  created_milestone_ids: string[];
  /** The ids of the created tasks. */
  created_task_ids: string[];
  /** The workers that got no task, with the reason. */
  denied_assignments: DeniedAssignment[];
  /** The key of the department, as given in the request. */
  department_key: string;
  /** The id of the director. */
  director_agent_id: string;
  /** The id of the executive plan. */
  executive_plan_artifact_id: string;
  /** The id of the project. */
  project_id: string;
  /** The ids of open tasks for the plan that workers already had. */
  reused_task_ids: string[];
}

/** The outcome of the generation of documents by workers. */
export interface PipelineGeneration {
  /** The number of documents that workers were asked to write. */
  attempted: number;
  /** The path of the audit log, relative to the company folder. */
  audit_log_relpath: string;
  /** The number of documents that keep their generated content because the worker failed. */
  failed: number;
  /** The ids of the failure reports, one per failed document. */
  failure_artifact_ids: string[];
  /** Whether workers were asked to write the documents. */
  mode: PipelineGenerationMode;
  /** The number of documents that workers wrote. */
  succeeded: number;
}

/** How the documents of a pipeline are written. */
export type PipelineGenerationMode =
  /** The gateway generates all documents from templates. */
  | "deterministic"
  /** Workers write the documents; the gateway's version remains where a worker fails. */
  | "provider_with_fallback";

/** The format of an exported plan. */
export type PlanFormat =
  /** A Mermaid Gantt diagram, for Markdown documents. */
  | "mermaid"
  /** A table of comma-separated values. */
  | "csv"
  /** An iCalendar file. */
  | "ics";

/** Params of [`PmApplyAllocations`]. */
export interface PmApplyAllocationsParams {
  /** The id of the actor that applies the allocations; stored in each task. */
  applied_by: string;
  /** The execution plans to store, applied in this order. Required, but may be empty. */
  items: Allocation[];
  /** The id of the project. */
  project_id: string;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`PmApplyAllocations`]. */
export interface PmApplyAllocationsResponse {
  /** The time stored as `applied_at` in every task, in ISO-8601. */
  applied_at: string;
  /** The id of the project. */
  project_id: string;
  /** The ids of the updated tasks, without duplicates. */
  updated_task_ids: string[];
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** Params of [`PmExport`]. */
export interface PmExportParams {
  /** The format of the export. */
  format: PlanFormat;
  /** The id of the project. */
  project_id: string;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`PmExport`]. */
export interface PmExportResponse {
  /** The exported plan. */
  content: string;
  /** A suggested file name. */
  file_name: string;
  /** The format of the export. */
  format: PlanFormat;
  /** The time the export was generated, in ISO-8601. */
  generated_at: string;
  /** The media type of `content`: `text/vnd.mermaid`, `text/csv` or `text/calendar`. */
  media_type: string;
  /** The id of the project. */
  project_id: string;
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** Params of [`PmRecommendAllocations`]. */
export interface PmRecommendAllocationsParams {
  /** The id of the project. */
  project_id: string;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`PmRecommendAllocations`]. */
export interface PmRecommendAllocationsResponse {
  /** The time the recommendations were generated, in ISO-8601. */
  generated_at: string;
  /** The id of the project. */
  project_id: string;
  /** One recommendation for each task that is neither done nor canceled, in the order of `task.list`. */
  recommendations: Recommendation[];
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** Params of [`PmSnapshot`]. */
export interface PmSnapshotParams {
  /** The id of the project. Required if `scope` is `project`, ignored otherwise. */
  project_id?: string | null;
  /** Whether the response contains the plan of one project in addition to the summary of all projects. */
  scope: CompanyScope;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`PmSnapshot`]. */
export interface PmSnapshotResponse {
  /** The time the snapshot was generated, in ISO-8601. */
  generated_at: string;
  /** The plan of the requested project. Absent if `scope` is `workspace`. */
  project?: ProjectPlan | null;
  /** The scope of the snapshot. */
  scope: CompanyScope;
  /** A summary of all projects. */
  workspace: PortfolioSnapshot;
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** A decision of the policy engine. */
export interface PolicyOutcome {
  /** Whether the action was allowed. */
  allowed: boolean;
  /** Reason of the rule, as a code. */
  reason: string;
  /** Id of the rule that decided. */
  rule_id: string;
}

/** A project in a [`PortfolioSnapshot`]. */
export interface PortfolioProject {
  /**
   * The number of runs that were launched and have not ended. Runs older than 24 hours count only if their session
   * is known to be live.
   */
  active_runs: number;
  /** The number of tasks with status `blocked`. */
  blocked_tasks: number;
  /** The name of the project. */
  name: string;
  /** The number of documents that wait for a decision. */
  pending_reviews: number;
  /** The mean progress of the tasks in percent, from 0 to 100 with one decimal. */
  progress_pct: number;
  /** The id of the project. */
  project_id: string;
  /** The risks of the project: `blocked_tasks`, `pending_reviews` and `dependency_cycle`, as far as they apply. */
  risk_flags: string[];
  /** The number of launched runs older than 24 hours that have not ended and have no known live session. */
  stale_runs?: number;
  /** The number of tasks. */
  task_count: number;
}

/** The projects of a company and their totals, for planning. */
export interface PortfolioSnapshot {
  /** The projects, newest first. */
  projects: PortfolioProject[];
  /** Totals over all projects. */
  summary: PortfolioSummary;
}

/** Totals over all projects of a [`PortfolioSnapshot`]. */
export interface PortfolioSummary {
  /**
   * The number of runs that were launched and have not ended. Runs older than 24 hours count only if their session
   * is known to be live.
   */
  active_runs: number;
  /** The number of projects with at least one blocked task. */
  blocked_projects: number;
  /** The number of documents that wait for a decision. */
  pending_reviews: number;
  /** The mean progress of the projects in percent, from 0 to 100 with one decimal. */
  progress_pct: number;
  /** The number of projects. */
  project_count: number;
  /** The number of launched runs older than 24 hours that have not ended and have no known live session. */
  stale_runs?: number;
  /** The total number of tokens of all runs. */
  total_tokens: number;
}

/** How a deciding caller was connected, as determined by the gateway. */
export type Presence =
  /** A browser signed in to the desktop. */
  | "desktop"
  /** A process that can read the home: `ac`, a client on stdio, or a client with the owner's token. */
  | "terminal"
  /** A client with a stored token. */
  | "token";

/** A file produced by a worker. */
export interface ProducedFile {
  /** The id of the document stored in the file. Absent if it is not a document. */
  artifact_id?: string | null;
  /** The kind of the file, as named by the worker. Absent if not reported. */
  kind?: string | null;
  /** The relative path of the file, as reported by the worker. */
  relpath: string;
  /** SHA-256 of the file. Absent if not reported. */
  sha256?: string | null;
}

/** The plan of a project. */
export interface ProjectPlan {
  /** The schedule of the tasks. */
  gantt: Gantt;
  /** The id of the project. */
  project_id: string;
  /** Task counts and progress. */
  summary: ProjectPlanSummary;
}

/** Task counts and progress of a project. */
export interface ProjectPlanSummary {
  /** The number of tasks with status `blocked`. */
  blocked_tasks: number;
  /** The number of tasks with status `done`. */
  done_tasks: number;
  /** The number of tasks with status `in_progress`. */
  in_progress_tasks: number;
  /** The mean progress of the tasks in percent, from 0 to 100 with one decimal. */
  progress_pct: number;
  /** The mean progress of the tasks weighted by their duration, in percent from 0 to 100 with one decimal. */
  progress_weighted_pct?: number;
  /** The number of tasks. */
  task_count: number;
}

/** A project with its progress. */
export interface ProjectRow {
  /**
   * The number of runs that were launched and have not ended. Runs older than 24 hours count only if their session
   * is known to be live.
   */
  active_runs: number;
  /** The number of tasks with status `blocked`. */
  blocked_tasks: number;
  /** The time the project was created, in ISO-8601. */
  created_at: string;
  /** The name of the project. */
  name: string;
  /** The number of documents that wait for a decision. */
  pending_reviews: number;
  /** The mean progress of the tasks in percent, from 0 to 100 with one decimal. */
  progress_pct: number;
  /** The id of the project. */
  project_id: string;
  /** The repositories linked to the project. */
  repo_links: RepoLink[];
  /** The risks of the project: `blocked_tasks`, `pending_reviews` and `dependency_cycle`, as far as they apply. */
  risk_flags: string[];
  /** The status of the project. */
  status: ProjectStatus;
  /** The number of tasks. */
  task_count: number;
}

/** The status of a project. */
export type ProjectStatus =
  /** The project is in progress. */
  | "active"
  /** The project is archived and no longer in progress. */
  | "archived";

/** The part of an attached file that was sent to the model. */
export interface PromptAttachment {
  /** The id of the artifact. */
  artifact_id: ArtifactId;
  /** The number of characters of text that were sent; 0 unless `form` is `text`. */
  characters: number;
  /** The form in which the file was sent. */
  form: PromptAttachmentForm;
  /** The SHA-256 of the file in lower-case hexadecimal. Absent if it is unknown. */
  sha256?: string | null;
  /** The number of characters of the whole text. Absent if `form` is not `text` or the text was not read to its end. */
  total_characters?: number | null;
  /**
   * Whether less was sent than the file contains: only part of its text, or a description because the text or image
   * exceeded the limits of the request.
   */
  truncated: boolean;
  /** The id of the turn to which the file was attached: this turn or an earlier one of the thread. */
  turn_id: TurnId;
  /** The id of the artifact version. Absent if it is unknown. */
  version_id?: ArtifactVersionId | null;
}

/** The form in which an attached file was sent to the model. */
export type PromptAttachmentForm =
  /** The text of the file, whole or truncated. */
  | "text"
  /** The image itself. */
  | "image"
  /** Only the name, type, size and hash of the file. */
  | "description";

/** The difference of one section between two prompts. */
export interface PromptChange {
  /** The kind of difference. */
  change: PromptChangeKind;
  /** The id of the section. */
  section_id: string;
}

/** The difference of a section from the compared turn to this one. */
export type PromptChangeKind =
  /** The section is identical in both prompts. */
  | "same"
  /** The section exists only in the prompt of this turn. */
  | "added"
  /** The section exists only in the prompt of the compared turn. */
  | "removed"
  /** The section exists in both prompts with different contributions. */
  | "changed";

/** The kind of a hook's contribution to a prompt. */
export type PromptContributionKind =
  /** Text in the common section `runtime_context`. */
  | "prompt_context"
  /** Text in a section named by the hook. */
  | "prompt_section"
  /** Not produced: diagnostics are listed in `diagnostics`. */
  | "prompt_manifest_diagnostic"
  /** Not produced: failures are listed in `diagnostics`. */
  | "runtime_failure";

/** The version of an AGENTS.md document that was part of a prompt. */
export interface PromptDocument {
  /** The length of the text in characters. Absent if the version is no longer stored. */
  char_count?: number | null;
  /** The SHA-256 of the text in lower-case hexadecimal. Absent if the version is no longer stored. */
  content_sha256?: string | null;
  /** The id of the document. */
  doc_id: AgentsDocId;
  /** The time at which the version was saved, in Unix seconds. Absent if the version is no longer stored. */
  saved_at?: number | null;
  /**
   * The principal that saved the version: `owner` or the id of a token. Absent if it is unknown or the version is no
   * longer stored.
   */
  saved_by?: string | null;
  /** The version number of the document. */
  version: number;
}

/** A hook and one of its contributions. */
export interface PromptHookSource {
  /** The hash of the contribution: `sha256:` followed by lower-case hexadecimal. Absent if it is unknown. */
  contribution_hash?: string | null;
  /** The id of the contribution. Absent if it has none, as for diagnostics. */
  contribution_id?: string | null;
  /** The id of the hook. */
  hook_id: string;
  /** The phase in snake_case, for example `turn_pre_prompt_compile`. */
  phase: string;
  /** The phase with a dot, for example `turn.pre_prompt_compile`. */
  phase_name: string;
  /** The id of the subscription. */
  subscription_id: string;
}

/** A record of the parts of a turn's system prompt and of its attachments. */
export interface PromptManifest {
  /**
   * The attached files of the conversation that were sent to the model, newest message first. Absent if there are
   * none.
   */
  attachments?: PromptAttachment[];
  /** The version of the prompt compiler, for example `accord.prompt.2`. */
  compiler_version: string;
  /** Diagnostics of the compiler and of the hooks. */
  diagnostics: PromptManifestDiagnostic[];
  /** The SHA-256 of the part that is specific to the turn, in lower-case hexadecimal. */
  fingerprint_dynamic: string;
  /** The SHA-256 of the whole system prompt, in lower-case hexadecimal. */
  fingerprint_full: string;
  /** The SHA-256 of the part that is the same in every turn, in lower-case hexadecimal. */
  fingerprint_stable: string;
  /** The contributions of hooks that are part of the prompt. */
  hook_sources: PromptManifestHookSource[];
  /** The profile that selected the sections. */
  profile: PromptProfile;
  /** The ids of the sections, in prompt order. */
  section_ids: string[];
}

/** A diagnostic about a prompt. */
export interface PromptManifestDiagnostic {
  /** A stable name for the diagnostic, for example `dynamic_section_truncated`. */
  code: string;
  /** The hook contribution that the diagnostic concerns. Absent if it concerns none. */
  hook_source?: PromptHookSource | null;
  /** A one-sentence description. */
  message: string;
  /** The id of the section that the diagnostic concerns. Absent if it concerns none. */
  section_id?: string | null;
}

/** One contribution of a hook to a prompt. */
export interface PromptManifestHookSource {
  /** The kind of contribution. */
  contribution_kind: PromptContributionKind;
  /** The priority of the contribution; higher values come first in the prompt. Absent if it has none. */
  priority?: number | null;
  /** The id of the section that contains the contribution. Absent if it belongs to no section. */
  section_id?: string | null;
  /** The hook and its contribution. */
  source: PromptHookSource;
  /** The number of sources that the contribution refers to. Absent if it is unknown. */
  source_count?: number | null;
  /** The component that truncated the contribution. */
  truncation: PromptTruncation;
}

/** One part of a prompt: a built-in section or the contribution of a hook to a section. */
export interface PromptPiece {
  /** The hash of the contribution: `sha256:` followed by lower-case hexadecimal. Absent for built-in sections. */
  contribution_hash?: string | null;
  /** The id of the contribution. Absent for built-in sections. */
  contribution_id?: string | null;
  /** The AGENTS.md document that the part contains. Absent if it contains none. */
  document?: PromptDocument | null;
  /** The id of the hook that contributed the part. Absent for built-in sections. */
  hook_id?: string | null;
  /** The id of the section that contains the part. */
  section_id: string;
  /** The component that truncated the part. */
  truncation: PromptTruncation;
}

/** The set of sections in a system prompt. The gateway uses `assistant_full` for every turn. */
export type PromptProfile =
  /** All sections: identity, safety and the contributions of hooks. */
  | "assistant_full"
  /** The identity and safety sections and the contributions of hooks. */
  | "assistant_minimal"
  /** Only the identity section. */
  | "assistant_none";

/** The component that truncated a contribution. */
export type PromptTruncation =
  /** The contribution was not truncated. */
  | "none"
  /** The hook truncated it. */
  | "hook"
  /** The prompt compiler truncated it. */
  | "prompt"
  /** Both the hook and the prompt compiler truncated it. */
  | "hook_and_prompt";

/** An action that a woken agent proposes. Its idempotency key makes sure that it is executed once. */
export type ProposedAction =
  /** Submit a job. */
  | {
    /** Constraints of the job. Default: none. */
    constraints?: string[];
    /** Note that is added to the context of the job. Absent: a note that names the idempotency key. */
    context_note?: string | null;
    /** Deliverables of the job. Default: none; the gateway then adds a generic one. */
    deliverables?: string[];
    /** Goal of the job. */
    goal: string;
    /** Key by which repeated proposals of the action are recognized. */
    idempotency_key: string;
    /** Kind of the job. Absent: `execution`. */
    job_kind?: JobKind | null;
    kind: "launch_job";
    /** Id of the milestone the job works on. Absent if none. */
    milestone_id?: string | null;
    /** Whether the action must be approved first, whatever its risk. */
    needs_approval: boolean;
    /** Permissions of the worker. Default: `read-only`. */
    permission_level?: PermissionLevel;
    /** Id of the project. */
    project_id: string;
    /** Risk of the action. Only `low` is executed without approval. */
    risk: ActionRisk;
    /** Summary of the action in one sentence. Absent if not given. */
    summary?: string | null;
    /**
     * Role intended for the agent of the job, noted in its context. A director may start workers of its own team
     * only. Absent: not stated.
     */
    target_role?: TargetRole | null;
    /** Id of the task the job works on. Absent if none. */
    task_id?: string | null;
    /** Visibility that policy assumes for the action. Absent: `managers`. */
    visibility?: Visibility | null;
    /** Id of the agent that does the job. Absent: chosen by the gateway. */
    worker_agent_id?: string | null;
    /** Worker program of the job. Default: `codex`. */
    worker_kind?: WorkerKind;
  }
  /** Add a comment on an agent, a document or a run. */
  | {
    /** Text of the comment. */
    body: string;
    /** Key by which repeated proposals of the action are recognized. */
    idempotency_key: string;
    kind: "add_comment";
    /** Whether the action must be approved first, whatever its risk. */
    needs_approval: boolean;
    /** Id of the project. */
    project_id: string;
    /** Risk of the action. Only `low` is executed without approval. */
    risk: ActionRisk;
    /** Summary of the action in one sentence. Absent if not given. */
    summary?: string | null;
    /** Id of the agent that the comment refers to. At least one of the three targets is required. */
    target_agent_id?: string | null;
    /** Id of the document that the comment refers to. */
    target_artifact_id?: string | null;
    /** Id of the run that the comment refers to. */
    target_run_id?: string | null;
    /** Who may read the comment. Absent: `managers`. */
    visibility?: Visibility | null;
  }
  /** Write a proposal that waits for a decision in the inbox. */
  | {
    /** Key by which repeated proposals of the action are recognized. */
    idempotency_key: string;
    kind: "create_approval_item";
    /** Whether the action must be approved first. It does not matter for this kind. */
    needs_approval: boolean;
    /** Id of the project. */
    project_id: string;
    /** Action that is executed on approval, of one of the other kinds. Absent: nothing is executed. */
    proposed_action?: ProposedAction | null;
    /** Why a decision is needed. Absent if not given. */
    rationale?: string | null;
    /** Risk of the action. It does not matter for this kind, which always waits for a decision. */
    risk: ActionRisk;
    /** Summary of the action in one sentence. Absent if not given. */
    summary?: string | null;
    /** The question to decide. */
    title: string;
    /** Visibility that policy assumes for the action. Absent: `managers`. */
    visibility?: Visibility | null;
  }
  /** Do nothing; the action is only recorded. */
  | {
    /** Key by which repeated proposals of the action are recognized. */
    idempotency_key: string;
    kind: "noop";
    /** Whether the action must be approved first. It has no project, so it is skipped then. */
    needs_approval: boolean;
    /** Why there is nothing to do. */
    reason: string;
    /** Risk of the action. */
    risk: ActionRisk;
    /** Summary of the action in one sentence. Absent if not given. */
    summary?: string | null;
    /** Visibility that policy assumes for the action. Absent: `managers`. */
    visibility?: Visibility | null;
  };

/** A model provider. */
export interface Provider {
  /** Whether turns can use the provider: it has an API key, needs none, or has its own `base_url` in `config.toml`. */
  available: boolean;
  /** A sentence that explains how to provide the missing API key. Absent if the provider is available. */
  hint?: string | null;
  /** The id of the provider: `echo`, `openai`, `anthropic` or `gemini`. */
  id: string;
  /** The source of the API key in use. */
  key_source: ProviderKeySource;
  /** The display name of the provider. */
  title: string;
}

/** Params of [`ProviderDeleteApiKey`]. */
export interface ProviderDeleteApiKeyParams {
  /** The id of the provider. */
  provider: string;
}

/** Response of [`ProviderDeleteApiKey`]. */
export interface ProviderDeleteApiKeyResponse {
  /** Whether a stored key existed. A key in `config.toml` or in the environment is not affected. */
  deleted: boolean;
}

/** The source of an API key. A stored key takes precedence over `config.toml`, and `config.toml` over the environment. */
export type ProviderKeySource =
  /** The provider needs no API key. */
  | "not_needed"
  /** No API key was found. */
  | "missing"
  /** The key was stored by `provider/set_api_key`. */
  | "stored"
  /** The key is set in `config.toml` of the home. */
  | "config"
  /** The key is set in an environment variable of the gateway process, such as `OPENAI_API_KEY`. */
  | "environment";

/** Params of [`ProviderList`]. */
export type ProviderListParams = Record<string, never>;

/** Response of [`ProviderList`]. */
export interface ProviderListResponse {
  /** All supported providers. */
  items: Provider[];
}

/** A model of a provider. */
export interface ProviderModel {
  /** The id of the model, as used in `model`. */
  id: string;
  /** The display name of the model. */
  title: string;
}

/** Params of [`ProviderModelsList`]. */
export interface ProviderModelsListParams {
  /** The id of the provider. */
  provider: string;
}

/** Response of [`ProviderModelsList`]. */
export interface ProviderModelsListResponse {
  /** The models of the provider. */
  items: ProviderModel[];
}

/** Params of [`ProviderSetApiKey`]. */
export interface ProviderSetApiKeyParams {
  /** The API key: 1 to 4096 printable ASCII characters; surrounding whitespace is removed. */
  api_key: string;
  /** The id of a provider that needs an API key. */
  provider: string;
}

/** Response of [`ProviderSetApiKey`]. */
export interface ProviderSetApiKeyResponse {
  /** The provider after the key was stored. */
  provider: Provider;
}

/** A recommended allocation of a task. */
export interface Recommendation {
  /** The id of the recommended agent. Absent if no agent is suitable. */
  preferred_agent_id?: string | null;
  /** The recommended model. Absent if the agent has no model hint. */
  preferred_model?: string | null;
  /** The recommended provider. */
  preferred_provider: string;
  /** The reason for the recommendation, in one sentence. */
  rationale: string;
  /** The individual reasons, one per item. Absent if there are none. */
  reasons?: string[];
  /** The id of the task. */
  task_id: string;
  /** The recommended budget in tokens. */
  token_budget_hint: number;
}

/** The newest session of a run. */
export interface ReplayLive {
  /** True if the run has a session, running or ended, that the caller may see. */
  available: boolean;
  /** The error of the session. Absent if there is none. */
  error?: string | null;
  /** The reference of the session. Absent if `available` is false. */
  session_ref?: string | null;
  /** The status of the session. Absent if `available` is false. */
  status?: string | null;
}

/** How events are read and verified. */
export type ReplayMode =
  /** Return the events without verification. */
  | "raw"
  /** Verify the hash chain. */
  | "verified"
  /** Same as `verified`, for clients that replay the events. */
  | "deterministic"
  /** Verify the hash chain and return the newest session of the run. */
  | "live";

/** A line that is not valid JSON. */
export interface ReplayParseIssue {
  /** The error of the parser. */
  error: string;
  /** The line number in the file, starting at 1. */
  line: number;
  /** The first 4,096 bytes of the line. Empty if the visibility of an actor applies. */
  raw: string;
  /** The number of the line among the non-blank lines, starting at 1. */
  seq: number;
}

/** An event that fails verification. */
export interface ReplayVerificationIssue {
  /**
   * The issue code: `invalid_shape`, `missing_key`, `invalid_schema_version`, `invalid_prev_hash_type`,
   * `invalid_event_hash`, `event_hash_mismatch`, `first_prev_hash_non_null`, `prev_hash_chain_mismatch` or
   * `truncated_log`.
   */
  code: string;
  /** The line number in the file, starting at 1. */
  line: number;
  /** A description of the issue. */
  message: string;
  /** The number of the event among the lines that are valid JSON, starting at 1. */
  seq: number;
}

/** A repository linked to a project. */
export interface RepoLink {
  /** A label for people. Absent if there is none. */
  label?: string | null;
  /** The id of the repository within the company. */
  repo_id: string;
}

/** The number of agents with one model. */
export interface ResourceModel {
  /** The number of agents. */
  agent_count: number;
  /** The `model_hint` of the agents, or `<provider> (default)` if they have none. */
  model: string;
}

/** The usage of one provider. */
export interface ResourceProvider {
  /** The name of the provider. */
  provider: string;
  /** The number of runs. */
  run_count: number;
  /** The total cost in US dollars. Runs without a price count as 0. */
  total_cost_usd: number;
  /** The total number of tokens. */
  total_tokens: number;
}

/** Totals over all agents and runs. */
export interface ResourceTotals {
  /**
   * The number of workers with a running run that has a live session, or that was launched and is less than 24 hours
   * old. A run that was never launched does not count, although its status is `running`.
   */
  active_workers: number;
  /** The number of agents, including those that appear only in runs. */
  agents: number;
  /** The number of runs whose provider reported context compactions. */
  context_cycles_known_runs: number;
  /** The total number of context compactions that providers reported. */
  context_cycles_total: number;
  /** The number of finished runs whose provider reported none. */
  context_cycles_unknown_runs: number;
  /** The number of runs. */
  runs_indexed: number;
  /** The total cost of these runs in US dollars. Runs without a price count as 0. */
  total_cost_usd: number;
  /** The total number of tokens of these runs. */
  total_tokens: number;
  /** The number of agents with role worker. Agents that appear only in runs count as workers. */
  workers: number;
}

/** Params of [`ResourcesSnapshot`]. */
export interface ResourcesSnapshotParams {
  /** Count only runs of this project; agents and models always cover the whole company. All projects if absent. */
  project_id?: string | null;
  /** Has no effect: the response is computed from the current documents, not from the index. */
  sync_index?: boolean | null;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`ResourcesSnapshot`]. */
export interface ResourcesSnapshotResponse {
  /** The time the snapshot was generated, in ISO-8601. */
  generated_at: string;
  /** The number of agents by model, most agents first. */
  models: ResourceModel[];
  /** The project filter of the request. Absent if none was given. */
  project_id?: string | null;
  /** Usage by provider, most tokens first. */
  providers: ResourceProvider[];
  /** Totals over all agents and runs. */
  totals: ResourceTotals;
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** The capabilities of retrieval. */
export interface RetrievalCapabilities {
  /** The storage of the retrieval metadata, currently `sqlite_metadata`. */
  storage: string;
}

/** A decision about a document, on the wire as in its file `inbox/reviews/<id>.yaml`. */
export interface Review {
  /** Id of the person or agent that decided. */
  actor_id: string;
  /** Role of that actor. */
  actor_role: ActorRole;
  /** Time of the decision, ISO-8601. */
  created_at: string;
  /** The decision. */
  decision: ReviewDecision;
  /** Id of the review. */
  id: string;
  /** Comment of the actor; the gateway writes an empty text if there is none. Absent in files without the field. */
  notes?: string | null;
  /** The policy decision that allowed it. */
  policy: PolicyOutcome;
  /** Schema version of the document. The gateway writes 1. */
  schema_version: number;
  /** The document that was decided about. */
  subject: ReviewSubject;
  /** Document type: always `review`. */
  type: ReviewTag;
}

/** The decision about a proposal. */
export type ReviewDecision =
  /** The proposal was approved and takes effect. */
  | "approved"
  /** The proposal was denied and has no effect. */
  | "denied";

/** The document that a review is about. The optional fields are present for memory deltas only. */
export interface ReviewSubject {
  /** Id of the document. */
  artifact_id: string;
  /** Kind of the subject: `memory_delta`, `milestone` or `heartbeat_action`. */
  kind: string;
  /** Path of the patch of the delta. */
  patch_file?: string | null;
  /** Id of its project. */
  project_id: string;
  /** Why the delta was proposed. */
  rationale?: string | null;
  /** Kind of memory that the delta changes. */
  scope_kind?: MemoryScopeKind | null;
  /** Id of the project or agent whose memory the delta changes. */
  scope_ref?: string | null;
  /** Sensitivity of the delta. */
  sensitivity?: Sensitivity | null;
  /** Path of the memory file that the delta changes. */
  target_file?: string | null;
}

/** The document type `review`. */
export type ReviewTag =
  /** The only value. */
  | "review";

/** Params of [`RunCancel`]. */
export interface RunCancelParams {
  /** The id of the person or agent that cancels the run, stored in the event log. The caller if absent. */
  actor_id?: string | null;
  /** The role of that actor. If absent, the role of the caller's token applies. */
  actor_role?: ActorRole | null;
  /** The id of the actor's team. If absent, the gateway uses the team stored for the agent, if the actor is an agent. */
  actor_team_id?: string | null;
  /** The id of the project. */
  project_id: string;
  /** The reason for the cancellation, stored in the event log of the run. Optional. */
  reason?: string | null;
  /** The id of the run. */
  run_id: string;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`RunCancel`]. */
export interface RunCancelResponse {
  /** The id of the run. */
  run_id: string;
  /** The new status, always `stopped`. */
  status: RunStatus;
}

/** Params of [`RunCreate`]. */
export interface RunCreateParams {
  /** The id of the agent that executes the run. An unknown agent is accepted with a warning. */
  agent_id: string;
  /**
   * The purpose of the run, in one line of at most 500 characters; lists show it as the name of the run. If absent,
   * lists show the goal of the job for a run of a job and the command line for a command.
   */
  goal?: string | null;
  /** The id of the project. */
  project_id: string;
  /**
   * The provider of the run, such as `cmd`, `codex`, `claude` or `gemini`. An unknown provider is accepted with a
   * warning.
   */
  provider: string;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`RunCreate`]. */
export interface RunCreateResponse {
  /** The id of the new context pack. */
  context_pack_id: string;
  /** The path of the folder of the run: `workspace_dir` as given in the request, followed by the relative path. */
  run_dir: string;
  /** The id of the new run. */
  run_id: string;
  /** Warnings about an agent or a provider that does not exist. One sentence each; absent if there are none. */
  warnings?: string[];
}

/** Params of [`RunList`]. */
export interface RunListParams {
  /** Id of the person or agent that reads. Default: the caller's own id. */
  actor_id?: string | null;
  /** Role of that actor, at most the role of the caller's token. Default: the role of the token. */
  actor_role?: ActorRole | null;
  /** Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people. */
  actor_team_id?: string | null;
  /** Return only runs of this project. All projects if absent. */
  project_id?: string | null;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`RunList`]. */
export type RunListResponse = RunRow[];

/** Params of [`RunReplay`]. */
export interface RunReplayParams {
  /**
   * The id of the actor whose visibility applies: events the actor may not see are omitted. If absent, the identity
   * of the caller's token applies.
   */
  actor_id?: string | null;
  /** The role of that actor. If absent, the role of the caller's token applies; the owner sees everything. */
  actor_role?: ActorRole | null;
  /** The id of the actor's team. If absent, the gateway uses the team stored for the agent, if the actor is an agent. */
  actor_team_id?: string | null;
  /** Return only events after this number. Events are numbered from 1 among the lines that are valid JSON. Default 0. */
  after_seq?: number | null;
  /** The maximum number of events to return; `next_cursor` continues the list. No limit if absent. */
  limit?: number | null;
  /** How events are read and verified. Default `raw`. */
  mode?: ReplayMode | null;
  /** The id of the project. */
  project_id: string;
  /** The id of the run. */
  run_id: string;
  /** Return only the last `tail` events. All events if absent. */
  tail?: number | null;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`RunReplay`]. */
export interface RunReplayResponse {
  /** True if the hash chain was verified and there are no issues. Always false in mode `raw`. */
  deterministic_ok: boolean;
  /** The events, exactly as stored in the file. */
  events: unknown[];
  /** The number of events omitted because the actor may not see them. Absent if the caller sees everything. */
  filtered_by_policy_count?: number | null;
  /** The newest session of the run. `available` is false unless the mode is `live`. */
  live: ReplayLive;
  /** The mode that was applied. */
  mode: ReplayMode;
  /** The `after_seq` of the next page. Absent if `limit` did not cut off any event. */
  next_cursor?: number | null;
  /** The lines that are not valid JSON, at most 1,000. */
  parse_issues: ReplayParseIssue[];
  /** The id of the project. */
  project_id: string;
  /** The id of the run. */
  run_id: string;
  /** The events that fail verification, at most 10,000. Empty in mode `raw`. */
  verification_issues: ReplayVerificationIssue[];
}

/** A run in a list. */
export interface RunRow {
  /** The id of the agent that executes the run. */
  agent_id: string;
  /** The time the run was created, in ISO-8601. */
  created_at: string;
  /**
   * The purpose of the run: the goal it was created with, its command line, or the goal of its job. Absent if none
   * of them is known.
   */
  goal?: string | null;
  /** True if the status is `running` but the run was never launched and has no process. Absent otherwise. */
  not_started?: boolean | null;
  /** The id of the project. */
  project_id: string;
  /** The provider of the run. */
  provider: string;
  /** The id of the run. */
  run_id: string;
  /** The status stored in `run.yaml`. */
  status: RunStatus;
  /** Warnings about an agent or a provider that does not exist. One sentence each; absent if there are none. */
  warnings?: string[];
}

/** The status of a run or a session. */
export type RunStatus =
  /** From creation until the end, also before the first launch. */
  | "running"
  /** The run completed successfully. */
  | "ended"
  /** The run failed or could not be started. */
  | "failed"
  /** The run was stopped or canceled. */
  | "stopped";

/** The sandbox of a thread. */
export interface Sandbox {
  /** The access that commands have. */
  mode: SandboxMode;
}

/** The access that commands of a thread have. */
export type SandboxMode =
  /** Everything that the operating system user of the gateway may access. */
  | "FullAccess";

/** The sandbox policy of a turn. */
export interface SandboxPolicy {
  /** The access that commands have. */
  mode: SandboxMode;
}

/** A text that matches a search. */
export interface SearchHit {
  /** Id of the author; for a task, its assignee; for an event, its actor. Null if unknown. */
  author_id?: string | null;
  /** Id of the conversation. Present for messages only. */
  conversation_id?: string | null;
  /** Creation time, ISO-8601. Null if unknown. */
  created_at?: string | null;
  /** Id of the text. For an event, the run and the line number: `run_1#7`. */
  id: string;
  /** Kind of the text. */
  kind: SearchKind;
  /** Id of the project. Null if the text belongs to none. */
  project_id?: string | null;
  /** Id of the run. Present for events only. */
  run_id?: string | null;
  /** Number of the line in the event log. Present for events only. */
  seq?: number | null;
  /** Part of the text around the first match, at most 200 characters. */
  snippet: string;
  /** Title of the text; for an event, its type. Null for messages and comments. */
  title?: string | null;
  /** Who may read the text. Null if it is not stated. */
  visibility?: string | null;
}

/** Kind of a searchable text. */
export type SearchKind =
  /** A document. The wire calls it artifact. */
  | "artifact"
  /** A message of a conversation. */
  | "message"
  /** A comment. */
  | "comment"
  /** A task. */
  | "task"
  /** An event of a run. */
  | "event";

/** Outcome of a self-improvement cycle. */
export type SelfImproveStatus =
  /** The count is below the proposal threshold. */
  | "recorded_only"
  /** The agent's `AGENTS.md` already contains a rule for this mistake. */
  | "already_guided"
  /** The evaluation command failed; a failure report was written. */
  | "evaluation_failed"
  /** A memory delta with the rule is pending approval. */
  | "proposal_created";

/** The sensitivity of content. */
export type Sensitivity =
  /** May be published outside of the company. */
  | "public"
  /** For actors of the company only. */
  | "internal"
  /** For actors with role director or above only. */
  | "restricted";

/** The product, its version, and its extensions of the protocol document. */
export interface ServerCapabilities {
  /**
   * The extensions of the protocol document: `tree_family` for the methods with slashes, and the name of every
   * method with dots that the document does not list.
   */
  extensions: string[];
  /** The name of the product, `accord`. */
  name: string;
  /** The version of the product. */
  version: string;
}

/** Params of [`SessionResume`]. */
export interface SessionResumeParams {
  /** The `seq` of the last notification that the client received. */
  after_seq: number;
  /** The id of the workspace to subscribe to. */
  workspace_id: WorkspaceId;
}

/** Response of [`SessionResume`]. */
export interface SessionResumeResponse {
  /**
   * Whether notifications after `after_seq` may be missing from the replay, because they are no longer retained or
   * because `after_seq` is unknown to this process.
   */
  gap: boolean;
  /** The lowest `seq` that the next new notification can have. */
  next_seq: number;
  /** The number of retained notifications that follow this response. */
  replayed: number;
}

/** Params of [`SharepackCreate`]. */
export interface SharepackCreateParams {
  /** The id of the actor that creates the share pack. Default `human`. */
  created_by?: string | null;
  /** The id of the project. */
  project_id: string;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`SharepackCreate`]. */
export interface SharepackCreateResponse {
  /** The path of the folder with the bundled files, relative to the company folder. */
  bundle_relpath: string;
  /** The ids of the included documents, sorted. */
  included_artifact_ids: string[];
  /** The ids of the included runs, sorted. */
  included_run_ids: string[];
  /** The path of the manifest, relative to the company folder. */
  manifest_relpath: string;
  /** The id of the new share pack. */
  share_pack_id: string;
}

/** How the events of a share pack are read and verified. */
export type SharepackReplayMode =
  /** Return the events without verification. */
  | "raw"
  /** Verify the hash chain. */
  | "verified"
  /** Same as `verified`, for clients that replay the events. */
  | "deterministic";

/** Params of [`SharepackReplay`]. */
export interface SharepackReplayParams {
  /**
   * The id of the actor whose visibility applies: events the actor may not see are omitted. If absent, the identity
   * of the caller's token applies.
   */
  actor_id?: string | null;
  /** The role of that actor. If absent, the role of the caller's token applies; the owner sees everything. */
  actor_role?: ActorRole | null;
  /** The id of the actor's team. If absent, the gateway uses the team stored for the agent, if the actor is an agent. */
  actor_team_id?: string | null;
  /** How events are read and verified. Default `raw`. */
  mode?: SharepackReplayMode | null;
  /** The id of the project. */
  project_id: string;
  /** Return only this run. All included runs if absent. */
  run_id?: string | null;
  /** The id of the share pack. */
  share_pack_id: string;
  /** Return only the last `tail` events of each run. All events if absent. */
  tail?: number | null;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`SharepackReplay`]. */
export interface SharepackReplayResponse {
  /** The number of events omitted because the actor may not see them. Absent if the caller sees everything. */
  filtered_by_policy_count?: number | null;
  /** The mode that was applied. */
  mode: SharepackReplayMode;
  /** The id of the project. */
  project_id: string;
  /** The runs in the share pack. */
  runs: SharepackRun[];
  /** The id of the share pack. */
  share_pack_id: string;
}

/** A run in a share pack. */
export interface SharepackRun {
  /** The path of the event log in the share pack, relative to the company folder. */
  bundle_relpath: string;
  /**
   * The ids of events that the share pack declares as omitted. Absent in mode `raw`, and if the share pack has no
   * chain file.
   */
  declared_omissions?: string[] | null;
  /**
   * The ids of events that the share pack declares as redacted. Absent in mode `raw`, and if the share pack has no
   * chain file.
   */
  declared_redactions?: string[] | null;
  /** True if the hash chain was verified and there are no issues. Always false in mode `raw`. */
  deterministic_ok: boolean;
  /** The events, exactly as stored in the file. */
  events: unknown[];
  /** The `after_seq` of the next page. Absent if `limit` did not cut off any event. */
  next_cursor?: number | null;
  /** The lines that are not valid JSON, at most 1,000. */
  parse_issues: ReplayParseIssue[];
  /** The id of the run. */
  run_id: string;
  /** The path of the original event log, relative to the company folder. */
  source_relpath: string;
  /** The events that fail verification, at most 10,000. Empty in mode `raw`. */
  verification_issues: ReplayVerificationIssue[];
}

/** Params of [`SystemCapabilities`]. */
export type SystemCapabilitiesParams = Record<string, never>;

/** Response of [`SystemCapabilities`]. */
export interface SystemCapabilitiesResponse {
  /** The names of the supported optional features, for example `session_resume`. */
  features: string[];
  /** The limits in force, by name, for example `max_message_bytes`. */
  limits: Record<string, number>;
  /** The version of the wire protocol; currently 1. */
  protocol_version: number;
  /** The product that answers the request. */
  server: SystemServer;
}

/** The severity of a system event. */
export type SystemEventLevel =
  /** Information; no action is required. */
  | "info"
  /** A problem that did not stop the turn. */
  | "warning"
  /** A failure. */
  | "error";

/** One method of the gateway. */
export interface SystemMethod {
  /** The method family: `tree` or `company`. */
  family: string;
  /** The same value as `name`, for clients that read the earlier field name. */
  method: string;
  /** The wire name of the method. */
  name: string;
  /** The JSON Schema of `params`. */
  params_schema: unknown;
  /** The JSON Schema of `result`. */
  result_schema: unknown;
  /** The scope that a token needs to call the method: `read`, `propose`, `write`, `spend` or `exec`. */
  scope: string;
  /** A one-sentence description of the method. */
  summary: string;
}

/** Params of [`SystemMethods`]. */
export type SystemMethodsParams = Record<string, never>;

/** Response of [`SystemMethods`]. */
export interface SystemMethodsResponse {
  /** All methods, grouped by family, in the order of the reference. */
  methods: SystemMethod[];
}

/** The product name and version of a gateway. */
export interface SystemServer {
  /** The product name; always `accord`. */
  name: string;
  /** The version of the gateway. */
  version: string;
}

/** Role of the agent that does a job. */
export type TargetRole =
  /** A director. */
  | "director"
  /** A worker. */
  | "worker";

/** The front matter of a task, in responses and in its file. Unknown fields are rejected. */
export interface Task {
  /** The criteria for accepting the task, one per item. Required unless the status is `draft`. */
  acceptance_criteria?: string[] | null;
  /** The id of the agent the task is assigned to. Absent if there is none. */
  assignee_agent_id?: string | null;
  /** The budget of the task. Absent if there is none. */
  budget?: Budget | null;
  /** The time the task was created, in ISO-8601. */
  created_at: string;
  /** The deliverables of the task, one per item. Required unless the status is `draft`. */
  deliverables?: string[] | null;
  /** How the task should be executed. Absent if not planned. */
  execution_plan?: TaskExecutionPlan | null;
  /** The id of the task. */
  id: string;
  /** The milestones of the task. Must not be empty unless the status is `draft`. */
  milestones: Milestone[];
  /** The id of the project the task belongs to. */
  project_id: string;
  /** The schedule of the task. Absent if not planned. */
  schedule?: TaskSchedule | null;
  /** The schema version of the task, currently 1. */
  schema_version: number;
  /** The repository and the files the task works on. Absent if not limited. */
  scope?: TaskWorkScope | null;
  /** The status of the task. */
  status: TaskStatus;
  /** The id of the team the task is assigned to. Absent if there is none. */
  team_id?: string | null;
  /** The title of the task. */
  title: string;
  /** The document type, always `task`. */
  type: TaskTag;
  /** Which actors may see the task. */
  visibility: Visibility;
}

/** How a task should be executed. */
export interface TaskExecutionPlan {
  /** The time of planning, in ISO-8601. Absent if unknown. */
  applied_at?: string | null;
  /** The id of the actor that planned the execution. Absent if unknown. */
  applied_by?: string | null;
  /** The id of the agent that should work on the task. Absent if not planned. */
  preferred_agent_id?: string | null;
  /** The model that should run the task. Absent if not planned. */
  preferred_model?: string | null;
  /** The provider that should run the task. Absent if not planned. */
  preferred_provider?: string | null;
  /** The expected budget in tokens. Absent if not planned. */
  token_budget_hint?: number | null;
}

/** Changes of the execution plan of a task. Unknown fields are rejected. */
export interface TaskExecutionPlanUpdate {
  /** The time of planning. Ignored if `applied_by` is given. */
  applied_at?: string | null;
  /** The id of the actor that plans. If given, the gateway sets `applied_at` to the current time. */
  applied_by?: string | null;
  /** The id of the agent that should work on the task. */
  preferred_agent_id?: string | null;
  /** The model that should run the task. */
  preferred_model?: string | null;
  /** The provider that should run the task. */
  preferred_provider?: string | null;
  /** The expected budget in tokens. */
  token_budget_hint?: number | null;
}

/** Params of [`TaskList`]. */
export interface TaskListParams {
  /** The id of the project. */
  project_id: string;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`TaskList`]. */
export interface TaskListResponse {
  /** The files in the task folder that cannot be read as a task. Absent if there are none. */
  invalid?: InvalidTaskFile[];
  /** The id of the project. */
  project_id: string;
  /** The tasks, newest first. */
  tasks: TaskRow[];
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** A task in a [`TaskListResponse`]. */
export interface TaskRow {
  /** The absolute path of the task file. */
  abs_path: string;
  /** The front matter of the task file. */
  frontmatter: Task;
  /** The number of milestones by status. */
  milestone_counts: MilestoneCounts;
  /**
   * The progress of the task from 0 to 1: the share of done milestones. Without milestones, 1 if the task is done
   * and 0 otherwise.
   */
  progress_ratio: number;
  /** The id of the project. */
  project_id: string;
  /** The path of the task file, relative to the company folder. */
  relpath: string;
  /** The id of the task. */
  task_id: string;
}

/** The schedule of a task. */
export interface TaskSchedule {
  /** The ids of the tasks that must be done first. Default empty. */
  depends_on_task_ids?: string[];
  /** The planned duration in days. Absent if not planned. */
  duration_days?: number | null;
  /** The planned end, as an ISO-8601 date or date and time. Absent if not planned. */
  planned_end?: string | null;
  /** The planned start, as an ISO-8601 date or date and time. Absent if not planned. */
  planned_start?: string | null;
}

/** The new schedule of a task. Unknown fields are rejected. */
export interface TaskScheduleUpdate {
  /** The ids of the tasks that must be done first, without the task itself. Duplicates are removed. Default empty. */
  depends_on_task_ids?: string[] | null;
  /** The planned duration in days. Absent if not planned. */
  duration_days?: number | null;
  /** The planned end, not before `planned_start`. Absent if not planned. */
  planned_end?: string | null;
  /** The planned start. Absent if not planned. */
  planned_start?: string | null;
}

/** The status of a task. */
export type TaskStatus =
  /** The contract of the task is being written. */
  | "draft"
  /** The task can be started. */
  | "ready"
  /** The task is in progress. */
  | "in_progress"
  /** The task cannot proceed. */
  | "blocked"
  /** The task is finished. */
  | "done"
  /** The task was abandoned. */
  | "canceled";

/** The document type of a task. */
export type TaskTag =
  /** The literal `task`. */
  | "task";

/** Params of [`TaskUpdatePlan`]. */
export interface TaskUpdatePlanParams {
  /** If true, removes the execution plan and ignores `execution_plan`. Default false. */
  clear_execution_plan?: boolean | null;
  /** If true, removes the schedule and ignores `schedule`. Default false. */
  clear_schedule?: boolean | null;
  /**
   * Changes of the execution plan; fields that are absent keep their stored value. If absent, the stored plan is
   * kept.
   */
  execution_plan?: TaskExecutionPlanUpdate | null;
  /** The id of the project. */
  project_id: string;
  /** The new schedule, which replaces the stored one completely. If absent, the stored one is kept. */
  schedule?: TaskScheduleUpdate | null;
  /** The id of the task. */
  task_id: string;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`TaskUpdatePlan`]. */
export interface TaskUpdatePlanResponse {
  /** The updated front matter of the task file. */
  frontmatter: Task;
  /** The id of the task. */
  task_id: string;
  /** The absolute path of the task file. */
  task_path: string;
  /** Warnings about the new dependencies: `unknown_dependency:<id>` or `dependency_cycle`. Absent if there are none. */
  warnings?: string[];
}

/** The repository and the files a task works on. */
export interface TaskWorkScope {
  /** The paths the task is about, relative to the repository. Not limited if absent. */
  paths?: string[] | null;
  /** The id of the repository. Absent if there is none. */
  repo_id?: string | null;
  /**
   * Whether sessions of the task must run in a worktree of their own. If absent, a worktree is required for `coding`
   * milestones.
   */
  requires_worktree_isolation?: boolean | null;
  /** The working directory, relative to the repository. The root of the repository if absent. */
  workdir_rel?: string | null;
}

/** A team in a list. */
export interface TeamRow {
  /** The purpose of the team. Absent if there is none. */
  charter?: string | null;
  /** The time the team was created, in ISO-8601. */
  created_at: string;
  /** The key of the department the team represents. Absent if there is none. */
  department_key?: string | null;
  /** The name of that department. Absent if there is none. */
  department_label?: string | null;
  /** The name of the team. */
  name: string;
  /** The id of the team. */
  team_id: string;
}

/** A range of a text that represents something else, such as an attachment. */
export interface TextElement {
  /** The range within the text. */
  byte_range: ByteRange;
  /** The text to display in place of the range. Absent if the range is displayed as it is. */
  placeholder?: string | null;
}

/** A conversation with a model or the recorded work of an agent. */
export interface Thread {
  /** The name of the agent, for delegated threads. Absent for others. */
  agent_nickname?: string | null;
  /** The role of the agent, for delegated threads. Absent for others. */
  agent_role?: string | null;
  /** The time of creation in Unix seconds. */
  created_at: number;
  /** The id of the thread. */
  id: ThreadId;
  /** The purpose of the thread. */
  mode: ThreadMode;
  /** The id of the model for new turns. */
  model: string;
  /** The id of the provider for new turns. */
  model_provider: string;
  /** The title. Absent until a client sets one or the gateway generates one from the first message. */
  name?: string | null;
  /** The origin of the thread. */
  origin_kind: ThreadOriginKind;
  /** The first 200 characters of the first message; empty if there is none. */
  preview: string;
  /** Whether the tree lists the thread. */
  sidebar_visibility: ThreadSidebarVisibility;
  /** Whether a turn of the thread is running. */
  status: ThreadStatus;
  /** Always empty; `thread/history` returns the events of the turns. */
  turns?: Turn[];
  /** The time at which a turn last started or ended, in Unix seconds. */
  updated_at: number;
  /** The id of the workspace that owns the thread. */
  workspace_id: WorkspaceId;
}

/** Params of [`ThreadAgentsDocArchive`]. */
export interface ThreadAgentsDocArchiveParams {
  /**
   * The version that the client last read. The call fails if the version differs. Absent to archive without this
   * check.
   */
  expected_version?: number | null;
  /** The id of the folder. Absent for the root. */
  folder_id?: FolderId | null;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocArchive`]. */
export interface ThreadAgentsDocArchiveResponse {
  /** Whether the scope had a file. */
  archived: boolean;
  /** The effective file of the scope after the call. Absent if there is none. */
  effective?: ThreadAgentsDocResolvedPayload | null;
}

/** Payload of `thread/agents_doc/changed`. */
export interface ThreadAgentsDocChangedNotification {
  /**
   * The explicit file of the scope after the change. Absent if the file itself did not change, for example when its
   * folder was moved.
   */
  doc?: ThreadAgentsDocPayload | null;
  /** The effective file of the scope after the change. Absent if there is none. */
  effective?: ThreadAgentsDocResolvedPayload | null;
  /** Whether the effective file or its version differs from the one before the change. */
  effective_changed: boolean;
  /** The id of the folder. Absent for the root. */
  folder_id?: FolderId | null;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** A decision about a proposal. */
export type ThreadAgentsDocDecision =
  /** Save the proposed text. */
  | "approve"
  /** Reject the proposal; the file stays unchanged. */
  | "deny";

/** Params of [`ThreadAgentsDocExport`]. */
export interface ThreadAgentsDocExportParams {
  /** The id of the folder to start at. Absent for the root. */
  folder_id?: FolderId | null;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocExport`]. */
export interface ThreadAgentsDocExportResponse {
  /** The files, ordered by path. */
  files: ThreadAgentsDocExportedFile[];
  /** All folders below the scope, including those without a file, ordered by path. */
  folders: ThreadAgentsDocExportedFolder[];
}

/** One file of the tree in the form of a repository file. */
export interface ThreadAgentsDocExportedFile {
  /** The text of the file. */
  content: string;
  /** The SHA-256 of the text in lower-case hexadecimal. */
  content_sha256: string;
  /** The path relative to the exported scope, separated by `/` and ending in `AGENTS.md`. */
  path: string;
  /** The current version number of the file. */
  version: number;
}

/** One folder of the tree in the form of a repository directory. */
export interface ThreadAgentsDocExportedFolder {
  /** The id of the folder. */
  folder_id: FolderId;
  /**
   * The path relative to the exported scope, separated by `/`. Characters that are not allowed in a path become `_`,
   * and duplicate names get a number.
   */
  path: string;
}

/** One instruction file of a repository. */
export interface ThreadAgentsDocFile {
  /** The text of the file, at most 65536 characters. */
  content: string;
  /**
   * The version of the file in the tree that the client last read; 0 if the scope must have no file. The whole
   * import fails if the version differs. Absent to import without this check.
   */
  expected_version?: number | null;
  /** The path in the repository, separated by `/` and ending in `AGENTS.md` or `CLAUDE.md`. */
  path: string;
}

/** Params of [`ThreadAgentsDocGet`]. */
export interface ThreadAgentsDocGetParams {
  /** The id of the folder. Absent for the root. */
  folder_id?: FolderId | null;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocGet`]. */
export interface ThreadAgentsDocGetResponse {
  /** The nearest active file of the scope or of a scope above it. Absent if there is none. */
  effective?: ThreadAgentsDocResolvedPayload | null;
  /** The file of the scope itself. Absent if the scope has none. */
  explicit?: ThreadAgentsDocPayload | null;
}

/** The treatment of files that already exist in the tree. */
export type ThreadAgentsDocImportMode =
  /** Existing files stay unchanged; only missing ones are created. */
  | "create"
  /** Existing files get the imported text. */
  | "update";

/** Params of [`ThreadAgentsDocImport`]. */
export interface ThreadAgentsDocImportParams {
  /** The files to import, at most 5000. */
  files: ThreadAgentsDocFile[];
  /** The id of the folder that corresponds to the root of the repository. Absent for the root of the tree. */
  folder_id?: FolderId | null;
  /** The treatment of files that already exist in the tree. */
  mode: ThreadAgentsDocImportMode;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocImport`]. */
export interface ThreadAgentsDocImportResponse {
  /** The files that were created or changed. */
  docs: ThreadAgentsDocPayload[];
  /** The folders that were created. */
  folders: ThreadFolder[];
}

/** A file with its text. */
export interface ThreadAgentsDocPayload {
  /** The text of the file. */
  content: string;
  /** The SHA-256 of the text in lower-case hexadecimal. */
  content_sha256: string;
  /** The time of creation in Unix seconds. */
  created_at: number;
  /** The id of the folder. Absent for the file of the root. */
  folder_id?: FolderId | null;
  /** The id of the document. */
  id: AgentsDocId;
  /** The status of the file. */
  status: ThreadAgentsDocStatus;
  /** The file name; always `AGENTS.md`. */
  title: string;
  /** The time of the last change in Unix seconds. */
  updated_at: number;
  /** The version number. It increases with every change; a scope never uses a number twice. */
  version: number;
  /** The id of the workspace that owns the document. */
  workspace_id: WorkspaceId;
}

/** Params of [`ThreadAgentsDocPreview`]. */
export interface ThreadAgentsDocPreviewParams {
  /** The id of the thread. */
  thread_id: ThreadId;
  /** The id of the workspace that owns the thread. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocPreview`]. */
export interface ThreadAgentsDocPreviewResponse {
  /** The length of `text` in characters. */
  char_count: number;
  /** The id of the effective document. Absent if there is none. */
  doc_id?: AgentsDocId | null;
  /** The folder names from the root of the tree to the folder of the file. Empty for the root. */
  source_path: string[];
  /** The exact text of the prompt section. Empty if the thread has no effective file. */
  text: string;
  /** Whether the section contains only the beginning of the file. */
  truncated: boolean;
  /** The version number of the effective document. Absent if there is none. */
  version?: number | null;
}

/** A proposal without its whole text. */
export interface ThreadAgentsDocProposal {
  /** The author of the proposal: `owner`, the id of a token, or the id of an agent. */
  author: string;
  /** The version that the proposal changes; 0 if it creates the file. */
  base_version: number;
  /** The length of the proposed text in characters. */
  char_count: number;
  /** The SHA-256 of the proposed text in lower-case hexadecimal. */
  content_sha256: string;
  /** The time of creation in Unix seconds. */
  created_at: number;
  /** The current version of the file; 0 if there is none. */
  current_version: number;
  /** The time of the decision in Unix seconds. Absent while the proposal is pending. */
  decided_at?: number | null;
  /** The principal that decided about or withdrew the proposal. Absent while it is pending. */
  decided_by?: string | null;
  /** The type of connection through which the decision was made. Absent while the proposal is pending. */
  decided_via?: Presence | null;
  /** The change as a unified diff against the base version. */
  diff: string;
  /** The id of the folder whose file the proposal changes. Absent for the file of the root. */
  folder_id?: FolderId | null;
  /** The id of the proposal. */
  id: AgentsDocProposalId;
  /** Whether the proposal is pending and its base version is not the current version. */
  is_stale: boolean;
  /** The comment on the decision. Absent if there is none. */
  note?: string | null;
  /** The reason for the change. */
  rationale: string;
  /** The id of the document in which the approved text was saved. Absent unless the proposal is approved. */
  saved_doc_id?: AgentsDocId | null;
  /** The version number under which the approved text was saved. Absent unless the proposal is approved. */
  saved_version?: number | null;
  /**
   * The SHA-256 to send as `expected_sha256`, in lower-case hexadecimal. It depends on the id of the proposal, its
   * base version and its text.
   */
  sha256: string;
  /** The status of the proposal. */
  status: ThreadAgentsDocProposalStatus;
  /** The time of the last change in Unix seconds. */
  updated_at: number;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Payload of `thread/agents_doc/proposal/changed`. */
export interface ThreadAgentsDocProposalChangedNotification {
  /** The id of the folder whose file the proposal changes. Absent for the file of the root. */
  folder_id?: FolderId | null;
  /** The id of the proposal. */
  proposal_id: AgentsDocProposalId;
  /** The status of the proposal after the change. */
  status: ThreadAgentsDocProposalStatus;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ThreadAgentsDocProposalDecide`]. */
export interface ThreadAgentsDocProposalDecideParams {
  /** The decision. */
  decision: ThreadAgentsDocDecision;
  /**
   * The `sha256` of the proposal that was reviewed. The call fails if the proposal was rebased since. Absent to
   * decide without this check.
   */
  expected_sha256?: string | null;
  /** A comment on the decision, at most 4096 characters. */
  note?: string | null;
  /** The id of the proposal. */
  proposal_id: AgentsDocProposalId;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocProposalDecide`]. */
export interface ThreadAgentsDocProposalDecideResponse {
  /** The proposal after the decision. */
  proposal: ThreadAgentsDocProposal;
}

/** Params of [`ThreadAgentsDocProposalGet`]. */
export interface ThreadAgentsDocProposalGetParams {
  /** The id of the proposal. */
  proposal_id: AgentsDocProposalId;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocProposalGet`]. */
export interface ThreadAgentsDocProposalGetResponse {
  /** The text of the base version; empty if the proposal creates the file. */
  base_content: string;
  /** The whole proposed text. */
  content: string;
  /** The current text of the file; empty if there is none. */
  current_content: string;
  /** The requested proposal. */
  proposal: ThreadAgentsDocProposal;
}

/** Params of [`ThreadAgentsDocProposalList`]. */
export interface ThreadAgentsDocProposalListParams {
  /** The `next_cursor` of the previous page. Absent for the first page. */
  cursor?: string | null;
  /** The maximum number of proposals to return. Default 20, maximum 50. */
  limit?: number | null;
  /** Return only proposals of this scope. Absent for all. */
  scope?: ThreadAgentsDocProposalScope | null;
  /** Return only proposals with this status. Absent for all. */
  status?: ThreadAgentsDocProposalStatus | null;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocProposalList`]. */
export interface ThreadAgentsDocProposalListResponse {
  /** The proposals: pending ones first, then closed ones, each newest first. */
  items: ThreadAgentsDocProposal[];
  /** The cursor of the next page. Absent on the last page. */
  next_cursor?: string | null;
}

/** Params of [`ThreadAgentsDocProposalRebase`]. */
export interface ThreadAgentsDocProposalRebaseParams {
  /**
   * The text merged by a person, for lines that both sides changed. Requires `current_version` and role `human`.
   * Absent for an automatic merge.
   */
  content?: string | null;
  /**
   * The version of the file with which the text was merged. The call fails if it is not the current version. Absent
   * to use the current version.
   */
  current_version?: number | null;
  /** The id of the proposal. */
  proposal_id: AgentsDocProposalId;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocProposalRebase`]. */
export interface ThreadAgentsDocProposalRebaseResponse {
  /** The proposal after the rebase. */
  proposal: ThreadAgentsDocProposal;
}

/** One scope of the thread tree: a folder or the root. */
export interface ThreadAgentsDocProposalScope {
  /** The id of the folder. Absent for the root. */
  folder_id?: FolderId | null;
}

/** The status of a proposal. */
export type ThreadAgentsDocProposalStatus =
  /** The proposal waits for a decision. */
  | "pending"
  /** The proposal was approved and its text was saved. */
  | "approved"
  /** The proposal was denied; the file did not change. */
  | "denied"
  /** The author withdrew the proposal, or its folder was deleted. */
  | "withdrawn";

/** Params of [`ThreadAgentsDocProposalWithdraw`]. */
export interface ThreadAgentsDocProposalWithdrawParams {
  /** The id of the proposal. */
  proposal_id: AgentsDocProposalId;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocProposalWithdraw`]. */
export interface ThreadAgentsDocProposalWithdrawResponse {
  /** The proposal after the withdrawal. */
  proposal: ThreadAgentsDocProposal;
}

/** Params of [`ThreadAgentsDocPropose`]. */
export interface ThreadAgentsDocProposeParams {
  /** The version that the proposal changes; 0 for a new file. Default: the current version. */
  base_version?: number | null;
  /** The whole proposed text, at most 65536 characters. */
  content: string;
  /** The id of the folder. Absent for the root. */
  folder_id?: FolderId | null;
  /** The reason for the change, 1 to 4096 characters. */
  rationale: string;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocPropose`]. */
export interface ThreadAgentsDocProposeResponse {
  /** The new proposal, or the pending one with the same text. */
  proposal: ThreadAgentsDocProposal;
}

/** Params of [`ThreadAgentsDocResolveForThread`]. */
export interface ThreadAgentsDocResolveForThreadParams {
  /** The id of the thread. */
  thread_id: ThreadId;
  /** The id of the workspace that owns the thread. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocResolveForThread`]. */
export interface ThreadAgentsDocResolveForThreadResponse {
  /** The effective file of the thread. Absent if there is none. */
  effective?: ThreadAgentsDocResolvedPayload | null;
}

/** The effective file of a scope or a thread. */
export interface ThreadAgentsDocResolvedPayload {
  /** The effective file. */
  doc: ThreadAgentsDocPayload;
  /** Whether the file belongs to a scope above the requested one. */
  inherited: boolean;
  /** The time of the resolution in Unix seconds. */
  resolved_at: number;
  /** The id of the requested folder. Absent for the root. */
  resolved_for_folder_id?: FolderId | null;
  /** The id of the folder of the file. Absent for the root. */
  source_folder_id?: FolderId | null;
  /** The folder names from the root of the tree to the folder of the file. Empty for the root. */
  source_path: string[];
}

/** Params of [`ThreadAgentsDocRestore`]. */
export interface ThreadAgentsDocRestoreParams {
  /** The id of the document. */
  doc_id: AgentsDocId;
  /**
   * The version that the client last read. The call fails if the version differs. Absent to restore without this
   * check; ignored for archived files.
   */
  expected_version?: number | null;
  /** The version number to restore. Default: the number before the current one. */
  version?: number | null;
  /** The id of the workspace that owns the document. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocRestore`]. */
export interface ThreadAgentsDocRestoreResponse {
  /**
   * Sentences about problems with the text, for example that a prompt has no room for all of it. Absent if there are
   * none.
   */
  content_warnings?: string[];
  /** The file after the restore. */
  doc: ThreadAgentsDocPayload;
}

/** One version of a file with its text. */
export interface ThreadAgentsDocRevision {
  /** The text of the version. */
  content: string;
  /** The SHA-256 of the text in lower-case hexadecimal. */
  content_sha256: string;
  /** The id of the document. */
  doc_id: AgentsDocId;
  /** The reason for the save: `autosave`, `manual`, `restore`, `archive` or `proposal`. */
  save_reason: string;
  /** The time at which the version was saved, in Unix seconds. */
  saved_at: number;
  /** The principal that saved the version: `owner` or the id of a token. Absent if it is unknown. */
  saved_by?: string | null;
  /** The version number. */
  version: number;
}

/** Params of [`ThreadAgentsDocRevisionGet`]. */
export interface ThreadAgentsDocRevisionGetParams {
  /** The id of the document. */
  doc_id: AgentsDocId;
  /** The version number to return. */
  version: number;
  /** The id of the workspace that owns the document. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocRevisionGet`]. */
export interface ThreadAgentsDocRevisionGetResponse {
  /** The requested version. */
  revision: ThreadAgentsDocRevision;
}

/** One version of a file without its text. */
export interface ThreadAgentsDocRevisionSummary {
  /** The length of the text in characters. */
  char_count: number;
  /** The SHA-256 of the text in lower-case hexadecimal. */
  content_sha256: string;
  /** The reason for the save: `autosave`, `manual`, `restore`, `archive` or `proposal`. */
  save_reason: string;
  /** The time at which the version was saved, in Unix seconds. */
  saved_at: number;
  /** The principal that saved the version: `owner` or the id of a token. Absent if it is unknown. */
  saved_by?: string | null;
  /** The version number. */
  version: number;
}

/** Params of [`ThreadAgentsDocRevisions`]. */
export interface ThreadAgentsDocRevisionsParams {
  /** The `next_cursor` of the previous page. Absent for the first page. */
  cursor?: string | null;
  /** The id of the document. */
  doc_id: AgentsDocId;
  /** The maximum number of versions to return. Default 100, maximum 500. */
  limit?: number | null;
  /** The id of the workspace that owns the document. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadAgentsDocRevisions`]. */
export interface ThreadAgentsDocRevisionsResponse {
  /** The versions, newest first. */
  items: ThreadAgentsDocRevisionSummary[];
  /** The cursor of the next page. Absent on the last page. */
  next_cursor?: string | null;
}

/** Params of [`ThreadAgentsDocSave`]. */
export interface ThreadAgentsDocSaveParams {
  /** The whole text, at most 65536 characters. */
  content: string;
  /**
   * The version that the client last read; 0 if the scope must have no file. The call fails if the version differs.
   * Absent to save without this check.
   */
  expected_version?: number | null;
  /** The id of the folder. Absent for the root. */
  folder_id?: FolderId | null;
  /** The reason for the save. Default `autosave`. */
  save_reason?: ThreadAgentsDocSaveReason | null;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** The reason why a text was saved. */
export type ThreadAgentsDocSaveReason =
  /** The editor saved the text automatically. */
  | "autosave"
  /** The user saved the text explicitly. */
  | "manual";

/** Response of [`ThreadAgentsDocSave`]. */
export interface ThreadAgentsDocSaveResponse {
  /**
   * Sentences about problems with the text, for example that a prompt has no room for all of it. Absent if there are
   * none.
   */
  content_warnings?: string[];
  /** The file after the save. */
  doc: ThreadAgentsDocPayload;
}

/** The status of a file, which determines whether it takes part in inheritance. */
export type ThreadAgentsDocStatus =
  /** The file contains only whitespace. It is displayed but never sent to a model. */
  | "draft"
  /** The file has text and takes part in inheritance. */
  | "active"
  /** The file was removed from the tree. */
  | "archived";

/** A file without its text. */
export interface ThreadAgentsDocSummary {
  /** The length of the text in characters. */
  char_count: number;
  /** The SHA-256 of the text in lower-case hexadecimal. */
  content_sha256: string;
  /** The id of the folder. Absent for the file of the root. */
  folder_id?: FolderId | null;
  /** The id of the document. */
  id: AgentsDocId;
  /** The status of the file. */
  status: ThreadAgentsDocStatus;
  /** The time of the last change in Unix seconds. */
  updated_at: number;
  /** The current version number. */
  version: number;
  /** The id of the workspace that owns the document. */
  workspace_id: WorkspaceId;
}

/** Payload of `thread/artifacts/changed`. */
export interface ThreadArtifactsChangedNotification {
  /** The ids of the artifacts that changed. */
  artifact_ids: ArtifactId[];
  /** The time of the change in Unix seconds. */
  generated_at: number;
  /**
   * The reason: `user_upload`, `new_version`, `user_input_binding`, `agent_output`, `task_result`, `bind`, `delete`,
   * `restore`, `damaged` or `healed`.
   */
  reason: string;
  /** The id of the thread. */
  thread_id: ThreadId;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Payload of `thread/closed`. */
export interface ThreadClosedNotification {
  /** The id of the thread. */
  threadId: ThreadId;
  /** The id of the workspace that owns the thread. */
  workspaceId: WorkspaceId;
}

/** Params of [`ThreadDelete`]. */
export interface ThreadDeleteParams {
  /** The id of the thread to delete. */
  thread_id: ThreadId;
  /** The id of the workspace that owns the thread. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadDelete`]. */
export interface ThreadDeleteResponse {
  /** Whether the thread existed. */
  deleted: boolean;
}

/** A folder of the thread tree. */
export interface ThreadFolder {
  /** The time of creation in Unix seconds. */
  created_at: number;
  /** The id of the folder. */
  id: FolderId;
  /** The display name; siblings may have the same name. */
  name: string;
  /** The id of the parent folder. Absent if the folder is at the root. */
  parent_folder_id?: FolderId | null;
  /**
   * The position among its siblings, for clients that support manual sorting; the gateway does not sort by it.
   * Absent until a client sets it.
   */
  position?: number | null;
  /** The time of the last change to the folder in Unix seconds. */
  updated_at: number;
  /** The id of the workspace that owns the folder. */
  workspace_id: WorkspaceId;
}

/** Params of [`ThreadFolderCreate`]. */
export interface ThreadFolderCreateParams {
  /** The display name of the folder. */
  name: Name;
  /** The id of the parent folder. Absent for the root. */
  parent_folder_id?: FolderId | null;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadFolderCreate`]. */
export interface ThreadFolderCreateResponse {
  /** The new folder. */
  folder: ThreadFolder;
}

/** Params of [`ThreadFolderDelete`]. */
export interface ThreadFolderDeleteParams {
  /** The id of the folder to delete. */
  folder_id: FolderId;
  /** The id of the workspace that owns the folder. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadFolderDelete`]. */
export interface ThreadFolderDeleteResponse {
  /** Whether the folder existed. */
  deleted: boolean;
}

/** Params of [`ThreadFolderMove`]. */
export interface ThreadFolderMoveParams {
  /** The id of the folder to move. */
  folder_id: FolderId;
  /** The id of the new parent folder. Absent for the root. */
  parent_folder_id?: FolderId | null;
  /** The id of the workspace that owns both folders. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadFolderMove`]. */
export interface ThreadFolderMoveResponse {
  /** Always `true`, even if the folder already had this parent. */
  moved: boolean;
}

/** Params of [`ThreadFolderUpdate`]. At least one change is required. */
export interface ThreadFolderUpdateParams {
  /** The id of the folder. */
  folder_id: FolderId;
  /** The new display name. Absent for no change. */
  name?: Name | null;
  /** The new position. Absent for no change. */
  position?: number | null;
  /** The id of the workspace that owns the folder. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadFolderUpdate`]. */
export interface ThreadFolderUpdateResponse {
  /** The folder after the change. */
  folder: ThreadFolder;
}

/** Params of [`ThreadGet`]. */
export interface ThreadGetParams {
  /** The id of the thread. */
  thread_id: ThreadId;
}

/** Response of [`ThreadGet`]. */
export interface ThreadGetResponse {
  /** The requested thread. */
  thread: Thread;
}

/** Params of [`ThreadHistory`]. */
export interface ThreadHistoryParams {
  /** The maximum number of events to return; the newest ones are kept. Minimum 1; default and maximum 10000. */
  limit?: number | null;
  /** The id of the thread. */
  thread_id: ThreadId;
}

/** Response of [`ThreadHistory`]. */
export interface ThreadHistoryResponse {
  /** The events, oldest first. */
  events: TurnEvent[];
  /** The id of the thread. */
  thread_id: ThreadId;
  /** The id of the workspace that owns the thread. */
  workspace_id: WorkspaceId;
}

/** The id of a thread. */
export type ThreadId = string;

/** The purpose of a thread. It is stored and displayed, and hooks may filter by it; it does not change how turns run. */
export type ThreadMode =
  /** A conversation. */
  | "Chat"
  /** The work of an agent. Turns offer no tools to the model in this mode either. */
  | "Agent";

/** Params of [`ThreadMove`]. */
export interface ThreadMoveParams {
  /** The id of the target folder. Absent for the root. */
  folder_id?: FolderId | null;
  /** The id of the thread to move. */
  thread_id: ThreadId;
  /** The id of the workspace that owns the thread and the folder. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadMove`]. */
export interface ThreadMoveResponse {
  /** Always `true`, even if the thread was already in the folder. */
  moved: boolean;
}

/** The origin of a thread. */
export type ThreadOriginKind =
  /** A person started the thread. */
  | "user"
  /** A job or session of a worker started the thread. */
  | "task_run"
  /** The gateway started the thread. */
  | "system";

/** The placement of a thread in the tree. */
export interface ThreadPlacement {
  /** The id of the folder that contains the thread. Absent for the root. */
  folder_id?: FolderId | null;
  /** The id of the thread. */
  thread_id: ThreadId;
  /** The id of the workspace that owns the thread and the folder. */
  workspace_id: WorkspaceId;
}

/** Whether the tree lists a thread. */
export type ThreadSidebarVisibility =
  /** The tree lists the thread. */
  | "visible"
  /** The tree omits the thread. */
  | "hidden";

/** Params of [`ThreadStart`]. If the thread exists, only the fields that are present change. */
export interface ThreadStartParams {
  /** The name of the agent, for delegated threads. */
  agent_nickname?: string | null;
  /** The role of the agent, for delegated threads. */
  agent_role?: string | null;
  /** The purpose of the thread. Default for a new thread: `Chat`. */
  mode?: ThreadMode | null;
  /** The id of the model for new turns. Default for a new thread: `echo`. */
  model?: string | null;
  /** The id of the provider for new turns. Default for a new thread: `echo`. */
  model_provider?: string | null;
  /** The title, 1 to 200 characters. If absent, a new thread has none. */
  name?: string | null;
  /** The origin of the thread; ignored if the thread exists. Default `user`. */
  origin_kind?: ThreadOriginKind | null;
  /**
   * Returned in the response and otherwise ignored: turns start no commands. `FullAccess` is the only value and the
   * default.
   */
  sandbox?: SandboxMode | null;
  /** Whether the tree lists the thread. Default for a new thread: `visible`. */
  sidebar_visibility?: ThreadSidebarVisibility | null;
  /** The id of the thread, chosen by the client. */
  thread_id: ThreadId;
  /** The id of the workspace that owns the thread. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadStart`]. */
export interface ThreadStartResponse {
  /** The sandbox of the thread. */
  sandbox: Sandbox;
  /** The thread after the call. */
  thread: Thread;
}

/** Payload of `thread/started`. */
export interface ThreadStartedNotification {
  /** The thread that was created or opened. */
  thread: Thread;
}

/** Whether a thread is active. */
export type ThreadStatus =
  /** A turn is running. */
  | "Active"
  /** No turn is running. */
  | "Idle"
  /** The thread accepts no further turns. Not produced at present. */
  | "Closed";

/** Payload of `thread/tree/changed`. */
export interface ThreadTreeChangedNotification {
  /** The method that changed the tree, or `external` for a change by another process. The gateway always sends it. */
  reason?: string | null;
  /** The version of the tree after the change. The gateway always sends it. */
  tree_version?: number | null;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ThreadTree`]. */
export interface ThreadTreeParams {
  /** The `next_cursor` of the previous page. Absent for the first page. */
  cursor?: string | null;
  /** The maximum number of threads to return. Default 500, maximum 5000. */
  limit?: number | null;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadTree`]. */
export interface ThreadTreeResponse {
  /** The AGENTS.md document of each scope, without its text. Empty on further pages. */
  agents_docs: ThreadAgentsDocSummary[];
  /** All folders, by name in byte order, then by id. Empty on further pages. */
  folders: ThreadFolder[];
  /** The cursor of the next page of threads. Absent on the last page. */
  next_cursor?: string | null;
  /** The placements of the visible threads, by thread id. Empty on further pages. */
  placements: ThreadPlacement[];
  /** The visible threads, newest `updated_at` first, then by id. */
  threads: Thread[];
  /** The version of the tree, which increases with every change. The gateway always sends it. */
  tree_version?: number | null;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`ThreadUnsubscribe`]. */
export interface ThreadUnsubscribeParams {
  /** The id of the thread. The gateway accepts the name `thread_id` as well. */
  threadId: ThreadId;
}

/** Response of [`ThreadUnsubscribe`]. */
export interface ThreadUnsubscribeResponse {
  /** The result of the call. */
  status: ThreadUnsubscribeStatus;
}

/** The result of [`ThreadUnsubscribe`]. */
export type ThreadUnsubscribeStatus =
  /** No connection was subscribed to the thread. */
  | "notLoaded"
  /** Other connections are subscribed; this one was not. */
  | "notSubscribed"
  /** This connection was subscribed and no longer is. */
  | "unsubscribed";

/** Params of [`ThreadUpdate`]. At least one change is required. */
export interface ThreadUpdateParams {
  /** Whether the thread is archived; the tree omits archived threads. Absent for no change. */
  archived?: boolean | null;
  /** The new title. Absent for no change. */
  name?: Name | null;
  /** The id of the thread. */
  thread_id: ThreadId;
  /** Whether the tree lists the thread. Absent for no change. */
  visibility?: ThreadSidebarVisibility | null;
  /** The id of the workspace that owns the thread. */
  workspace_id: WorkspaceId;
}

/** Response of [`ThreadUpdate`]. */
export interface ThreadUpdateResponse {
  /** The thread after the change. */
  thread: Thread;
}

/** Payload of `thread/updated`. */
export interface ThreadUpdatedNotification {
  /** The placement of the thread. Absent if the thread has none. */
  placement?: ThreadPlacement | null;
  /** The thread after the change. */
  thread: Thread;
}

/** One entry of a timeline. */
export interface TimelineItem {
  /** The id of the entry: the id of the turn, a colon and the `sequence` of the event. */
  id: string;
  /** The source and the time of the entry. */
  origin: TimelineOrigin;
  /** The content of the entry. */
  payload: TimelinePayload;
}

/** The source and the time of a timeline entry. */
export interface TimelineOrigin {
  /** The log that recorded the event. */
  kind: TimelineOriginKind;
  /** The zero-based column in which to display the entry; always 0. */
  lane: number;
  /** The time of the event in Unix milliseconds. */
  occurredAt: number;
  /** The `sequence` of the event in that log. */
  originSequence: number;
}

/** The log that recorded a timeline entry. */
export type TimelineOriginKind =
  /** The event log of the turn itself. */
  | "parent_turn";

/** The content of a timeline entry. */
export type TimelinePayload =
  /** An item event of the turn. */
  | {
    /** The item event. */
    event: TurnEventPayload;
    kind: "turn_item_event";
  };

/** Payload of `transport/frame_rejected`. */
export interface TransportFrameRejectedNotification {
  /** The reason as a stable snake_case name; always `unknown_magic`. */
  kind: string;
  /**
   * The first four bytes of the frame as text. Absent if the frame is shorter or one of them is not a printable
   * ASCII character.
   */
  magic?: string | null;
  /** The size of the frame in bytes. */
  size_bytes: number;
}

/** A deleted item that can still be restored. */
export interface TrashItem {
  /** The time of deletion in Unix seconds. */
  deleted_at: number;
  /** The principal that deleted the item: `owner` or the id of a token. */
  deleted_by: string;
  /**
   * For folders, the number of folders directly in it; they moved up one level when the folder was deleted. 0 for
   * other items.
   */
  folder_count: number;
  /** The id of the folder that contained the item; for a document, its folder. Absent for the root. */
  folder_id?: FolderId | null;
  /** The name of that folder at the time of deletion. Absent for the root. */
  folder_name?: string | null;
  /** Whether an AGENTS.md document was archived together with the folder. `false` for items that are not folders. */
  has_agents_doc: boolean;
  /** The id of the thread, folder or document. `kind` and `id` together identify the item. */
  id: string;
  /** The type of the item. */
  kind: TrashItemKind;
  /**
   * The title of the thread, the name of the folder, or `AGENTS.md`. For a thread without a title, the beginning of
   * its first message; empty if it has none.
   */
  name: string;
  /** The time of permanent deletion in Unix seconds, 30 days after `deleted_at`. */
  purge_at: number;
  /**
   * For folders, the number of threads directly in it; they moved up one level when the folder was deleted. 0 for
   * other items.
   */
  thread_count: number;
  /** The id of the workspace that owns the item. */
  workspace_id: WorkspaceId;
}

/** The type of a deleted item. */
export type TrashItemKind =
  /** A thread with its turns. */
  | "thread"
  /** A folder with its AGENTS.md document. */
  | "folder"
  /** An AGENTS.md document that was archived separately from its folder. */
  | "agents_doc";

/** A reference to one item of the trash. */
export interface TrashItemRef {
  /** The id of the thread, folder or document. */
  id: string;
  /** The type of the item. */
  kind: TrashItemKind;
}

/** Params of [`TrashList`]. */
export interface TrashListParams {
  /** The `next_cursor` of the previous page. Absent for the first page. */
  cursor?: string | null;
  /** The maximum number of items to return. Default 100, maximum 1000. */
  limit?: number | null;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`TrashList`]. */
export interface TrashListResponse {
  /** The items, newest deletion first. */
  items: TrashItem[];
  /** The cursor of the next page. Absent on the last page. */
  next_cursor?: string | null;
}

/** Params of [`TrashPurge`]. */
export interface TrashPurgeParams {
  /** The items to delete permanently, 1 to 1000. */
  items: TrashItemRef[];
  /** The id of the workspace that owns the items. */
  workspace_id: WorkspaceId;
}

/** Response of [`TrashPurge`]. */
export interface TrashPurgeResponse {
  /** The number of items that were deleted permanently; duplicates count once. */
  purged: number;
}

/** Params of [`TrashRestore`]. */
export interface TrashRestoreParams {
  /** The id of the thread, folder or document. */
  id: string;
  /** The type of the item. */
  kind: TrashItemKind;
  /** The id of the workspace that owns the item. */
  workspace_id: WorkspaceId;
}

/** Response of [`TrashRestore`]. */
export interface TrashRestoreResponse {
  /**
   * The restored AGENTS.md document. It keeps its id and its earlier versions and gets the next version number of
   * its scope. Absent if no document was restored.
   */
  doc?: ThreadAgentsDocPayload | null;
  /** The restored folder. Absent if the item is not a folder. */
  folder?: ThreadFolder | null;
  /** The item as it was listed in the trash. */
  item: TrashItem;
  /** Sentences for display that state what could not be restored to its previous state. Empty if everything was. */
  notes: string[];
  /** The number of folders that moved back into the restored folder. */
  returned_folders: number;
  /** The number of threads that moved back into the restored folder. */
  returned_threads: number;
  /** The restored thread. Absent if the item is not a thread. */
  thread?: Thread | null;
}

/** One exchange on a thread. */
export interface Turn {
  /** The reason why the turn failed or was interrupted. Absent for other statuses. */
  error?: string | null;
  /** The id of the turn. */
  id: TurnId;
  /** The manifest of the prompt that was sent to the model. Absent until the prompt is compiled. */
  prompt_manifest?: PromptManifest | null;
  /** The current status of the turn. */
  status: TurnStatus;
}

/** Params of [`TurnCancel`]. */
export interface TurnCancelParams {
  /** The reason, which becomes the `error` of the turn. Default `cancelled`. */
  reason?: string | null;
  /** The id of the thread. */
  thread_id: ThreadId;
  /** The id of the turn to cancel. */
  turn_id: TurnId;
}

/** Response of [`TurnCancel`]. */
export interface TurnCancelResponse {
  /** The id of the thread. */
  thread_id: ThreadId;
  /** The turn after the cancellation. */
  turn: Turn;
  /** The id of the workspace that owns the thread. */
  workspace_id: WorkspaceId;
}

/** Payload of `turn/completed`. */
export interface TurnCompletedNotification {
  /** The id of the thread. */
  thread_id: ThreadId;
  /** The completed turn. */
  turn: Turn;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** One entry of the event log of a turn. */
export interface TurnEvent {
  /** The time of the event in Unix milliseconds. */
  created_at: number;
  /** The content of the event. */
  payload: TurnEventPayload;
  /** The number of the event within the turn, from 1. */
  sequence: number;
  /** The id of the turn. */
  turn_id: TurnId;
}

/** The content of a turn event, as stored in the event log. */
export type TurnEventPayload =
  /** The turn was accepted. */
  | {
    /** The input of the turn. */
    input: UserInput[];
    type: "turnStarted";
  }
  /** An item started. */
  | {
    /** The item at its start. */
    item: TurnItem;
    type: "itemStarted";
  }
  /** An item is complete. */
  | {
    /** The complete item. */
    item: TurnItem;
    type: "itemCompleted";
  }
  /** The turn completed successfully. */
  | {
    type: "turnCompleted";
    /** The token usage. Absent if the provider reported none. */
    usage?: TurnUsage | null;
  }
  /** The turn failed or was interrupted. */
  | {
    /** The reason for the failure or interruption. */
    error: string;
    /** The final status: `Failed` or `Interrupted`. */
    status: TurnStatus;
    type: "turnFailed";
  };

/** Params of [`TurnExplain`](super::TurnExplain). */
export interface TurnExplainParams {
  /** The id of the thread of the compared turn. Default: `thread_id`. */
  compare_thread_id?: ThreadId | null;
  /** The id of a turn to compare with, in the same workspace. Absent for no comparison. */
  compare_turn_id?: TurnId | null;
  /** The id of the thread. */
  thread_id: ThreadId;
  /** The id of the turn to explain. */
  turn_id: TurnId;
}

/** Response of [`TurnExplain`](super::TurnExplain). */
export interface TurnExplainResponse {
  /** The result for each section, from the compared turn to this one. Absent without a comparison. */
  changes?: PromptChange[];
  /** The prompt of the compared turn. Absent without a comparison. */
  compared?: ExplainedPrompt | null;
  /** The prompt of the turn. */
  prompt: ExplainedPrompt;
  /** The id of the thread. */
  thread_id: ThreadId;
  /** The id of the workspace that owns the thread. */
  workspace_id: WorkspaceId;
}

/** Payload of `turn/failed`. */
export interface TurnFailedNotification {
  /** The id of the thread. */
  thread_id: ThreadId;
  /** The turn, with status `Failed` or `Interrupted`. */
  turn: Turn;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Params of [`TurnGet`]. */
export interface TurnGetParams {
  /** The id of the thread. */
  thread_id: ThreadId;
  /** The id of the turn. */
  turn_id: TurnId;
}

/** Response of [`TurnGet`]. */
export interface TurnGetResponse {
  /** The id of the thread. */
  thread_id: ThreadId;
  /** The requested turn. */
  turn: Turn;
  /** The id of the workspace that owns the thread. */
  workspace_id: WorkspaceId;
}

/** The id of a turn of a thread. */
export type TurnId = string;

/** One item of a turn, such as a message. */
export type TurnItem =
  /** The user's message. */
  | {
    /**
     * The inputs that are not text. An artifact is `{"type": "artifact", "artifact": …}` with an `ArtifactRef`;
     * other inputs have the form in which they were sent. Default: empty.
     */
    attachments?: unknown[];
    /** The id of the item: `user_` followed by the id of the turn. */
    id: string;
    /** The text inputs of the turn, joined by line breaks. */
    text: string;
    type: "userMessage";
  }
  /** The model's answer. */
  | {
    /** The id of the item. */
    id: string;
    /** The text generated so far; the whole text once the item is complete. */
    text: string;
    type: "agentMessage";
  }
  /** The model's reasoning. Not produced: the gateway does not store reasoning. */
  | {
    /** The full text of the reasoning, in parts. */
    content: string[];
    /** The id of the item. */
    id: string;
    /** The summary of the reasoning, in parts. */
    summary: string[];
    type: "reasoning";
  }
  /** A message from the gateway. Not produced at present. */
  | {
    /** A stable name for the event. Absent if it has none. */
    code?: string | null;
    /** The id of the item. */
    id: string;
    /** The severity of the event. */
    level: SystemEventLevel;
    /** A one-sentence description of the event. */
    message: string;
    type: "systemEvent";
  };

/** Params of [`TurnItems`]. */
export interface TurnItemsParams {
  /** Return only events with a greater `sequence`. Default 0, which returns all. */
  after_sequence?: number | null;
  /** The id of the thread. */
  thread_id: ThreadId;
  /** The id of the turn. */
  turn_id: TurnId;
}

/** Response of [`TurnItems`]. */
export interface TurnItemsResponse {
  /** The item events, oldest first. */
  events: TurnEvent[];
  /** The highest `sequence` of the turn so far, including events that are not about items. */
  last_sequence: number;
  /** The id of the thread. */
  thread_id: ThreadId;
  /** The id of the turn. */
  turn_id: TurnId;
  /** The id of the workspace that owns the thread. */
  workspace_id: WorkspaceId;
}

/** Params of [`TurnStart`]. */
export interface TurnStartParams {
  /**
   * The user's input: 1 to 256 parts, at least one of which is not an empty text. Limits: 2 MiB of text and 32
   * artifacts.
   */
  input?: UserInput[];
  /**
   * The mode of the turn. Default: the mode of the thread. `Agent` is rejected, because a turn offers no tools to
   * the model.
   */
  mode?: ThreadMode | null;
  /** The id of the model. Default: the model of the thread. */
  model?: string | null;
  /** The id of the provider. Default: the provider of the thread. */
  model_provider?: string | null;
  /** Whether model, provider and mode become the defaults of the thread. Default `true`. */
  remember?: boolean | null;
  /** Must be absent: a turn starts no commands, so the gateway rejects any sandbox policy. */
  sandbox_policy?: SandboxPolicy | null;
  /** The id of the thread. */
  thread_id: ThreadId;
  /** The id of the turn, chosen by the client. */
  turn_id: TurnId;
}

/** Response of [`TurnStart`]. */
export interface TurnStartResponse {
  /** The new turn, or the stored one if the `turn_id` existed. */
  turn: Turn;
}

/** Payload of `turn/started`. */
export interface TurnStartedNotification {
  /** The id of the thread. */
  thread_id: ThreadId;
  /** The turn that started. */
  turn: Turn;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** The status of a turn. */
export type TurnStatus =
  /** The turn was accepted and is running. */
  | "InProgress"
  /** The turn completed successfully. */
  | "Completed"
  /** The turn failed; `error` contains the reason. */
  | "Failed"
  /** The turn was cancelled, or the gateway stopped while it was running. */
  | "Interrupted";

/** Params of [`TurnTimeline`]. The gateway accepts snake_case field names as well. */
export interface TurnTimelineParams {
  /** The id of the thread. */
  threadId: ThreadId;
  /** The id of the turn. */
  turnId: TurnId;
}

/** Response of [`TurnTimeline`]. */
export interface TurnTimelineResponse {
  /** The entries, in chronological order. */
  items: TimelineItem[];
  /** The highest `sequence` of the turn so far, including events that are not about items. */
  lastSequence: number;
  /** The id of the thread. */
  threadId: ThreadId;
  /** The id of the turn. */
  turnId: TurnId;
  /** The id of the workspace that owns the thread. */
  workspaceId: WorkspaceId;
}

/** The token usage of a turn, as reported by the provider. */
export interface TurnUsage {
  /** The number of input tokens that the provider read from its cache; included in `inputTokens`. */
  cachedInputTokens: number;
  /** The number of input tokens. */
  inputTokens: number;
  /** The number of output tokens. */
  outputTokens: number;
}

/** An agent and its current activity. */
export interface UiColleague {
  /** The number of running runs in `monitor`. */
  active_runs: number;
  /** The id of the agent. */
  agent_id: string;
  /** The number of all indexed runs of the agent, not limited to `monitor`. */
  all_runs: number;
  /**
   * The time of the last activity, in ISO-8601: an event, a run, a pending document or a decision. Absent if there
   * is none.
   */
  last_seen_at?: string | null;
  /** The name of the agent. */
  name: string;
  /** The number of pending documents produced by the agent in `review_inbox`. */
  pending_reviews: number;
  /** The provider of the agent. */
  provider: string;
  /** The number of decisions made by the agent in `review_inbox`. */
  recent_decisions: number;
  /** The role of the agent. */
  role: AgentRole;
  /** The current activity of the agent. */
  status: UiColleagueStatus;
  /** The id of the agent's team. Absent if it has none. */
  team_id?: string | null;
  /** The name of the agent's team. Absent if it has none. */
  team_name?: string | null;
  /** The number of runs in `monitor`. */
  total_runs: number;
}

/** The current activity of an agent. */
export type UiColleagueStatus =
  /** The agent has at least one running run. */
  | "active"
  /** The agent has no running run and at least one pending document. */
  | "needs_review"
  /** The agent has neither a running run nor a pending document. */
  | "idle";

/** The configuration and the state of the heartbeat. */
export interface UiHeartbeat {
  /** True if directors may start workers. Default false. */
  allow_director_to_spawn_workers: boolean;
  /** True if the heartbeat is enabled. */
  enabled: boolean;
  /** The id of the executive manager. Absent if there is none. */
  executive_manager_agent_id?: string | null;
  /** The hierarchy mode: `standard` or `enterprise_v1`. Default `standard`. */
  hierarchy_mode: string;
  /** The time of the last tick, in ISO-8601. Absent before the first tick. */
  last_tick_at?: string | null;
  /** The minimum score at which a worker is woken. Default 3. */
  min_wake_score: number;
  /** The time of the next tick, in ISO-8601. Absent if none is scheduled. */
  next_tick_at?: string | null;
  /** True if the heartbeat loop is running. */
  running: boolean;
  /** The counters of the heartbeat. */
  stats: UiHeartbeatStats;
  /** The time between two ticks, in minutes. Default 20. */
  tick_interval_minutes: number;
  /** The maximum number of workers woken per tick. Default 2. */
  top_k_workers: number;
}

/** Counters over all ticks of the heartbeat. */
export interface UiHeartbeatStats {
  /** The number of actions executed without approval. */
  actions_executed_total?: number;
  /** The number of actions queued for approval. */
  approvals_queued_total?: number;
  /** The number of actions dropped as duplicates. */
  deduped_actions_total?: number;
  /** The number of worker reports with actions. */
  reports_actions_total?: number;
  /** The number of worker reports without actions. */
  reports_ok_total?: number;
  /** The number of ticks. */
  ticks_total?: number;
  /** The number of workers woken. */
  workers_woken_total?: number;
}

/** Params of [`UiResolve`]. */
export interface UiResolveParams {
  /** The id of the actor that decides. Its visibility also applies to the snapshot. */
  actor_id: string;
  /** The role of that actor. */
  actor_role: ActorRole;
  /** The id of the actor's team. If absent, the gateway uses the team stored for the agent, if the actor is an agent. */
  actor_team_id?: string | null;
  /** The id of the pending document. */
  artifact_id: string;
  /** The decision. */
  decision: ReviewDecision;
  /** The maximum number of decisions to return. Default 200. */
  decisions_limit?: number | null;
  /**
   * The `sha256` returned by `inbox.read` for this document. If any of the files has changed since, the call fails
   * and nothing is decided. If absent, the decision applies to the current files.
   */
  expected_sha256?: string | null;
  /** The maximum number of runs to return. Default 200. */
  monitor_limit?: number | null;
  /** Notes that are stored with the review. Optional. */
  notes?: string | null;
  /** The maximum number of pending documents to return. Default 200. */
  pending_limit?: number | null;
  /** The id of the project. */
  project_id: string;
  /** If true, rebuilds the index first. Default false. */
  refresh_index?: boolean | null;
  /** If true, syncs the index first. Default true. */
  sync_index?: boolean | null;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`UiResolve`]. */
export interface UiResolveResponse {
  /** The stored decision. */
  resolved: InboxResolveResponse;
  /** The response of `ui.snapshot` after the decision. `null` if the snapshot failed. */
  snapshot?: UiSnapshotResponse | null;
  /**
   * Why `snapshot` is `null`. The decision is stored nevertheless and must not be repeated. Absent if the snapshot
   * succeeded.
   */
  snapshot_error?: string | null;
}

/** Params of [`UiSnapshot`]. */
export interface UiSnapshotParams {
  /**
   * The id of the actor whose visibility applies: data the actor may not see is omitted. If absent, the identity of
   * the caller's token applies.
   */
  actor_id?: string | null;
  /** The role of that actor. If absent, the role of the caller's token applies; the owner sees everything. */
  actor_role?: ActorRole | null;
  /** The id of the actor's team. If absent, the gateway uses the team stored for the agent, if the actor is an agent. */
  actor_team_id?: string | null;
  /** The maximum number of decisions to return. Default 200. */
  decisions_limit?: number | null;
  /** The maximum number of runs to return. Default 200. */
  monitor_limit?: number | null;
  /** The maximum number of pending documents to return. Default 200. */
  pending_limit?: number | null;
  /** Return only data of this project. All projects if absent. */
  project_id?: string | null;
  /** If true, rebuilds the index first. Default false. */
  refresh_index?: boolean | null;
  /** If true, syncs the index first. Default true. */
  sync_index?: boolean | null;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`UiSnapshot`]. */
export interface UiSnapshotResponse {
  /** The agents: those with the most active runs first, then by pending documents and last activity. */
  colleagues: UiColleague[];
  /** The comments of the project, newest first, among its 300 newest. Empty if no project was given. */
  comments: Comment[];
  /** The time the snapshot was generated, in ISO-8601. */
  generated_at: string;
  /** The configuration and the state of the heartbeat. */
  heartbeat: UiHeartbeat;
  /** The status of the worker that syncs the indexes. */
  index_sync_worker: IndexSyncWorkerStatusResponse;
  /** The runs, as in `monitor.snapshot`. */
  monitor: MonitorSnapshotResponse;
  /** The pending documents and the decisions, as in `inbox.snapshot`. */
  review_inbox: InboxSnapshotResponse;
  /** Tokens and costs, as in `usage.analytics`. */
  usage_analytics: UsageAnalyticsResponse;
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** The id of an upload. */
export type UploadId = string;

/** Params of [`UsageAnalytics`]. */
export interface UsageAnalyticsParams {
  /** The maximum number of newest runs to return and to sum up. Default 200. */
  limit?: number | null;
  /** Count only runs of this project. All projects if absent. */
  project_id?: string | null;
  /** If true, rebuilds the index first. Default false. */
  refresh_index?: boolean | null;
  /** If true, syncs the index first. Default true. */
  sync_index?: boolean | null;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`UsageAnalytics`]. */
export interface UsageAnalyticsResponse {
  /** Totals over all indexed runs, not limited by `limit`. */
  all_time_totals: UsageTotals;
  /** Totals over the newest runs by provider, most tokens first. */
  by_provider: UsageByProvider[];
  /** The time the response was generated, in ISO-8601. */
  generated_at: string;
  /** True if the call rebuilt the index. */
  index_rebuilt: boolean;
  /** True if the call synced the index. */
  index_synced: boolean;
  /** The newest runs, newest first. */
  recent_runs: UsageRun[];
  /** Totals over the newest runs. */
  totals: UsageTotals;
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** Totals over the runs of one provider. */
export interface UsageByProvider {
  /** The mean cost per run in US dollars. */
  average_cost_usd_per_run: number;
  /** The mean number of tokens per run, rounded to an integer. */
  average_tokens_per_run: number;
  /** The number of runs whose event log has lines that are not valid JSON. */
  parse_error_runs: number;
  /** The name of the provider. */
  provider: string;
  /** The number of runs. */
  run_count: number;
  /** The total cost in US dollars. Runs without a price count as 0. */
  total_cost_usd: number;
  /** The total number of tokens. */
  total_tokens: number;
}

/** The usage of one run. */
export interface UsageRun {
  /** The cost in US dollars. `null` if no price is known. */
  cost_usd?: number | null;
  /** The time the run was created, in ISO-8601. */
  created_at: string;
  /** The number of lines in the event log that are not valid JSON. */
  parse_error_count: number;
  /** The id of the project of the run. */
  project_id: string;
  /** The provider of the run. */
  provider: string;
  /** The id of the run. */
  run_id: string;
  /** The status of the run. */
  status: RunStatus;
  /** The total number of tokens. 0 if no usage is recorded. */
  total_tokens: number;
  /** The confidence in the numbers: `high` or `low`. `null` if no usage is recorded. */
  usage_confidence?: string | null;
  /** The origin of the numbers: `provider_reported` or `estimated_chars`. `null` if no usage is recorded. */
  usage_source?: string | null;
}

/** Totals over several runs. */
export interface UsageTotals {
  /** The number of runs whose tokens were estimated from character counts. */
  estimated_count: number;
  /** The number of runs whose event log has lines that are not valid JSON. */
  parse_error_run_count: number;
  /** The number of runs with a known cost. */
  priced_run_count: number;
  /** The number of runs whose tokens were reported by the provider. */
  provider_reported_count: number;
  /** The number of runs. */
  run_count: number;
  /** The total cost in US dollars. Runs without a price count as 0. */
  total_cost_usd: number;
  /** The total number of tokens. */
  total_tokens: number;
  /** The number of runs without a known cost. */
  unpriced_run_count: number;
}

/** One part of the user's input to a turn. */
export type UserInput =
  /** Text written by the user. */
  | {
    /** The text, stored unchanged. */
    text: string;
    /**
     * Ranges of the text that represent something else, such as an attachment. The gateway stores them and does
     * not interpret them. Default: empty.
     */
    textElements?: TextElement[];
    type: "text";
  }
  /** A reference to an image on the web. The gateway does not download it; the model receives the URL as text. */
  | {
    type: "image";
    /** The URL of the image. */
    url: string;
  }
  /** A reference to a file on the web. The gateway does not download it; the model receives the URL as text. */
  | {
    type: "file";
    /** The URL of the file. */
    url: string;
  }
  /** A reference to an audio file on the web. The gateway does not download it; the model receives the URL as text. */
  | {
    type: "audio";
    /** The URL of the audio file. */
    url: string;
  }
  /** A reference to a video on the web. The gateway does not download it; the model receives the URL as text. */
  | {
    type: "video";
    /** The URL of the video. */
    url: string;
  }
  /** An image on the machine of the gateway. `turn/start` rejects it; upload the file as an artifact instead. */
  | {
    /** The path of the image. */
    path: string;
    type: "localImage";
  }
  /** A file on the machine of the gateway. `turn/start` rejects it; upload the file as an artifact instead. */
  | {
    /** The path of the file. */
    path: string;
    type: "localFile";
  }
  /** An audio file on the machine of the gateway. `turn/start` rejects it; upload the file as an artifact instead. */
  | {
    /** The path of the audio file. */
    path: string;
    type: "localAudio";
  }
  /** A video on the machine of the gateway. `turn/start` rejects it; upload the file as an artifact instead. */
  | {
    /** The path of the video. */
    path: string;
    type: "localVideo";
  }
  /** A reference to something the user mentions. The model receives its name and path as text. */
  | {
    /** The display name of the mentioned object. */
    name: string;
    /** The path of the mentioned object. */
    path: string;
    type: "mention";
  }
  /** A skill selected by the user. The model receives its name and path as text. */
  | {
    /** The name of the skill. */
    name: string;
    /** The path of the skill. */
    path: string;
    type: "skill";
  }
  /** An artifact of the workspace. The model receives its text or image if possible, else its description. */
  | {
    /** The id of the artifact. */
    artifact_id: string;
    type: "artifact";
    /** The id of the version. Default: the newest version. */
    version_id?: string | null;
  };

/** A problem of a company folder. */
export interface ValidationIssue {
  /**
   * The issue code: `missing_dir`, `missing_file`, `schema_invalid`, `parse_error`, `read_error`, `frontmatter`,
   * `frontmatter_schema`, `missing_heading`, `contract_incomplete`, `memory_delta_invalid` or
   * `milestone_report_invalid`.
   */
  code: string;
  /** A description of the issue, which names the file. */
  message: string;
  /** The path of the file, relative to the company folder. Absent if the issue belongs to no file. */
  path?: string | null;
}

/** Which actors may see an object. */
export type Visibility =
  /** The agent that produced it, and people. */
  | "private_agent"
  /** Members of its team, and actors with role manager or above. */
  | "team"
  /** Actors with role manager or above. */
  | "managers"
  /** All actors of the company. */
  | "org";

/** The kind of worker program that runs a job. */
export type WorkerKind =
  /** The Codex CLI. */
  | "codex"
  /** The Claude CLI. */
  | "claude"
  /** The Gemini CLI. */
  | "gemini";

/** A thread tree with its documents and artifacts. */
export interface Workspace {
  /** The time of creation in Unix seconds. */
  created_at: number;
  /** The path of the company folder linked to the workspace. Absent if none is linked. */
  dir?: string | null;
  /** The id of the workspace. */
  id: WorkspaceId;
  /** Whether the workspace is active. Calls that name an inactive workspace fail. */
  is_active: boolean;
  /** Whether clients should open this workspace first. At most one workspace is current. */
  is_current: boolean;
  /** The display name of the workspace. */
  name: string;
  /** The time of the last change to the workspace itself in Unix seconds. */
  updated_at: number;
}

/** Payload of `workspace/changed`. */
export interface WorkspaceChangedNotification {
  /** The workspace after the change. */
  workspace: Workspace;
}

/** Params of [`WorkspaceCreate`]. */
export interface WorkspaceCreateParams {
  /** The display name. Default: `Workspace` followed by a number. */
  name?: Name | null;
  /** The id of the new workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`WorkspaceCreate`]. */
export interface WorkspaceCreateResponse {
  /** The new workspace, or the stored one if the id existed. */
  workspace: Workspace;
}

/** Params of [`WorkspaceDefault`]. */
export type WorkspaceDefaultParams = Record<string, never>;

/** Response of [`WorkspaceDefault`]. */
export interface WorkspaceDefaultResponse {
  /** The workspace to open first. */
  workspace: Workspace;
}

/** Params of [`WorkspaceForget`]. */
export interface WorkspaceForgetParams {
  /** The id of a workspace that is linked to a company folder. */
  workspace_id: WorkspaceId;
}

/** Response of [`WorkspaceForget`]. */
export interface WorkspaceForgetResponse {
  /** The workspace, now inactive. */
  workspace: Workspace;
}

/** The id of a workspace. */
export type WorkspaceId = string;

/** Params of [`WorkspaceList`]. */
export type WorkspaceListParams = Record<string, never>;

/** Response of [`WorkspaceList`]. */
export interface WorkspaceListResponse {
  /** The workspaces that the caller may see, oldest first, including inactive ones. */
  workspaces: Workspace[];
}

/** Params of [`WorkspaceSelect`]. */
export interface WorkspaceSelectParams {
  /** Whether to make the workspace the current one. Default `false`. */
  make_current?: boolean | null;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`WorkspaceSelect`]. */
export interface WorkspaceSelectResponse {
  /** The workspace after the call. */
  workspace: Workspace;
}

/** Params of [`WorkspaceSubscribe`]. */
export interface WorkspaceSubscribeParams {
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`WorkspaceSubscribe`]. */
export interface WorkspaceSubscribeResponse {
  /** Always `true`. */
  subscribed: boolean;
}

/** Params of [`WorkspaceUnsubscribe`]. */
export interface WorkspaceUnsubscribeParams {
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`WorkspaceUnsubscribe`]. */
export interface WorkspaceUnsubscribeResponse {
  /** Always `false`. */
  subscribed: boolean;
}

/** Params of [`WorkspaceUpdate`]. At least one change is required. */
export interface WorkspaceUpdateParams {
  /** The new display name. */
  name?: Name | null;
  /** The id of the workspace. */
  workspace_id: WorkspaceId;
}

/** Response of [`WorkspaceUpdate`]. */
export interface WorkspaceUpdateResponse {
  /** The workspace after the change. */
  workspace: Workspace;
}

/** The action taken for a worktree. */
export type WorktreeCleanupAction =
  /** The worktree was kept. */
  | "kept"
  /** The worktree was already missing. */
  | "missing"
  /** The worktree was removed. */
  | "removed"
  /** The worktree could not be removed. */
  | "failed";

/** The worktree of a run. */
export interface WorktreeCleanupItem {
  /** The action taken for the worktree. */
  action: WorktreeCleanupAction;
  /** The branch of the worktree. `null` if unknown. */
  branch?: string | null;
  /** Whether the branch was deleted. Absent if deletion was not requested, in a dry run, or if there is no branch. */
  branch_deleted?: boolean | null;
  /** Why the branch was kept, such as `unmerged commits`. Absent if it was deleted or deletion was not requested. */
  branch_kept_reason?: string | null;
  /** The time the run ended, in ISO-8601. `null` if it has not ended. */
  ended_at?: string | null;
  /** The id of the project. */
  project_id: string;
  /** The reason for the action. */
  reason: string;
  /** The id of the repository. `null` if unknown. */
  repo_id?: string | null;
  /** The id of the run. */
  run_id: string;
  /** The status of the run. */
  status: RunStatus;
  /** The path of the worktree: `workspace_dir` as given in the request, followed by the relative path. */
  worktree_abs: string;
  /** The path of the worktree, relative to the company folder. */
  worktree_relpath: string;
}

/** Params of [`WorktreeCleanup`]. */
export interface WorktreeCleanupParams {
  /**
   * If true, also deletes the branches of worktrees that are removed or already missing: those merged into the
   * current branch of the repository, or all of them with `force`. Default false.
   */
  delete_branches?: boolean | null;
  /** If true, removes nothing and reports what would be removed and what would fail. Default false. */
  dry_run?: boolean | null;
  /** If true, also removes worktrees with uncommitted changes. Default false. */
  force?: boolean | null;
  /** The minimum time since the end of a run before its worktree is removed, in hours. Default 72. */
  max_age_hours?: number | null;
  /** Consider only runs of this project. All projects if absent. */
  project_id?: string | null;
  /** Absolute path of the company folder. */
  workspace_dir: string;
}

/** Response of [`WorktreeCleanup`]. */
export interface WorktreeCleanupResponse {
  /** True if the call was a dry run. */
  dry_run: boolean;
  /** The number of these runs that ended at least `max_age_hours` ago. */
  eligible: number;
  /** The number of worktrees that could not be removed. */
  failed: number;
  /** The individual worktrees, sorted by project and run. */
  items: WorktreeCleanupItem[];
  /** The number of worktrees that were kept. In a dry run this includes those that would be removed. */
  kept: number;
  /** The minimum time since the end of a run that was applied, in hours. */
  max_age_hours: number;
  /** The number of worktrees that were already missing. */
  missing: number;
  /** The number of worktrees that were removed. */
  removed: number;
  /** The number of runs with a worktree. */
  scanned: number;
  /** The company folder, as given in the request. */
  workspace_dir: string;
}

/** Whether the sessions of a worker program should run in a git worktree of their own. */
export type WorktreeIsolation =
  /** The program cannot run in a worktree. */
  | "unsupported"
  /** A worktree is recommended. */
  | "recommended"
  /** A worktree is required. */
  | "required";

/** Every method with its params and its result. */
export interface Methods {
  /** List the workspaces that the caller may see, oldest first. */
  "workspace/list": { params: WorkspaceListParams; result: WorkspaceListResponse };
  /**
   * Return the workspace that a client should open first.
   *
   * This is the current workspace, else the oldest active one, else a new default workspace.
   * Creating the default workspace requires scope `write`.
   */
  "workspace/default": { params: WorkspaceDefaultParams; result: WorkspaceDefaultResponse };
  /**
   * Create a workspace with an id chosen by the client.
   *
   * If the id exists, the stored workspace is returned unchanged.
   */
  "workspace/create": { params: WorkspaceCreateParams; result: WorkspaceCreateResponse };
  /**
   * Return one workspace and optionally make it the current one.
   *
   * Making it current requires scope `write` and a token that is not limited to some workspaces.
   */
  "workspace/select": { params: WorkspaceSelectParams; result: WorkspaceSelectResponse };
  /** Rename a workspace. */
  "workspace/update": { params: WorkspaceUpdateParams; result: WorkspaceUpdateResponse };
  /**
   * Deactivate the workspace of a company folder, for example after the folder was deleted.
   *
   * Files on disk do not change.
   * Opening the folder again reactivates the workspace with its threads and documents.
   */
  "workspace/forget": { params: WorkspaceForgetParams; result: WorkspaceForgetResponse };
  /**
   * Subscribe this connection to the notifications of a workspace.
   *
   * Any other call that names the workspace subscribes the connection as well.
   */
  "workspace/subscribe": { params: WorkspaceSubscribeParams; result: WorkspaceSubscribeResponse };
  /** Unsubscribe this connection from the notifications of a workspace. */
  "workspace/unsubscribe": { params: WorkspaceUnsubscribeParams; result: WorkspaceUnsubscribeResponse };
  /**
   * Create a thread, or open the thread with this id, and subscribe to it.
   *
   * A thread that has neither a turn nor a placement in the tree is a draft.
   * Only the connection that started a draft sees it, and the gateway deletes it after a day.
   */
  "thread/start": { params: ThreadStartParams; result: ThreadStartResponse };
  /** Return one thread. */
  "thread/get": { params: ThreadGetParams; result: ThreadGetResponse };
  /** Return the recorded events of a thread, oldest first. */
  "thread/history": { params: ThreadHistoryParams; result: ThreadHistoryResponse };
  /**
   * Return the thread tree of a workspace.
   *
   * The first page contains all folders, placements and AGENTS.md summaries; further pages contain only threads.
   */
  "thread/tree": { params: ThreadTreeParams; result: ThreadTreeResponse };
  /** Move a thread into a folder or to the root. */
  "thread/move": { params: ThreadMoveParams; result: ThreadMoveResponse };
  /** Rename, archive, show or hide a thread. */
  "thread/update": { params: ThreadUpdateParams; result: ThreadUpdateResponse };
  /**
   * Move a thread with its turns to the trash; fails while a turn is running.
   *
   * A draft is deleted immediately.
   * `trash/restore` restores a thread for up to 30 days.
   */
  "thread/delete": { params: ThreadDeleteParams; result: ThreadDeleteResponse };
  /** Unsubscribe this connection from the notifications of a thread. */
  "thread/unsubscribe": { params: ThreadUnsubscribeParams; result: ThreadUnsubscribeResponse };
  /** Create a folder. */
  "thread/folder/create": { params: ThreadFolderCreateParams; result: ThreadFolderCreateResponse };
  /** Move a folder with all its content into another folder or to the root. */
  "thread/folder/move": { params: ThreadFolderMoveParams; result: ThreadFolderMoveResponse };
  /** Rename a folder or set its position. */
  "thread/folder/update": { params: ThreadFolderUpdateParams; result: ThreadFolderUpdateResponse };
  /**
   * Move a folder to the trash; its content moves up one level.
   *
   * The AGENTS.md document of the folder is archived with it.
   * `trash/restore` restores both for up to 30 days.
   */
  "thread/folder/delete": { params: ThreadFolderDeleteParams; result: ThreadFolderDeleteResponse };
  /** Load the explicit file for one root/folder scope and the effective inherited file. */
  "thread/agents_doc/get": { params: ThreadAgentsDocGetParams; result: ThreadAgentsDocGetResponse };
  /**
   * Create or update the explicit file for one root/folder scope.
   *
   * The gateway converts line endings to LF and changes nothing else, so that clients can compare hashes.
   * Saving an unchanged text creates no new version.
   */
  "thread/agents_doc/save": { params: ThreadAgentsDocSaveParams; result: ThreadAgentsDocSaveResponse };
  /**
   * Archive the explicit file for one root/folder scope.
   *
   * The file moves to the trash, from which `trash/restore` restores it for up to 30 days.
   */
  "thread/agents_doc/archive": { params: ThreadAgentsDocArchiveParams; result: ThreadAgentsDocArchiveResponse };
  /** Resolve the effective file for one concrete thread. */
  "thread/agents_doc/resolve_for_thread": { params: ThreadAgentsDocResolveForThreadParams; result: ThreadAgentsDocResolveForThreadResponse };
  /** List the versions of a file without their texts, newest first. */
  "thread/agents_doc/revisions": { params: ThreadAgentsDocRevisionsParams; result: ThreadAgentsDocRevisionsResponse };
  /** Return one version of a file, also of an archived file. */
  "thread/agents_doc/revision_get": { params: ThreadAgentsDocRevisionGetParams; result: ThreadAgentsDocRevisionGetResponse };
  /**
   * Save an old version of a file as its newest version.
   *
   * An archived file becomes the explicit file of its scope again; this fails if the scope has another file.
   */
  "thread/agents_doc/restore": { params: ThreadAgentsDocRestoreParams; result: ThreadAgentsDocRestoreResponse };
  /** Return the prompt section that a new turn of a thread would contain. */
  "thread/agents_doc/preview": { params: ThreadAgentsDocPreviewParams; result: ThreadAgentsDocPreviewResponse };
  /**
   * Import the AGENTS.md and CLAUDE.md files of a repository; either all of them or none.
   *
   * Missing folders are created.
   * A CLAUDE.md file is imported as the AGENTS.md of its folder if the folder has no AGENTS.md.
   * Paths refer to the folder names that `thread/agents_doc/export` returns.
   */
  "thread/agents_doc/import": { params: ThreadAgentsDocImportParams; result: ThreadAgentsDocImportResponse };
  /** Return the files of a scope and of all folders below it, in the form that import accepts. */
  "thread/agents_doc/export": { params: ThreadAgentsDocExportParams; result: ThreadAgentsDocExportResponse };
  /**
   * Propose a change to the file of one root/folder scope; a person decides about it.
   *
   * Proposing the same text again while the author's proposal is pending returns the existing proposal.
   */
  "thread/agents_doc/propose": { params: ThreadAgentsDocProposeParams; result: ThreadAgentsDocProposeResponse };
  /** List the proposals of a workspace: pending ones first, then closed ones, each newest first. */
  "thread/agents_doc/proposal/list": { params: ThreadAgentsDocProposalListParams; result: ThreadAgentsDocProposalListResponse };
  /** Return one proposal with its whole text. */
  "thread/agents_doc/proposal/get": { params: ThreadAgentsDocProposalGetParams; result: ThreadAgentsDocProposalGetResponse };
  /**
   * Approve or deny a proposal.
   *
   * The first decision is final; repeating the same decision has no effect and returns the same result.
   * An approved text is saved with the approving principal as its author.
   * A proposal whose base version is outdated cannot be approved and must be rebased first.
   */
  "thread/agents_doc/proposal/decide": { params: ThreadAgentsDocProposalDecideParams; result: ThreadAgentsDocProposalDecideResponse };
  /**
   * Rebase a proposal onto the current version of the file.
   *
   * Only the author of the proposal and principals with role `human` may call it.
   * Lines that only one side changed are taken from that side.
   * If both sides changed the same lines, the call fails with an error that contains all texts, and a person must supply the merged text.
   */
  "thread/agents_doc/proposal/rebase": { params: ThreadAgentsDocProposalRebaseParams; result: ThreadAgentsDocProposalRebaseResponse };
  /** Withdraw a proposal; only its author may do so. */
  "thread/agents_doc/proposal/withdraw": { params: ThreadAgentsDocProposalWithdrawParams; result: ThreadAgentsDocProposalWithdrawResponse };
  /**
   * List the deleted items of a workspace that can still be restored, newest deletion first.
   *
   * `thread/delete`, `thread/folder/delete` and `thread/agents_doc/archive` move items to the trash.
   * The gateway deletes them permanently after 30 days.
   */
  "trash/list": { params: TrashListParams; result: TrashListResponse };
  /**
   * Restore a deleted thread, folder or AGENTS.md document to its previous location.
   *
   * If the containing folder no longer exists, a thread or folder is restored to the root and `notes` reports it.
   * A restored folder gets back its AGENTS.md document and the threads and folders that have not been moved since.
   * Restoring an AGENTS.md document fails while its folder is deleted or has another document.
   */
  "trash/restore": { params: TrashRestoreParams; result: TrashRestoreResponse };
  /**
   * Delete items of the trash permanently; either all of them or none.
   *
   * Saved versions of AGENTS.md documents stay readable by `thread/agents_doc/revision_get`, because prompt manifests refer to them.
   */
  "trash/purge": { params: TrashPurgeParams; result: TrashPurgeResponse };
  /**
   * Start a turn: send input to the model of a thread.
   *
   * The gateway responds as soon as the turn is stored; notifications report its progress and its result.
   * Repeating the call with the same `turn_id` and the same input returns the stored turn and does not start another one.
   * The call fails while another turn of the thread is running.
   */
  "turn/start": { params: TurnStartParams; result: TurnStartResponse };
  /** Cancel a running turn and wait until it has ended; a finished turn is returned unchanged. */
  "turn/cancel": { params: TurnCancelParams; result: TurnCancelResponse };
  /** Return one turn with its prompt manifest. */
  "turn/get": { params: TurnGetParams; result: TurnGetResponse };
  /** Return the item events of a turn, oldest first. */
  "turn/items": { params: TurnItemsParams; result: TurnItemsResponse };
  /** Return the item events of a turn in chronological order, in a form suited to display. */
  "turn/timeline": { params: TurnTimelineParams; result: TurnTimelineResponse };
  /**
   * List every part of a turn's prompt with its document, version, hash and size.
   *
   * Optionally compares the prompt with that of another turn.
   */
  "turn/explain": { params: TurnExplainParams; result: TurnExplainResponse };
  /** Read upload and download limits and chunk sizes for a workspace. */
  "artifact/capabilities": { params: ArtifactCapabilitiesParams; result: ArtifactCapabilitiesResponse };
  /**
   * List workspace artifacts with optional scope filters.
   *
   * Newest first: by the newest matching binding if a scope is given, else by the last change.
   */
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
   * Repeating the same binding returns the existing one.
   */
  "artifact/bind": { params: ArtifactBindParams; result: ArtifactBindResponse };
  /** Soft-delete an artifact; the gateway deletes its bytes after 30 days. */
  "artifact/delete": { params: ArtifactDeleteParams; result: ArtifactDeleteResponse };
  /** Restore a soft-deleted artifact. */
  "artifact/restore": { params: ArtifactRestoreParams; result: ArtifactRestoreResponse };
  /** List the versions of an artifact, newest first. */
  "artifact/versions/list": { params: ArtifactVersionsListParams; result: ArtifactVersionsListResponse };
  /** Return the storage that the artifacts of a workspace use, and its limits. */
  "artifact/usage": { params: ArtifactUsageParams; result: ArtifactUsageResponse };
  /** Start an upload, or resume the one with the same `client_attachment_id`, size and hash. */
  "artifact/upload/start": { params: ArtifactUploadStartParams; result: ArtifactUploadStartResponse };
  /**
   * Send a chunk of an upload as base64, for connections without binary frames, such as stdio.
   *
   * The rules are those of `ARTU` frames; the response replaces `artifact/upload/chunk_ack`.
   * A rejected chunk has no effect: `data.rejection` contains the `kind` of `artifact/upload/chunk_rejected`, and `data.next_offset`, if present, is the offset at which to continue.
   */
  "artifact/upload/chunk": { params: ArtifactUploadChunkParams; result: ArtifactUploadChunkResponse };
  /** Validate and persist a completed upload; repeating the call returns the same artifact. */
  "artifact/upload/finish": { params: ArtifactUploadFinishParams; result: ArtifactUploadFinishResponse };
  /**
   * Abort an upload and delete its bytes.
   *
   * If the upload is complete, its artifact is kept.
   */
  "artifact/upload/abort": { params: ArtifactUploadAbortParams; result: ArtifactUploadAbortResponse };
  /** Return the progress of an upload, also after a lost connection or a restart. */
  "artifact/upload/status": { params: ArtifactUploadStatusParams; result: ArtifactUploadStatusResponse };
  /**
   * Start a download of an artifact version.
   *
   * The bytes stay available until the download ends or expires, even if the artifact is changed or deleted.
   */
  "artifact/download/start": { params: ArtifactDownloadStartParams; result: ArtifactDownloadStartResponse };
  /**
   * Request a chunk, which the gateway sends as a binary `ARTD` frame before this response.
   *
   * On a connection without binary frames, such as stdio, the response contains the bytes.
   */
  "artifact/download/chunk": { params: ArtifactDownloadChunkParams; result: ArtifactDownloadChunkResponse };
  /** Finish a download. */
  "artifact/download/finish": { params: ArtifactDownloadFinishParams; result: ArtifactDownloadFinishResponse };
  /** Abort a download. */
  "artifact/download/abort": { params: ArtifactDownloadAbortParams; result: ArtifactDownloadAbortResponse };
  /**
   * List the hook runs of a workspace, newest first.
   *
   * Runs of hooks with visibility `internal` or `debug`, such as the AGENTS.md hook, are returned to the owner of the gateway only.
   * Every turn lists its hooks in `prompt_manifest`.
   */
  "hook/runs/list": { params: HookRunsListParams; result: HookRunsListResponse };
  /** List the model providers and whether each one is ready for use. */
  "provider/list": { params: ProviderListParams; result: ProviderListResponse };
  /** List the models of a provider, as reported by the provider. */
  "provider/models/list": { params: ProviderModelsListParams; result: ProviderModelsListResponse };
  /** Store the API key of a provider; no method returns it again. */
  "provider/set_api_key": { params: ProviderSetApiKeyParams; result: ProviderSetApiKeyResponse };
  /** Delete the stored API key of a provider. */
  "provider/delete_api_key": { params: ProviderDeleteApiKeyParams; result: ProviderDeleteApiKeyResponse };
  /**
   * List the browsers that are signed in to the web desktop, most recently used first.
   * Owner only.
   */
  "desktop_session/list": { params: DesktopSessionListParams; result: DesktopSessionListResponse };
  /**
   * Sign a browser out and close its connections.
   * Owner only.
   */
  "desktop_session/end": { params: DesktopSessionEndParams; result: DesktopSessionEndResponse };
  /**
   * Replay the workspace notifications that the client missed and subscribe to new ones.
   *
   * Every notification of a workspace has a top-level `seq`, which increases.
   * The gateway sends the retained notifications after `after_seq` following this response.
   * If `gap` is `true`, some notifications are lost and the client must reload its state.
   */
  "session/resume": { params: SessionResumeParams; result: SessionResumeResponse };
  /** List all methods of both families with their JSON Schemas. */
  "system/methods": { params: SystemMethodsParams; result: SystemMethodsResponse };
  /** Return the protocol version, the limits and the optional features of this gateway. */
  "system/capabilities": { params: SystemCapabilitiesParams; result: SystemCapabilitiesResponse };
  /** Get the available company methods and the conventions they follow. */
  "system.capabilities": { params: CompanySystemCapabilitiesParams; result: CompanySystemCapabilitiesResponse };
  /** Check whether a folder is a valid company folder and register a valid one as a workspace of the gateway. */
  "workspace.open": { params: CompanyFolderParams; result: CompanyWorkspaceOpenResponse };
  /** Create a company folder. */
  "workspace.init": { params: CompanyWorkspaceInitParams; result: CompanyOkResponse };
  /** Get whether a company folder is trusted on this machine, and its machine-specific settings. */
  "workspace.trust.get": { params: CompanyFolderParams; result: CompanyWorkspaceTrustResponse };
  /**
   * Trust a company folder that was created elsewhere.
   *
   * The settings in its `.local` take effect, and the folder can be written and run workers.
   */
  "workspace.trust": { params: CompanyWorkspaceTrustParams; result: CompanyWorkspaceTrustResponse };
  /**
   * Withdraw the trust in a company folder, which is then read-only.
   *
   * The call is rejected while sessions run in the folder.
   */
  "workspace.trust.withdraw": { params: CompanyFolderParams; result: CompanyWorkspaceTrustResponse };
  /** Validate all documents of a company folder. */
  "workspace.validate": { params: CompanyFolderParams; result: CompanyWorkspaceValidateResponse };
  /** Check a company folder, its worker programs, repositories, event logs and index, and the leftovers of crashes. */
  "workspace.doctor": { params: CompanyWorkspaceDoctorParams; result: CompanyWorkspaceDoctorResponse };
  /** Write a diagnostics bundle of a company folder for support, with secrets redacted. */
  "workspace.diagnostics": { params: CompanyWorkspaceDiagnosticsParams; result: CompanyWorkspaceDiagnosticsResponse };
  /**
   * Upgrade old event logs to the current event envelope.
   *
   * Logs with invalid hashes are skipped unless `force` is true.
   */
  "workspace.migrate": { params: CompanyWorkspaceMigrateParams; result: CompanyWorkspaceMigrateResponse };
  /** Copy a company folder to another directory. */
  "workspace.export": { params: CompanyWorkspaceExportParams; result: CompanyWorkspaceExportResponse };
  /** Create a company folder from an exported one. */
  "workspace.import": { params: CompanyWorkspaceImportParams; result: CompanyWorkspaceImportResponse };
  /** List the projects with their progress, newest first. */
  "workspace.projects.list": { params: CompanyFolderParams; result: CompanyWorkspaceProjectsListResponse };
  /** List the agents, sorted by name. */
  "workspace.agents.list": { params: CompanyWorkspaceAgentsListParams; result: CompanyWorkspaceAgentsListResponse };
  /** List the teams, sorted by name. */
  "workspace.teams.list": { params: CompanyFolderParams; result: CompanyWorkspaceTeamsListResponse };
  /** Create a project with its secretary agent and its default conversations. */
  "workspace.project.create_with_defaults": { params: CompanyWorkspaceProjectCreateWithDefaultsParams; result: CompanyWorkspaceProjectCreateWithDefaultsResponse };
  /** Link a repository to a project. */
  "workspace.project.link_repo": { params: CompanyWorkspaceProjectLinkRepoParams; result: CompanyWorkspaceProjectLinkRepoResponse };
  /**
   * Set the path of a repository on this machine.
   *
   * An unusable path fails with -32601, not -32602, for compatibility with existing clients.
   */
  "workspace.repo_root.set": { params: CompanyWorkspaceRepoRootSetParams; result: CompanyWorkspaceRepoRootSetResponse };
  /** Create a complete company with departments, teams, agents, a project and its conversations. */
  "workspace.bootstrap.enterprise": { params: CompanyWorkspaceBootstrapEnterpriseParams; result: CompanyWorkspaceBootstrapEnterpriseResponse };
  /** Get the progress, the runs and the pending decisions of all projects. */
  "workspace.home.snapshot": { params: CompanyFolderParams; result: CompanyWorkspaceHomeSnapshotResponse };
  /**
   * Create a run with its folder, its context pack and its first event.
   * Starts no process.
   */
  "run.create": { params: RunCreateParams; result: RunCreateResponse };
  /**
   * End a run that was never launched or whose session is still queued.
   * Its status becomes `stopped`.
   *
   * A run with a process is rejected; use `session.stop` to end its session.
   */
  "run.cancel": { params: RunCancelParams; result: RunCancelResponse };
  /** List the runs of a project or of the whole company, newest first. */
  "run.list": { params: RunListParams; result: RunListResponse };
  /** Read the events of a run and, unless the mode is `raw`, verify their hash chain. */
  "run.replay": { params: RunReplayParams; result: RunReplayResponse };
  /**
   * Start a worker program or a command for a run.
   *
   * The gateway checks policy and budgets first and returns an error if they forbid the launch.
   * If no slot is free, the session is queued and the state is `queued`.
   * If the launch cannot be prepared, for example because of an unknown repository, or if the operating system cannot start the program, the state is `failed` and so is the run.
   * With `explain` nothing is started and nothing is written.
   */
  "session.launch": { params: CompanySessionLaunchParams; result: CompanySessionLaunchResponse };
  /** List the sessions of a company folder, or those of this gateway process, newest first. */
  "session.list": { params: CompanySessionListParams; result: CompanySessionListResponse };
  /** Get the status of a session. */
  "session.poll": { params: CompanySessionParams; result: CompanySessionStateResponse };
  /**
   * Wait until a session has ended and list its outputs.
   *
   * A session that this gateway process does not run is returned without waiting.
   */
  "session.collect": { params: CompanySessionParams; result: CompanySessionCollectResponse };
  /**
   * Stop a session and all processes it started.
   *
   * Returns without waiting for the end; `session.collect` waits for it.
   */
  "session.stop": { params: CompanySessionParams; result: CompanySessionStateResponse };
  /** List the cool-downs of providers in a company folder, with cause and end. */
  "session.cooldown.list": { params: CompanySessionCooldownListParams; result: CompanySessionCooldownListResponse };
  /**
   * End cool-downs now.
   * Queued sessions that waited for them start as far as the limits allow.
   */
  "session.cooldown.clear": { params: CompanySessionCooldownClearParams; result: CompanySessionCooldownListResponse };
  /**
   * Submit a job to a worker.
   * Returns as soon as the job is queued; `job.poll` reports its progress.
   *
   * If `job_id` is blank, the gateway generates an id.
   * If a gateway process is already working on the id, the response contains its current status and nothing is started.
   * Any other id that already exists is rejected unless `resubmit` is true, which discards the earlier result.
   */
  "job.submit": { params: JobSubmitParams; result: JobSubmitResponse };
  /** List the newest jobs of a project, sorted by job id. */
  "job.list": { params: JobListParams; result: JobListResponse };
  /** Get the status and the attempts of a job. */
  "job.poll": { params: JobParams; result: JobPollResponse };
  /**
   * Get the status, the attempts and, if available, the result of a job.
   * Does not wait for the job to finish.
   */
  "job.collect": { params: JobParams; result: JobCollectResponse };
  /**
   * Request the cancellation of a job and stop its worker.
   *
   * The returned status may still be `running`.
   * For a finished job, the gateway only sets `cancellation_requested`.
   */
  "job.cancel": { params: JobParams; result: JobPollResponse };
  /**
   * Remove the worktrees of runs that ended long ago.
   * Paths outside of `.local/worktrees` are never removed.
   */
  "worktree.cleanup": { params: WorktreeCleanupParams; result: WorktreeCleanupResponse };
  /**
   * Create a redacted bundle of the documents, the memory and the run events of a project.
   *
   * It contains what has the visibility `managers` or `org`; secrets are redacted.
   *
   * `SHA256SUMS` next to the manifest contains the hash of every file.
   */
  "sharepack.create": { params: SharepackCreateParams; result: SharepackCreateResponse };
  /** Read the events in a share pack and distinguish declared omissions and redactions from tampering. */
  "sharepack.replay": { params: SharepackReplayParams; result: SharepackReplayResponse };
  /** Subscribe to events as they are written, optionally preceded by the newest existing ones. */
  "events.subscribe": { params: EventsSubscribeParams; result: EventsSubscribeResponse };
  /** End a subscription. */
  "events.unsubscribe": { params: EventsUnsubscribeParams; result: EventsUnsubscribeResponse };
  /**
   * Acknowledge events of a subscription with `max_unacked`, so that the gateway sends further ones.
   *
   * Without `last_event_id` and `last_ack_ts_monotonic_ms`, all events sent so far are acknowledged.
   */
  "events.ack": { params: EventsAckParams; result: CompanyOkResponse };
  /** List the worker programs, whether each can be started, and why not. */
  "adapter.status": { params: CompanyFolderParams; result: AdapterStatusResponse };
  /**
   * Set how the sessions of a worker program are paid for: by its subscription login or by an API key.
   *
   * Changes `provider_execution_policy` in `.local/machine.yaml`.
   * With `api`, workers receive the key variables of the gateway's environment; with `subscription_cli`, they receive none and every launch checks the login.
   */
  "adapter.channel.set": { params: AdapterChannelSetParams; result: AdapterChannelSetResponse };
  /** List the tasks of a project that the caller may see, newest first, with their progress. */
  "task.list": { params: TaskListParams; result: TaskListResponse };
  /**
   * Update the schedule and the execution plan of a task.
   * The rest of its file is kept.
   *
   * If `execution_plan.applied_by` is given, the gateway sets `applied_at` to the current time, as the recorded reference does, although the contract lets the caller provide it.
   */
  "task.update_plan": { params: TaskUpdatePlanParams; result: TaskUpdatePlanResponse };
  /**
   * Get a summary of all projects and, with scope `project`, the schedule and the critical path of one project.
   *
   * A missing `project_id` fails with -32601, not -32602, for compatibility with existing clients.
   */
  "pm.snapshot": { params: PmSnapshotParams; result: PmSnapshotResponse };
  /**
   * Recommend an agent, a provider and a token budget for each open task of a project, with reasons.
   *
   * Does not change any task.
   */
  "pm.recommend_allocations": { params: PmRecommendAllocationsParams; result: PmRecommendAllocationsResponse };
  /**
   * Store execution plans for several tasks.
   * If any of the tasks cannot be updated, none is.
   */
  "pm.apply_allocations": { params: PmApplyAllocationsParams; result: PmApplyAllocationsResponse };
  /** Export the plan of a project as a Mermaid diagram, a CSV table or an iCalendar file. */
  "pm.export": { params: PmExportParams; result: PmExportResponse };
  /**
   * List the conversations of the company or of a project.
   * A missing `project_id` fails with -32601, not -32602, for compatibility with existing clients.
   */
  "conversation.list": { params: ConversationListParams; result: ConversationListResponse };
  /**
   * Create a channel.
   * A missing `project_id` fails with -32601, not -32602, for compatibility with existing clients.
   */
  "conversation.create_channel": { params: ConversationCreateChannelParams; result: ConversationCreatedResponse };
  /**
   * Create a direct conversation between two participants, or return the existing one.
   * A missing `project_id` fails with -32601, not -32602, for compatibility with existing clients.
   */
  "conversation.create_dm": { params: ConversationCreateDmParams; result: ConversationCreatedResponse };
  /**
   * List the newest messages of a conversation, oldest first.
   * A missing `project_id` fails with -32601, not -32602, for compatibility with existing clients.
   */
  "conversation.messages.list": { params: ConversationMessagesListParams; result: ConversationMessagesListResponse };
  /**
   * Send a message to a conversation.
   * A missing `project_id` fails with -32601, not -32602, for compatibility with existing clients.
   */
  "conversation.message.send": { params: ConversationMessageSendParams; result: ConversationMessageSendResponse };
  /** Create the default conversations of a project and update their participants. */
  "conversation.members.sync": { params: ConversationMembersSyncParams; result: ConversationMembersSyncResponse };
  /**
   * Add a comment on an agent, a document or a run.
   * Each target is optional, but at least one is required.
   */
  "comment.add": { params: CommentAddParams; result: CommentAddResponse };
  /** List the comments of a project, newest first. */
  "comment.list": { params: CommentListParams; result: CommentListResponse };
  /** Get the configuration, the stored state and the runtime state of the heartbeat of a company. */
  "heartbeat.status": { params: CompanyFolderParams; result: HeartbeatStatusResponse };
  /**
   * Run a tick now: score the agents, wake the best ones and execute or queue the actions they report.
   *
   * The call waits up to 120 seconds for the reports; later reports are handled by the next tick.
   *
   * With `dry_run` only the scores are computed: nothing is written and no job starts.
   */
  "heartbeat.tick": { params: HeartbeatTickParams; result: HeartbeatTickResponse };
  /**
   * Get the heartbeat configuration of a company.
   * Without a configuration file, the defaults.
   */
  "heartbeat.config.get": { params: CompanyFolderParams; result: HeartbeatConfigResponse };
  /**
   * Change the heartbeat configuration.
   * Fields that are not given keep their value.
   *
   * If the heartbeat is enabled afterwards, `forecast` lists what it may start on its own, how often, and the token caps.
   * With `dry_run` nothing is written.
   */
  "heartbeat.config.set": { params: HeartbeatConfigSetParams; result: HeartbeatConfigSetResponse };
  /**
   * Rebuild the index from scratch and replace the old one.
   * Requests use the old index until the new one is complete.
   */
  "index.rebuild": { params: CompanyFolderParams; result: IndexRebuildResponse };
  /**
   * Bring the index up to date.
   * Only changed files are read; the response counts the changes.
   */
  "index.sync": { params: CompanyFolderParams; result: IndexSyncResponse };
  /** Count the rows of the index. */
  "index.stats": { params: CompanyFolderParams; result: IndexStatsResponse };
  /** Get the status of the worker that keeps indexes up to date in the background. */
  "index.sync_worker_status": { params: IndexSyncWorkerParams; result: IndexSyncWorkerStatusResponse };
  /** Run the pending syncs of the background worker now. */
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
   * Search documents, messages, comments, tasks and events for words.
   * Texts the actor may not read are omitted.
   */
  "index.search": { params: IndexSearchParams; result: IndexSearchResponse };
  /** Get the newest runs with their session, their last event, their policy and budget decisions and their usage. */
  "monitor.snapshot": { params: MonitorSnapshotParams; result: MonitorSnapshotResponse };
  /** List reviews, newest first. */
  "inbox.list_reviews": { params: InboxListParams; result: InboxListReviewsResponse };
  /** List help requests, newest first. */
  "inbox.list_help_requests": { params: InboxListParams; result: InboxListHelpRequestsResponse };
  /** Get the documents that need a decision, and the most recent decisions. */
  "inbox.snapshot": { params: InboxSnapshotParams; result: InboxSnapshotResponse };
  /**
   * Get all files that a decision about a document depends on, and the `sha256` that binds a decision to them.
   *
   * Actors that may not decide about the document are rejected.
   */
  "inbox.read": { params: InboxReadParams; result: InboxReadResponse };
  /**
   * Approve or deny a document.
   * The first decision is final: a second one is rejected.
   */
  "inbox.resolve": { params: InboxResolveParams; result: InboxResolveResponse };
  /** Sum up the tokens and costs of the newest runs and of all runs. */
  "usage.analytics": { params: UsageAnalyticsParams; result: UsageAnalyticsResponse };
  /** Count agents, providers and models, and sum up the tokens and costs of runs. */
  "resources.snapshot": { params: ResourcesSnapshotParams; result: ResourcesSnapshotResponse };
  /** Show the profile of an agent and the totals of its runs. */
  "agent.profile.snapshot": { params: AgentProfileSnapshotParams; result: AgentProfileSnapshotResponse };
  /** Record a mistake of an agent in its mistake log. */
  "agent.record_mistake": { params: AgentRecordMistakeParams; result: AgentRecordMistakeResponse };
  /**
   * Record a mistake of an agent and propose a rule against it once it has recurred often enough.
   *
   * The rule is proposed when the count reaches the threshold and the evaluation command passes.
   */
  "agent.self_improve_cycle": { params: AgentSelfImproveCycleParams; result: AgentSelfImproveCycleResponse };
  /** Write the context index of an agent: the list of files it should read for its assigned tasks. */
  "agent.refresh_context": { params: AgentRefreshContextParams; result: AgentRefreshContextResponse };
  /** Get the monitor, the inbox, the usage, the agents and the comments in one consistent snapshot. */
  "ui.snapshot": { params: UiSnapshotParams; result: UiSnapshotResponse };
  /** Approve or deny a pending document and return a new snapshot. */
  "ui.resolve": { params: UiResolveParams; result: UiResolveResponse };
  /**
   * Return everything a desktop shows when it opens.
   * The call creates and changes nothing.
   * A missing `project_id` or `conversation_id` fails with -32601, not -32602, for compatibility with existing clients.
   */
  "desktop.bootstrap.snapshot": { params: DesktopBootstrapSnapshotParams; result: DesktopBootstrapSnapshotResponse };
  /** Read a document, if policy allows the actor to read it. */
  "artifact.read": { params: CompanyArtifactReadParams; result: CompanyArtifactReadResponse };
  /**
   * Propose lines for the memory of a project or the guidance of an agent.
   *
   * For `project_memory`, the gateway rejects a `scope_ref` other than `project_id`.
   */
  "memory.propose_delta": { params: MemoryProposeDeltaParams; result: MemoryProposeDeltaResponse };
  /**
   * Approve a pending delta and apply it.
   * A delta is applied completely or not at all, and at most once.
   */
  "memory.approve_delta": { params: MemoryApproveDeltaParams; result: MemoryApproveDeltaResponse };
  /** List the deltas the actor may see, newest first. */
  "memory.list_deltas": { params: MemoryListDeltasParams; result: MemoryListDeltasResponse };
  /**
   * Derive candidates for memory deltas from the result of a job and store them as a report.
   *
   * Does not change any memory.
   */
  "memory.extract_candidates": { params: MemoryExtractCandidatesParams; result: MemoryExtractCandidatesResponse };
  /**
   * Choose the references that a worker receives for a job.
   *
   * Governance comes first, then approved memory, then recent history.
   */
  "context.plan_for_job": { params: ContextPlanForJobParams; result: ContextPlanForJobResponse };
  /**
   * Approve a milestone by its report and set its status to `done`.
   *
   * The call is rejected if the report lacks evidence that the milestone requires.
   */
  "milestone.approve": { params: MilestoneApproveParams; result: MilestoneApproveResponse };
  /**
   * Read a file that a milestone report names as evidence.
   *
   * The actor must be allowed to read the report, and also the evidence itself if that is a document.
   */
  "milestone.evidence.read": { params: MilestoneEvidenceReadParams; result: MilestoneEvidenceReadResponse };
  /**
   * Create a project from a client request, with plans, tasks and a proposal for CEO approval.
   *
   * The project gets an intake brief, department plans, an executive plan, a meeting transcript and a task per director.
   *
   * The project is created completely or not at all.
   * If `model` is given, workers then rewrite the plans and the transcript.
   * A document that a worker fails to write keeps its generated content, and the failure is recorded in the audit log.
   */
  "pipeline.client_intake.run": { params: PipelineClientIntakeRunParams; result: PipelineClientIntakeRunResponse };
  /**
   * Create tasks for the workers of a department after the CEO approved the executive plan.
   *
   * A worker that already has an open task for the plan keeps it.
   * A later denial of the plan blocks further assignments.
   */
  "pipeline.department.assign_tasks": { params: PipelineDepartmentAssignTasksParams; result: PipelineDepartmentAssignTasksResponse };
}

/** Every notification with its payload. */
export interface Notifications {
  /** A workspace was created, renamed, deactivated or made current; sent to every connection that may see it. */
  "workspace/changed": WorkspaceChangedNotification;
  /** A thread was created or opened; sent to the caller of `thread/start`. */
  "thread/started": ThreadStartedNotification;
  /** A thread changed; sent to its subscribers. */
  "thread/updated": ThreadUpdatedNotification;
  /** The last subscriber of a thread unsubscribed; sent to that subscriber. */
  "thread/closed": ThreadClosedNotification;
  /**
   * The tree of a workspace changed; clients should reload it before displaying it.
   *
   * One notification may cover several changes.
   */
  "thread/tree/changed": ThreadTreeChangedNotification;
  /** The explicit or the effective file of a scope changed; clients should reload the scope. */
  "thread/agents_doc/changed": ThreadAgentsDocChangedNotification;
  /** A proposal was created, rebased, decided or withdrawn. */
  "thread/agents_doc/proposal/changed": ThreadAgentsDocProposalChangedNotification;
  /** A turn was accepted and is running. */
  "turn/started": TurnStartedNotification;
  /** A turn completed successfully. */
  "turn/completed": TurnCompletedNotification;
  /** A turn failed or was interrupted. */
  "turn/failed": TurnFailedNotification;
  /**
   * An item of a turn started.
   *
   * A client that subscribes while the model is answering receives this notification with the text generated so far.
   */
  "item/started": ItemStartedNotification;
  /**
   * The model generated more text of an answer.
   *
   * A connection that reads too slowly may miss deltas; a gap in `seq` shows this.
   * `item/completed` contains the whole text.
   */
  "item/agent_message/delta": ItemAgentMessageDeltaNotification;
  /** An item of a turn is complete. */
  "item/completed": ItemCompletedNotification;
  /** An artifact was created and is ready to display. */
  "artifact/created": ArtifactCreatedNotification;
  /** Artifact metadata, status or current version changed. */
  "artifact/updated": ArtifactUpdatedNotification;
  /** An artifact was soft-deleted. */
  "artifact/deleted": ArtifactDeletedNotification;
  /** The list of artifacts of a thread changed. */
  "thread/artifacts/changed": ThreadArtifactsChangedNotification;
  /** A projection, such as a thumbnail, changed state. */
  "artifact/projection/updated": ArtifactProjectionUpdatedNotification;
  /** A binary upload chunk was accepted; `next_offset` is the offset of the next chunk. */
  "artifact/upload/chunk_ack": ArtifactUploadChunkAckNotification;
  /** A binary upload chunk was rejected and had no effect. */
  "artifact/upload/chunk_rejected": ArtifactUploadChunkRejectedNotification;
  /** The progress of an upload; sent at most every 250 milliseconds. */
  "artifact/upload/progress": ArtifactUploadProgressNotification;
  /** The progress of a download; sent at most every 250 milliseconds. */
  "artifact/download/progress": ArtifactDownloadProgressNotification;
  /** The gateway ignored a binary frame because it does not know its type. */
  "transport/frame_rejected": TransportFrameRejectedNotification;
  /** An event was written. */
  "events.notification": EventsNotification;
  /**
   * A message was sent to a conversation.
   *
   * Delivered to subscriptions of `events.subscribe` whose `event_types` contain `conversation.message`.
   */
  "conversation.notification": ConversationNotification;
}

/** Methods that only read, so that repeating a call is safe. */
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
