// The state of the dialog that creates an object. `?new` in the address opens it, so that the palette can link to it.

import { navigate, useSearchParam } from "../../router.tsx";

export function useNew(): [isOpen: boolean, setOpen: (isOpen: boolean) => void] {
  const isOpen = useSearchParam("new") !== null;
  return [isOpen, (open) => navigate(location.pathname + (open ? "?new" : ""), { replace: true })];
}
