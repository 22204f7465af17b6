// Decimal numbers, exactly.

function decimal(text) {
  const match = /^\s*([+-]?)(\d*)(?:[.,](\d*))?\s*$/.exec(text);
  if (!match || !(match[2] || match[3])) return null;
  const places = (match[3] || "").length;
  const digits = BigInt(match[2] + (match[3] || ""));
  return { digits: match[1] === "-" ? -digits : digits, places };
}

function scaled(number, places) {
  return number.digits * 10n ** BigInt(places - number.places);
}

function numberText(question, index) {
  const low = decimal(question.low), step = decimal(question.step);
  const places = Math.max(low.places, step.places);
  const sum = scaled(low, places) + BigInt(index) * scaled(step, places);
  const digits = (sum < 0n ? -sum : sum).toString().padStart(places + 1, "0");
  const whole = digits.slice(0, digits.length - places);
  const part = digits.slice(digits.length - places).replace(/0+$/, "");
  return (sum < 0n ? "−" : "") + whole + (part ? "." + part : "");
}

function numberIndex(question, text) {
  const value = decimal(text), low = decimal(question.low), step = decimal(question.step);
  if (value === null) return null;
  const places = Math.max(value.places, low.places, step.places);
  const above = scaled(value, places) - scaled(low, places);
  const unit = scaled(step, places);
  const index = above / unit;
  return above >= 0n && above % unit === 0n && index <= BigInt(question.protocol.steps) ? Number(index) : null;
}
