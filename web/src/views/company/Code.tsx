// Documents of a company as people read them.

import "./code.css";

/** The document without its front matter. */
export function body(markdown: string): string {
  return markdown.replace(/^---\r?\n[\s\S]*?\r?\n---\r?\n/, "").trim();
}

/** The text below its title, where the title stands above already. */
export function withoutTitle(text: string): string {
  return text.replace(/^# .*\n+/, "");
}

/** Code that can be scrolled by keys. */
export function Code({ text, label }: { text: string; label: string }) {
  return (
    <pre className="code-block" tabIndex={0} role="region" aria-label={label}>
      {text}
    </pre>
  );
}
