// Renders documents of a company.

import "./code.css";

/** Returns a document without its front matter. */
export function body(markdown: string): string {
  return markdown.replace(/^---\r?\n[\s\S]*?\r?\n---\r?\n/, "").trim();
}

/** Returns a text without its title, for pages that already show the title. */
export function withoutTitle(text: string): string {
  return text.replace(/^# .*\n+/, "");
}

/** A code block that can be scrolled with the keyboard. */
export function Code({ text, label }: { text: string; label: string }) {
  return (
    <pre className="code-block" tabIndex={0} role="region" aria-label={label}>
      {text}
    </pre>
  );
}
