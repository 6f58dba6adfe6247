// The page of a company whose folder can no longer be read.

import "./open-company.css";
import { attempt } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { Empty } from "../../parts/states.tsx";
import { toast } from "../../parts/toast.tsx";
import { navigate } from "../../router.tsx";
import { forgetCompany } from "./folder.ts";

export default function CompanyGone({
  workspace,
  dir,
  onRetry,
}: {
  workspace: string;
  dir: string;
  onRetry: () => void;
}) {
  return (
    <Empty
      icon="alert"
      title="Company folder not found"
      action={
        <div className="open-company-actions">
          <Button icon="undo" onClick={onRetry}>
            Try again
          </Button>
          <ForgetButton workspace={workspace} onDone={() => navigate("/")} />
        </div>
      }
    >
      The folder <span className="mono">{dir}</span> does not exist or has no company/company.yaml. It may have been
      moved or deleted. Removing the company from the list deletes no files; you can open its folder again later.
    </Empty>
  );
}

/** Removes a company from the lists. */
export function ForgetButton({ workspace, onDone }: { workspace: string; onDone: () => void }) {
  const forget = () =>
    attempt("Removing the company", async () => {
      await forgetCompany(workspace);
      toast({ text: "Company removed from the list. Open its folder to add it again." });
      onDone();
    });
  return (
    <Button kind="danger" onClick={() => void forget()}>
      Remove from list
    </Button>
  );
}
