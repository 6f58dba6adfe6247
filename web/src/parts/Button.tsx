// Buttons with text, and icon buttons whose label is also the tooltip.

import "./button.css";
import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";
import { Icon, type IconName } from "./Icon.tsx";
import { Tooltip } from "./Tooltip.tsx";

type Native = Omit<ButtonHTMLAttributes<HTMLButtonElement>, "children"> & { ref?: Ref<HTMLButtonElement> };

export function Button({
  children,
  icon,
  kind = "plain",
  className = "",
  ...rest
}: Native & { children: ReactNode; icon?: IconName; kind?: "plain" | "primary" | "danger" | "quiet" }) {
  return (
    <button type="button" className={`button ${kind} ${className}`} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

export function IconButton({
  label,
  icon,
  hotkey,
  className = "",
  ...rest
}: Native & { label: string; icon: IconName; hotkey?: string }) {
  return (
    <Tooltip text={label} hotkey={hotkey}>
      <button type="button" aria-label={label} className={`icon-button ${className}`} {...rest}>
        <Icon name={icon} />
      </button>
    </Tooltip>
  );
}
