"""Many judge one campaign to its end, and much goes wrong on the way."""

import asyncio
import random
import time

from django.db import connection

from benchmarks.load import campaign as corpus
from benchmarks.load import servers
from benchmarks.load.browser import Browser, Timings
from benchmarks.load.people import Answer, ComparenaPerson

PATIENCE = 12  # times somebody with nothing to do looks again before leaving
LATE_SECONDS = (0.5, 2.0)
# One in four works without JavaScript. Shares of the judgments:
# two clicks at once; sent, cut before the answer, sent again; sent again after the answer; sent
# after its place was given back; the page closed and the place given back.
MISHAPS = {"double": 0.05, "cut": 0.05, "again": 0.05, "late": 0.02, "left": 0.01}


class Storm:
    def __init__(self, seed: int, port: int, token: str):
        self.seed, self.port, self.token = seed, port, token
        self.timings, self.acknowledged = Timings(), set()
        self.mishaps = dict.fromkeys(MISHAPS, 0)

    async def annotator(self, number: int) -> None:
        draw = random.Random(f"{self.seed}:{number}")
        person = ComparenaPerson(Browser(servers.HOST, self.port, self.timings), number, self.token, number % 4 > 0)
        await person.join()
        idle = 0
        while idle < PATIENCE:
            answer = await person.page()
            if answer is None:
                idle += 1
                await asyncio.sleep(0.3)
            else:
                idle = 0
                await self.judgment(person, answer, draw)
        person.browser.close()

    async def judgment(self, person: ComparenaPerson, answer: Answer, draw: random.Random) -> None:
        what = draw.choices([*MISHAPS, "nothing"], [*MISHAPS.values(), 1 - sum(MISHAPS.values())])[0]
        if what in self.mishaps:
            self.mishaps[what] += 1
        if what in ("late", "left"):
            await asyncio.to_thread(corpus.let_lapse, int(answer.fields["assignment"]))
            await asyncio.sleep(draw.uniform(*LATE_SECONDS))
        if what == "left":
            return
        if what == "cut":
            await person.browser.post_and_hang_up(answer.path, answer.fields)
        if what == "double":
            twin = person.browser.twin()
            await asyncio.gather(person.send(answer), person.send(answer, twin))
            twin.close()
        else:
            await person.send(answer)
        if what == "again":
            await person.send(answer)
        self.acknowledged.add(answer.fields["key"])


async def storm(options, folder) -> int:
    campaign, token = await asyncio.to_thread(corpus.make, options.items, options.k, True)
    with servers.comparena() as server:
        run = Storm(options.seed, server.port, token)
        start = time.perf_counter()
        await asyncio.gather(*(run.annotator(number) for number in range(options.annotators)))
        seconds, memory = time.perf_counter() - start, server.memory()
    found, wrong = await asyncio.to_thread(corpus.check, campaign, run.acknowledged)
    where = f"Comparena on {connection.vendor}, {options.annotators} annotators, {options.items} items"
    print(f"{where}, k = {options.k}, seed {options.seed}")
    print(f"  started in {server.start_seconds:.1f} s; {memory:.0f} MB with its worker; {seconds:.0f} s in all")
    print("  on purpose: " + ", ".join(f"{n} {what}" for what, n in run.mishaps.items()))
    print("\n".join([*run.timings.lines(), *(f"  {line}" for line in found)]))
    print("  WRONG: " + "; ".join(wrong) if wrong else "  all of it holds")
    return 1 if wrong else 0
