// The least that a page with React can be. `scripts/bench-web` compares with it.
import { createElement } from "react";
import { createRoot } from "react-dom/client";

createRoot(document.getElementById("root")).render(createElement("h1", null, "Blank"));
