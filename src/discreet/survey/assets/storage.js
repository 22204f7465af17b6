// Storage: the token, the randomised reports and the last receipt, nothing else.

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
