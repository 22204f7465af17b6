// Sending: the stored report, again and again until it is received.

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
