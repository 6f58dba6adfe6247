// The state of an open AGENTS.md: loading, editing, saving automatically, and conflicts with other clients.
//
// A save starts 700 ms after the last change; at most one is in progress. The text is kept as a draft until the gateway
// has saved it.

import {
  ClosedError,
  ConnectionLostError,
  RpcError,
  type ThreadAgentsDocGetResponse,
  type ThreadAgentsDocPayload,
  type ThreadAgentsDocProposal,
} from "@accord/client";
import { call, sentence } from "../../data/calls.ts";
import { client } from "../../data/client.ts";
import { forgetDraft, keepDraft, readDraft } from "../../data/drafts.ts";

const DEBOUNCE = 700;

export type DocState =
  | { kind: "loading" }
  | { kind: "unreadable"; error: unknown }
  | { kind: "clean" }
  | { kind: "dirty"; changedElsewhere: boolean }
  | { kind: "saving" }
  | { kind: "saved"; at: number }
  | { kind: "error"; message: string }
  /** The text becomes a proposal; it is not saved automatically. */
  | { kind: "proposing"; mayNotSave: boolean }
  /** Another client saved. `remote` is its version; undefined if it deleted the file. */
  | { kind: "conflict"; remote: ThreadAgentsDocPayload | undefined; base: string };

interface Draft {
  text: string;
  /** The saved text on which the draft is based. */
  base: string;
  version: number | null;
  /** Whether the draft is a proposal. */
  isProposal: boolean;
}

/** The version on which a proposal is based. */
interface ProposalBase {
  text: string;
  version: number | null;
  mayNotSave: boolean;
}

/** Normalises line endings as the gateway does. */
export const normalise = (text: string) => text.replace(/\r\n?/g, "\n");

export class DocSession {
  text = "";
  state: DocState = { kind: "loading" };
  /** The last known saved version; undefined if the file does not exist. */
  doc: ThreadAgentsDocPayload | undefined;
  readonly #workspace: string;
  readonly #folder: string | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #stops: (() => void)[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isSaving = false;
  #proposal: ProposalBase | undefined;
  #saveAgain: "autosave" | "manual" | undefined;
  #snapshot = 0;

  constructor(workspace: string, folder: string | undefined) {
    this.#workspace = workspace;
    this.#folder = folder;
  }

  /** Loads the document and listens to changes. Returns a function that stops listening. */
  open(): () => void {
    this.#stops.push(
      client.on("thread/agents_doc/changed", ({ workspace_id, folder_id }) => {
        if (workspace_id === this.#workspace && (folder_id ?? undefined) === this.#folder)
          void this.#changedElsewhere();
      }),
      client.onState((state) => {
        if (state !== "open") return;
        if (this.state.kind === "error") void this.save("autosave");
        else void this.#changedElsewhere();
      }),
    );
    const leave = () => void this.save("autosave");
    window.addEventListener("pagehide", leave);
    this.#stops.push(() => window.removeEventListener("pagehide", leave));
    void this.load();
    return () => {
      // Leaving the view saves immediately; the response is still handled.
      void this.save("autosave");
      this.#stops.splice(0).forEach((stop) => stop());
    };
  }

  subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Returns a number that changes with every change of the state. */
  snapshot = () => this.#snapshot;

  async load(): Promise<void> {
    if (this.doc === undefined) this.#enter({ kind: "loading" });
    try {
      const { explicit } = await this.#get();
      this.#adopt(explicit ?? undefined);
      const draft = this.#readDraft();
      if (!draft || draft.text === this.#savedText) {
        this.text = this.#savedText;
        this.#forget();
        this.#enter({ kind: "clean" });
      } else if (draft.isProposal) {
        this.text = draft.text;
        this.#beginProposal({ text: draft.base, version: draft.version, mayNotSave: false });
      } else if (draft.version === (this.doc?.version ?? null)) {
        this.edit(draft.text);
      } else {
        this.text = draft.text;
        this.#enter({ kind: "conflict", remote: this.doc, base: draft.base });
      }
    } catch (error) {
      this.#enter({ kind: "unreadable", error });
    }
  }

  edit(text: string): void {
    this.text = text;
    if (this.state.kind === "conflict") {
      this.#keep(this.state.base);
      this.#tell();
      return;
    }
    clearTimeout(this.#timer);
    if (this.#proposal) {
      this.#keep(this.#proposal.text);
      this.#tell();
      return;
    }
    if (!this.#isDirty) {
      this.#forget();
      if (!this.#isSaving) this.#enter({ kind: "clean" });
      return;
    }
    this.#keep(this.#savedText);
    if (!this.#isSaving) this.#enter({ kind: "dirty", changedElsewhere: this.#isChangedElsewhere });
    else this.#tell();
    this.#timer = setTimeout(() => void this.save("autosave"), DEBOUNCE);
  }

  async save(reason: "autosave" | "manual"): Promise<void> {
    clearTimeout(this.#timer);
    if (this.state.kind === "conflict" || this.state.kind === "loading" || this.#proposal || !this.#isDirty) return;
    if (this.#isSaving) {
      this.#saveAgain = reason;
      return;
    }
    this.#isSaving = true;
    this.#saveAgain = undefined;
    this.#enter({ kind: "saving" });
    const content = normalise(this.text);
    try {
      const { doc } = await call("thread/agents_doc/save", {
        workspace_id: this.#workspace,
        ...(this.#folder ? { folder_id: this.#folder } : {}),
        content,
        // 0 requires that the file does not exist yet, so that two clients cannot create it at the same time.
        expected_version: this.doc?.version ?? 0,
        save_reason: reason,
      });
      this.#isSaving = false;
      this.#adopt(doc);
      this.#settle();
    } catch (error) {
      this.#isSaving = false;
      await this.#failed(error, content);
    }
  }

  /** Returns whether the text can become a proposal now. */
  get canPropose(): boolean {
    return !this.#isSaving && ["clean", "dirty", "saved", "error"].includes(this.state.kind);
  }

  /** Turns the text into a proposal, which is kept as a draft and not saved. */
  beginProposal(): void {
    if (this.canPropose)
      this.#beginProposal({ text: this.#savedText, version: this.doc?.version ?? null, mayNotSave: false });
  }

  /** Returns the text on which the proposal is based. */
  get proposalBase(): string {
    return this.#proposal?.text ?? this.#savedText;
  }

  /** Discards the proposal and shows the saved file. */
  dropProposal(): void {
    this.#proposal = undefined;
    this.text = this.#savedText;
    this.#forget();
    this.#enter({ kind: "clean" });
    void this.load();
  }

  /** Sends the proposal and shows the saved file. */
  async propose(rationale: string): Promise<ThreadAgentsDocProposal> {
    const { proposal } = await call("thread/agents_doc/propose", {
      workspace_id: this.#workspace,
      ...(this.#folder ? { folder_id: this.#folder } : {}),
      content: normalise(this.text),
      base_version: this.#proposal?.version ?? 0,
      rationale,
    });
    this.dropProposal();
    return proposal;
  }

  /** Resolves a conflict with the saved text of the other client. */
  takeTheirs(): void {
    if (this.state.kind !== "conflict") return;
    this.#adopt(this.state.remote);
    this.text = this.#savedText;
    this.#forget();
    this.#enter({ kind: "clean" });
  }

  /** Resolves a conflict by saving a text over that of the other client: the own or a merged one. */
  overwrite(text: string): void {
    if (this.state.kind !== "conflict") return;
    this.#adopt(this.state.remote);
    this.#enter({ kind: "dirty", changedElsewhere: false });
    this.edit(text);
    void this.save("manual");
  }

  /** Adopts a document that this client has just saved elsewhere, such as a restored version. */
  replace(doc: ThreadAgentsDocPayload): void {
    clearTimeout(this.#timer);
    this.#adopt(doc);
    this.text = this.#savedText;
    this.#forget();
    this.#enter({ kind: "saved", at: Date.now() });
  }

  get #savedText(): string {
    return this.doc?.content ?? "";
  }

  get #isDirty(): boolean {
    return normalise(this.text) !== this.#savedText;
  }

  get #isChangedElsewhere(): boolean {
    return this.state.kind === "dirty" && this.state.changedElsewhere;
  }

  #get(): Promise<ThreadAgentsDocGetResponse> {
    const folder = this.#folder ? { folder_id: this.#folder } : {};
    return call("thread/agents_doc/get", { workspace_id: this.#workspace, ...folder });
  }

  #adopt(doc: ThreadAgentsDocPayload | undefined): void {
    this.doc = doc;
  }

  /** Updates the state after a save; edits made meanwhile are saved next. */
  #settle(): void {
    if (!this.#isDirty) {
      this.#forget();
      this.#enter({ kind: "saved", at: Date.now() });
      return;
    }
    this.#keep(this.#savedText);
    this.#enter({ kind: "dirty", changedElsewhere: false });
    if (this.#saveAgain) void this.save(this.#saveAgain);
    else this.#timer = setTimeout(() => void this.save("autosave"), DEBOUNCE);
  }

  async #failed(error: unknown, sent: string): Promise<void> {
    if (error instanceof RpcError && error.kind === "version_conflict") {
      try {
        const { explicit } = await this.#get();
        if (explicit?.content === sent) {
          // The save had succeeded, only its response was lost.
          this.#adopt(explicit);
          this.#settle();
          return;
        }
        this.#enter({ kind: "conflict", remote: explicit ?? undefined, base: this.#savedText });
        return;
      } catch (second) {
        this.#enter({ kind: "error", message: sentence(second) });
        return;
      }
    }
    if (error instanceof RpcError && error.kind === "forbidden") {
      this.#beginProposal({ text: this.#savedText, version: this.doc?.version ?? null, mayNotSave: true });
      return;
    }
    const isLost = error instanceof ConnectionLostError || error instanceof ClosedError;
    const message = isLost ? "Not saved yet: the gateway cannot be reached" : sentence(error);
    this.#enter({ kind: "error", message });
  }

  /** Handles a change by another client: an unchanged editor reloads, an edited one marks it until the next save. */
  async #changedElsewhere(): Promise<void> {
    // A proposal keeps its base version; later changes are shown when it is decided.
    if (this.#isSaving || this.#proposal || this.state.kind === "conflict" || this.state.kind === "loading") return;
    let explicit: ThreadAgentsDocPayload | undefined;
    try {
      explicit = (await this.#get()).explicit ?? undefined;
    } catch {
      return;
    }
    if (this.#isSaving || explicit?.version === this.doc?.version) return;
    if ((explicit?.version ?? 0) < (this.doc?.version ?? 0) && explicit) return;
    if (this.#isDirty) {
      this.#enter({ kind: "dirty", changedElsewhere: true });
      return;
    }
    this.#adopt(explicit);
    this.text = this.#savedText;
    this.#enter({ kind: "clean" });
  }

  get #draftName(): string {
    return `agents.${this.#workspace}.${this.#folder ?? ""}`;
  }

  #keep(base: string): void {
    const { version } = this.#proposal ?? { version: this.doc?.version ?? null };
    const draft: Draft = { text: this.text, base, version, isProposal: this.#proposal !== undefined };
    keepDraft(this.#draftName, JSON.stringify(draft));
  }

  #forget(): void {
    forgetDraft(this.#draftName);
  }

  #readDraft(): Draft | undefined {
    try {
      const draft = JSON.parse(readDraft(this.#draftName)) as Partial<Draft>;
      const { text, base = "", version = null, isProposal = false } = draft;
      return typeof text === "string" ? { text, base, version, isProposal } : undefined;
    } catch {
      return undefined;
    }
  }

  #beginProposal(base: ProposalBase): void {
    clearTimeout(this.#timer);
    this.#proposal = base;
    this.#keep(base.text);
    this.#enter({ kind: "proposing", mayNotSave: base.mayNotSave });
  }

  #enter(state: DocState): void {
    this.state = state;
    this.#tell();
  }

  #tell(): void {
    this.#snapshot += 1;
    this.#listeners.forEach((listener) => listener());
  }
}
