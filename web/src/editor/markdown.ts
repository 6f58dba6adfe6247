// GitHub Flavored Markdown with the colours of the theme.

import {
  defineLanguageFacet,
  HighlightStyle,
  Language,
  languageDataProp,
  syntaxHighlighting,
} from "@codemirror/language";
import { tags } from "@lezer/highlight";
import { GFM, parser } from "@lezer/markdown";

const data = defineLanguageFacet({ commentTokens: { block: { open: "<!--", close: "-->" } } });
const language = new Language(
  data,
  parser.configure([GFM, { props: [languageDataProp.add({ Document: data })] }]),
  [],
  "markdown",
);

const colours = HighlightStyle.define([
  { tag: tags.heading, color: "var(--code-heading)", fontWeight: "600" },
  { tag: tags.strong, fontWeight: "600" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: tags.strikethrough, textDecoration: "line-through" },
  { tag: tags.link, color: "var(--code-link)" },
  { tag: tags.url, color: "var(--code-link)" },
  { tag: tags.monospace, color: "var(--code-string)" },
  { tag: tags.quote, color: "var(--muted)" },
  { tag: [tags.processingInstruction, tags.contentSeparator, tags.labelName, tags.comment], color: "var(--code-mark)" },
]);

export const markdown = [language.extension, syntaxHighlighting(colours)];
