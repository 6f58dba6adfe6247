// A view that is loaded when it is first shown. React's own `lazy` would do, but holds back for 300 ms what comes after
// a fallback, so that every first visit of a view would take that long.

import { useEffect, useState, type ComponentType } from "react";
import { Loading } from "../parts/states.tsx";

export function later<P extends object>(load: () => Promise<{ default: ComponentType<P> }>): ComponentType<P> {
  let View: ComponentType<P> | undefined;
  return function Later(props: P) {
    const [isLoaded, setLoaded] = useState(View !== undefined);
    const [error, setError] = useState<unknown>();
    useEffect(() => {
      if (isLoaded) return;
      load().then((module) => {
        View = module.default;
        setLoaded(true);
      }, setError);
    }, [isLoaded]);
    // The boundary around it says so and offers to try again.
    if (error !== undefined) throw error;
    return View ? <View {...props} /> : <Loading />;
  };
}
