// The prompt of a turn, section by section, with the document, version and hook of each text.

import type { HookRun, PromptChange, PromptManifest, PromptManifestHookSource } from "@accord/client";
import { Fragment, useState } from "react";
import { InspectorPart } from "../../app/Inspector.tsx";
import { useCall } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Await } from "../../parts/states.tsx";
import { Status } from "../../parts/Status.tsx";

/** Descriptions of the built-in sections. */
const SECTIONS: Record<string, string> = {
  identity: "Role of the model (built in)",
  safety: "Safety rules (built in)",
};

const CUTS: Record<PromptManifestHookSource["truncation"], string> = {
  none: "",
  hook: "Truncated by the hook",
  prompt: "Truncated to the prompt size",
  hook_and_prompt: "Truncated by the hook and to the prompt size",
};

export function PromptManifestPart({
  workspace,
  thread,
  turn,
  before,
}: {
  workspace: string;
  thread: string;
  turn: string;
  /** The previous turn, to compare with; absent for the first turn. */
  before: string | undefined;
}) {
  const query = useCall("turn/get", { thread_id: thread, turn_id: turn });
  const runs = useCall("hook/runs/list", { workspace_id: workspace, turn_id: turn });
  return (
    <Await query={query}>
      {({ turn: { prompt_manifest: manifest } }) =>
        manifest ? (
          <>
            <Manifest workspace={workspace} manifest={manifest} runs={runs.data?.items ?? []} />
            {before && <Comparison thread={thread} turn={turn} before={before} />}
          </>
        ) : (
          <InspectorPart title="Prompt">
            <p className="muted">This turn ended before a prompt was sent.</p>
          </InspectorPart>
        )
      }
    </Await>
  );
}

function Manifest({ workspace, manifest, runs }: { workspace: string; manifest: PromptManifest; runs: HookRun[] }) {
  return (
    <>
      <InspectorPart title="Sections">
        <ol className="sections">
          {manifest.section_ids.map((section) => {
            const sources = manifest.hook_sources.filter(({ section_id }) => section_id === section);
            return (
              <li key={section}>
                <code>{section}</code>
                {sources.length === 0 && <p className="muted">{SECTIONS[section] ?? "Built in"}</p>}
                {sources.map((source) => (
                  <Source key={source.source.subscription_id} workspace={workspace} source={source} runs={runs} />
                ))}
              </li>
            );
          })}
        </ol>
      </InspectorPart>
      {manifest.diagnostics.length > 0 && (
        <InspectorPart title="Warnings">
          {manifest.diagnostics.map(({ code, message }) => (
            <p key={code + message}>{message}</p>
          ))}
        </InspectorPart>
      )}
      <InspectorPart title="Fingerprints">
        <dl className="facts">
          <dt>Full prompt</dt>
          <Fingerprint value={manifest.fingerprint_full} />
          <dt>Stable part</dt>
          <Fingerprint value={manifest.fingerprint_stable} />
          <dt>Per-turn part</dt>
          <Fingerprint value={manifest.fingerprint_dynamic} />
          <dt>Compiler</dt>
          <dd className="mono">{manifest.compiler_version}</dd>
          <dt>Profile</dt>
          <dd>{manifest.profile.replaceAll("_", " ")}</dd>
        </dl>
        <p className="muted small">Turns with the same fingerprint received exactly the same text.</p>
      </InspectorPart>
    </>
  );
}

const CHANGES: Record<PromptChange["change"], string> = {
  same: "Unchanged",
  added: "Added",
  removed: "Removed",
  changed: "Changed",
};

function Comparison({ thread, turn, before }: { thread: string; turn: string; before: string }) {
  const query = useCall("turn/explain", { thread_id: thread, turn_id: turn, compare_turn_id: before });
  return (
    <InspectorPart title="Changes since the previous turn">
      <Await query={query} lines={3}>
        {({ changes }) => (
          <dl className="facts">
            {(changes ?? []).map(({ section_id, change }) => (
              <Fragment key={section_id}>
                <dt className="mono">{section_id}</dt>
                <dd>{CHANGES[change]}</dd>
              </Fragment>
            ))}
          </dl>
        )}
      </Await>
    </InspectorPart>
  );
}

const Fingerprint = ({ value }: { value: string }) => (
  <dd className="mono" title={value}>
    {value.slice(0, 12)}…
  </dd>
);

function Source({ workspace, source, runs }: { workspace: string; source: PromptManifestHookSource; runs: HookRun[] }) {
  const { hook_id, contribution_id, contribution_hash, phase_name } = source.source;
  const document = documentOf(contribution_id ?? "");
  const run = runs.find((one) => one.subscription_id === source.source.subscription_id);
  const cut = CUTS[source.truncation];
  return (
    <div className="source">
      {document ? <DocumentLine workspace={workspace} {...document} /> : <p className="mono">{contribution_id}</p>}
      <dl className="facts">
        <dt>Hook</dt>
        <dd className="mono">{hook_id}</dd>
        <dt>Phase</dt>
        <dd className="mono">{phase_name}</dd>
        {contribution_hash && (
          <>
            <dt>Text hash</dt>
            <dd className="mono" title={contribution_hash}>
              {contribution_hash.slice(0, 19)}…
            </dd>
          </>
        )}
        {run && (
          <>
            <dt>Hook run</dt>
            <dd>
              <Status meaning={run.status === "succeeded" ? "done" : "failed"}>{run.status}</Status>
              {run.completed_at_ms && run.started_at_ms ? ` in ${run.completed_at_ms - run.started_at_ms} ms` : ""}
            </dd>
          </>
        )}
        {cut && (
          <>
            <dt>Length</dt>
            <dd>{cut}</dd>
          </>
        )}
      </dl>
    </div>
  );
}

/** Parses the document and version in a contribution id of the AGENTS.md hook. */
function documentOf(contribution: string): { doc: string; version: number } | undefined {
  const [, doc, version] = /^thread_agents_doc\.(.+)\.v(\d+)$/.exec(contribution) ?? [];
  return doc && version ? { doc, version: Number(version) } : undefined;
}

function DocumentLine({ workspace, doc, version }: { workspace: string; doc: string; version: number }) {
  const [isOpen, setOpen] = useState(false);
  const query = useCall(
    "thread/agents_doc/revision_get",
    { workspace_id: workspace, doc_id: doc, version },
    { enabled: isOpen },
  );
  return (
    <p>
      AGENTS.md, version {version} <Button onClick={() => setOpen(true)}>View</Button>
      <Dialog
        title={`AGENTS.md, version ${version}`}
        description="As sent to the model in this turn"
        open={isOpen}
        onClose={() => setOpen(false)}
        wide
      >
        <Await query={query}>
          {({ revision }) => (
            <pre className="plain-text framed" tabIndex={0}>
              {revision.content}
            </pre>
          )}
        </Await>
      </Dialog>
    </p>
  );
}
