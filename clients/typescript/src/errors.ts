// Why a call failed. Every error of this package is one of these, besides what an `AbortSignal` brings.

/** The gateway answered with an error. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  constructor(
    /** The method that failed. */
    readonly method: string,
    /** The number JSON-RPC gives it. */
    readonly code: number,
    message: string,
    /** What a program needs to know. */
    readonly data: unknown,
  ) {
    super(message);
  }

  /** The stable name of the failure: `data.kind` of the tree family, `data.reason_code` of the company family. */
  get kind(): string | undefined {
    const data = this.data as { kind?: unknown; reason_code?: unknown } | null | undefined;
    const kind = data?.kind ?? data?.reason_code;
    return typeof kind === "string" ? kind : undefined;
  }
}

/** The connection broke after the call was sent: nobody knows whether it happened. */
export class ConnectionLostError extends Error {
  override readonly name = "ConnectionLostError";
}

/** The client is closed; nothing was sent. */
export class ClosedError extends Error {
  override readonly name = "ClosedError";
}

/** The gateway does not accept the token; the client is closed, because no later attempt could succeed. */
export class AuthenticationError extends Error {
  override readonly name = "AuthenticationError";
}

/** No answer came in time. */
export class TimeoutError extends Error {
  override readonly name = "TimeoutError";
}

/** Too many calls wait already; nothing was sent. */
export class QueueFullError extends Error {
  override readonly name = "QueueFullError";
}

/** A file could not be transferred; `kind` says why in stable snake_case. */
export class TransferError extends Error {
  override readonly name = "TransferError";
  constructor(
    readonly kind: string,
    message: string,
  ) {
    super(message);
  }
}
