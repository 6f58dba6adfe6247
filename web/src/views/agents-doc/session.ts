// The life of one open AGENTS.md: loading, typing, saving by itself, and what happens when somebody else saves too.
//
// At most one save is under way, 700 ms after the last change. What is typed is kept in the browser until the
// gateway has it.

import { ClosedError, ConnectionLostError, RpcError, type ThreadAgentsDocGetResponse, type ThreadAgentsDocPayload, type ThreadAgentsDocProposal } from "@accord/client";
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
  /** The text is to be proposed; nothing is saved by itself. */
  | { kind: "proposing"; mayNotSave: boolean }
  /** Somebody else saved. `remote` is what they saved; nothing when they deleted the file. */
  | { kind: "conflict"; remote: ThreadAgentsDocPayload | undefined; base: string };

interface Draft {
  text: string;
  /** What the text was made of. */
  base: string;
  version: number | null;
  /** Whether it is to be proposed instead of saved. */
  isProposal: boolean;
}

/** What a proposal changes. */
interface ProposalBase {
  text: string;
  version: number | null;
  mayNotSave: boolean;
}

/** Line endings as the gateway keeps them. */
export const normalise = (text: string) => text.replace(/\r\n?/g, "\n");

export class DocSession {
  text = "";
  state: DocState = { kind: "loading" };
  /** The file as the gateway has it, as far as we know. */
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

  /** Begins, and goes on until the answer is called. */
  open(): () => void {
    this.#stops.push(
      client.on("thread/agents_doc/changed", ({ workspace_id, folder_id }) => {
        if (workspace_id === this.#workspace && (folder_id ?? undefined) === this.#folder) void this.#changedElsewhere();
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
      // Leaving the view saves at once; the answer is still heard.
      void this.save("autosave");
      this.#stops.splice(0).forEach((stop) => stop());
    };
  }

  subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Changes with everything that is shown. */
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
        // 0 says that there must be none yet, so that two who begin at once do not overwrite each other unseen.
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

  /** Whether the text can become a proposal now. */
  get canPropose(): boolean {
    return !this.#isSaving && ["clean", "dirty", "saved", "error"].includes(this.state.kind);
  }

  /** From here on the text is a proposal: it is kept, and not saved. */
  beginProposal(): void {
    if (this.canPropose) this.#beginProposal({ text: this.#savedText, version: this.doc?.version ?? null, mayNotSave: false });
  }

  /** The text that a proposal changes. */
  get proposalBase(): string {
    return this.#proposal?.text ?? this.#savedText;
  }

  /** Throws the proposal away and shows the file again. */
  dropProposal(): void {
    this.#proposal = undefined;
    this.text = this.#savedText;
    this.#forget();
    this.#enter({ kind: "clean" });
    void this.load();
  }

  /** Sends the text for somebody to decide about, and shows the file again. */
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

  /** Ends a conflict with the text of the other side. */
  takeTheirs(): void {
    if (this.state.kind !== "conflict") return;
    this.#adopt(this.state.remote);
    this.text = this.#savedText;
    this.#forget();
    this.#enter({ kind: "clean" });
  }

  /** Ends a conflict by writing a text over that of the other side: ours, or one merged by hand. */
  overwrite(text: string): void {
    if (this.state.kind !== "conflict") return;
    this.#adopt(this.state.remote);
    this.#enter({ kind: "dirty", changedElsewhere: false });
    this.edit(text);
    void this.save("manual");
  }

  /** Takes a document that was just written on behalf of this editor, such as a restored version. */
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

  /** After a save: done, or more was typed meanwhile. */
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
          // Ours after all: the answer was lost, not the save.
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

  /** The file may have changed: a clean editor follows, a dirty one says so and lets the next save find out. */
  async #changedElsewhere(): Promise<void> {
    // A proposal stays on the version it was made of; whoever decides sees what came since.
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
