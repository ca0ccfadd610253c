import { Search } from "lucide-react";

import { IconButton } from "../ui/Button";
import { palette } from "./palette";

/** Opens the palette on a phone, where the sidebar with its search field is out of sight. */
export function SearchButton() {
  return (
    <IconButton label="Search or jump to" className="md:hidden" onClick={() => palette.set(true)}>
      <Search size={18} aria-hidden="true" />
    </IconButton>
  );
}
