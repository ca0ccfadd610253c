import { QueryClient, QueryClientProvider, notifyManager } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { Problem } from "./api/problem";
import { whenIdle } from "./lib/afterPaint";
import { followAppearance } from "./lib/appearance";
import { loadPagesAhead, makeRouter } from "./router";
import { ErrorBoundary } from "./shell/ErrorBoundary";
import { takeAhead } from "./shell/ahead";
import "./styles.css";

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // Only what may pass by itself is worth trying again.
      retry: (count, error) => error instanceof Problem && error.isPassing && count < 3,
      refetchOnWindowFocus: false,
      staleTime: 10_000,
    },
  },
});

notifyManager.setScheduler(queueMicrotask);
followAppearance();
takeAhead(client);

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <ErrorBoundary>
      <QueryClientProvider client={client}>
        <RouterProvider router={makeRouter(client)} />
      </QueryClientProvider>
    </ErrorBoundary>
  </StrictMode>,
);

whenIdle(loadPagesAhead);
