"""Choices alone: `A = "a", "label"` is a member that is a str, not a pair."""

import enum
from typing import Any

class TextChoices(str, enum.Enum):
    choices: Any
    labels: Any
    values: Any
    @property
    def label(self) -> str: ...
    @property
    def value(self) -> str: ...

def __getattr__(name: str) -> Any: ...
