// The address of a company folder, `/c/<folder>/…`, leads to the same place in the workspace that shows it.

import { useEffect, useState } from "react";
import { address } from "../../address.ts";
import { Failure, Loading } from "../../parts/states.tsx";
import { navigate } from "../../router.tsx";
import { openCompany } from "./folder.ts";

export function GoToCompany({ dir, rest }: { dir: string; rest: string[] }) {
  const [error, setError] = useState<unknown>();
  const go = () => {
    setError(undefined);
    openCompany(dir).then(
      (workspace) => navigate([address.workspace(workspace), ...rest].join("/") + location.search, { replace: true }),
      setError,
    );
  };
  useEffect(go, [dir]);
  return error === undefined ? <Loading /> : <Failure error={error} onRetry={go} />;
}
