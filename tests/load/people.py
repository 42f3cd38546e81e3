"""Annotators of the two servers. Each opens a page, answers what its form asks, and sends it as the page would."""

import json
import random
import re
from dataclasses import dataclass

from tests.load.browser import Browser, Response

ATTRIBUTE = re.compile(r'([\w-]+)(?:="([^"]*)")?')


class Broken(Exception):
    """The server answered something that a person could not go on from."""


@dataclass
class Answer:
    """A filled-in form, ready to send (again)."""

    path: str
    fields: dict[str, str]


def _inputs(html: str) -> list[dict]:
    return [dict(ATTRIBUTE.findall(tag)) for tag in re.findall(r"<input ([^>]*)>", html)]


def _expect(response: Response, *statuses: int) -> Response:
    if response.status not in statuses:
        raise Broken(f"answered {response.status}: {response.body[:300]}")
    return response


class ComparenaPerson:
    def __init__(self, browser: Browser, number: int, invitation: str):
        self.browser, self.number, self.invitation = browser, number, invitation
        self.random = random.Random(number)

    async def join(self) -> None:
        path = f"/join/{self.invitation}/"
        page = _expect(await self.browser.get(path, "join page"), 200)
        fields = {i["name"]: i.get("value", "") for i in _inputs(page.body) if i.get("type") == "hidden"}
        fields["name"] = f"load {self.number}"
        joined = _expect(await self.browser.post(path, fields, "join"), 302)
        self.work = joined.headers["location"]

    async def log_in(self, name: str, password: str) -> None:
        page = _expect(await self.browser.get("/login/", "log-in page"), 200)
        fields = {i["name"]: i.get("value", "") for i in _inputs(page.body) if i.get("type") == "hidden"}
        _expect(await self.browser.post("/login/", fields | {"username": name, "password": password}, "log-in"), 302)

    async def page(self) -> Answer | None:
        """The next item, answered at random; None where nothing is left."""
        page = _expect(await self.browser.get(f"{self.work}?start=1", "page"), 200)
        form = re.search(r"<form[^>]*data-answer.*?</form>", page.body, re.DOTALL)
        if form is None:
            return None
        fields, points = {}, {}
        for entry in _inputs(form[0]):
            if entry.get("type") == "hidden":
                fields[entry["name"]] = entry.get("value", "")
            elif entry.get("type") == "radio":
                points.setdefault(entry["name"], []).append(entry["value"])
        fields |= {name: self.random.choice(values) for name, values in points.items()}
        return Answer(re.search(r'action="([^"]*)"', form[0])[1], fields)

    async def send(self, answer: Answer, browser: Browser | None = None) -> Response:
        response = await (browser or self.browser).post(answer.path, answer.fields, "judgment")
        return _expect(response, 302, 303)


class PotatoPerson:
    """What Potato's annotation.js sends for one item: the answer, then the step forward, then the page is loaded."""

    def __init__(self, browser: Browser, number: int, criteria: list[str]):
        self.browser, self.number, self.criteria = browser, number, criteria
        self.random = random.Random(number)

    async def join(self) -> None:
        fields = {"email": f"load{self.number}", "pass": "a-long-password", "action": "signup"}
        _expect(await self.browser.post("/register", fields, "join"), 302)
        _expect(await self.browser.get("/", "join page"), 200, 302)

    async def log_in(self, name: str, password: str) -> None:
        _expect(await self.browser.get("/auth", "log-in page"), 200)
        _expect(await self.browser.post("/auth", {"email": name, "pass": password}, "log-in"), 302)

    async def page(self) -> Answer | None:
        page = await self.browser.get("/annotate", "page")
        if page.status == 302:
            return None
        item = next((i for i in _inputs(_expect(page, 200).body) if i.get("id") == "instance_id"), None)
        if item is None:
            return None  # its page of thanks
        scores = {f"{c}:{(value := self.random.randint(1, 5))}": str(value) for c in self.criteria}
        return Answer("/updateinstance", {"instance_id": item["value"], "annotations": scores, "span_annotations": []})

    async def send(self, answer: Answer, browser: Browser | None = None) -> Response:
        browser = browser or self.browser
        stored = _expect(await browser.post_json(answer.path, json.dumps(answer.fields), "judgment"), 200)
        if json.loads(stored.body).get("status") == "error":
            raise Broken(stored.body[:300])
        step = json.dumps({"action": "next_instance", "instance_id": answer.fields["instance_id"]})
        await browser.post_json("/annotate", step, "step", {"X-Potato-Navigation": "1"})
        return stored
