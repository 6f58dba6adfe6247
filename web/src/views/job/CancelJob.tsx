// Stops an attempt of a job by canceling the job; stopping only the attempt would start the next one.

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
    await attempt("Canceling the job", async () => {
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
        Cancel job
      </Button>
      <Dialog
        title="Cancel job?"
        open={isAsked}
        onClose={close}
        description="This run is an attempt of a job. If you stopped only the run, the job would start another attempt. Canceling the job stops the run and starts no further attempts."
      >
        <DialogActions>
          <Button onClick={close}>Keep running</Button>
          <Button kind="danger" icon="stop" autoFocus onClick={() => void cancel()}>
            Cancel job
          </Button>
        </DialogActions>
      </Dialog>
    </>
  );
}
