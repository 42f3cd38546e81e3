"""The locks pin what the requirements need, in the versions of constraints.txt, with hashes."""

import re
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCKS = ["requirements.lock", "requirements-cpu.lock"]
CUDA = re.compile(r"nvidia-|cuda-|triton$")  # what torch's build with CUDA needs besides
# Needed elsewhere than here: by an older Python, in a browser, on Windows; and what torch needs of the installer.
ELSEWHERE = {"async-timeout", "httpx2-jsfetch", "tzdata", "setuptools"}


def pinned(file: str) -> dict[str, str]:
    """{package: version}"""
    lines = (ROOT / file).read_text().splitlines()
    found = (re.match(r"([A-Za-z0-9_.-]+)==([^ ;\\]+)", line) for line in lines)
    return {canonicalize_name(match[1]): match[2] for match in found if match}


def wanted() -> set[str]:
    """What requirements-oidc.txt and so requirements.txt name, with all that these need on this machine."""
    lines = [line for file in ("requirements.txt", "requirements-oidc.txt") for line in (ROOT / file).read_text().splitlines()]
    left = [Requirement(line) for line in lines if line and line[0] not in "#-"]
    found: set[str] = set()
    while left:
        requirement = left.pop()
        name = canonicalize_name(requirement.name)
        if name not in found:
            found.add(name)
            for extra in ("", *requirement.extras):
                ones = map(Requirement, requires(name) or [])
                left += [one for one in ones if not one.marker or one.marker.evaluate({"extra": extra})]
    return found


@pytest.mark.parametrize("file", LOCKS)
def test_the_versions_are_those_of_the_constraints(file):
    constraints = pinned("constraints.txt")
    own = {name: version.removesuffix("+cpu") for name, version in pinned(file).items() if not CUDA.match(name)}
    assert own.keys() - constraints.keys() <= ELSEWHERE
    assert {name: version for name, version in own.items() if constraints.get(name, version) != version} == {}, "make lock"


@pytest.mark.parametrize("file", LOCKS)
def test_nothing_is_missing(file):
    try:
        names = wanted()
    except PackageNotFoundError as error:
        pytest.fail(f"{error} is not installed here")
    assert len(names) > 50
    assert names - pinned(file).keys() == set(), "make lock"


@pytest.mark.parametrize("file", LOCKS)
def test_every_package_has_its_hashes(file):
    entries = re.split(r"\n(?=[a-z0-9])", (ROOT / file).read_text())[1:]
    assert len(entries) == len(pinned(file))
    for entry in entries:
        first, *hashes = entry.replace("\\", "").split("\n    ")
        assert hashes and all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}\s*", one) for one in hashes), first


def test_the_lock_for_cpu_differs_in_torch_alone():
    full, cpu = map(pinned, LOCKS)
    assert cpu.pop("torch") == full.pop("torch") + "+cpu"
    assert {name: version for name, version in full.items() if not CUDA.match(name)} == cpu
    assert any(CUDA.match(name) for name in full)


def test_one_index_besides_pypi_and_for_torch_alone():
    options = [line for file in LOCKS for line in (ROOT / file).read_text().splitlines() if line.startswith("--")]
    assert options == ["--extra-index-url https://download.pytorch.org/whl/cpu"]
