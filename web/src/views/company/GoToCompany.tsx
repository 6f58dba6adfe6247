// Redirects `/c/<folder>/…` to the same address in the workspace of that company folder.

import { useCallback, useEffect, useState } from "react";
import { address } from "../../address.ts";
import { Failure, Loading } from "../../parts/states.tsx";
import { navigate } from "../../router.tsx";
import { openCompany } from "./folder.ts";

export function GoToCompany({ dir, rest }: { dir: string; rest: string[] }) {
  const [error, setError] = useState<unknown>();
  const path = rest.join("/");
  const go = useCallback(() => {
    setError(undefined);
    openCompany(dir).then((workspace) => {
      const to = [address.workspace(workspace), path].filter(Boolean).join("/");
      navigate(to + location.search, { replace: true });
    }, setError);
  }, [dir, path]);
  useEffect(go, [go]);
  return error === undefined ? <Loading /> : <Failure error={error} onRetry={go} />;
}
