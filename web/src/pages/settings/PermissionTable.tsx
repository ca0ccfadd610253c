import type { Permission } from "../../api/account";
import { AREAS } from "./permissions";

/** Chooses what a key may read and write. */
export function PermissionTable({ chosen, onToggle }: { chosen: readonly Permission[]; onToggle: (permission: Permission) => void }) {
  return (
    <table className="w-full max-w-sm">
      <thead>
        <tr className="text-left text-sm text-muted">
          <th className="font-normal">Area</th>
          <th className="font-normal">Read</th>
          <th className="font-normal">Write</th>
        </tr>
      </thead>
      <tbody>
        {AREAS.map((area) => (
          <tr key={area.label} className="border-t border-line">
            <th className="py-1 text-left font-normal">{area.label}</th>
            {[area.read, area.write].map((permission, at) => (
              <td key={at} className="py-1">
                {permission ? (
                  <label className="inline-flex size-6 items-center">
                    <span className="sr-only">{permission}</span>
                    <input
                      type="checkbox"
                      checked={chosen.includes(permission)}
                      onChange={() => onToggle(permission)}
                    />
                  </label>
                ) : null}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
