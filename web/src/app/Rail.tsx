// The sections, at the left edge or, on a phone, at the bottom.

import { address } from "../address.ts";
import { showPalette } from "../palette/Palette.tsx";
import { IconButton } from "../parts/Button.tsx";
import { Icon } from "../parts/Icon.tsx";
import { Tooltip } from "../parts/Tooltip.tsx";
import { Link } from "../router.tsx";
import type { Section } from "./section.ts";
import { sections } from "./sections.ts";

export function Rail({ workspace, current }: { workspace: string; current: string | undefined }) {
  return (
    <nav className="rail" aria-label="Sections">
      {sections.map((section) => (
        <RailLink key={section.id} section={section} workspace={workspace} isCurrent={section.id === current} />
      ))}
      <IconButton className="rail-find" label="Find anything" icon="search" hotkey="Ctrl-k" onClick={showPalette} />
    </nav>
  );
}

const none = () => 0;

function RailLink({ section, workspace, isCurrent }: { section: Section; workspace: string; isCurrent: boolean }) {
  // A section keeps its hook for as long as it lives.
  const count = (section.useCount ?? none)(workspace);
  return (
    <Tooltip text={section.title} side="right">
      <Link
        className="rail-link"
        to={address.workspace(workspace) + section.path}
        aria-current={isCurrent ? "page" : undefined}
        aria-label={count > 0 ? `${section.title} ${count} waiting` : section.title}
      >
        <Icon name={section.icon} />
        <span className="rail-word" aria-hidden="true">
          {section.title}
        </span>{" "}
        {count > 0 && <span className="rail-count">{count > 99 ? "99+" : count}</span>}
      </Link>
    </Tooltip>
  );
}
