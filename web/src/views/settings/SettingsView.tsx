// The settings: theme, provider keys, signed-in browsers, and the state of the company folder.

import type { Provider } from "@accord/client";
import { useState } from "react";
import { Page } from "../../app/Page.tsx";
import type { ViewProps } from "../../app/section.ts";
import { readTheme, setTheme, type Theme } from "../../app/theme.ts";
import { attempt, call, invalidate, sentence, useCall } from "../../data/calls.ts";
import { usePreference } from "../../data/preference.ts";
import { Button } from "../../parts/Button.tsx";
import { SelectField, TextField } from "../../parts/Field.tsx";
import { Await } from "../../parts/states.tsx";
import { Status } from "../../parts/Status.tsx";
import { toast } from "../../parts/toast.tsx";
import { useCompany } from "../company/folder.ts";
import { plural } from "../company/names.ts";
import { CompanyHealth } from "./CompanyHealth.tsx";
import { SignedIn } from "./SignedIn.tsx";
import "./settings.css";

export default function SettingsView({ workspace }: ViewProps) {
  const { dir } = useCompany(workspace);
  usePreference("theme");
  const providers = useCall("provider/list", {});
  const gateway = useCall("system/capabilities", {});
  return (
    <Page title="Settings">
      <div className="page-column settings">
        <section>
          <h2>This browser</h2>
          <SelectField
            label="Theme"
            value={readTheme()}
            onChange={(event) => setTheme(event.target.value as Theme)}
            options={[
              { value: "system", label: "System" },
              { value: "light", label: "Light" },
              { value: "dark", label: "Dark" },
            ]}
          />
        </section>
        <section>
          <h2>Providers</h2>
          <p className="muted">API keys are stored by the gateway and never shown again.</p>
          <Await query={providers}>
            {({ items }) => (
              <ul className="providers">
                {items.map((provider) => (
                  <ProviderRow key={provider.id} provider={provider} />
                ))}
              </ul>
            )}
          </Await>
        </section>
        <SignedIn />
        {dir && <CompanyHealth dir={dir} />}
        <section>
          <h2>Gateway</h2>
          <Await query={gateway} lines={2}>
            {({ server, protocol_version }) => (
              <dl className="facts">
                <dt>Version</dt>
                <dd>
                  {server.name} {server.version}
                </dd>
                <dt>Protocol</dt>
                <dd>{protocol_version}</dd>
              </dl>
            )}
          </Await>
        </section>
      </div>
    </Page>
  );
}

/** The results of key tests, kept until the key changes or the page is closed. */
type KeyTest = { kind: "works"; models: number } | { kind: "fails"; error: string };
const tests = new Map<string, KeyTest>();

function ProviderRow({ provider }: { provider: Provider }) {
  const [key, setKey] = useState("");
  const [tested, setTested] = useState(tests.get(provider.id));
  const [isTesting, setTesting] = useState(false);
  const remember = (found: KeyTest | undefined) => {
    if (found) tests.set(provider.id, found);
    else tests.delete(provider.id);
    setTested(found);
  };
  const store = () =>
    attempt("Saving the key", async () => {
      await call("provider/set_api_key", { provider: provider.id, api_key: key });
      setKey("");
      remember(undefined);
      invalidate(["provider/list", "provider/models/list"]);
      toast({ text: `${provider.title} key saved, not tested` });
    });
  const forget = () =>
    attempt("Removing the key", async () => {
      await call("provider/delete_api_key", { provider: provider.id });
      remember(undefined);
      invalidate(["provider/list", "provider/models/list"]);
    });
  // Listing models is the cheapest request that needs a valid key.
  const test = async () => {
    setTesting(true);
    try {
      const { items } = await call("provider/models/list", { provider: provider.id });
      remember({ kind: "works", models: items.length });
    } catch (error) {
      remember({ kind: "fails", error: sentence(error) });
    }
    setTesting(false);
  };
  const canTest = provider.available && provider.key_source !== "not_needed";
  return (
    <li className="provider">
      <div className="provider-head">
        <h3>{provider.title}</h3>
        <span role="status">
          <KeyState provider={provider} tested={tested} />
        </span>
        {canTest && (
          <Button disabled={isTesting} onClick={() => void test()}>
            {isTesting ? "Testing…" : isKeyless(provider) ? "Test server" : "Test key"}
          </Button>
        )}
        {provider.key_source === "stored" && (
          <Button kind="danger" onClick={() => void forget()}>
            Remove key
          </Button>
        )}
      </div>
      {tested?.kind === "fails" && <p className="provider-failure">{tested.error}</p>}
      {provider.key_source !== "not_needed" && (
        <form
          className="provider-key"
          onSubmit={(event) => {
            event.preventDefault();
            void store();
          }}
        >
          <TextField
            label={`${provider.title} API key`}
            type="password"
            placeholder={
              isKeyless(provider) ? "API key (optional)" : provider.available ? "Replace API key" : "API key"
            }
            value={key}
            onChange={(event) => setKey(event.target.value)}
          />
          <Button type="submit" disabled={key === ""}>
            Save
          </Button>
        </form>
      )}
    </li>
  );
}

/** Returns whether the provider works without a key: `config.toml` configures a server that may need none. */
const isKeyless = ({ available, key_source }: Provider) => available && key_source === "missing";

function KeyState({ provider, tested }: { provider: Provider; tested: KeyTest | undefined }) {
  if (provider.key_source === "not_needed") return <Status meaning="done">No key needed</Status>;
  if (!provider.available) return <Status meaning="idle">No key</Status>;
  const keyless = isKeyless(provider);
  if (tested?.kind === "fails") {
    return <Status meaning="failed">{keyless ? "Server test failed" : "Key test failed"}</Status>;
  }
  if (tested) {
    const models = plural(tested.models, "model");
    return (
      <Status meaning="done">
        {keyless ? "Server works" : "Key works"}, {models}
      </Status>
    );
  }
  if (keyless) return <Status meaning="idle">Own server without a key, not tested</Status>;
  return <Status meaning="idle">{SOURCES[provider.key_source]}, not tested</Status>;
}

const SOURCES: Record<Provider["key_source"], string> = {
  not_needed: "",
  missing: "",
  stored: "Key saved",
  config: "Key in config.toml",
  environment: "Key in the environment",
};
