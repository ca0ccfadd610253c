import * as Dialog from "@radix-ui/react-dialog";
import * as Popover from "@radix-ui/react-popover";
import { type RefObject, useEffect, useRef, useState } from "react";

import { ProfileSummary } from "./ProfileSummary";
import { type OpenedProfile, openedProfile } from "./opened";

const close = () => openedProfile.set(null);

/** Where the opener is, and where it was last if its row is no longer drawn. */
function useAnchor(opener: HTMLElement): RefObject<{ getBoundingClientRect: () => DOMRect }> {
  const [place] = useState(() => ({ last: opener.getBoundingClientRect() }));
  return {
    current: {
      getBoundingClientRect: () => {
        if (opener.isConnected) place.last = opener.getBoundingClientRect();
        return place.last;
      },
    },
  };
}

/** Beside the name that opened it; on a phone, a sheet at the bottom. */
export default function ProfileCard({ opened }: { opened: OpenedProfile }) {
  const [isPhone] = useState(() => matchMedia("(max-width: 40rem)").matches);
  const { name, opener } = opened;
  const anchor = useAnchor(opener);
  const content = useRef<HTMLDivElement>(null);
  // Another name in the card replaces what has the focus.
  useEffect(() => content.current?.focus(), [name]);
  const shared = {
    ref: content,
    tabIndex: -1,
    "aria-label": `Profile of @${name}`,
    "data-card": true,
    onOpenAutoFocus: (event: Event) => {
      event.preventDefault();
      content.current?.focus();
    },
    onCloseAutoFocus: (event: Event) => {
      event.preventDefault();
      // An avatar cannot have the focus, but its row can. Who has clicked elsewhere stays there.
      const active = document.activeElement;
      if (active === null || active === document.body) opener.closest<HTMLElement>("a, button, [tabindex]")?.focus();
    },
  };
  if (isPhone) {
    return (
      <Dialog.Root open onOpenChange={close}>
        <Dialog.Portal>
          <div className="fixed inset-0 z-50 bg-shade" aria-hidden="true" />
          <Dialog.Content
            {...shared}
            aria-describedby={undefined}
            className="fixed inset-x-0 bottom-0 z-50 max-h-[90dvh] overflow-y-auto rounded-t-lg border-t border-line bg-bg p-4 shadow-lg outline-none"
          >
            <Dialog.Title className="sr-only">Profile of @{name}</Dialog.Title>
            <ProfileSummary key={name} name={name} />
          </Dialog.Content>
        </Dialog.Portal>
      </Dialog.Root>
    );
  }
  return (
    <Popover.Root open onOpenChange={close}>
      <Popover.Anchor virtualRef={anchor} />
      <Popover.Portal>
        <Popover.Content
          {...shared}
          side="bottom"
          align="start"
          sideOffset={6}
          collisionPadding={8}
          // A click on the opener closes the card by itself.
          onInteractOutside={(event) => event.target instanceof Node && opener.contains(event.target) && event.preventDefault()}
          className="z-50 max-h-(--radix-popover-content-available-height) w-[344px] max-w-[95vw] overflow-y-auto rounded-lg border border-line bg-bg p-4 shadow-lg outline-none"
        >
          <ProfileSummary key={name} name={name} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
