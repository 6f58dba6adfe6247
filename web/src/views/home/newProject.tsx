// The dialog that creates a project.

import { useState, type ReactNode } from "react";
import { attempt, call, invalidate } from "../../data/calls.ts";
import { AskName, type NameQuestion } from "../../parts/AskName.tsx";
import { navigate } from "../../router.tsx";
import { at } from "../company/address.ts";

/** Returns a function that opens the dialog, and the dialog to render. */
export function useNewProject(workspace: string, dir: string): { ask: () => void; dialog: ReactNode } {
  const [question, setQuestion] = useState<NameQuestion>();
  const ask = () =>
    setQuestion({
      title: "New project",
      label: "Name",
      action: "Create",
      run: (name) =>
        void attempt("Creating the project", async () => {
          const { project_id } = await call("workspace.project.create_with_defaults", { workspace_dir: dir, name });
          invalidate(["workspace.home.snapshot", "workspace.projects.list", "conversation.list"], {
            workspace_dir: dir,
          });
          navigate(at.project(workspace, project_id));
        }),
    });
  return { ask, dialog: <AskName question={question} onClose={() => setQuestion(undefined)} /> };
}
