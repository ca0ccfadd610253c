type Control = HTMLInputElement | HTMLTextAreaElement;

/** What the browser finds wrong, in the words of this page. The browser's own bubble speaks its language and disappears. */
export function faultWords(control: Pick<Control, "validity" | "title" | "validationMessage"> & { type: string; min?: string; max?: string; step?: string }, label: string): string {
  const { validity, title, type, min, max, step } = control;
  if (validity.valueMissing) return `${label} cannot be empty.`;
  if (validity.customError) return control.validationMessage;
  if (validity.patternMismatch) return title || `${label} has characters that are not allowed.`;
  if (validity.rangeUnderflow || validity.rangeOverflow) return min && max ? `Enter a number from ${min} to ${max}.` : "This number is out of range.";
  if (validity.stepMismatch) return `Enter a multiple of ${step}.`;
  if (validity.badInput) return type === "number" ? "Enter a number." : "This is not valid.";
  return control.validationMessage;
}

/** Why a text is too long. It is kept as it was typed, so that the person can shorten it. */
export function lengthFault(value: unknown, most: number | undefined): string {
  if (most === undefined || typeof value !== "string" || value.length <= most) return "";
  return `At most ${most.toLocaleString()} characters. Remove ${(value.length - most).toLocaleString()}.`;
}

/** Whether a control is the first of its form that is wrong, and so the one to go to. */
export function isFirstFault(control: Control): boolean {
  const wrong = control.form?.querySelector("input:invalid, textarea:invalid, select:invalid");
  return wrong === control || wrong === null || wrong === undefined;
}
