// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import "../style/parts.css";

interface Props {
  open: boolean;
  title: string;
  /** Escape, the button, or a click beside it. */
  onClose: () => void;
  children: ComponentChildren;
  /** The buttons at the end; without them there is one that closes. */
  actions?: ComponentChildren;
}

/** The browser's own dialog: it keeps the focus inside and gives it back. */
export function Dialog({ open, title, onClose, children, actions }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    if (dialog === null) return;
    if (open && !dialog.open) dialog.showModal();
    if (!open && dialog.open) dialog.close();
  }, [open]);
  return (
    <dialog
      ref={element}
      class="dialog"
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === element.current) onClose();
      }}
    >
      {open ? (
        <div class="inner">
          <h2 id={id}>{title}</h2>
          <div class="content">{children}</div>
          <div class="actions">
            {actions ?? (
              <button type="button" onClick={onClose}>
                Close
              </button>
            )}
          </div>
        </div>
      ) : null}
    </dialog>
  );
}
