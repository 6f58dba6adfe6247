// Signs this browser out, and says why if that fails.

import { attempt } from "./calls.ts";
import { signOut } from "./session.ts";

export const leave = () => void attempt("Signing out", signOut);
