export function TreeSidebar() { return null; }
