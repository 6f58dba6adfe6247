// Drop-down menus and context menus. Both take the same items.

import "./floating.css";
import * as Context from "@radix-ui/react-context-menu";
import * as Dropdown from "@radix-ui/react-dropdown-menu";
import { Fragment, type ReactNode } from "react";
import { Icon, type IconName } from "./Icon.tsx";
import { Kbd } from "./Kbd.tsx";

export interface MenuItem {
  label: string;
  icon?: IconName;
  hotkey?: string;
  danger?: boolean;
  disabled?: boolean;
  checked?: boolean;
  /** Whether a separator precedes it. Default false. */
  separated?: boolean;
  run: () => void;
}

const Contents = ({ item }: { item: MenuItem }) => (
  <>
    {item.icon ? <Icon name={item.icon} /> : <span className="icon" />}
    <span className="menu-label">{item.label}</span>
    {item.checked && <Icon name="check" />}
    {item.hotkey && <Kbd keys={item.hotkey} />}
  </>
);

function items(list: MenuItem[], { Item, Separator }: typeof Dropdown | typeof Context) {
  return list.map((item) => (
    <Fragment key={item.label}>
      {item.separated && <Separator className="menu-separator" />}
      <Item
        className={item.danger ? "menu-item danger" : "menu-item"}
        disabled={item.disabled ?? false}
        onSelect={() => item.run()}
      >
        <Contents item={item} />
      </Item>
    </Fragment>
  ));
}

/** A drop-down menu; the child is its button. */
export function Menu({
  list,
  align = "end",
  children,
}: {
  list: MenuItem[];
  align?: "start" | "end";
  children: ReactNode;
}) {
  return (
    <Dropdown.Root modal={false}>
      <Dropdown.Trigger asChild>{children}</Dropdown.Trigger>
      <Dropdown.Portal>
        <Dropdown.Content className="menu" align={align} sideOffset={4} collisionPadding={8}>
          {items(list, Dropdown)}
        </Dropdown.Content>
      </Dropdown.Portal>
    </Dropdown.Root>
  );
}

/** The context menu of its child, opened by right click, the menu key or a long press. */
export function ContextMenu({ list, children }: { list: MenuItem[]; children: ReactNode }) {
  return (
    <Context.Root modal={false}>
      <Context.Trigger asChild>{children}</Context.Trigger>
      <Context.Portal>
        <Context.Content className="menu" collisionPadding={8}>
          {items(list, Context)}
        </Context.Content>
      </Context.Portal>
    </Context.Root>
  );
}
