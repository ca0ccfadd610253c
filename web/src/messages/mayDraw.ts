import { useQuery } from "@tanstack/react-query";

import type { Attachment } from "../api/types";
import { hasThumbnail } from "./pictures";

/** A picture with more pixels than this is a file like any other: 48 kB can become 2 GB when a browser decodes them. */
export const MOST_PIXELS = 40_000_000;

/** Whether a picture may be drawn without anybody asking for it. Undefined while that is not known. In large, it may be a long file. */
export function useMayDraw(file: Attachment | undefined, isLarge = false): boolean | undefined {
  const isWanted = file !== undefined && (isLarge || hasThumbnail(file));
  const pixels = useQuery({
    queryKey: ["pixels", file?.sha256],
    queryFn: async () => (await import("./pixels")).readPixels(file!),
    enabled: isWanted,
    // A file never changes.
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  if (!isWanted || pixels.isError) return false;
  return pixels.data === undefined ? undefined : pixels.data !== null && pixels.data > 0 && pixels.data <= MOST_PIXELS;
}
