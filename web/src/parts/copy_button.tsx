// SPDX-License-Identifier: Apache-2.0
import { toast } from "../state/toasts";

/** Copies a text; says so, or says why not. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      toast("Copied.", "good");
    } catch {
      toast("The browser does not let this page copy. Select the text instead.", "bad");
    }
  };
  return (
    <button type="button" class="small" aria-label={label} onClick={() => void copy()}>
      Copy
    </button>
  );
}
