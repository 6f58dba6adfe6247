// The Conversations section without an open conversation.

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
        title="No conversation selected"
        action={
          <Button icon="plus" onClick={() => setNew(true)}>
            New conversation
          </Button>
        }
      >
        Conversations are messages between you and the agents and teams of the company. Select a channel or a direct
        message on the left.
      </Empty>
      {isNew && names.isKnown && (
        <NewConversation workspace={workspace} dir={dir} names={names} onClose={() => setNew(false)} />
      )}
    </>
  );
}
