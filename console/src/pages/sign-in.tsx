// Signing in with a key or at an issuer. The key is sent once and never stored.
import { useState } from "preact/hooks";
import { signedOut } from "../api";
import { begin, session, signIn, whoami } from "../session";
import { Field } from "../ui/parts";
import { Trouble } from "../ui/trouble";

export function SignIn() {
  const known = session.value;
  const issuers = known?.issuers ?? [];
  const back = encodeURIComponent(location.pathname + location.search);
  return (
    <main class="alone">
      <h1>Sign in to Carve</h1>
      {signedOut.value && whoami.value && <p class="strip">Your session has ended. Sign in again to continue.</p>}
      {issuers.map((issuer) => (
        <a key={issuer.name} class="button primary" href={`/console/login?issuer=${encodeURIComponent(issuer.name)}&return=${back}`}>
          Sign in with {issuer.name}
        </a>
      ))}
      {issuers.length > 0 && known?.methods.includes("key") && <p class="or"><span>or</span></p>}
      {known?.methods.includes("key") && <KeyForm />}
      {known?.methods.includes("dev") && <button type="button" onClick={() => void begin()}>Continue without signing in</button>}
    </main>
  );
}

function KeyForm() {
  const [key, setKey] = useState("");
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const submit = async (e: Event) => {
    e.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await signIn(key.trim());
    } catch (cause) {
      setError(cause);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form onSubmit={submit}>
      <Field label="API key" hint="It begins with carve_. This page does not keep it.">
        {(id, described) => (
          <input id={id} type="password" aria-describedby={described} autocomplete="off" required value={key}
            onInput={(e) => setKey(e.currentTarget.value)} />
        )}
      </Field>
      <button type="submit" class="primary" disabled={busy || key.trim() === ""}>{busy ? "Signing in…" : "Sign in"}</button>
      {error !== undefined && <Trouble error={error} />}
    </form>
  );
}
