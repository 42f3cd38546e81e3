"""What the annotators of each run do."""

import asyncio
import random
import time
from pathlib import Path

from django.db import connection

from tests.load import campaign as corpus
from tests.load import servers
from tests.load.browser import Browser, Timings
from tests.load.people import ComparenaPerson, PotatoPerson

PATIENCE = 12  # times somebody with nothing to do looks again before leaving
MISHAPS = {"double": 0.05, "cut": 0.05, "again": 0.05, "late": 0.02, "left": 0.01}  # share of the judgments


async def storm(options, folder) -> int:
    campaign, token = await asyncio.to_thread(corpus.make, options.items, options.k, True)
    timings, acknowledged, mishaps = Timings(), set(), dict.fromkeys(MISHAPS, 0)
    with servers.comparena() as server:
        start = time.perf_counter()
        await asyncio.gather(*(
            _stormy(ComparenaPerson(Browser(servers.HOST, server.port, timings), n, token), options.seed, acknowledged, mishaps)
            for n in range(options.annotators)
        ))  # fmt: skip
        seconds = time.perf_counter() - start
        memory = server.memory()
    found, wrong = await asyncio.to_thread(corpus.check, campaign, acknowledged)
    print(f"Comparena on {connection.vendor}, {options.annotators} annotators, {options.items} items, k = {options.k}, seed {options.seed}")
    print(f"started in {server.start_seconds:.1f} s, {memory:.0f} MB with its worker; {len(acknowledged) / seconds:.0f} judgments/s")
    print("on purpose: " + ", ".join(f"{n} {what}" for what, n in mishaps.items()))
    print("\n".join([*timings.lines(), *found]))
    print("WRONG: " + "; ".join(wrong) if wrong else "all of it holds")
    return 1 if wrong else 0


async def _stormy(person: ComparenaPerson, seed: int, acknowledged: set, mishaps: dict) -> None:
    draw = random.Random(f"{seed}:{person.number}")
    await person.join()
    idle = 0
    while idle < PATIENCE:
        answer = await person.page()
        if answer is None:
            idle += 1
            await asyncio.sleep(0.3)
            continue
        idle = 0
        what = draw.choices([*MISHAPS, "nothing"], [*MISHAPS.values(), 1 - sum(MISHAPS.values())])[0]
        if what in mishaps:
            mishaps[what] += 1
        if what in ("late", "left"):
            await asyncio.to_thread(corpus.let_lapse, int(answer.fields["assignment"]))
            await asyncio.sleep(draw.uniform(0.5, 2))
        if what == "left":
            continue
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
        acknowledged.add(answer.fields["key"])
    person.browser.close()


async def versus(options, folder) -> int:
    campaign, token = await asyncio.to_thread(corpus.make, options.items, options.k, False)
    with servers.comparena() as server:
        people = lambda timings: [ComparenaPerson(Browser(servers.HOST, server.port, timings), n, token) for n in range(options.annotators)]
        ours = await _measure(f"Comparena on {connection.vendor}", server, people, options)
    if not options.potato_python:
        return 0
    rows = [{"id": str(n), "text": "\n".join([*row["context"], row["output"]])} for n, row in enumerate(corpus.texts(options.items))]
    with servers.potato(options.potato_python, Path(folder), rows, corpus.CRITERIA, options.k) as server:
        people = lambda timings: [PotatoPerson(Browser(servers.HOST, server.port, timings), n, corpus.CRITERIA) for n in range(options.annotators)]
        theirs = await _measure("Potato", server, people, options)
    print(f"\nComparena / Potato: {ours / theirs:.2f} times the judgments a second")
    return 0


async def _measure(name: str, server, people, options) -> float:
    """Print and return judgments a second in a closed loop, as the work is done."""
    join = Timings()
    crowd = people(join)
    for person in crowd:
        await person.join()
    print(f"\n{name}: started in {server.start_seconds:.1f} s")
    print("\n".join(join.lines()))
    paced = await _loop(crowd, options.seconds, options.annotators * 3, every=3.0)
    print(f"paced, one judgment every 3 s from each of {len(crowd)} annotators, {options.seconds} s")
    print("\n".join(paced.lines()))
    start, fifth, cpu = time.perf_counter(), options.items * options.k // 5, server.cpu_seconds()
    parts = []
    total = Timings()
    for part in range(5):
        begin = time.perf_counter()
        timings = await _loop(crowd, 300, fifth)
        done = len(timings.seconds["judgment"])
        if not done:
            break
        parts.append(done / (time.perf_counter() - begin))
        for kind, values in timings.seconds.items():
            total.seconds[kind] += values
    judged = len(total.seconds["judgment"])
    print(f"closed loop, {len(crowd)} annotators: {judged / (time.perf_counter() - start):.1f} judgments/s; "
          f"by fifths of the work {', '.join(f'{p:.1f}' for p in parts)}; "
          f"{1000 * (server.cpu_seconds() - cpu) / judged:.1f} ms of the server's CPU a judgment; {server.memory():.0f} MB")
    print("\n".join(total.lines()))
    return parts[0]


async def _loop(crowd, seconds: float, judgments: int, every: float = 0.0) -> Timings:
    """Page + judgment until the time is over or that many judgments are sent."""
    timings, end, left = Timings(), time.perf_counter() + seconds, [judgments]

    async def work(person):
        person.browser.timings = timings
        await asyncio.sleep(person.random.uniform(0, every))
        while time.perf_counter() < end and left[0] > 0:
            begin = time.perf_counter()
            answer = await person.page()
            if answer is None:
                return
            if every:
                await asyncio.sleep(every / 2)
            left[0] -= 1
            await person.send(answer)
            await asyncio.sleep(max(0.0, every - (time.perf_counter() - begin)))

    await asyncio.gather(*(work(person) for person in crowd))
    return timings


async def log_ins(options, folder) -> int:
    return 0
