"""Queries that are asked again and again: built and compiled once for each connection, then only run.

For a short query Django takes longer to build and compile its SQL than the database takes to answer.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model, QuerySet
from django.db.models.query import get_related_populators

Of = TypeVar("Of", bound=Model)
FIRST = 1_700_000_000  # values that stand for the arguments while the query is built; no row's key


class Statement(Generic[Of]):
    """build: takes the arguments and returns a queryset of models, whose SQL depends on no argument but where it stands as a
    value, and which compares numbers of 31 bits at least, or texts. texts: which arguments are texts."""

    def __init__(self, build: Callable[..., QuerySet[Of]], arguments: int, texts: tuple[int, ...] = ()):
        marks = [FIRST + number for number in range(arguments)]
        self.build = build
        self.marks: list[Any] = [str(mark) if number in texts else mark for number, mark in enumerate(marks)]

    def all(self, *values: Any) -> list[Of]:
        kept = connections[DEFAULT_DB_ALIAS].__dict__.setdefault("statements", {})  # of this thread's connection
        if self not in kept:
            kept[self] = _Compiled(self.build(*self.marks), self.marks)
        return kept[self].run(values)

    def first(self, *values: Any) -> Of | None:
        return next(iter(self.all(*values)), None)


class _Compiled:
    def __init__(self, queryset: QuerySet, marks: list[Any]):
        self.compiler = queryset.query.get_compiler(using=DEFAULT_DB_ALIAS)
        self.sql, parameters = self.compiler.as_sql()
        self.places = [(marks.index(value), None) if value in marks else (None, value) for value in parameters or ()]
        if {number for number, _ in self.places if number is not None} != set(range(len(marks))):
            raise ValueError("An argument does not stand in the query as a value.")
        information = self.compiler.klass_info
        start, end = information["select_fields"][0], information["select_fields"][-1] + 1
        self.own, self.model = slice(start, end), information["model"]
        self.names = [column[0].target.attname for column in self.compiler.select[self.own]]
        self.related = get_related_populators(information, self.compiler.select, queryset.db)  # type: ignore[call-arg]
        expressions = [column[0] for column in self.compiler.select]
        self.converters = self.compiler.get_converters(expressions)
        self.db = queryset.db

    def run(self, values: tuple[Any, ...]) -> list[Any]:
        parameters = [fixed if number is None else values[number] for number, fixed in self.places]
        with self.compiler.connection.cursor() as cursor:
            cursor.execute(self.sql, parameters)
            rows = cursor.fetchall()
        if self.converters:
            rows = list(map(tuple, self.compiler.apply_converters(rows, self.converters)))
        return [self._made(row) for row in rows]

    def _made(self, row: tuple[Any, ...]) -> Any:
        made = self.model.from_db(self.db, self.names, row[self.own])
        for populator in self.related:
            populator.populate(row, made)
        for name, column in self.compiler.annotation_col_map.items():
            setattr(made, name, row[column])
        return made
