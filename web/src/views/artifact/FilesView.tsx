// The Files section without an open file: the storage used.

import "./artifact.css";
import { Page } from "../../app/Page.tsx";
import type { ViewProps } from "../../app/section.ts";
import { useCall } from "../../data/calls.ts";
import { bytes, count } from "../../parts/size.ts";
import { Await } from "../../parts/states.tsx";

export default function FilesView({ workspace }: ViewProps) {
  const query = useCall("artifact/usage", { workspace_id: workspace });
  return (
    <Page title="Files">
      <Await query={query}>
        {(usage) => (
          <div className="page-column">
            <p className="muted">Select a file on the left to preview it.</p>
            <dl className="facts usage">
              <dt>Storage used</dt>
              <dd>
                {bytes(usage.bytes)} of {bytes(usage.max_bytes)}
              </dd>
              <dt>Files</dt>
              <dd>
                {count(usage.files)} of {count(usage.max_files)}
              </dd>
              <dt>In trash</dt>
              <dd>{bytes(usage.reclaimable_bytes)}</dd>
              <dt>On disk, including uploads in progress</dt>
              <dd>
                {bytes(usage.stored_bytes + usage.open_upload_bytes)} of {bytes(usage.max_stored_bytes)}
              </dd>
            </dl>
          </div>
        )}
      </Await>
    </Page>
  );
}
