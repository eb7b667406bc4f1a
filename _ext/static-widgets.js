// Shows the book's widgets on a page that has no kernel and no network.
//
// MyST-NB writes two kinds of script tags into a page: one with the saved state of
// all widgets (JSON), and one wherever a widget is to be seen (JSON with its id).
// Each of our widgets is an anywidget: its state holds its own JavaScript (`_esm`) and
// style (`_css`). This host reads the states, loads each script from memory, and calls
// `initialize` and `render` with a small model.
//
// What a reader solves is kept by the browser, if it may, and is sent nowhere.
// Supported: several views of one widget, widgets that read each other's models,
// binary values. Not supported: messages to Python, child views, ordinary ipywidgets.
// It is a classic script, deferred, because a module does not load from file://.
(() => {
  "use strict";

  const MIME = "application/vnd.jupyter.widget";
  const korean = document.documentElement.lang.startsWith("ko");
  const TEXT = korean
    ? {
        failed: (why) => `이 위젯을 시작하지 못했습니다(${why}).`,
        noState: "노트북에 저장된 상태가 없습니다",
        kernel: "이 위젯은 실행 중인 노트북이 필요합니다. Colab이나 JupyterLab에서 여세요.",
        solved: (count, all) => `이 페이지에서 해결한 과제와 질문: ${all}개 가운데 ${count}개. 이 브라우저에만 저장됩니다.`,
        forget: "기록 지우기",
      }
    : {
        failed: (why) => `This widget could not start (${why}).`,
        noState: "the notebook holds no saved state",
        kernel: "This widget needs a running notebook: open the page in Colab or JupyterLab.",
        solved: (count, all) => `Solved on this page: ${count} of ${all} tasks and questions. Only this browser keeps it.`,
        forget: "Forget it",
      };

  // ---- What the page holds ------------------------------------------------------

  const jsonScripts = (kind) =>
    [...document.querySelectorAll(`script[type="${MIME}-${kind}+json"]`)].map((script) => ({
      script,
      data: JSON.parse(script.textContent),
    }));

  const states = Object.assign({}, ...jsonScripts("state").map(({ data }) => data.state));

  // ---- Models ---------------------------------------------------------------------

  const bytes = (base64) =>
    new DataView(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)).buffer);

  // The part of anywidget's model that works without a kernel. A new value that is
  // not the same object counts as a change, even if it holds equal numbers.
  class Model {
    constructor({ state, buffers = [] }) {
      this.state = structuredClone(state);
      this.listeners = new Map(); // event -> Set of functions
      this.widget_manager = { get_model: async (id) => modelOf(id) };
      for (const { path, data } of buffers) {
        const place = path.slice(0, -1).reduce((at, key) => at[key], this.state);
        place[path.at(-1)] = bytes(data);
      }
    }

    get(name) {
      return this.state[name];
    }

    set(name, value) {
      const values = typeof name === "string" ? { [name]: value } : name;
      const changed = Object.keys(values).filter((key) => !Object.is(this.state[key], values[key]));
      Object.assign(this.state, values);
      for (const key of changed) this.emit(`change:${key}`, this, values[key]);
      if (changed.length) this.emit("change", this);
    }

    on(events, listener) {
      for (const event of events.split(/\s+/)) {
        if (!this.listeners.has(event)) this.listeners.set(event, new Set());
        this.listeners.get(event).add(listener);
      }
    }

    off(events, listener) {
      if (!events) return this.listeners.clear();
      for (const event of events.split(/\s+/)) {
        if (listener) this.listeners.get(event)?.delete(listener);
        else this.listeners.delete(event);
      }
    }

    emit(event, ...values) {
      for (const listener of [...(this.listeners.get(event) ?? [])]) listener(...values);
    }

    save_changes() {} // there is no Python to tell
    send() {}
  }

  // `make` runs once for each key; later calls get the same result.
  const once = (make) => {
    const made = new Map();
    return (key) => {
      if (!made.has(key)) made.set(key, make(key));
      return made.get(key);
    };
  };

  const modelOf = once((id) => remember(new Model(states[id])));

  // ---- What was solved ------------------------------------------------------------

  // A widget names in `task_ids` what there is to solve, and in `solved` what is. The
  // browser keeps one item for each; where it may not, nothing is kept.
  const KEPT = "every-word-at-once/";
  const inStorage = (use) => {
    try { return use(window.localStorage); } catch { return null; }
  };
  const solvable = []; // the models of this page that have something to solve

  function remember(model) {
    const ids = model.get("task_ids") ?? [];
    if (!ids.length) return model;
    solvable.push(model);
    model.state.solved = ids.filter((id) => inStorage((storage) => storage.getItem(KEPT + id)));
    model.on("change:solved", () => {
      for (const id of model.get("solved")) inStorage((storage) => storage.setItem(KEPT + id, "1"));
      showSolved();
    });
    return model;
  }

  const line = document.createElement("p");
  line.className = "course solved-here";
  const count = add(line, "span");
  const forget = add(line, "button", TEXT.forget);
  forget.type = "button";
  forget.addEventListener("click", () => {
    for (const model of solvable) {
      for (const id of model.get("task_ids")) inStorage((storage) => storage.removeItem(KEPT + id));
      model.set("solved", []);
    }
  });

  function showSolved() {
    const total = (name) => new Set(solvable.flatMap((model) => model.get(name))).size;
    count.textContent = `${TEXT.solved(total("solved"), total("task_ids"))} `;
    const last = [...document.querySelectorAll(".static-widget")].at(-1);
    if (solvable.length && !line.isConnected) last.after(line);
  }

  // ---- Views ------------------------------------------------------------------------

  const signal = new AbortController().signal; // a page is never taken down piece by piece

  const moduleOf = once(async (source) => {
    const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    const { default: widget } = await import(url);
    return typeof widget === "function" ? widget() : widget;
  });

  const initialized = once(async (id) => {
    const model = modelOf(id);
    const widget = await moduleOf(model.get("_esm"));
    await widget.initialize?.({ model, signal });
    return widget;
  });

  function add(parent, tag, text = "") {
    const node = document.createElement(tag);
    node.textContent = text;
    parent.append(node);
    return node;
  }

  async function mount(view, id) {
    try {
      const model = modelOf(id);
      if (model.get("_css")) add(view, "style", model.get("_css"));
      const widget = await initialized(id);
      await widget.render?.({ model, el: add(view, "div"), signal });
      view.dataset.ready = "yes";
    } catch (error) {
      fail(view, `${TEXT.failed(error.message)} ${instead(id)}`);
      console.error(error);
    }
  }

  // What a widget asks to be said in its place: which figure stands for it, for example.
  const instead = (id) => states[id]?.state.instead?.[korean ? "ko" : "en"] ?? "";

  function fail(view, sentence) {
    view.replaceChildren();
    add(view, "p", sentence);
    const picture = view.closest(".cell")?.previousElementSibling?.querySelector("img");
    if (picture) view.append(picture.cloneNode());
    view.dataset.error = "yes";
  }

  for (const { script, data } of jsonScripts("view")) {
    const id = data.model_id;
    const view = document.createElement("div");
    view.className = "static-widget";
    script.after(view);
    view.addEventListener("failed", (event) => fail(view, event.detail));
    if (!states[id]) fail(view, TEXT.failed(TEXT.noState));
    else if (states[id].model_module !== "anywidget") fail(view, TEXT.kernel);
    else mount(view, id);
  }
  showSolved();
})();
