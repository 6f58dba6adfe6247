// The definition of a section: an entry of the rail, a sidebar, and views with addresses.

import type { ComponentType } from "react";
import type { IconName } from "../parts/Icon.tsx";
import type { Params } from "../router.tsx";

export interface ViewProps {
  /** The workspace the address names. */
  workspace: string;
  /** The `:names` of the address. */
  params: Params;
}

export type View = ComponentType<ViewProps>;

export interface Section {
  id: string;
  title: string;
  /** One sentence that distinguishes this section from similar ones; shown in the tooltip of the rail and in the palette. */
  description?: string;
  icon: IconName;
  /** Whether the bar of a phone shows it; the other sections are in the menu “More”. Default false. */
  isInBar?: boolean;
  /** The address of the section itself, below `/w/:workspace`. */
  path: string;
  /** The list of the section's objects. A section without a sidebar uses the whole width. */
  Sidebar?: View;
  /** The views by their address below `/w/:workspace`. */
  views: { path: string; View: View }[];
  /** Adds the objects of the section to the palette. Mounted in every section. */
  Finder?: ComponentType<{ workspace: string }>;
  /** Returns the number shown at the icon, such as pending decisions. */
  useCount?: (workspace: string) => number;
}
