// The theme: light, dark, or that of the system.

import { readPreference, setPreference } from "../data/preference.ts";

export type Theme = "system" | "light" | "dark";

export function readTheme(): Theme {
  const theme = readPreference("theme");
  return theme === "light" || theme === "dark" ? theme : "system";
}

export function setTheme(theme: Theme): void {
  setPreference("theme", theme === "system" ? null : theme);
  applyTheme();
}

export function applyTheme(): void {
  const theme = readTheme();
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}
