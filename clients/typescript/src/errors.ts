// The errors of this package. An aborted call rejects with the reason of its `AbortSignal` instead.

/** The gateway returned an error. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  constructor(
    /** The method that failed. */
    readonly method: string,
    /** The JSON-RPC error code. */
    readonly code: number,
    message: string,
    /** Structured details of the error, if any. */
    readonly data: unknown,
  ) {
    super(message);
  }

  /** The stable name of the error: `data.kind` of the tree family, `data.reason_code` of the company family. */
  get kind(): string | undefined {
    const data = this.data as { kind?: unknown; reason_code?: unknown } | null | undefined;
    const kind = data?.kind ?? data?.reason_code;
    return typeof kind === "string" ? kind : undefined;
  }
}

/** The connection broke after the call was sent; whether the gateway executed it is unknown. */
export class ConnectionLostError extends Error {
  override readonly name = "ConnectionLostError";
}

/** The client is closed; nothing was sent. */
export class ClosedError extends Error {
  override readonly name = "ClosedError";
}

/** The gateway rejects the token or page key; the client is closed, because no later attempt could succeed. */
export class AuthenticationError extends Error {
  override readonly name = "AuthenticationError";
}

/** The call was not answered within its timeout. */
export class TimeoutError extends Error {
  override readonly name = "TimeoutError";
}

/** Too many calls are pending; nothing was sent. */
export class QueueFullError extends Error {
  override readonly name = "QueueFullError";
}

/** A transfer failed; `kind` is the stable reason in snake_case. */
export class TransferError extends Error {
  override readonly name = "TransferError";
  constructor(
    readonly kind: string,
    message: string,
  ) {
    super(message);
  }
}
