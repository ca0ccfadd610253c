// A person at a browser, as far as the hub's pages need one: keeps cookies, reads forms, fills them in. No script runs.

import { parse } from "parse5";

/** All elements below a node, in the order of the page. */
function* elements(node) {
  for (const child of node.childNodes ?? []) {
    if (child.tagName) {
      yield child;
    }
    yield* elements(child);
  }
}

const attributes = (element) => Object.fromEntries(element.attrs.map(({ name, value }) => [name, value]));

/** What a form of a page offers: where it goes, and the controls that have a name. */
function readForm(element, address) {
  const { action = "", method = "get" } = attributes(element);
  const controls = [];
  for (const control of elements(element)) {
    const { name, type, value = "", ...flags } = attributes(control);
    if (!name || "disabled" in flags) {
      continue;
    } else if (control.tagName === "button") {
      controls.push({ name, value, type: type ?? "submit" });
    } else if (control.tagName === "input") {
      controls.push({ name, value, type: type ?? "text", checked: "checked" in flags });
    }
  }
  return { action: new URL(action || address, address).href, method: method.toLowerCase(), controls };
}

/** What a browser sends when the person types, ticks and presses what `choices` says and leaves the rest alone. */
function fill(form, choices) {
  const fields = [];
  const open = new Map(Object.entries(choices));
  for (const { name, value, type, checked } of form.controls) {
    const choice = choices[name];
    if (["radio", "checkbox", "submit"].includes(type)) {
      if (choice === undefined ? checked : choice === value) {
        fields.push([name, value]);
        open.delete(name);
      }
    } else if (type === "hidden") {
      fields.push([name, value]);
    } else {
      fields.push([name, choice ?? value]);
      open.delete(name);
    }
  }
  if (open.size) {
    throw new Error(`the form at ${form.action} does not offer ${JSON.stringify([...open])}: ${JSON.stringify(form.controls)}`);
  }
  return fields;
}

export class Person {
  /** `cookies` are those of an earlier run, to go on as the same person. */
  constructor(hub, cookies = {}) {
    this.hub = hub;
    this.cookies = cookies;
  }

  async send(method, target, { json, form } = {}) {
    const headers = { Cookie: Object.entries(this.cookies).map((pair) => pair.join("=")).join("; ") };
    if (method !== "GET") {
      headers.Origin = this.hub;
      headers["Sec-Fetch-Site"] = "same-origin";
    }
    if (json) {
      headers["Content-Type"] = "application/json";
    }
    const body = json ? JSON.stringify(json) : form && new URLSearchParams(form);
    const answer = await fetch(new URL(target, this.hub), {
      method,
      headers,
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(20_000),
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [name, value] = cookie.split(";", 1)[0].split("=", 2);
      this.cookies[name] = value;
    }
    return answer;
  }

  /** Calls the REST API, which must answer with this status. */
  async call(method, target, json, status) {
    const answer = await this.send(method, target, { json });
    const text = await answer.text();
    if (answer.status !== status) {
      throw new Error(`${method} ${target}: ${answer.status} ${text.slice(0, 300)}`);
    }
    return text ? JSON.parse(text) : undefined;
  }

  async logIn(username, password) {
    await this.call("POST", "/auth/login", { username, password }, 200);
  }

  /** Goes to an address of the hub, and on to where it leads; what is found there must be a page. */
  async open(target) {
    let address = new URL(target, this.hub);
    for (let hop = 0; hop < 5; hop += 1) {
      const answer = await this.send("GET", address);
      if (answer.status !== 303) {
        return await readPage(address, answer);
      }
      address = new URL(answer.headers.get("Location"), address);
      if (address.origin !== new URL(this.hub).origin) {
        throw new Error(`${target} leads away from the hub, to ${address}`);
      }
    }
    throw new Error(`${target} leads on and on, at last to ${address}`);
  }

  /** Fills in the form that has such a control, and sends it. Returns the address that the 303 leads to. */
  async submit(page, choices) {
    const matches = page.forms.filter((form) =>
      Object.entries(choices).every(([name, value]) =>
        form.controls.some((control) => control.name === name && (!["radio", "submit"].includes(control.type) || control.value === value)),
      ),
    );
    if (matches.length !== 1 || matches[0].method !== "post") {
      throw new Error(`${page.address} has not one form for ${JSON.stringify(Object.keys(choices))}: ${JSON.stringify(page.forms)}`);
    }
    const [form] = matches;
    const answer = await this.send("POST", form.action, { form: fill(form, choices) });
    if (answer.status !== 303) {
      throw new Error(`POST ${form.action}: ${answer.status} ${(await answer.text()).slice(0, 1000)}`);
    }
    return new URL(answer.headers.get("Location"), form.action);
  }
}

async function readPage(address, answer) {
  const text = await answer.text();
  if (answer.status !== 200 || !/^text\/html\b/.test(answer.headers.get("Content-Type"))) {
    throw new Error(`GET ${address}: ${answer.status} ${text.slice(0, 1000)}`);
  }
  const forms = [...elements(parse(text))].filter(({ tagName }) => tagName === "form").map((form) => readForm(form, address.href));
  return { address: address.href, forms };
}
