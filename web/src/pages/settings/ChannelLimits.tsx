import { useQuery } from "@tanstack/react-query";

import { channelsQuery } from "../../api/queries";
import { VirtualList } from "../../ui/VirtualList";

/** Chooses the channels that a key is limited to. */
export function ChannelLimits({ limits, onToggle }: { limits: readonly string[]; onToggle: (name: string) => void }) {
  const channels = useQuery(channelsQuery);
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="mb-1 font-medium">Channels</legend>
      <div
        role="region"
        aria-label="Channels"
        tabIndex={0}
        data-scroller
        className="max-h-40 overflow-y-auto rounded-md border border-line p-2"
      >
        <VirtualList rows={channels.data ?? []} keyOf={({ id }) => id} size={24} className="flex flex-wrap gap-x-4 gap-y-1">
          {(channel) => (
            <label className="inline-flex h-6 items-center gap-1.5 pointer-coarse:h-11">
              <input
                type="checkbox"
                checked={limits.includes(channel.name)}
                onChange={() => onToggle(channel.name)}
              />
              #{channel.name}
            </label>
          )}
        </VirtualList>
        {channels.isError ? <span className="text-rejected">Could not load channels.</span> : null}
      </div>
      <p className="text-sm text-muted">
        {limits.length ? `${limits.length} selected.` : "Empty = all channels."} Direct messages are always allowed.
      </p>
    </fieldset>
  );
}
