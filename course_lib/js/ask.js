import { freshId, html, keepKeys, language, rich, solve } from "./parts.js";

// Questions: a prediction is noted, not judged; a check answers every choice.
const TEXT = {
  en: {
    predict: "Predict first", check: "Question", right: "Right.", wrong: "Not quite.",
    noted: "Noted.", compare: "Now compare with the result below.", solved: "solved",
  },
  ko: {
    predict: "먼저 예측해 보세요", check: "질문", right: "맞았습니다.", wrong: "아쉽습니다.",
    noted: "기록했습니다.", compare: "이제 아래 결과와 비교해 보세요.", solved: "해결함",
  },
};

// On a built page the results of a prediction are folded away. Open them, up to the
// next question or heading.
function reveal(el) {
  let cell = el.closest("div.cell")?.nextElementSibling;
  while (cell && cell.tagName !== "SECTION" && !cell.querySelector(".ask")) {
    for (const fold of cell.querySelectorAll("details.hide")) fold.open = true;
    cell = cell.nextElementSibling;
  }
}

// The numbers below `count`, in an order that nobody can learn by heart.
function shuffled(count) {
  const order = [];
  for (let i = 0; i < count; i += 1) order.splice(Math.floor(Math.random() * (i + 1)), 0, i);
  return order;
}

function ask({ id: name, kind, right, ...languages }, label, model, el) {
  const lang = language(model);
  const t = TEXT[lang];
  const { text, choices } = languages[lang];
  const answer = html("p", { class: "ask-answer", role: "status" });
  const order = kind === "check" ? shuffled(choices.length) : [...choices.keys()];
  const buttons = order.map((i, place) => {
    const [choice, why] = choices[i];
    const mark = html("span", { class: "ask-mark", "aria-hidden": "true" }, "ABCDEF"[place]);
    const button = html("button", { type: "button", "aria-pressed": "false" }, mark,
      html("span", {}, ...rich(choice)));
    button.addEventListener("click", () => {
      for (const each of buttons) each.setAttribute("aria-pressed", each === button);
      const state = kind === "predict" ? "noted" : i === right ? "right" : "wrong";
      if (state !== "noted") {
        button.dataset.state = state;
        mark.textContent = state === "right" ? "✓" : "✗";
      }
      answer.dataset.state = state;
      answer.replaceChildren(html("strong", {}, t[state]), " ", ...rich(why ?? t.compare));
      if (state === "noted") reveal(el);
      if (state === "right") solve(model, name);
    });
    return button;
  });
  const id = freshId("ask");
  const done = html("span");
  const node = keepKeys(html("section", { class: `course ask ask-${kind}`, role: "group", "aria-labelledby": id, lang },
    html("p", { class: "ask-kind" }, label, done),
    html("p", { class: "ask-text", id }, ...rich(text)),
    html("div", { class: "ask-choices" }, ...buttons), answer));
  return { node, show(solved) { done.textContent = solved.includes(name) ? ` ✓ ${t.solved}` : ""; } };
}

function render({ model, el }) {
  const t = TEXT[language(model)];
  const questions = model.get("questions");
  const items = questions.map((question, i) => {
    const number = question.kind === "check" && questions.length > 1 ? ` ${i + 1}` : "";
    return ask(question, t[question.kind] + number, model, el);
  });
  const show = () => { for (const item of items) item.show(model.get("solved")); };
  el.append(...items.map((item) => item.node));
  model.on("change:solved", show);
  show();
  return () => model.off("change:solved", show);
}

export default { render };
