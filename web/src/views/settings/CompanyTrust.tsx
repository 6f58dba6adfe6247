// Shows and changes whether the company folder is trusted on this computer.

import { useState } from "react";
import { useCall } from "../../data/calls.ts";
import { askToTrust } from "../../data/trust.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Await } from "../../parts/states.tsx";
import { Status } from "../../parts/Status.tsx";
import { toast } from "../../parts/toast.tsx";
import { ConfirmActions } from "../company/ConfirmActions.tsx";
import { useTrust, withdrawTrust } from "../company/trust.ts";

export function CompanyTrust({ dir }: { dir: string }) {
  const query = useTrust(dir);
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <Await query={query} lines={1}>
        {({ trusted }) => (
          <div className="company-trust">
            {trusted ? (
              <>
                <Status meaning="done">Trusted on this computer</Status>
                <Button onClick={() => setAsked(true)}>Withdraw trust…</Button>
              </>
            ) : (
              <>
                <Status meaning="waiting">Not trusted on this computer</Status>
                <Button onClick={() => askToTrust({ dir })}>Trust this folder…</Button>
              </>
            )}
          </div>
        )}
      </Await>
      <Dialog
        title="Withdraw trust?"
        open={isAsked}
        onClose={() => setAsked(false)}
        description="You can still read this folder. Nothing in it runs and nothing is written until you trust it again."
      >
        <WithdrawTrust dir={dir} onClose={() => setAsked(false)} />
      </Dialog>
    </>
  );
}

function WithdrawTrust({ dir, onClose }: { dir: string; onClose: () => void }) {
  const running = useCall("session.list", { workspace_dir: dir, status: "running" }).data?.length ?? 0;
  const withdraw = async () => {
    await withdrawTrust(dir);
    toast({ text: "This folder is no longer trusted on this computer" });
  };
  return (
    <>
      {running > 0 && (
        <p className="notice waiting">
          Active runs: {running}. Withdrawing trust does not stop them. To stop them later, you have to trust the folder
          again.
        </p>
      )}
      <ConfirmActions label="Withdraw trust" confirm={withdraw} onClose={onClose} />
    </>
  );
}
