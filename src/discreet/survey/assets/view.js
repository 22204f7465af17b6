// What is seen: texts of the survey become text nodes and nothing else.

const MANY = 8; // from here on values are a list to choose from instead of radio buttons

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
