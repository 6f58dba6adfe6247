// Ends the attempt of a job by cancelling the job: stopping the attempt alone starts the next one.

import { useState } from "react";
import { attempt, call, invalidate } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog, DialogActions } from "../../parts/Dialog.tsx";

export function CancelJob({ dir, project, job }: { dir: string; project: string; job: string }) {
  const [isAsked, setAsked] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const close = () => setAsked(false);
  const cancel = async () => {
    close();
    setBusy(true);
    await attempt("Cancelling the job", async () => {
      await call("job.cancel", { workspace_dir: dir, project_id: project, job_id: job });
      invalidate(["session.list", "run.list", "job.list", "job.poll", "job.collect", "monitor.snapshot"], {
        workspace_dir: dir,
      });
    });
    setBusy(false);
  };
  return (
    <>
      <Button kind="danger" disabled={isBusy} onClick={() => setAsked(true)}>
        Cancel the job
      </Button>
      <Dialog
        title="Cancel the job?"
        open={isAsked}
        onClose={close}
        description="This session is an attempt of a job. Stopping only the session would start the next attempt. Cancelling the job stops the session and starts no other one."
      >
        <DialogActions>
          <Button onClick={close}>Keep it</Button>
          <Button kind="danger" icon="stop" autoFocus onClick={() => void cancel()}>
            Cancel the job
          </Button>
        </DialogActions>
      </Dialog>
    </>
  );
}
