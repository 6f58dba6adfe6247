// A preview of the AGENTS.md section in the prompt of the next turn.

import { useCall } from "../../data/calls.ts";
import { Dialog } from "../../parts/Dialog.tsx";
import { count } from "../../parts/size.ts";
import { Await } from "../../parts/states.tsx";
import { BUDGET } from "./budget.ts";

export function PromptPreview({
  workspace,
  thread,
  open,
  onClose,
}: {
  workspace: string;
  thread: string;
  open: boolean;
  onClose: () => void;
}) {
  const query = useCall("thread/agents_doc/preview", { workspace_id: workspace, thread_id: thread }, { enabled: open });
  return (
    <Dialog
      title="Prompt preview"
      description="Exactly what the model receives on the next turn"
      open={open}
      onClose={onClose}
      wide
    >
      <Await query={query}>
        {({ text, char_count, truncated, version, source_path }) =>
          text ? (
            <>
              <p className="muted">
                {count(char_count)} of {count(BUDGET)} characters, version {version} of{" "}
                {source_path.join(" / ") || "the root"}
                {truncated && ", cut off at the end"}
              </p>
              <pre className="plain-text framed" tabIndex={0}>
                {text}
              </pre>
            </>
          ) : (
            <p className="muted">No AGENTS.md applies.</p>
          )
        }
      </Await>
    </Dialog>
  );
}
