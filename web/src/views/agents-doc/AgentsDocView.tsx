// The editor of the AGENTS.md of the root or a folder.

import "../company/company.css";
import "./agents-doc.css";
import { useEffect, useState, useSyncExternalStore } from "react";
import { address } from "../../address.ts";
import { InspectorToggle } from "../../app/Inspector.tsx";
import { Page } from "../../app/Page.tsx";
import type { ViewProps } from "../../app/section.ts";
import { useCall } from "../../data/calls.ts";
import { Editor } from "../../editor/Editor.tsx";
import { useKeys } from "../../keys/keys.ts";
import { Button, IconButton } from "../../parts/Button.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { Menu } from "../../parts/Menu.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { navigate } from "../../router.tsx";
import { ProposeDialog } from "../proposal/ProposeDialog.tsx";
import { archiveDoc, useTree } from "../tree/tree.ts";
import { Conflict } from "./Conflict.tsx";
import { DocInspector } from "./DocInspector.tsx";
import { DocStateWord } from "./DocStateWord.tsx";
import { Inherited } from "./Inherited.tsx";
import { DocSession } from "./session.ts";

export default function AgentsDocView({ workspace, params }: ViewProps) {
  const folder = params["folder"];
  const [session] = useState(() => new DocSession(workspace, folder));
  useSyncExternalStore(session.subscribe, session.snapshot);
  useEffect(() => session.open(), [session]);
  const { places } = useTree(workspace);
  const { data } = useCall("thread/agents_doc/get", {
    workspace_id: workspace,
    ...(folder ? { folder_id: folder } : {}),
  });
  const path = places?.pathOf(folder ?? null) ?? [];
  const { state, doc } = session;
  const inherited = data?.effective?.inherited ? data.effective : undefined;
  useKeys("AGENTS.md", [{ key: "Ctrl-s", label: "Save now", run: () => void session.save("manual") }]);
  const [isProposing, setProposing] = useState(false);
  const remove = () => {
    if (!doc) return;
    navigate(folder ? address.folder(workspace, folder) : address.tree(workspace));
    void archiveDoc(workspace, folder ?? null, doc.id, doc.version);
  };
  return (
    <Page
      title="AGENTS.md"
      crumbs={path.map(({ id, name }) => ({ label: name, to: address.folder(workspace, id) }))}
      back={address.tree(workspace)}
      state={<DocStateWord state={state} version={doc?.version} />}
      actions={
        <>
          {state.kind === "proposing" && (
            <>
              <Button onClick={() => session.dropProposal()}>Discard</Button>
              <Button
                kind="primary"
                disabled={session.text === session.proposalBase}
                onClick={() => setProposing(true)}
              >
                Propose a change
              </Button>
            </>
          )}
          <Menu
            list={[
              { label: "Save now", icon: "check", hotkey: "Ctrl-s", run: () => void session.save("manual") },
              {
                label: "Propose a change instead",
                icon: "inbox",
                disabled: !session.canPropose,
                run: () => session.beginProposal(),
              },
              { label: "Delete AGENTS.md", icon: "trash", danger: true, separated: true, disabled: !doc, run: remove },
            ]}
          >
            <IconButton label="More" icon="more" />
          </Menu>
          {state.kind !== "conflict" && <InspectorToggle />}
        </>
      }
    >
      {state.kind === "loading" && <Loading />}
      {state.kind === "unreadable" && <Failure error={state.error} onRetry={() => void session.load()} />}
      {state.kind === "conflict" && <Conflict session={session} state={state} />}
      {state.kind !== "loading" && state.kind !== "unreadable" && state.kind !== "conflict" && (
        <>
          {state.kind === "proposing" && (
            <p className="notice proposing">
              <Icon name="info" />
              {state.mayNotSave
                ? "You can read this file and propose changes. Your text is kept in this browser until you propose it."
                : "You are editing a proposal. It is saved only after a person approves it."}
            </p>
          )}
          <Editor
            label={`AGENTS.md in ${path.at(-1)?.name ?? "the root"}`}
            value={session.text}
            autoFocus
            hint="Instructions for agents, in Markdown. Saved as you type."
            onChange={(text) => session.edit(text)}
            onSave={() => void session.save("manual")}
          />
          {inherited && session.text.trim() === "" && <Inherited workspace={workspace} inherited={inherited} />}
        </>
      )}
      {isProposing && <ProposeDialog workspace={workspace} session={session} onClose={() => setProposing(false)} />}
      {/* The three texts of a conflict need the whole width. */}
      {state.kind !== "conflict" && (
        <DocInspector
          workspace={workspace}
          folder={folder}
          session={session}
          effective={data?.effective ?? undefined}
        />
      )}
    </Page>
  );
}
