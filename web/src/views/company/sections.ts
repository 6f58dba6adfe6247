// The sections of the company family, before and after those of the thread tree in the rail.

import type { Section } from "../../app/section.ts";

export const companySections: { before: Section[]; after: Section[] } = { before: [], after: [] };
