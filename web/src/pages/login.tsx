// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { problemOf, type ApiProblem } from "../api/problem";
import { ProblemNote } from "../parts/problem_note";
import { Brand } from "../shell/header";
import { ThemeChoice } from "../shell/theme_choice";
import type { Session } from "../state/session";
import "../style/login.css";

/** What a refused token means is clear here, so it is said in fewer words than elsewhere. */
function refusal(problem: ApiProblem): string | null {
  return problem.status === 401 ? "The server does not know this token. It may be mistyped, expired or revoked." : null;
}

export function LoginPage({ session }: { session: Session }) {
  const [token, setToken] = useState("");
  const [keep, setKeep] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const known = problem === null ? null : refusal(problem);
  const submit = async () => {
    setBusy(true);
    setProblem(null);
    try {
      await session.login(token, keep);
    } catch (thrown) {
      setProblem(problemOf(thrown));
      setBusy(false);
    }
  };
  return (
    <main class="login">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <header>
          <Brand />
          <ThemeChoice />
        </header>
        <div class="body">
          <h1>Log in</h1>
          {session.state.problem === null || problem !== null ? null : <p role="status">{session.state.problem.detail}</p>}
          <label>
            <span>Token</span>
            <input
              type="password"
              name="token"
              autocomplete="off"
              spellcheck={false}
              autofocus
              required
              placeholder="hf_…"
              value={token}
              aria-invalid={known !== null}
              aria-describedby="login-problem"
              onInput={(event) => { setToken(event.currentTarget.value); }}
            />
          </label>
          <div id="login-problem">
            {known === null ? <ProblemNote problem={problem} /> : <p class="bad" role="alert">{known}</p>}
          </div>
          <label class="inline">
            <input type="checkbox" checked={keep} onChange={(event) => { setKeep(event.currentTarget.checked); }} />
            <span>Keep in this tab until it is closed</span>
          </label>
          <button type="submit" class="primary" disabled={busy || token.trim() === ""}>
            {busy ? "Asking…" : "Log in"}
          </button>
          <p class="dim">
            This server asks for a token. Who runs it makes one with
            <code class="command">holdfast token create NAME --verbs read --file FILE</code>
            and sends the server SIGHUP. <code>lock</code> instead of <code>read</code> lets one try locks here, <code>admin</code> take them away.
          </p>
        </div>
      </form>
    </main>
  );
}
