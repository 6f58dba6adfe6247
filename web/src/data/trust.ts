// Untrusted company folders: the error of a call that needs trust, and the state of the dialog that asks for it.

import { RpcError } from "@accord/client";
import { useSyncExternalStore } from "react";

/** The gateway rejected a call because its company folder is not trusted on this computer. */
export class UntrustedFolder extends RpcError {
  constructor(
    refusal: RpcError,
    /** The company folder, as the call named it. */
    readonly dir: string,
  ) {
    super(refusal.method, refusal.code, refusal.message, refusal.data);
  }
}

/** Converts the error of a call into `UntrustedFolder` if that is the cause; returns other errors unchanged. */
export function withFolder(error: unknown, params: unknown): unknown {
  if (!(error instanceof RpcError) || error.kind !== "WORKSPACE_UNTRUSTED") return error;
  const dir = folderOf(params);
  return dir === undefined ? error : new UntrustedFolder(error, dir);
}

/** Returns the company folder in params. The params of `job.submit` contain it in `job`. */
function folderOf(params: unknown): string | undefined {
  const { workspace_dir, job } = params as { workspace_dir?: unknown; job?: { workspace_dir?: unknown } };
  const dir = workspace_dir ?? job?.workspace_dir;
  return typeof dir === "string" ? dir : undefined;
}

export interface TrustQuestion {
  dir: string;
  /** The action that was rejected, such as “Creating the project”. Absent if the user opened the dialog. */
  refused?: string;
}

let asked: TrustQuestion | undefined;
const listeners = new Set<() => void>();

function update(next: TrustQuestion | undefined): void {
  asked = next;
  listeners.forEach((listener) => listener());
}

/** Opens the trust dialog. */
export const askToTrust = (question: TrustQuestion) => update(question);

export const closeTrustQuestion = () => update(undefined);

/** Returns the question of the open trust dialog. */
export function useTrustQuestion(): TrustQuestion | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => asked,
  );
}
