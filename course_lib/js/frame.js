import { freshId, html, keepKeys, language, rich, solve } from "./parts.js";

// The frame of every explorer: its title, a toolbar that ends with Reset, what the
// explorer draws, things to try, tasks with their verdicts, and a line that is read aloud.
const FRAME = {
  en: {
    tools: "Settings", reset: "Reset", things: "Things to try", tasks: "Tasks",
    check: "Check", solved: "solved", right: "✓ Right.", wrong: "✗ Not yet.",
    convention: "⇄ Another convention.",
    failed: (why) => `This explorer stopped (${why}).`,
  },
  ko: {
    tools: "설정", reset: "처음으로", things: "해 보기", tasks: "과제",
    check: "확인", solved: "해결함", right: "✓ 맞았습니다.", wrong: "✗ 아직 아닙니다.",
    convention: "⇄ 다른 규약입니다.",
    failed: (why) => `탐색기가 멈추었습니다(${why}).`,
  },
};

// What a module exports by default: explorer("name", TEXT, start, build).
//
// TEXT    {en: {name: "Explorer: …", …}, ko: {…}}: what the explorer itself says
// start   (model, lang) => the state in which it starts; made anew by Reset
// build   ({model, t, lang, update, state}) => its parts, made once:
//   tools   nodes of the toolbar
//   body    nodes below it
//   draw    (state) shows a state; called after every change
//   said    (state) => the same in one sentence, read aloud when a movement has ended
//   tasks   {name: judge}: judge(state) => "right", or the key of another text of the
//           task, or [key, {name: number}] to fill in; or {judge, node, clear} for a
//           task with a part of its own
// `update({x: 3})` changes the state and draws it.
export function explorer(name, text, start, build) {
  return {
    render({ model, el }) {
      const lang = language(model);
      const t = text[lang];
      const state = start(model, lang);
      const live = html("p", { class: "co-hidden", role: "status" });
      let parts, tasks, timer;

      // Whatever fails, a sentence says so in place of the explorer; a page that hears
      // of it adds the still picture.
      const guarded = (run) => {
        try { return run(); } catch (error) {
          const sentence = `${FRAME[lang].failed(error.message)} ${model.get("instead")[lang]}`;
          el.replaceChildren(html("p", { lang, role: "alert" }, sentence));
          el.dispatchEvent(new CustomEvent("failed", { bubbles: true, detail: sentence }));
          throw error;
        }
      };
      const update = (change) => guarded(() => {
        Object.assign(state, change);
        parts.draw(state);
        clearTimeout(timer);
        timer = setTimeout(() => { live.textContent = parts.said(state); }, 600);
      });

      guarded(() => {
        parts = build({ model, t, lang, update, state });
        tasks = taskList(model, lang, parts.tasks, state, guarded);
        const reset = button(FRAME[lang].reset, () => {
          tasks.clear();
          update(start(model, lang));
        });
        const title = freshId("title");
        el.append(keepKeys(html("section", { class: `course explorer ${name}`, "aria-labelledby": title, lang },
          html("p", { class: "co-title", id: title }, t.name),
          html("div", { class: "co-tools", role: "group", "aria-label": FRAME[lang].tools }, ...parts.tools, reset),
          ...parts.body, ...thingsToTry(model, lang), tasks.node, live)));
        parts.draw(state);
      });
      return () => { clearTimeout(timer); tasks.stop(); };
    },
  };
}

export function button(label, onClick) {
  const node = html("button", { type: "button" }, ...rich(label));
  node.addEventListener("click", onClick);
  return node;
}

function thingsToTry(model, lang) {
  const things = model.get("things")[lang] ?? [];
  if (!things.length) return [];
  return [html("p", { class: "co-title" }, FRAME[lang].things),
    html("ul", {}, ...things.map((thing) => html("li", {}, ...rich(thing))))];
}

function taskList(model, lang, judges, state, guarded) {
  const items = model.get("tasks").map((task) => taskItem(model, lang, task, judges[task.name], state, guarded));
  const show = () => { for (const item of items) item.show(model.get("solved")); };
  model.on("change:solved", show);
  show();
  const node = html("div", { class: "co-tasks" }, html("p", { class: "co-title" }, FRAME[lang].tasks),
    html("ol", {}, ...items.map((item) => item.node)));
  return {
    node,
    clear() { for (const item of items) item.clear(); },
    stop() { model.off("change:solved", show); },
  };
}

// One task: what is asked, a button that judges the state, and the verdict with the
// misconception, whose name and text are those of the checks.
function taskItem(model, lang, { id, name, texts, mistakes }, given, state, guarded) {
  const t = FRAME[lang];
  const { judge, node: own = "", clear = () => {} } = typeof given === "function" ? { judge: given } : given;
  const asks = freshId("task");
  const mark = html("span", { class: "co-solved" });
  const verdict = html("p", { class: "co-verdict", role: "status" });
  const check = button(t.check, () => guarded(() => {
    const [key, numbers = {}] = [judge(state)].flat();
    const mistake = mistakes[key];
    const text = (mistake ?? texts)[lang];
    const head = key === "right" ? t.right : mistake?.convention ? t.convention : t.wrong;
    verdict.dataset.state = key === "right" ? "right" : "wrong";
    verdict.dataset.said = key;
    verdict.replaceChildren(html("strong", {}, head), " ",
      ...(mistake ? [html("code", {}, mistake.id), " "] : []),
      ...rich(filled(mistake ? text : text[key], numbers)));
    const { [name]: _, ...others } = model.get("verdicts");
    model.set("verdicts", { ...others, [name]: [key, numbers] }); // the newest is the last
    if (key === "right") solve(model, id);
    model.save_changes();
  }));
  check.setAttribute("aria-describedby", asks);
  return {
    node: html("li", { "data-task": name }, html("p", { id: asks }, ...rich(texts[lang].ask), " ", mark), own, check, verdict),
    show(solved) { mark.textContent = solved.includes(id) ? `✓ ${t.solved}` : ""; },
    clear() { verdict.replaceChildren(); delete verdict.dataset.state; delete verdict.dataset.said; clear(); },
  };
}

// "row of {query}" with {query: "sing"}.
const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
