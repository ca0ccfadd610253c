import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import type { Message } from "../../api/types";

/** A link to a message in its conversation. The owner of an agent sees a message between two agents as that agent. */
export function MessageLink({ message, thread, self, own, children, ...rest }: {
  message: Message;
  /** The message to whose thread it leads. */
  thread?: number;
  self: string;
  own: readonly string[];
  children: ReactNode;
  className?: string;
  tabIndex?: number;
  "aria-label"?: string;
}) {
  if (message.channel) {
    return (
      <Link to="/channels/$name" params={{ name: message.channel }} search={{ at: message.id, thread }} {...rest}>
        {children}
      </Link>
    );
  }
  const sides = [message.from.name, message.to ?? ""];
  const side = sides.includes(self) ? self : sides.find((name) => own.includes(name));
  const other = sides.find((name) => name !== side) ?? message.from.name;
  return (
    <Link to="/dm/$name" params={{ name: other }} search={{ at: message.id, thread, as: side === self ? undefined : side }} {...rest}>
      {children}
    </Link>
  );
}
