"""A person at a browser, as far as the hub's pages need one: keeps cookies, reads forms, fills them in."""

from html.parser import HTMLParser
from urllib.parse import parse_qs, urljoin, urlsplit

import requests


def equal(what, found, wanted):
    if found != wanted:
        raise AssertionError(f"{what} is {found!r}, not {wanted!r}")


class Forms(HTMLParser):
    """The forms of a page: where each goes, and the controls that have a name."""

    def __init__(self, text):
        super().__init__()
        self.forms = []
        self.inside = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "form":
            self.inside = True
            self.forms.append({"action": attributes.get("action", ""), "controls": []})
        elif self.inside and tag in ("input", "button") and "name" in attributes and "disabled" not in attributes:
            kind = attributes.get("type", "submit" if tag == "button" else "text")
            self.forms[-1]["controls"].append((kind, attributes["name"], attributes.get("value", "")))

    def handle_endtag(self, tag):
        if tag == "form":
            self.inside = False


class Person:
    """A person at a browser, as far as the page of the hub needs one."""

    def __init__(self, hub, redirect, cookies=None):
        """`redirect` is where clients want to be told; `cookies` are those of an earlier run, to go on as the same person."""
        self.hub = hub
        self.redirect = redirect
        self.session = requests.Session()
        self.session.trust_env = False  # no proxy, whatever the environment says
        self.session.cookies.update(cookies or {})

    def call(self, method, target, status, **body):
        answer = self.session.request(method, urljoin(self.hub, target), timeout=20, allow_redirects=False, **body)
        if answer.status_code != status:
            raise AssertionError(f"{method} {target}: {answer.status_code} {answer.text[:1000]}")
        return answer

    def open(self, address):
        """Returns the hidden fields of the question, and what may be answered."""
        answer = self.call("GET", address, 200)
        equal("the type of the page", answer.headers["Content-Type"].split(";")[0], "text/html")
        for form in Forms(answer.text).forms:
            if ("submit", "decision", "approve") in form["controls"]:
                return {"address": urljoin(address, form["action"]), "controls": form["controls"]}
        raise AssertionError(f"nothing can be approved at {address}")

    def decide(self, page, agent, decision):
        """Answers a question. Returns the address that the client's browser would be sent to."""
        controls = [tuple(control) for control in page["controls"]]
        for wanted in (("radio", "agent", agent), ("submit", "decision", decision)):
            if wanted not in controls:
                raise AssertionError(f"{wanted} is not offered: {controls}")
        fields = [(name, value) for kind, name, value in controls if kind == "hidden"]
        fields += [("agent", agent), ("decision", decision)]
        answer = self.call("POST", page["address"], 303, data=fields, headers={"Origin": self.hub})
        location = answer.headers["Location"]
        equal("the redirect", location.split("?")[0], self.redirect)
        # Not every library looks at it (RFC 9207).
        equal("iss", parse_qs(urlsplit(location).query).get("iss"), [self.hub])
        return location
