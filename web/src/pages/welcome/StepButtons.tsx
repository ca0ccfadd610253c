import { Button } from "../../ui/Button";

/** The buttons to the next and to the previous step. */
export function StepButtons({ onBack, isBusy, next }: { onBack?: () => void; isBusy?: boolean; next: string }) {
  return (
    <div className="flex gap-2">
      <Button type="submit" look="filled" size="form" disabled={isBusy}>
        {next}
      </Button>
      {onBack ? (
        <Button size="form" onClick={onBack}>
          Back
        </Button>
      ) : null}
    </div>
  );
}
