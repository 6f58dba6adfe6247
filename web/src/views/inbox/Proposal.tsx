// The contents of an inbox item by its type.

import { Markdown } from "../../parts/Markdown.tsx";
import { ActionProposal } from "./ActionProposal.tsx";
import type { ProposalProps } from "./document.ts";
import { MemoryDelta } from "./MemoryDelta.tsx";
import { MilestoneReport } from "./MilestoneReport.tsx";
import { executivePlanOf, PlanApproval } from "./PlanApproval.tsx";

export function Proposal(props: ProposalProps) {
  if (props.document.type === "memory_delta") return <MemoryDelta {...props} />;
  if (props.document.type === "milestone_report") return <MilestoneReport {...props} />;
  if (props.document.type === "heartbeat_action_proposal") {
    const plan = executivePlanOf(props.document);
    return plan ? <PlanApproval {...props} plan={plan} /> : <ActionProposal {...props} />;
  }
  return <Markdown text={props.document.markdown} />;
}
