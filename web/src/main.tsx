import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { Problem } from "./api/problem";
import { makeRouter } from "./router";
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

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <RouterProvider router={makeRouter(client)} />
    </QueryClientProvider>
  </StrictMode>,
);
