// SPDX-License-Identifier: Apache-2.0

const pad = (value: number, width = 2) => String(value).padStart(width, "0");

/** "14:02:11" today, "2026-11-15 14:02:11" on other days; in the viewer's zone. */
export function localTime(at: Date, today: Date): string {
  const time = `${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
  return at.toDateString() === today.toDateString() ? time : `${localDay(at)} ${time}`;
}

export function localDay(at: Date): string {
  return `${pad(at.getFullYear(), 4)}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
}

/** "2026-11-15 13:02:11.250 UTC", or null where it is no time. */
export function utcTime(iso: string): string | null {
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? null : `${at.toISOString().replace("T", " ").replace("Z", "")} UTC`;
}

/** Of an <input type="datetime-local">, in the viewer's zone, to RFC 3339; nothing if it is empty or no time. */
export function fromLocalInput(value: string): string | undefined {
  const at = new Date(value);
  return value === "" || Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}
