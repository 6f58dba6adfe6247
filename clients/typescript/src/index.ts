// The TypeScript client of the Accord gateway.

export { Client, connect } from "./client.js";
export type { CallArguments, CallOptions, ConnectionState, ConnectOptions } from "./client.js";
export { contentRequest, download, downloadBlob } from "./download.js";
export type { DownloadOptions } from "./download.js";
export {
  AuthenticationError,
  ClosedError,
  ConnectionLostError,
  QueueFullError,
  RpcError,
  TimeoutError,
  TransferError,
} from "./errors.js";
export type { Gap } from "./following.js";
export type * from "./generated.js";
export { Sha256, sha256, sha256OfBlob } from "./sha256.js";
export { Upload, upload } from "./upload.js";
export type { UploadOptions, UploadProgress, UploadState } from "./upload.js";
