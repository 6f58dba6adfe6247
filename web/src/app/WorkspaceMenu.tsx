// The menu of the workspace: switch, create, rename, sign out.

import { useState } from "react";
import { address } from "../address.ts";
import { attempt, call, useCall } from "../data/calls.ts";
import { newId } from "../data/id.ts";
import { leave } from "../data/leave.ts";
import { pageKey } from "../data/session.ts";
import { usePalette } from "../palette/registry.ts";
import { AskName, type NameQuestion } from "../parts/AskName.tsx";
import { Icon } from "../parts/Icon.tsx";
import { Menu, type MenuItem } from "../parts/Menu.tsx";
import { navigate } from "../router.tsx";

export function WorkspaceMenu({ workspace }: { workspace: string }) {
  const { data } = useCall("workspace/list", {});
  const [question, setQuestion] = useState<NameQuestion>();
  const all = data?.workspaces.filter(({ is_active }) => is_active) ?? [];
  const current = all.find(({ id }) => id === workspace);
  const go = (id: string) => {
    navigate(address.workspace(id));
    // Makes it the default workspace of the next visit. A failure has no other effect, so it is ignored.
    call("workspace/select", { workspace_id: id, make_current: true }).catch(() => {});
  };
  const create: MenuItem = {
    label: "New workspace…",
    icon: "plus",
    separated: true,
    run: () =>
      setQuestion({
        title: "New workspace",
        label: "Name",
        action: "Create",
        run: (name) =>
          void attempt("Creating the workspace", async () => {
            const { workspace } = await call("workspace/create", { workspace_id: newId("ws"), name }, { retry: true });
            go(workspace.id);
          }),
      }),
  };
  const rename: MenuItem = {
    label: "Rename…",
    icon: "edit",
    run: () =>
      setQuestion({
        title: "Rename workspace",
        label: "Name",
        name: current?.name ?? "",
        action: "Rename",
        run: (name) =>
          void attempt("Renaming", () => call("workspace/update", { workspace_id: workspace, name }, { retry: true })),
      }),
  };
  // A page behind a proxy that adds a token has no sign-in of its own.
  const isSignedIn = pageKey() !== undefined;
  const exit: MenuItem = { label: "Sign out", icon: "key", separated: true, run: leave };
  usePalette({
    group: "Browser",
    find: () =>
      isSignedIn ? [{ id: "sign-out", title: "Sign out", hint: "This browser", icon: "key", run: leave }] : [],
  });
  usePalette({
    group: "Workspaces",
    find: () =>
      all
        .filter(({ id }) => id !== workspace)
        .map(({ id, name }) => ({ id, title: name, hint: "Workspace", icon: "workspace", run: () => go(id) })),
  });
  return (
    <div className="workspace-menu">
      <Menu
        align="start"
        list={[
          ...all.map(({ id, name }) => ({ label: name, checked: id === workspace, run: () => go(id) })),
          create,
          rename,
          ...(isSignedIn ? [exit] : []),
        ]}
      >
        <button type="button" className="workspace-button">
          <span className="workspace-letter" aria-hidden="true">
            {(current?.name ?? " ").charAt(0).toUpperCase()}
          </span>
          <span className="workspace-name">{current?.name ?? "Workspace"}</span>
          <Icon name="chevronDown" />
        </button>
      </Menu>
      <AskName question={question} onClose={() => setQuestion(undefined)} />
    </div>
  );
}
