// SPDX-License-Identifier: Apache-2.0
import { counted } from "../text/number";
import { duration, markSentence, moment, spanSentence } from "./describe";
import { HOLD_HEIGHT, pieces, rowY, shownMarks, WAIT_HEIGHT, type Piece, type Places } from "./geometry";
import { Glyph } from "./glyphs";
import { toX, type View } from "./scale";
import type { Lane } from "./span";

export interface Scene {
  /** Begins the ids of patterns and clips. */
  id: string;
  places: Places;
  view: View;
  width: number;
  now: number;
}

const TEXT_FROM = 52;

function sentence(lane: Lane, piece: Piece, now: number): string {
  if (piece.count === 1) return spanSentence(lane, piece.span, now);
  const what = piece.span.what === "held" ? counted(piece.count, "hold") : counted(piece.count, "wait");
  return `${what} from ${moment(piece.span.begin, now)} on; zoom in to tell them apart`;
}

/** How long a hold lasted, where there is room for it. */
function HoldText({ scene, piece, y }: { scene: Scene; piece: Piece; y: number }) {
  const from = Math.max(piece.x, 0);
  const seen = Math.min(piece.x + piece.width, scene.width, toX(scene.view, scene.width, scene.now)) - from;
  if (piece.span.what !== "held" || isClaimed(piece) || piece.count > 1 || seen < TEXT_FROM) return null;
  return <text class="hold-text" aria-hidden="true" x={from + 6} y={y + 3.5}>{duration(piece.span, scene.now)}</text>;
}

const isClaimed = ({ span }: Piece): boolean => span.outcome === "open" && span.claimed_until !== null;

function Hold({ scene, piece, y }: { scene: Scene; piece: Piece; y: number }) {
  const { span, x, width } = piece;
  const top = y - HOLD_HEIGHT / 2;
  const isClaim = isClaimed(piece);
  return (
    <>
      <rect class={isClaim ? "claim" : "hold"} x={x} y={top} width={width} height={HOLD_HEIGHT} rx={Math.min(3, width / 2)} {...(isClaim ? { fill: `url(#${scene.id}claim)` } : {})} />
      {span.begin_known ? null : <path class="unknown-edge" d={`M ${x + 2.5} ${top} v ${HOLD_HEIGHT}`} />}
      {span.outcome === "unseen" ? <path class="unknown-edge" d={`M ${x + width - 2.5} ${top} v ${HOLD_HEIGHT}`} /> : null}
    </>
  );
}

function Wait({ scene, piece, y }: { scene: Scene; piece: Piece; y: number }) {
  const top = y - WAIT_HEIGHT / 2;
  return (
    <>
      <rect class="wait" x={piece.x} y={top} width={piece.width} height={WAIT_HEIGHT} fill={`url(#${scene.id}wait)`} />
      {piece.span.outcome === "unseen" ? <path class="unknown-edge" d={`M ${piece.x + piece.width - 2.5} ${top} v ${WAIT_HEIGHT}`} /> : null}
    </>
  );
}

function SpanShape({ scene, lane, piece, y }: { scene: Scene; lane: Lane; piece: Piece; y: number }) {
  return (
    <g class="span" data-id={piece.span.id} role="img" tabindex={-1} aria-label={sentence(lane, piece, scene.now)}>
      {piece.span.what === "held" ? (
        <Hold scene={scene} piece={piece} y={y} />
      ) : (
        <Wait scene={scene} piece={piece} y={y} />
      )}
    </g>
  );
}

export function LaneShapes({ scene, lane, index }: { scene: Scene; lane: Lane; index: number }) {
  const y = (row: number): number => rowY(scene.places, index, row, lane.rows);
  const drawn = pieces(lane.spans, scene.view, scene.width);
  return (
    <g>
      {drawn.map((piece) => (
        <SpanShape key={piece.span.id} scene={scene} lane={lane} piece={piece} y={y(piece.span.row)} />
      ))}
      {shownMarks(lane.marks, scene.view, scene.width).map(({ mark, x }) => (
        <g key={mark.id} class="mark" role="img" aria-label={markSentence(lane, mark, scene.now)} transform={`translate(${x.toFixed(1)} ${y(mark.row)})`}>
          <Glyph type={mark.type} />
        </g>
      ))}
      {drawn.map((piece) => <HoldText key={piece.span.id} scene={scene} piece={piece} y={y(piece.span.row)} />)}
    </g>
  );
}
