// An avatar with the initials of a name.

import "./avatar.css";

export function Avatar({ name, large = false }: { name: string; large?: boolean }) {
  const parts = name.split(/[\s_]+/).filter(Boolean);
  const letters = (parts.length > 1 ? [parts[0], parts.at(-1)] : [parts[0]]).map((part) => part?.charAt(0) ?? "");
  return (
    <span className={large ? "avatar large" : "avatar"} aria-hidden="true">
      {letters.join("").toUpperCase()}
    </span>
  );
}
