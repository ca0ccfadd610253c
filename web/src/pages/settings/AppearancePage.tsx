import { appearance, chooseAppearance } from "../../lib/appearance";
import { useStore } from "../../lib/store";
import { exactTime } from "../../lib/time";
import { shortcutHelp } from "../../shell/help";
import { Button } from "../../ui/Button";
import { Choice } from "../../ui/Choice";
import { Section } from "../../ui/Section";
import { Switch } from "../../ui/Switch";

/** How the page looks and acts in this browser. */
export function AppearancePage() {
  const chosen = useStore(appearance);
  return (
    <>
      <Section title="Theme" description="Stored per browser.">
        <Choice
          label="Theme"
          value={chosen.theme ?? "system"}
          options={[
            { value: "system", label: "System" },
            { value: "light", label: "Light" },
            { value: "dark", label: "Dark" },
          ]}
          onChange={(theme) => chooseAppearance({ theme })}
        />
        <Choice
          label="Density"
          value={chosen.density ?? "comfortable"}
          options={[
            { value: "comfortable", label: "Comfortable" },
            { value: "compact", label: "Compact" },
          ]}
          onChange={(density) => chooseAppearance({ density })}
        />
        <Choice
          label="Text size"
          value={chosen.text ?? "medium"}
          options={[
            { value: "small", label: "Small" },
            { value: "medium", label: "Medium" },
            { value: "large", label: "Large" },
          ]}
          onChange={(text) => chooseAppearance({ text })}
        />
      </Section>
      <Section title="Time">
        <Choice
          label="Time zone"
          hint={`Now: ${exactTime(new Date().toISOString())}`}
          value={chosen.zone ?? "local"}
          options={[
            { value: "local", label: `Local (${Intl.DateTimeFormat().resolvedOptions().timeZone})` },
            { value: "utc", label: "UTC" },
          ]}
          onChange={(zone) => chooseAppearance({ zone })}
        />
      </Section>
      <Section title="Keyboard" action={<Button onClick={() => shortcutHelp.set(true)}>Show shortcuts</Button>}>
        <Switch
          label="Single-key shortcuts"
          hint="Use letters such as g and j as shortcuts while not typing. Turn this off if you use speech input. Ctrl+K always works."
          isOn={chosen.keys !== "off"}
          onChange={(isOn) => chooseAppearance({ keys: isOn ? "on" : "off" })}
        />
      </Section>
    </>
  );
}
