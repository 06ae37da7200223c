// SPDX-License-Identifier: Apache-2.0
import "./style/tokens.css";
import "./style/base.css";
import "./style/controls.css";
import { render } from "preact";
import { Api } from "./api/client";
import { Root } from "./app";
import { Board } from "./state/board";
import { Live } from "./state/live";
import { Session } from "./state/session";
import { readTheme, showTheme, storageOf } from "./state/theme";
import { Tries } from "./state/tries";

showTheme(readTheme());

const session = new Session(document.baseURI, storageOf(() => sessionStorage));
const api = new Api(session);
const board = new Board();
const live = new Live(api, session, board);
const tries = new Tries(api, Math.random().toString(36).slice(2, 8));

/** Not before the server has let us in: what it refuses is in its audit trail. */
function follow(): void {
  if (session.state.phase === "in") {
    if (!live.running) live.start();
    return;
  }
  live.stop();
  board.clear();
}

function wake(): void {
  if (!document.hidden && live.running) live.wake();
}

const host = document.getElementById("app");
if (host !== null) render(<Root session={session} api={api} board={board} live={live} tries={tries} />, host);
void session.open(() => api.me());
session.subscribe(follow);
addEventListener("online", wake);
document.addEventListener("visibilitychange", wake);
