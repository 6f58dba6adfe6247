// Company folders that a person has to trust before anything is written or started in them: how a refused call is
// told apart from other failures, and which folder the desktop asks about.

import { RpcError } from "@accord/client";
import { useSyncExternalStore } from "react";

/** A call was refused because its company folder is not trusted on this computer. */
export class UntrustedFolder extends RpcError {
  constructor(
    refusal: RpcError,
    /** The company folder, as the call named it. */
    readonly dir: string,
  ) {
    super(refusal.method, refusal.code, refusal.message, refusal.data);
  }
}

/** The failure of a call, with the folder it needs to be trusted where that is the reason. */
export function withFolder(error: unknown, params: unknown): unknown {
  if (!(error instanceof RpcError) || error.kind !== "WORKSPACE_UNTRUSTED") return error;
  const dir = folderOf(params);
  return dir === undefined ? error : new UntrustedFolder(error, dir);
}

/** The company folder that params name; those of `job.submit` name it one level below. */
function folderOf(params: unknown): string | undefined {
  const { workspace_dir, job } = params as { workspace_dir?: unknown; job?: { workspace_dir?: unknown } };
  const dir = workspace_dir ?? job?.workspace_dir;
  return typeof dir === "string" ? dir : undefined;
}

export interface TrustQuestion {
  dir: string;
  /** What was refused because the folder is not trusted, such as “Creating the project”. */
  refused?: string;
}

let asked: TrustQuestion | undefined;
const listeners = new Set<() => void>();

function update(next: TrustQuestion | undefined): void {
  asked = next;
  listeners.forEach((listener) => listener());
}

/** Opens the dialog that asks whether to trust a folder. */
export const askToTrust = (question: TrustQuestion) => update(question);

export const closeTrustQuestion = () => update(undefined);

/** What is asked now. */
export function useTrustQuestion(): TrustQuestion | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => asked,
  );
}
