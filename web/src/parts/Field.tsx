// Form fields with labels.

import "./field.css";
import {
  useId,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
} from "react";

function Labelled({ label, hint, children }: { label: string; hint?: ReactNode; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
      {hint && <p className="field-hint">{hint}</p>}
    </div>
  );
}

export function TextField({
  label,
  hint,
  ...rest
}: { label: string; hint?: ReactNode } & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <Labelled label={label} hint={hint}>
      {(id) => <input id={id} className="input" spellCheck={false} autoComplete="off" {...rest} />}
    </Labelled>
  );
}

/** A text field with several lines. */
export function LongTextField({ label, ...rest }: { label: string } & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return <Labelled label={label}>{(id) => <textarea id={id} className="input" {...rest} />}</Labelled>;
}

export function SelectField({
  label,
  hint,
  options,
  ...rest
}: {
  label: string;
  hint?: ReactNode;
  options: { value: string; label: string }[];
} & SelectHTMLAttributes<HTMLSelectElement>) {
  return (
    <Labelled label={label} hint={hint}>
      {(id) => (
        <select id={id} className="input" {...rest}>
          {options.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}
