// Builds the addresses of objects. Views use these functions instead of concatenating paths.

const part = encodeURIComponent;

export const address = {
  workspace: (workspace: string) => `/w/${part(workspace)}`,
  tree: (workspace: string) => `/w/${part(workspace)}/tree`,
  thread: (workspace: string, thread: string) => `/w/${part(workspace)}/t/${part(thread)}`,
  trash: (workspace: string) => `/w/${part(workspace)}/trash`,
  folder: (workspace: string, folder: string) => `/w/${part(workspace)}/f/${part(folder)}`,
  /** The AGENTS.md of a folder, or of the root. */
  agentsDoc: (workspace: string, folder?: string | null) =>
    folder ? `/w/${part(workspace)}/f/${part(folder)}/agents` : `/w/${part(workspace)}/agents`,
  files: (workspace: string) => `/w/${part(workspace)}/files`,
  artifact: (workspace: string, artifact: string) => `/w/${part(workspace)}/files/${part(artifact)}`,
  settings: (workspace: string) => `/w/${part(workspace)}/settings`,
};
