// An action that a worker proposes and that needs approval.

import { Icon } from "../../parts/Icon.tsx";
import { Markdown } from "../../parts/Markdown.tsx";
import { Status } from "../../parts/Status.tsx";
import { isRecord } from "../company/records.ts";
import { meaningOf } from "../company/meaning.ts";
import { Code, withoutTitle } from "../company/Code.tsx";
import { words } from "../company/names.ts";
import type { ProposalProps } from "./document.ts";

export function ActionProposal({ document, names, isDecided }: ProposalProps) {
  const action = isRecord(document.front["proposed_action"]) ? document.front["proposed_action"] : {};
  const value = (name: string) => (typeof action[name] === "string" ? action[name] : "");
  const risk = value("risk");
  const isJob = value("kind") === "launch_job";
  return (
    <>
      <p className="proposal-lead">
        {isDecided ? "Action: " : "Approving runs this action immediately: "}
        <strong>{words(value("kind"))}</strong>
        {document.text("rationale") && <>. Reason: {document.text("rationale")}</>}
      </p>
      <div className={risk === "high" ? "notice waiting" : "notice"}>
        <Icon name={risk === "high" ? "alert" : "info"} />
        <span>Risk: {risk || "unknown"}</span>
      </div>
      <dl className="facts">
        {isJob && (
          <>
            <dt>Goal</dt>
            <dd>{value("goal")}</dd>
            <dt>Worker</dt>
            <dd>
              {value("worker_agent_id") ? names.actor(value("worker_agent_id")) : "Chosen at start"}
              {value("worker_kind") && ` on ${value("worker_kind")}`}
            </dd>
            <dt>Permissions</dt>
            <dd>
              <Status meaning={value("permission_level") === "run-commands" ? "waiting" : meaningOf("ready")}>
                {words(value("permission_level") || "read-only")}
              </Status>
            </dd>
          </>
        )}
        {value("body") && (
          <>
            <dt>Message</dt>
            <dd>{value("body")}</dd>
          </>
        )}
      </dl>
      <section className="block">
        <h2>Action</h2>
        <Code text={JSON.stringify(action, null, 2)} label="Action" />
      </section>
      <section className="block">
        <h2>Proposal</h2>
        <Markdown
          text={withoutTitle(document.markdown).replace(/^## Proposed Action\n[\s\S]*?(?=^## |$(?![\s\S]))/m, "")}
        />
      </section>
    </>
  );
}
