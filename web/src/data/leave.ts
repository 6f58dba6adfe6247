// Signs this browser out; a failure is shown in a toast.

import { attempt } from "./calls.ts";
import { signOut } from "./session.ts";

export const leave = () => void attempt("Signing out", signOut);
