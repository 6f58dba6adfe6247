// The banner of an untrusted company folder.

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
  // The page itself reports a folder that cannot be read.
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
        This folder was not created on this computer. You can read it. Accord does not run or write anything in it until
        you trust it.
      </p>
      <Button onClick={ask}>Trust this folder…</Button>
    </section>
  );
}
