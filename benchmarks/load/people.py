"""Annotators. Each opens a page, answers what its form asks, and sends it as the page would."""

import random
import re
from dataclasses import dataclass

from benchmarks.load.browser import Browser, Response

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


def _hidden(html: str, field: str) -> dict[str, str]:
    """The hidden fields of the form that asks for this field."""
    form = next(form for form in re.findall(r"<form.*?</form>", html, re.DOTALL) if f'name="{field}"' in form)
    return {i["name"]: i.get("value", "") for i in _inputs(form) if i.get("type") == "hidden"}


def _expect(response: Response, *statuses: int) -> Response:
    if response.status not in statuses:
        raise Broken(f"answered {response.status}: {response.body[:300]}")
    return response


class ComparenaPerson:
    """with_script: an answer is sent as the page's script sends it, and the next item comes in its response; without it,
    a plain form is sent, and the page it leads to is loaded."""

    def __init__(self, browser: Browser, number: int, invitation: str = "", with_script: bool = True):
        self.browser, self.number, self.invitation = browser, number, invitation
        self.headers = {"X-Swap": "1"} if with_script else {}
        self.random = random.Random(number)

    async def join(self) -> None:
        path = f"/join/{self.invitation}/"
        page = _expect(await self.browser.get(path, "join page"), 200)
        fields = _hidden(page.body, "name") | {"name": f"load {self.number}"}
        joined = _expect(await self.browser.post(path, fields, "join"), 302)
        self.work = joined.headers["location"]

    async def page(self) -> Answer | None:
        """The item in hand, answered at random; None where nothing is left."""
        return self._answer(_expect(await self.browser.get(f"{self.work}?start=1", "page"), 200))

    async def send(self, answer: Answer, browser: Browser | None = None) -> Response:
        sent = await (browser or self.browser).post(answer.path, answer.fields, "judgment", self.headers)
        return _expect(sent, 200 if self.headers else 303)

    async def judge(self, answer: Answer) -> Answer | None:
        """Send an answer; returns the next one."""
        sent = await self.send(answer)
        return self._answer(sent) if self.headers else await self.page()

    def _answer(self, page: Response) -> Answer | None:
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
