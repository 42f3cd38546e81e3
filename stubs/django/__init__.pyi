"""The little of Django that mypy must know; everything else of it is Any."""

from typing import Any

def __getattr__(name: str) -> Any: ...
