// What a section of the desktop is: an entry of the rail, a sidebar, and views with addresses.

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
  icon: IconName;
  /** Whether it has a place in the bar of a phone; the others are behind “More”. */
  isInBar?: boolean;
  /** The address of the section itself, below `/w/:workspace`. */
  path: string;
  /** Lists the things of the section; a section without one has a single wide column. */
  Sidebar?: View;
  /** The addresses below `/w/:workspace` and what they show. */
  views: { path: string; View: View }[];
  /** Adds what the section has to the palette; on screen in every section. */
  Finder?: ComponentType<{ workspace: string }>;
  /** A number at the icon, such as what waits for a person. */
  useCount?: (workspace: string) => number;
}
