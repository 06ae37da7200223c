// SPDX-License-Identifier: Apache-2.0
import { Dialog } from "../parts/dialog";
import { PAGES } from "./pages";

interface Props {
  open: boolean;
  onClose: () => void;
}

export function Help({ open, onClose }: Props) {
  return (
    <Dialog open={open} title="Keys" onClose={onClose}>
      <dl class="keys">
        {PAGES.map(({ key, title }) => (
          <div key={key}>
            <dt>
              <kbd>g</kbd> <kbd>{key}</kbd>
            </dt>
            <dd>{title}</dd>
          </div>
        ))}
        <div>
          <dt>
            <kbd>/</kbd>
          </dt>
          <dd>Search</dd>
        </div>
        <div>
          <dt>
            <kbd>↑</kbd> <kbd>↓</kbd> <kbd>Home</kbd> <kbd>End</kbd>
          </dt>
          <dd>Move in the table of locks</dd>
        </div>
        <div>
          <dt>
            <kbd>Enter</kbd>
          </dt>
          <dd>Open the lock</dd>
        </div>
        <div>
          <dt>
            <kbd>?</kbd>
          </dt>
          <dd>This list</dd>
        </div>
      </dl>
    </Dialog>
  );
}
