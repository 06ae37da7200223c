// SPDX-License-Identifier: Apache-2.0
import { hrefOf } from "../router";
import { pieces, visible } from "../text/names";
import "../style/parts.css";

interface Props {
  /** What a stranger wrote: the name of a lock, a note, a host. */
  name: string;
  /** Leads to the lock's page. */
  link?: boolean;
  /** Not a stop of the Tab key, where arrow keys lead to the row. */
  untabbed?: boolean;
}

/** The one way to show what strangers wrote: isolated, on one line, with everything invisible spelt out. */
export function Name({ name, link = false, untabbed = false }: Props) {
  const text = (
    <bdi class="name" title={visible(name)}>
      {name === "" ? <span class="dim">(empty)</span> : pieces(name).map((piece, i) => (piece.escaped ? <span key={i} class="escape">{piece.text}</span> : piece.text))}
    </bdi>
  );
  if (!link) return text;
  return (
    <a class="name-link" href={hrefOf({ page: "lock", name })} tabIndex={untabbed ? -1 : 0}>
      {text}
    </a>
  );
}
