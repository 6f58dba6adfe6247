// A company that was opened before and cannot be read any more.

import "./open-company.css";
import { attempt } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { Empty } from "../../parts/states.tsx";
import { toast } from "../../parts/toast.tsx";
import { navigate } from "../../router.tsx";
import { forgetCompany } from "./folder.ts";

export default function CompanyGone({ workspace, dir, onRetry }: { workspace: string; dir: string; onRetry: () => void }) {
  return (
    <Empty
      icon="alert"
      title="This company is not there any more"
      action={
        <div className="open-company-actions">
          <Button icon="undo" onClick={onRetry}>
            Try again
          </Button>
          <ForgetButton workspace={workspace} onDone={() => navigate("/")} />
        </div>
      }
    >
      The folder <span className="mono">{dir}</span> does not exist, or it has no company/company.yaml. It may have been
      moved or deleted. Forgetting the company takes it out of the lists; opening its folder brings it back.
    </Empty>
  );
}

/** Takes a company out of the lists. */
export function ForgetButton({ workspace, onDone }: { workspace: string; onDone: () => void }) {
  const forget = () =>
    attempt("Forgetting the company", async () => {
      await forgetCompany(workspace);
      toast({ text: "The company is forgotten; opening its folder brings it back" });
      onDone();
    });
  return (
    <Button kind="danger" onClick={() => void forget()}>
      Forget it
    </Button>
  );
}
