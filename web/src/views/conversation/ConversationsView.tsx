// The conversations without one open.

import { Button } from "../../parts/Button.tsx";
import { Empty } from "../../parts/states.tsx";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { useNames } from "../company/names.ts";
import { useNew } from "../company/new.ts";
import { NewConversation } from "./NewConversation.tsx";

export default function ConversationsView({ workspace, dir }: CompanyViewProps) {
  const names = useNames(dir);
  const [isNew, setNew] = useNew();
  return (
    <>
      <Empty
        icon="chat"
        title="No conversation is open"
        action={
          <Button icon="plus" onClick={() => setNew(true)}>
            New conversation
          </Button>
        }
      >
        Choose one on the left. Channels are for everybody in them, agents and people alike; a conversation between two
        stays between them.
      </Empty>
      {isNew && names.isKnown && (
        <NewConversation workspace={workspace} dir={dir} names={names} onClose={() => setNew(false)} />
      )}
    </>
  );
}
