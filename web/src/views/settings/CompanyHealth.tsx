// The checks of the company folder and the installed worker programs.

import "../company/company.css";
import type { AdapterReasonCode, CompanyWorkspaceDoctorResponse, DoctorStatus } from "@accord/client";
import { useState } from "react";
import { attempt, call, queries, useCall } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { Await } from "../../parts/states.tsx";
import { Status, type Meaning } from "../../parts/Status.tsx";
import { plural, words } from "../company/names.ts";
import { CompanyTrust } from "./CompanyTrust.tsx";

const MEANINGS: Record<DoctorStatus, Meaning> = { pass: "done", warn: "waiting", fail: "failed" };
const LABELS: Record<DoctorStatus, string> = { pass: "Passed", warn: "Warning", fail: "Failed" };

const OBSTACLES: Record<AdapterReasonCode, string> = {
  not_installed: "Not installed",
  unapproved_binary: "Not approved",
  no_app_server: "Installed version not supported",
  not_asked: "Not checked",
  machine_file: "Unknown",
};

export function CompanyHealth({ dir }: { dir: string }) {
  const workers = useCall("adapter.status", { workspace_dir: dir });
  return (
    <>
      <section>
        <h2>Workers</h2>
        <p className="muted">Worker programs on the gateway’s machine that runs can start.</p>
        <Await query={workers}>
          {(rows) => (
            <ul className="health">
              {rows.map(({ name, available, reason, reason_code }) => (
                <li key={name}>
                  <span>{words(name).replace(/\bcli$/, "CLI")}</span>
                  <Status meaning={available ? "done" : "idle"}>
                    {available ? "Installed" : reason_code ? OBSTACLES[reason_code] : "Not available"}
                  </Status>
                  {reason && reason_code !== "not_installed" && <span className="muted">{reason}</span>}
                </li>
              ))}
            </ul>
          )}
        </Await>
      </section>
      <section>
        <h2>Company folder</h2>
        <p className="muted mono">{dir}</p>
        <CompanyTrust dir={dir} />
        <Checks dir={dir} />
      </section>
    </>
  );
}

/** The checks read every document and log, so they run only on request. */
function Checks({ dir }: { dir: string }) {
  const [found, setFound] = useState<CompanyWorkspaceDoctorResponse>();
  const [busy, setBusy] = useState<"checking" | "rebuilding">();
  const check = async (rebuild_index: boolean) => {
    setBusy(rebuild_index ? "rebuilding" : "checking");
    await attempt(rebuild_index ? "Rebuilding the index" : "Checking", async () => {
      setFound(await call("workspace.doctor", { workspace_dir: dir, rebuild_index }));
      if (rebuild_index) void queries.invalidateQueries();
    });
    setBusy(undefined);
  };
  return (
    <>
      {found && (
        <>
          <p role="status">
            <Status meaning={found.ok ? (found.summary.warn > 0 ? "waiting" : "done") : "failed"}>
              {`${found.summary.pass} passed, ${plural(found.summary.warn, "warning")}, ${found.summary.fail} failed`}
            </Status>
          </p>
          <ul className="health">
            {found.checks.map(({ id, message, status, details }) => (
              <li key={id}>
                <span>{words(id)}</span>
                <Status meaning={MEANINGS[status]}>{LABELS[status]}</Status>
                <span className="muted">{message}</span>
                {details && details.length > 0 && (
                  <details>
                    <summary>Details</summary>
                    <ul>
                      {details.map((line) => (
                        <li key={line}>{line}</li>
                      ))}
                    </ul>
                  </details>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
      <div className="settings-actions">
        <Button disabled={busy !== undefined} onClick={() => void check(false)}>
          {busy === "checking" ? "Checking…" : "Check folder"}
        </Button>
        <Button disabled={busy !== undefined} onClick={() => void check(true)}>
          {busy === "rebuilding" ? "Rebuilding…" : "Rebuild index"}
        </Button>
      </div>
    </>
  );
}
