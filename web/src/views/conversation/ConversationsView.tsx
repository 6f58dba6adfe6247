// The conversations without one open.

import { Empty } from "../../parts/states.tsx";

export default function ConversationsView() {
  return (
    <Empty icon="chat" title="No conversation is open">
      Choose one on the left. Channels are for everybody in them, agents and people alike; a conversation between two
      stays between them.
    </Empty>
  );
}
