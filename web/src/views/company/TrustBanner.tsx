// Says above the pages of a company that its folder is not trusted on this computer, and offers to trust it.

import "./trust.css";
import { askToTrust } from "../../data/trust.ts";
import { usePalette } from "../../palette/registry.ts";
import { Button } from "../../parts/Button.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { useCompany } from "./folder.ts";
import { useTrust } from "./trust.ts";

export function TrustBanner({ workspace }: { workspace: string }) {
  const { dir } = useCompany(workspace);
  const { data, error } = useTrust(dir);
  // A folder that cannot be read is told by the page itself.
  const isUntrusted = dir !== undefined && !error && data?.trusted === false;
  const ask = () => dir && askToTrust({ dir });
  usePalette({
    group: "Actions",
    find: () => (isUntrusted ? [{ id: "trust-folder", title: "Trust this folder…", icon: "key", run: ask }] : []),
  });
  if (!isUntrusted) return null;
  return (
    <section className="trust-banner" aria-label="Folder not trusted">
      <Icon name="alert" />
      <p>
        This folder was not created on this computer. You can read it; nothing in it runs and nothing is written until you
        trust it.
      </p>
      <Button onClick={ask}>Trust this folder…</Button>
    </section>
  );
}
