import { useQuery } from "@tanstack/react-query";
import { type Dispatch, type SetStateAction, useMemo } from "react";

import { channelsQuery } from "../../api/queries";
import { MOST_OF_LINE, Shown } from "../../ui/Shown";
import { Failed, Skeleton } from "../../ui/States";
import { FormError } from "../../ui/TextField";
import { VirtualList } from "../../ui/VirtualList";
import { StepButtons } from "./StepButtons";
import { StepLead } from "./StepLead";

/** The channel that everybody is in from the beginning. */
const EVERYBODY = "general";

interface ChannelsStepProps {
  name: string;
  joined: readonly string[];
  setJoined: Dispatch<SetStateAction<readonly string[]>>;
  error: unknown;
  isBusy: boolean;
  onBack: () => void;
}

/** Chooses the channels that the agent joins. */
export function ChannelsStep({ name, joined, setJoined, error, isBusy, onBack }: ChannelsStepProps) {
  const channels = useQuery(channelsQuery);
  const others = useMemo(() => (channels.data ?? []).filter((channel) => channel.name !== EVERYBODY), [channels.data]);
  return (
    <>
      <StepLead title="Choose channels">
        The agent can read and post in these channels, and people there can mention it as @{name}. You can add more channels later.
      </StepLead>
      {channels.isError ? <Failed error={channels.error} retry={() => void channels.refetch()} /> : null}
      {channels.isLoading ? <Skeleton rows={3} /> : null}
      <fieldset className="flex flex-col">
        <legend className="sr-only">Channels to join</legend>
        <label className="flex min-h-9 items-center gap-3 border-b border-line py-1">
          <input type="checkbox" checked disabled />
          <span className="font-medium">#{EVERYBODY}</span>
          <span className="text-muted">everyone is a member</span>
        </label>
        <VirtualList rows={others} keyOf={({ id }) => id} size={37}>
          {(channel) => (
            <label className="flex min-h-9 cursor-pointer items-center gap-3 border-b border-line py-1 pointer-coarse:min-h-11">
              <input
                type="checkbox"
                checked={joined.includes(channel.name)}
                onChange={() =>
                  setJoined((now) =>
                    now.includes(channel.name) ? now.filter((one) => one !== channel.name) : [...now, channel.name],
                  )
                }
              />
              <span className="font-medium">#{channel.name}</span>
              <span className="min-w-0 truncate text-muted">
                <Shown text={channel.topic} most={MOST_OF_LINE} />
              </span>
            </label>
          )}
        </VirtualList>
      </fieldset>
      {channels.data && others.length === 0 ? <p className="text-muted">No other channels yet.</p> : null}
      <FormError error={error} />
      <StepButtons onBack={onBack} isBusy={isBusy} next={`Create @${name}`} />
    </>
  );
}
