// Selects the provider and the model.

import "../../parts/field.css";
import { useEffect } from "react";
import { useCall } from "../../data/calls.ts";

export interface Model {
  provider: string;
  id: string;
}

export function ModelChoice({ model, onChange }: { model: Model; onChange: (model: Model) => void }) {
  const providers = useCall("provider/list", {}).data?.items ?? [];
  const current = providers.find(({ id }) => id === model.provider);
  const models = useCall(
    "provider/models/list",
    { provider: model.provider },
    // The gateway asks the provider over the network each time; the settings invalidate the list when the key changes.
    { enabled: current?.available === true, staleTime: Infinity },
  );
  const known = models.data?.items ?? [];
  const first = known[0]?.id;
  useEffect(() => {
    if (model.id === "" && first) onChange({ ...model, id: first });
  }, [model, first, onChange]);
  const listed = known.some(({ id }) => id === model.id) ? known : [{ id: model.id, title: model.id }, ...known];
  return (
    <>
      <select
        className="quiet-select"
        aria-label="Provider"
        value={model.provider}
        title={current?.hint ?? undefined}
        onChange={(event) => onChange({ provider: event.target.value, id: "" })}
      >
        {providers.length === 0 && <option>{model.provider}</option>}
        {providers.map(({ id, title, available }) => (
          <option key={id} value={id} disabled={!available}>
            {title}
            {!available && " (no key)"}
          </option>
        ))}
      </select>
      <select
        className="quiet-select"
        aria-label="Model"
        value={model.id}
        onChange={(event) => onChange({ ...model, id: event.target.value })}
      >
        {listed.map(({ id, title }) => (
          <option key={id} value={id}>
            {title || "Choose a model"}
          </option>
        ))}
      </select>
    </>
  );
}
