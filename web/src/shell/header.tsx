// SPDX-License-Identifier: Apache-2.0
import type { ApiProblem } from "../api/problem";
import type { Health } from "../api/types";
import icon from "../icon.svg";
import { roleOf, type SessionState } from "../state/session";
import { LiveState } from "./live_state";
import { StoreState } from "./store_state";
import { ThemeChoice } from "./theme_choice";

interface Props {
  session: SessionState;
  health: Health | null;
  problem: ApiProblem | null;
  onLogout: () => void;
}

export function Brand() {
  return (
    <span class="brand">
      <img src={icon} alt="" width={22} height={22} />
      Holdfast
    </span>
  );
}

export function Header({ session, health, problem, onLogout }: Props) {
  const me = session.me;
  return (
    <header class="top">
      <Brand />
      <LiveState />
      <StoreState health={health} problem={problem} />
      <span class="grow" />
      {me === null ? null : (
        <span class="who" title={me.prefixes.length > 0 ? `Names that begin with ${me.prefixes.join(", ")}` : undefined}>
          <bdi>{me.name}</bdi>
          <span class="tag">{roleOf(me)}</span>
        </span>
      )}
      <ThemeChoice />
      {me?.needs_token === true ? (
        <button type="button" class="logout" onClick={onLogout}>
          Log out
        </button>
      ) : null}
    </header>
  );
}
