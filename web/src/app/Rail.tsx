// The navigation between sections: at the left edge, or at the bottom on a phone.

import { address } from "../address.ts";
import { showPalette } from "../palette/Palette.tsx";
import { IconButton } from "../parts/Button.tsx";
import { Icon } from "../parts/Icon.tsx";
import { Menu } from "../parts/Menu.tsx";
import { Tooltip } from "../parts/Tooltip.tsx";
import { Link, navigate } from "../router.tsx";
import type { Section } from "./section.ts";
import { sections } from "./sections.ts";

export function Rail({ workspace, current }: { workspace: string; current: string | undefined }) {
  return (
    <nav className="rail" aria-label="Sections">
      {sections.map((section) => (
        <RailLink key={section.id} section={section} workspace={workspace} isCurrent={section.id === current} />
      ))}
      <IconButton className="rail-find" label="Find anything" icon="search" hotkey="Ctrl-k" onClick={showPalette} />
      <RailMore workspace={workspace} current={current} />
    </nav>
  );
}

/** The menu of the sections that do not fit into the bar of a phone. */
function RailMore({ workspace, current }: { workspace: string; current: string | undefined }) {
  const others = sections.filter(({ isInBar }) => !isInBar);
  return (
    <Menu
      list={[
        ...others.map(({ id, title, icon, path }) => ({
          label: title,
          icon,
          checked: id === current,
          run: () => navigate(address.workspace(workspace) + path),
        })),
        { label: "Find anything", icon: "search", separated: true, run: showPalette },
      ]}
    >
      <button
        type="button"
        className="rail-link rail-more"
        aria-label="More sections"
        aria-current={others.some(({ id }) => id === current) ? "page" : undefined}
      >
        <Icon name="more" />
        <span className="rail-word" aria-hidden="true">
          More
        </span>
      </button>
    </Menu>
  );
}

const none = () => 0;

function RailLink({ section, workspace, isCurrent }: { section: Section; workspace: string; isCurrent: boolean }) {
  // The hook of a section never changes, so the order of hooks is stable.
  const count = (section.useCount ?? none)(workspace);
  return (
    <Tooltip text={section.description ? `${section.title}: ${section.description}` : section.title} side="right">
      <Link
        className={section.isInBar ? "rail-link" : "rail-link not-in-bar"}
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
