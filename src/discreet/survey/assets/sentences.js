// Sentences about the law, computed from the same integers that the encoder uses.

const MILD = 3; // above, whoever thought two answers equally likely is more than 95 % sure after the report
const embedded = JSON.parse(document.getElementById("survey").textContent);
const survey = embedded.survey;

function ofHundred(probability) {
  const people = 100 * probability;
  if (people > 0 && people < 0.5) return "fewer than 1";
  if (people < 100 && people >= 99.5) return "more than 99";
  return String(Math.round(people));
}

const quoted = (text) => `“${text}”`;

function lawSentence(question) {
  const { protocol, values } = question;
  const keep = protocol.keep / TWO32;
  switch (protocol.kind) {
    case "response": {
      const other = (1 - keep) / protocol.size;
      if (protocol.size === 2) return `Of 100 who truly say ${values[0]}, ${ofHundred(other)} send ${values[1]}.`;
      return `Of 100 who truly say ${values[0]}, ${ofHundred(keep + other)} send ${values[0]}, `
        + `and ${ofHundred(1 - keep - other)} send another answer.`;
    }
    case "hashed": {
      const { field } = protocol;
      return `A code is sent that about ${ofHundred(1 / field)} of 100 answers fit. Of 100 people, `
        + `${ofHundred(keep + (1 - keep) / field)} send a code that fits their own answer, and `
        + `${ofHundred(1 / field)} one that fits any other answer you name.`;
    }
    case "subset": {
      const { chosen, size } = protocol;
      const own = keep + ((1 - keep) * chosen) / size;
      const other = (keep * (chosen - 1)) / (size - 1) + ((1 - keep) * chosen) / size;
      const [what, holding] = chosen === 1 ? ["One answer", ""] : [`A list of ${chosen} answers`, "a list with "];
      return `${what} is sent. Of 100 people, ${ofHundred(own)} send ${holding}their own answer, and `
        + `${ofHundred(other)} ${holding}any other answer you name.`;
    }
    case "unary":
      return `A mark or none is sent for each answer. Of 100 who truly give an answer, `
        + `${ofHundred(protocol.yes / TWO32)} send a mark for it; of 100 who give another one, `
        + `${ofHundred(protocol.no / TWO32)} send that mark too.`;
    case "number":
      return numberSentence(question);
    case "use": {
      const more = protocol.more / TWO32;
      let within = 0;
      while ((2 * more ** (within + 1)) / (1 + more) > 0.05 && within < protocol.steps + protocol.reach) within++;
      return `Your number is moved at random: ${ofHundred((1 - more) / (1 + more))} of 100 send the true number, and `
        + `${ofHundred(1 - (2 * more ** (within + 1)) / (1 + more))} of 100 send one at most ${within} steps away. `
        + "This protects one use, not a person who answers many times.";
    }
    default:
      return "";
  }
}

function numberSentence(question) {
  const { steps, window: width, share, keep, base, slope } = question.protocol;
  const ranges = share / TWO32, kept = keep / TWO32;
  const fitting = ranges * (kept + ((1 - kept) * width) / (steps + width));
  const parts = [];
  if (share > 0) {
    parts.push(`Of 100 people, ${ofHundred(fitting)} send a range that contains their number, and `
      + `${ofHundred(ranges - fitting)} send one that does not.`);
  }
  if (share < TWO32) {
    const whole = share > 0 ? "The others send" : "What is sent is";
    parts.push(`${whole} one word, high or low: of 100 of these who truly say ${numberText(question, 0)}, `
      + `${ofHundred(base / TWO32)} send high, and of 100 who say ${numberText(question, steps)}, `
      + `${ofHundred((base + slope * steps) / TWO32)} do.`);
  }
  return parts.join(" ");
}

function reportSentence(question, text) {
  let bytes = toBytes(text);
  if (survey.mode === "sampled") {
    if (!isPicked(text)) return "only zeros, as another question was picked at random";
    bytes = bytes.slice(1);
  }
  const { protocol, values } = question;
  if (protocol.kind === "unary" || protocol.kind === "subset") {
    const marks = values.filter((_, value) => bytes[value >> 3] & (1 << (value & 7)));
    if (protocol.kind === "subset" && marks.length === 1) return quoted(marks[0]);
    if (protocol.kind === "subset") return `a list of ${listed(marks)}`;
    return marks.length ? `a mark for ${listed(marks)}` : "no mark for any answer";
  }
  const report = bytes.reduceRight((sum, byte) => sum * 256 + byte, 0);
  switch (protocol.kind) {
    case "response":
      return quoted(values[report]);
    case "hashed": {
      const seed = Math.floor(report / protocol.field), value = report % protocol.field;
      const fitting = values.filter((_, index) => inner(seed, index, protocol) === value);
      return `the code ${report}, which fits ${listed(fitting)}`;
    }
    case "number": {
      const { steps, window: width } = protocol;
      if (report >= steps + width) return `the word ${report === steps + width ? "low" : "high"}`;
      const first = Math.max(0, report - width + 1), last = Math.min(report, steps);
      if (first === last) return numberText(question, first);
      return `a number from ${numberText(question, first)} to ${numberText(question, last)}`;
    }
    default:
      return numberText(question, report - protocol.reach);
  }
}

function isPicked(text) {
  return survey.mode !== "sampled" || toBytes(text)[0] === 1;
}

function listed(texts) {
  if (texts.length === 0) return "no answer on the list";
  if (texts.length > 6) return `${texts.length} answers, among them ${texts.slice(0, 4).map(quoted).join(", ")}`;
  return texts.map(quoted).join(", ");
}

function answerText(question, answer) {
  return question.protocol.steps === undefined ? question.values[answer] : numberText(question, answer);
}

function odds() {
  const factor = Math.exp(Number(survey.epsilon));
  return factor < 1000 ? (Math.ceil(factor * 100) / 100).toString() : Math.ceil(factor).toLocaleString("en");
}

function guarantee() {
  const whole = survey.questions.length > 1 ? "The whole questionnaire together" : "This question";
  return `${whole} has ε = ${survey.epsilon}: whatever is sent would be at most ${odds()} times less likely if you `
    + `had answered anything else.${Number(survey.epsilon) > MILD ? " So large an ε protects little." : ""}`;
}

function daily() {
  return "The random draw happens once. The same report is sent again once a day when this page is open, so "
    + `ε = ${survey.epsilon} holds for all days together.`;
}

function promises() {
  const { questions } = survey;
  const texts = [
    "Your exact answers stay here. Chance may change them on this device first, and only the randomised report is sent.",
  ];
  if (survey.mode === "sampled") {
    texts.push(`Chance picks one of the ${questions.length} questions on this device; for the others only zeros are `
      + "sent. The numbers below are for the question that is picked.");
  }
  for (const question of questions) {
    const sentence = lawSentence(question);
    texts.push(questions.length > 1 ? [question.text, sentence] : sentence);
  }
  texts.push(guarantee());
  const silence = questions.every(({ required }) => required) ? "" : "; “no answer” is sent like an answer";
  texts.push(`Every report has the same length, whatever you answer${silence}.`);
  if (survey.every === "day") texts.push(daily());
  if (survey.groups && location.hash) {
    const column = Object.keys(survey.groups).join(", ");
    texts.push(`Your invitation belongs to a group (${column}). That is known and not randomised.`);
  }
  if (!location.hash) {
    texts.push("This page was opened without an invitation. If you were invited by a link, please open that link: "
      + "the server may take no other report.");
  }
  texts.push(`The server also sees ${location.hash ? "the code of your invitation" : "a code drawn by this page"}, the `
    + "time and your network address.");
  texts.push("This browser keeps the randomised report, so a second attempt sends the same one and never a new draw. "
    + "Another device, browser or address of this page, a private window or cleared storage draws anew, and each draw costs ε again.");
  return texts;
}
