"use strict";
(() => {
  const TWO32 = 4294967296;
  const MILD = 3; // above, whoever thought two answers equally likely is more than 95 % sure after the report
  const MANY = 8; // from here on values are a list to choose from instead of radio buttons

  // --- the encoder: a pure function of the answers and of a stream of uniform 32-bit words --------------------------

  function uniform(size, nextWord) {
    const limit = TWO32 - (TWO32 % size);
    for (;;) {
      const word = nextWord();
      if (word < limit) return word % size;
    }
  }

  function product(a, b, field, polynomial) {
    if (polynomial === 0) return (a * b) % field;
    let sum = 0;
    for (let bit = 1; bit < field; bit <<= 1, a <<= 1) {
      if (a >= field) a ^= polynomial;
      if (b & bit) sum ^= a;
    }
    return sum;
  }

  function inner(seed, value, { field, polynomial, digits }) {
    let sum = 0;
    for (let digit = 0; digit < digits; digit++) {
      const term = product(seed % field, value % field, field, polynomial);
      sum = polynomial === 0 ? (sum + term) % field : sum ^ term;
      seed = Math.floor(seed / field);
      value = Math.floor(value / field);
    }
    return sum;
  }

  function geometric(more, nextWord) {
    let count = 0;
    while (nextWord() < more) count++;
    return count;
  }

  // How many words are taken never depends on the answer. Beyond that, nothing is claimed about time.
  const encoders = {
    response(protocol, answer, nextWord) {
      const coin = nextWord();
      const other = uniform(protocol.size, nextWord);
      return coin < protocol.keep ? answer : other;
    },
    hashed(protocol, answer, nextWord) {
      const seed = uniform(protocol.field ** protocol.digits, nextWord);
      const coin = nextWord();
      const other = uniform(protocol.field, nextWord);
      const truth = inner(seed, answer, protocol);
      return seed * protocol.field + (coin < protocol.keep ? truth : other);
    },
    number(protocol, answer, nextWord) {
      const outputs = protocol.steps + protocol.window;
      if (nextWord() < protocol.share) {
        const coin = nextWord();
        const offset = uniform(protocol.window, nextWord);
        const other = uniform(outputs, nextWord);
        return coin < protocol.keep ? answer + offset : other;
      }
      return outputs + (nextWord() < protocol.base + protocol.slope * answer ? 1 : 0);
    },
    use(protocol, answer, nextWord) {
      const up = geometric(protocol.more, nextWord);
      const down = geometric(protocol.more, nextWord);
      const { steps, reach } = protocol;
      return Math.min(Math.max(answer + up - down, -reach), steps + reach) + reach;
    },
  };

  // A uniform set of values by Floyd's rule, in which the answer takes the place of a member where the coin says so.
  function subset({ size, chosen, keep }, answer, nextWord) {
    const members = [];
    for (let last = size - chosen; last < size; last++) {
      const value = uniform(last + 1, nextWord);
      members.push(members.includes(value) ? last : value);
    }
    const coin = nextWord();
    const place = uniform(chosen, nextWord);
    const isMember = members.includes(answer);
    if (coin < keep && !isMember) members[place] = answer;
    return members;
  }

  function encodeAnswer(protocol, answer, nextWord) {
    const bytes = new Uint8Array(protocol.bytes);
    if (protocol.kind === "subset") {
      for (const value of subset(protocol, answer, nextWord)) bytes[value >> 3] |= 1 << (value & 7);
      return bytes;
    }
    if (protocol.kind === "unary") {
      for (let value = 0; value < protocol.size; value++) {
        const threshold = value === answer ? protocol.yes : protocol.no;
        if (nextWord() < threshold) bytes[value >> 3] |= 1 << (value & 7);
      }
      return bytes;
    }
    let report = encoders[protocol.kind](protocol, answer, nextWord);
    for (let place = 0; place < bytes.length; place++) {
      bytes[place] = report % 256;
      report = Math.floor(report / 256);
    }
    return bytes;
  }

  function encodeSubmission(spec, answers, nextWord) {
    const sampled = spec.mode === "sampled";
    const picked = sampled ? uniform(spec.questions.length, nextWord) : -1;
    const reports = {};
    spec.questions.forEach(({ name, protocol }, index) => {
      if (!sampled) {
        reports[name] = toText(encodeAnswer(protocol, answers[name], nextWord));
        return;
      }
      const flagged = new Uint8Array(1 + protocol.bytes);
      if (index === picked) {
        flagged[0] = 1;
        flagged.set(encodeAnswer(protocol, answers[name], nextWord), 1);
      }
      reports[name] = toText(flagged);
    });
    return reports;
  }

  function toText(bytes) {
    return btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  }

  function toBytes(text) {
    return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
  }

  // The browser's secure generator is the only source of randomness on this page.
  function systemWord() {
    return crypto.getRandomValues(new Uint32Array(1))[0];
  }

  function drawToken() {
    const bytes = new Uint8Array(16);
    for (let place = 0; place < 16; place += 4) {
      const word = systemWord();
      for (let shift = 0; shift < 4; shift++) bytes[place + shift] = Math.floor(word / 256 ** shift) % 256;
    }
    return toText(bytes);
  }

  // --- decimal numbers, exactly -------------------------------------------------------------------------------------

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

  // --- sentences about the law, computed from the same integers that the encoder uses -------------------------------

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
    texts.push("Every report has the same length, whatever you answer; “no answer” is sent like an answer.");
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

  const embedded = JSON.parse(document.getElementById("survey").textContent);
  const survey = embedded.survey;

  // --- storage: the token, the randomised reports and the last receipt, nothing else --------------------------------

  const reportKey = `discreet:${embedded.id}`;
  const receivedKey = `${reportKey}:received`;
  const REFUSED = "refused", BEFORE = "before"; // receipts are REFUSED, a day, or a day and BEFORE

  class Refusal extends Error {}

  function readItem(key) {
    try {
      return localStorage.getItem(key);
    } catch {
      throw new Refusal(NO_STORAGE);
    }
  }

  function writeItem(key, text) {
    try {
      localStorage.setItem(key, text);
    } catch {
      throw new Refusal(NO_STORAGE);
    }
    if (readItem(key) !== text) throw new Refusal(NO_STORAGE);
  }

  const NO_STORAGE = "Nothing is sent, because this browser does not let the page store the report. Without it a "
    + "second attempt would need a second random draw, which would protect you less. Please allow storage for this "
    + "page, or use another browser.";
  const GONE = "Nothing is sent any more, because the report is gone from the storage of this browser. A second random "
    + "draw would protect you less.";
  const INCOMPLETE = "The link of your invitation is incomplete. Please open it again as you got it.";
  const UNREADABLE = "Nothing is sent, because the report stored in this browser cannot be read. A second random draw "
    + "would protect you less.";
  const OTHER = "This browser holds a report that was made under another invitation, or without one. Nothing is drawn or "
    + "sent for the invitation of this link, because a second random draw would protect one person with two invitations "
    + "less. If you are another person, please open your link in another browser, in another profile or on another "
    + "device.";
  const OTHER_REFUSED = " The server did not accept the report that is stored here. Only if it is your own, send it "
    + "under the new invitation; nothing is drawn anew.";
  const UNNOTED = " This browser could not store that, so the same report is sent again when this page is opened.";

  function readStored() {
    const text = readItem(reportKey);
    if (text === null) return null;
    try {
      const stored = JSON.parse(text);
      const complete = survey.questions.every(({ name, protocol }) =>
        toBytes(stored.reports[name]).length === protocol.bytes + (survey.mode === "sampled" ? 1 : 0));
      if (complete && isToken(stored.token)) return stored;
    } catch {
      // the sentence below says it
    }
    throw new Refusal(UNREADABLE);
  }

  const isToken = (text) => /^[A-Za-z0-9_-]{22}$/.test(text);

  function invitation() {
    if (location.hash === "") return null;
    const token = location.hash.slice(3);
    if (!location.hash.startsWith("#t=") || !isToken(token)) throw new Refusal(INCOMPLETE);
    return token;
  }

  // Another tab may store a report in the same moment: both wait, and both send what storage holds then.
  async function drawOnce(answers) {
    const visit = forgotten; // a page that is left while it waits may come back from the browser's memory
    const task = async () => {
      let drawn = null;
      if (readStored() === null) {
        const token = invitation() || drawToken();
        drawn = JSON.stringify({ token, reports: encodeSubmission(survey, answers, systemWord) });
        writeItem(reportKey, drawn);
        await new Promise((resume) => setTimeout(resume, 200));
      }
      if (readItem(reportKey) === drawn && visit === forgotten) exact = answers; // else it is of another tab or visit
      return readStored();
    };
    return navigator.locks ? navigator.locks.request(reportKey, task) : task();
  }

  function isOther(stored) {
    const token = invitation();
    return token !== null && token !== stored.token;
  }

  const isRefused = () => readItem(receivedKey) === REFUSED;

  // A refused token gives way to that of an invitation only when the person says so: the report may be someone else's.
  // The reports stay, so nothing more is told.
  function renew() {
    try {
      const stored = readStored();
      if (stored === null) throw new Refusal(GONE);
      if (isRefused()) writeItem(reportKey, JSON.stringify({ token: invitation(), reports: stored.reports }));
      show(readStored());
    } catch (error) {
      refuse(error);
      return;
    }
    deliver();
  }

  // --- sending ------------------------------------------------------------------------------------------------------

  const FIRST_WAIT = 1000, LONGEST_WAIT = 60000, PATIENCE = 20000; // milliseconds
  let exact = null; // the true answers, in memory only
  let forgotten = 0; // how often the page was left and forgot them
  let busy = false, waiting = null, wait = FIRST_WAIT;

  const today = () => new Date().toISOString().slice(0, 10);

  function closedSentence() {
    const { opens, closes } = survey;
    if (opens && today() < opens) return `This survey opens on ${opens}. Nothing can be sent before.`;
    if (closes && today() > closes) return `This survey closed on ${closes}. Nothing is sent any more.`;
    return null;
  }

  function target() {
    if (embedded.server) return `${embedded.server}/report`;
    if (location.protocol === "http:" || location.protocol === "https:") return "/report";
    throw new Refusal("Nothing can be sent, because this page was opened from disk and names no server.");
  }

  function isDue() {
    const stored = readStored();
    if (stored === null || isOther(stored)) return false;
    const receipt = readItem(receivedKey);
    if (receipt === null || receipt === REFUSED) return true;
    return survey.every === "day" && receipt.slice(0, 10) !== today();
  }

  async function post(stored) {
    const body = JSON.stringify({ v: 1, survey: embedded.id, token: stored.token, reports: stored.reports });
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), PATIENCE);
    const options = {
      method: "POST", body, headers: { "Content-Type": "application/json" }, signal: stop.signal, cache: "no-store",
      credentials: "omit", referrerPolicy: "no-referrer", redirect: "error",
    };
    try {
      return (await fetch(target(), options)).status;
    } catch (error) {
      if (error instanceof Refusal) throw error;
      return 0; // no answer: the report may have arrived or not
    } finally {
      clearTimeout(timer);
    }
  }

  async function deliver() {
    if (busy) return;
    busy = true;
    clearTimeout(waiting);
    waiting = null;
    try {
      const closed = closedSentence();
      if (closed) throw new Refusal(closed);
      const stored = readStored();
      if (stored === null) throw new Refusal(GONE);
      if (isOther(stored)) {
        showOther();
        return;
      }
      say("sending", "Sending the report…");
      settle(await post(stored));
    } catch (error) {
      refuse(error);
    } finally {
      busy = false;
    }
  }

  function settle(status) {
    if (status === 200) {
      settleReceived(today(), survey.every === "day"
        ? "Today’s report was received. Thank you. The same report is sent again tomorrow when you open this page."
        : "Your report was received. Thank you. You can close this page.");
    } else if (status === 409) {
      settleReceived(`${today()} ${BEFORE}`, beforeSentence());
    } else if (status === 0 || status === 429 || status >= 500) {
      const reason = status === 0 ? "There is no connection to the server" : "The server is busy";
      const seconds = Math.round(wait / 1000);
      say("waiting", `${reason}. The same report is sent again in ${seconds} s; you may also come back later.`);
      byId("retry").hidden = false;
      waiting = setTimeout(deliver, wait);
      wait = Math.min(2 * wait, LONGEST_WAIT);
    } else {
      byId("retry").hidden = false;
      say("problem", "The server did not accept the report. Please open the link of your invitation again"
        + (survey.contact ? `, or write to ${survey.contact}.` : ".") + storeReceipt(REFUSED));
    }
  }

  function settleReceived(receipt, sentence) {
    wait = FIRST_WAIT;
    byId("retry").hidden = true;
    say("received", sentence + storeReceipt(receipt));
  }

  // The report has left by now: a receipt that cannot be stored must not be told as a report that was not sent.
  function storeReceipt(receipt) {
    try {
      writeItem(receivedKey, receipt);
      return "";
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return UNNOTED;
    }
  }

  // The server has a report with this token; whether it is the one of this browser, only the person can know.
  function beforeSentence() {
    const code = invitation() === null ? "with the code of this browser" : "under this invitation";
    const [when, end] = survey.every === "day" ? ["today or before", " today"] : ["before", ""];
    return `A report ${code} was received ${when}. It is the one below, unless another was sent from another browser or `
      + `the storage of this one was cleared since. Nothing more is sent${end}.`;
  }

  function receiptSentence() {
    const isBefore = readItem(receivedKey).endsWith(BEFORE);
    return isBefore ? beforeSentence() : "This browser has sent its report, and it was received. Thank you.";
  }

  function refuse(error) {
    if (!(error instanceof Refusal)) throw error;
    say("problem", error.message);
  }

  async function submit(event) {
    event.preventDefault();
    if (busy) return;
    const answers = readAnswers();
    if (answers === null) return;
    busy = true;
    byId("send").disabled = true;
    try {
      const closed = closedSentence();
      if (closed) throw new Refusal(closed);
      target();
      show(await drawOnce(answers));
      byId("result").focus();
    } catch (error) {
      byId("send").disabled = false;
      busy = false;
      refuse(error);
      return;
    }
    busy = false;
    await deliver();
  }

  function resume() {
    try {
      const stored = readStored();
      if (stored === null) return false;
      show(stored);
      if (isDue()) deliver();
      else if (!busy && !isOther(stored)) say("received", receiptSentence());
    } catch (error) {
      refuse(error);
    }
    return true;
  }

  // --- what is seen: texts of the survey become text nodes and nothing else -----------------------------------------

  const byId = (id) => document.getElementById(id);

  function element(tag, properties = {}, ...children) {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  }

  function say(kind, sentence) {
    byId("status").dataset.kind = kind;
    byId("status").textContent = sentence;
  }

  function questionField(question, index) {
    const id = `q${index}`;
    const problem = element("p", { id: `${id}-problem`, className: "problem" });
    const legend = element("legend", { textContent: question.text });
    const field = element("fieldset", { id }, legend, ...controls(question, id), problem);
    field.setAttribute("aria-describedby", problem.id);
    return field;
  }

  function controls(question, id) {
    const { values, required } = question;
    if (question.protocol.steps !== undefined) {
      const first = numberText(question, 0), last = numberText(question, question.protocol.steps);
      const hint = element("p", {
        id: `${id}-hint`, className: "soft", textContent: `From ${first} to ${last}, in steps of ${question.step}.`,
      });
      const input = element("input", { type: "number", step: "any", autocomplete: "off", required: true });
      input.setAttribute("inputmode", "decimal");
      input.setAttribute("aria-label", question.text);
      input.setAttribute("aria-describedby", hint.id);
      return [input, hint];
    }
    if (values.length >= MANY) {
      const options = values.map((text, value) => element("option", { value: String(value), textContent: text }));
      const select = element("select", { autocomplete: "off", required }, ...options);
      if (required) select.prepend(element("option", { value: "", textContent: "Please choose…" }));
      select.value = required ? "" : String(values.length - 1);
      select.setAttribute("aria-label", question.text);
      return [select];
    }
    return values.map((text, value) => {
      const isNone = !required && value === values.length - 1;
      const radio = element("input", { type: "radio", name: id, value: String(value), checked: isNone });
      radio.autocomplete = "off";
      const label = element("span", { textContent: text });
      return element("label", { className: isNone ? "choice none" : "choice" }, radio, label);
    });
  }

  function readAnswers() {
    const answers = {};
    let first = null;
    survey.questions.forEach((question, index) => {
      const field = byId(`q${index}`);
      const control = field.querySelector("select, input[type=number], input:checked");
      const isNumber = question.protocol.steps !== undefined;
      const text = control ? control.value : "";
      const answer = isNumber ? numberIndex(question, text) : text === "" ? null : Number(text);
      byId(`q${index}-problem`).textContent = answer !== null ? "" : isNumber
        ? `Please write a number from ${numberText(question, 0)} to ${numberText(question, question.protocol.steps)}, `
          + `in steps of ${question.step}.`
        : "Please choose an answer.";
      if (answer === null) first = first || field.querySelector("select, input");
      answers[question.name] = answer;
    });
    if (first === null) return answers;
    say("problem", "Nothing was sent yet: a question still needs an answer.");
    first.focus();
    return null;
  }

  function show(stored) {
    const isForeign = isOther(stored); // it may refuse the link, and then the form stays
    byId("form")?.remove(); // the exact answers leave the page with it
    byId("renew").hidden = true;
    if (isForeign) showOther();
    else showResult(stored.reports);
  }

  // Whoever opened the link of another invitation need not see what this browser sent.
  function showOther() {
    exact = null;
    byId("reports").replaceChildren();
    byId("result").hidden = true;
    byId("retry").hidden = true;
    byId("renew").hidden = !isRefused();
    say("problem", isRefused() ? OTHER + OTHER_REFUSED : OTHER);
  }

  function showResult(reports) {
    const cards = survey.questions.map((question) => {
      const said = exact === null ? "" : `You said ${answerText(question, exact[question.name])}. `;
      const sent = `This leaves your device: ${reportSentence(question, reports[question.name])}.`;
      return element("div", { className: "card report" },
        element("h3", { textContent: question.text }),
        element("p", { className: "sent" }, element("span", { className: "said", textContent: said }), sent),
        element("p", { className: "soft", textContent: isPicked(reports[question.name]) ? lawSentence(question) : "" }));
    });
    byId("reports").replaceChildren(...cards);
    byId("guarantee").textContent = survey.every === "day" ? `${guarantee()} ${daily()}` : guarantee();
    byId("result").hidden = false;
  }

  // The next person on this device sees neither what was said nor what was being filled in.
  function forgetAnswers() {
    exact = null;
    forgotten++;
    document.querySelectorAll(".said").forEach((node) => node.remove());
    byId("questions")?.replaceChildren(...survey.questions.map(questionField));
  }

  // The link of another invitation in the same tab changes the fragment alone, and the page would stay as it was.
  function startAnew() {
    forgetAnswers();
    location.reload();
  }

  function start() {
    byId("title").textContent = survey.title;
    byId("consent").textContent = survey.consent;
    byId("contact").textContent = survey.contact ? `Questions: ${survey.contact}` : "";
    byId("survey-id").textContent = embedded.id.slice(0, 16);
    byId("survey-id").title = embedded.id;
    byId("questions").append(...survey.questions.map(questionField));
    byId("leaving").append(...promises().map((text) => typeof text === "string"
      ? element("li", { textContent: text })
      : element("li", {}, element("em", { textContent: text[0] }), ` ${text[1]}`)));
    byId("form").addEventListener("submit", submit);
    byId("retry").addEventListener("click", deliver);
    byId("renew").addEventListener("click", renew);
    addEventListener("hashchange", startAnew);
    addEventListener("pagehide", forgetAnswers);
    addEventListener("online", deliverIfDue);
    addEventListener("pageshow", deliverIfDue);
    document.addEventListener("visibilitychange", deliverIfDue);
    addEventListener("storage", (event) => event.key === reportKey && !busy && resume());
    setInterval(deliverIfDue, 600000);
    if (resume()) return;
    const closed = closedSentence();
    if (closed) say("problem", closed);
    else showForm();
  }

  function showForm() {
    byId("form").hidden = false;
    try {
      target();
      invitation();
      writeItem(`${reportKey}:probe`, "1");
      localStorage.removeItem(`${reportKey}:probe`);
    } catch (error) {
      refuse(error);
    }
  }

  function deliverIfDue() {
    try {
      if (document.visibilityState === "visible" && isDue()) deliver();
    } catch (error) {
      refuse(error);
    }
  }

  window.discreet = {
    survey,
    encode: encodeSubmission,
    draw: (answers) => encodeSubmission(survey, answers, systemWord),
    lawSentence,
  };
  start();
})();
