"""The same people at work on Comparena and on Potato, one after the other, each on a server of its own."""

import asyncio
import time
from collections.abc import Callable

from django.db import connection

from benchmarks.load import campaign as corpus
from benchmarks.load import servers
from benchmarks.load.browser import Browser, Timings
from benchmarks.load.people import PASSWORD, ComparenaPerson, PotatoPerson

EVERY = 3.0  # seconds between the judgments of one annotator, paced


async def versus(options, folder) -> int:
    _, token = await asyncio.to_thread(corpus.make, options.items, options.k, False)
    with servers.comparena() as server:
        crowd = _crowd(server, options.annotators, lambda browser, n: ComparenaPerson(browser, n, token, options.with_script))
        ours = await _measure(f"Comparena on {connection.vendor}", server, crowd, options)
    if options.potato_python:
        with _potato(options, folder) as server:
            crowd = _crowd(server, options.annotators, lambda browser, n: PotatoPerson(browser, n, corpus.CRITERIA))
            theirs = await _measure("Potato", server, crowd, options)
        print(f"\nComparena / Potato: {ours / theirs:.2f} times the judgments a second")
    return 0


def _potato(options, folder):
    rows = corpus.texts(getattr(options, "items", 8))
    rows = [{"id": str(n), "text": "\n".join([*row["context"], row["output"]])} for n, row in enumerate(rows)]
    return servers.potato(options.potato_python, folder, rows, corpus.CRITERIA, getattr(options, "k", 3))


def _crowd(server, size: int, person: Callable) -> list:
    return [person(Browser(servers.HOST, server.port, Timings()), number) for number in range(size)]


async def _measure(name: str, server, crowd: list, options) -> float:
    """Print what was seen; returns judgments a second in the closed loop."""
    for person in crowd:
        await person.join()
    print(f"\n{name}: started in {server.start_seconds:.1f} s; {len(crowd)} annotators")
    paced = await work(crowd, options.items * options.k // 5, options.paced_seconds, EVERY)
    print(f"paced, one judgment every {EVERY:g} s each, {options.paced_seconds} s:")
    print("\n".join(paced.lines()))
    total, rates, left = Timings(), [], options.items * options.k - len(paced.seconds["judgment"])
    cpu, start = server.cpu_seconds(), time.perf_counter()
    for _ in range(5):
        begin = time.perf_counter()
        part = await work(crowd, left // 5)
        rates.append(len(part.seconds["judgment"]) / (time.perf_counter() - begin))
        total.extend(part)
    judged, seconds = len(total.seconds["judgment"]), time.perf_counter() - start
    print(
        f"closed loop: {judged / seconds:.1f} judgments/s; by fifths of the work {', '.join(f'{r:.1f}' for r in rates)}; "
        f"{1000 * (server.cpu_seconds() - cpu) / judged:.1f} ms of the server's CPU a judgment; {server.memory():.0f} MB"
    )
    print("\n".join(total.lines()), flush=True)
    return judged / seconds


async def work(crowd: list, judgments: int, seconds: float = 300, every: float = 0.0) -> Timings:
    """Judgments, each with the page of the next item, until the time is over or so many are sent."""
    timings, end, left = Timings(), time.perf_counter() + seconds, [judgments]

    async def judge(person) -> None:
        person.browser.timings = timings
        await asyncio.sleep(person.random.uniform(0, every))
        answer = await person.page()
        while answer and time.perf_counter() < end and left[0] > 0:
            left[0] -= 1
            begin = time.perf_counter()
            answer = await person.judge(answer)
            await asyncio.sleep(max(0.0, every - (time.perf_counter() - begin)))

    await asyncio.gather(*(judge(person) for person in crowd))
    return timings


async def log_ins(options, folder) -> int:
    names = await asyncio.to_thread(_accounts, options.annotators)
    with servers.comparena() as server:
        await _all_at_once("Comparena", server, names, options, ComparenaPerson)
    if options.potato_python:
        with _potato(options, folder) as server:
            crowd = _crowd(server, options.annotators, lambda browser, n: PotatoPerson(browser, n, corpus.CRITERIA))
            for person in crowd:
                await person.join()
            names = [f"load{person.number}" for person in crowd]
            people = lambda browser, n: PotatoPerson(browser, n, corpus.CRITERIA)
            await _all_at_once("Potato", server, names, options, people)
    return 0


def _accounts(number: int) -> list[str]:
    from annotation.models import User

    return [User.objects.create_user(f"load{n}", password=PASSWORD).username for n in range(number)]


async def _all_at_once(name: str, server, names: list[str], options, person: Callable) -> None:
    timings, cpu = Timings(), server.cpu_seconds()
    for _ in range(options.rounds):
        crowd = _crowd(server, len(names), person)
        for somebody in crowd:
            somebody.browser.timings = timings
        await asyncio.gather(*(p.log_in(n, PASSWORD) for p, n in zip(crowd, names)))
    cpu = 1000 * (server.cpu_seconds() - cpu) / (options.rounds * len(names))
    print(f"{name}, {len(names)} log-ins at once, {options.rounds} times; {cpu:.0f} ms of the server's CPU each")
    print("\n".join(timings.lines()), flush=True)
