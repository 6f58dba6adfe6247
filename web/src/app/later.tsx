// A component that is loaded when it is first shown. React's `lazy` delays what follows a fallback by 300 ms, so that
// every first visit of a view would take that long.

import { useEffect, useState, type ComponentType } from "react";
import { Loading } from "../parts/states.tsx";

export function later<P extends object>(load: () => Promise<{ default: ComponentType<P> }>): ComponentType<P> {
  let View: ComponentType<P> | undefined;
  return function Later(props: P) {
    const [isLoaded, setLoaded] = useState(View !== undefined);
    const [error, setError] = useState<Error>();
    useEffect(() => {
      if (isLoaded) return;
      load().then(
        (module) => {
          View = module.default;
          setLoaded(true);
        },
        (reason: unknown) => setError(reason instanceof Error ? reason : new Error(String(reason))),
      );
    }, [isLoaded]);
    // The error boundary shows the error with a button to try again.
    if (error !== undefined) throw error;
    return View ? <View {...props} /> : <Loading />;
  };
}
