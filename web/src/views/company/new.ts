// Whether the dialog for something new is open: `?new` in the address opens it, so that the palette can too.

import { navigate, useSearchParam } from "../../router.tsx";

export function useNew(): [isOpen: boolean, setOpen: (isOpen: boolean) => void] {
  const isOpen = useSearchParam("new") !== null;
  return [isOpen, (open) => navigate(location.pathname + (open ? "?new" : ""), { replace: true })];
}
