// The encoder: a pure function of the answers and of a stream of uniform 32-bit words.

const TWO32 = 4294967296;

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
