// SPDX-License-Identifier: Apache-2.0
import { Name } from "../parts/name";
import type { Places } from "./geometry";
import { ownerLabel, ownerMore } from "./owners";
import type { Lane, Picture } from "./span";

function Badge({ lane }: { lane: Lane }) {
  if (lane.holds) return <span class="lane-badge holds">holds</span>;
  if (lane.position !== null) return <span class="lane-badge waits">#{lane.position}</span>;
  return null;
}

/** Who the lanes belong to. */
export function Labels({ picture, places }: { picture: Picture; places: Places }) {
  return (
    <div class="timeline-labels" style={{ height: `${places.total}px` }}>
      {picture.lanes.map((lane, i) => {
        const more = ownerMore(lane.owner);
        return (
          <div key={lane.key} class={lane.holds ? "lane-label holds" : "lane-label"} style={{ top: `${places.top[i] ?? 0}px`, height: `${places.height[i] ?? 0}px` }}>
            <div class="lane-who">
              <Name name={ownerLabel(lane.owner)} />
              <Badge lane={lane} />
            </div>
            {more === "" ? null : <div class="lane-more dim"><Name name={more} /></div>}
          </div>
        );
      })}
    </div>
  );
}
