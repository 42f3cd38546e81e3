"""Queries that are asked again and again, and rows that are stored again and again: built and compiled once for each
connection, then only run.

For a short query Django takes longer to build and compile its SQL than the database takes to answer.
"""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model, QuerySet
from django.db.models.fields import AutoFieldMixin
from django.db.models.query import get_related_populators

Of = TypeVar("Of")
FIRST = 1_700_000_000  # values that stand for the arguments while the query is built; no row's key


class Statement(Generic[Of]):
    """build: takes the arguments and returns a queryset of models or of tuples (values_list), whose SQL depends on no argument
    but where it stands as a value, and which compares numbers of 31 bits at least, or texts. texts: which arguments are
    texts."""

    def __init__(self, build: Callable[..., QuerySet[Any, Of]], arguments: int, texts: tuple[int, ...] = ()):
        marks = [FIRST + number for number in range(arguments)]
        self.build = build
        self.marks: list[Any] = [str(mark) if number in texts else mark for number, mark in enumerate(marks)]

    def all(self, *values: Any) -> list[Of]:
        kept = _kept()
        if self not in kept:
            kept[self] = _Compiled(self.build(*self.marks), self.marks)
        return kept[self].run(values)

    def first(self, *values: Any) -> Of | None:
        return next(iter(self.all(*values)), None)


def rows_of(sql: str, values: Sequence[Any]) -> list[Any]:
    """What a statement gives back."""
    return _run(sql, values, lambda cursor: cursor.fetchall())


def changes(sql: str, values: Sequence[Any]) -> int:
    """How many rows a statement changes."""
    return _run(sql, values, lambda cursor: cursor.rowcount)


def _run(sql: str, values: Sequence[Any], result: Callable[[Any], Any]) -> Any:
    """As Django's cursors do, but by one that stays: making one takes as long as a short statement."""
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.execute_wrappers or connection.queries_logged:  # somebody counts them
        with connection.cursor() as counted:
            counted.execute(sql, values)
            return result(counted)
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    connection.validate_no_broken_transaction()
    kept = connection.__dict__
    with connection.wrap_database_errors:
        if kept.get("cursor_is_of") is not connection.connection:
            kept["kept_cursor"], kept["cursor_is_of"] = connection.create_cursor(), connection.connection
        kept["kept_cursor"].execute(sql, values)
        return result(kept["kept_cursor"])


def _kept() -> dict:
    """What was compiled for this thread's connection."""
    return connections[DEFAULT_DB_ALIAS].__dict__.setdefault("statements", {})


class _Compiled:
    def __init__(self, queryset: QuerySet, marks: list[Any]):
        self.compiler = queryset.query.get_compiler(using=DEFAULT_DB_ALIAS)
        self.sql, parameters = self.compiler.as_sql()
        self.places = [(marks.index(value), None) if value in marks else (None, value) for value in parameters or ()]
        if {number for number, _ in self.places if number is not None} != set(range(len(marks))):
            raise ValueError("An argument does not stand in the query as a value.")
        expressions = [column[0] for column in self.compiler.select]
        self.converters = self.compiler.get_converters(expressions)
        self.db, self.model = queryset.db, None
        if queryset.query.values_select:
            return
        information = self.compiler.klass_info
        start, end = information["select_fields"][0], information["select_fields"][-1] + 1
        self.own, self.model = slice(start, end), information["model"]
        self.names = [column[0].target.attname for column in self.compiler.select[self.own]]
        self.related = get_related_populators(information, self.compiler.select, queryset.db)  # type: ignore[call-arg]

    def run(self, values: tuple[Any, ...]) -> list[Any]:
        parameters = [fixed if number is None else values[number] for number, fixed in self.places]
        rows = rows_of(self.sql, parameters)
        if self.converters:
            rows = list(map(tuple, self.compiler.apply_converters(rows, self.converters)))
        return rows if self.model is None else [self._made(row) for row in rows]

    def _made(self, row: tuple[Any, ...]) -> Any:
        made = self.model.from_db(self.db, self.names, row[self.own])
        for populator in self.related:
            populator.populate(row, made)
        for name, column in self.compiler.annotation_col_map.items():
            setattr(made, name, row[column])
        return made


def insert(rows: Sequence[Model], owner: Model | None = None) -> None:
    """Store new rows of one model in one statement, and give them the keys that the database makes. No signal is sent.
    owner: another new row, to which they belong; it has its key already. PostgreSQL stores it in the same statement."""
    model, connection, kept = type(rows[0]), connections[DEFAULT_DB_ALIAS], _kept()
    if owner and connection.vendor != "postgresql":
        insert([owner])
        owner = None
    shape = model, len(rows), type(owner)
    if shape not in kept:
        fields, sql = _insertion(model, len(rows), connection.ops.quote_name)
        of_owner, owners = _insertion(type(owner), 1, connection.ops.quote_name) if owner else ([], "")
        kept[shape] = of_owner, fields, f"WITH owner AS ({owners}) {sql}" if owner else sql
    of_owner, fields, sql = kept[shape]
    pairs = [*((owner, field) for field in of_owner), *((row, field) for row in rows for field in fields)]
    values = [field.get_db_prep_save(field.pre_save(row, add=True), connection) for row, field in pairs]
    for row, (key,) in zip(rows, rows_of(sql, values), strict=True):
        row.pk = model._meta.pk.to_python(key)
    for row in [*rows, owner] if owner else rows:
        row._state.adding, row._state.db = False, connection.alias


def _insertion(model: type[Model], rows: int, quote: Callable[[str], str]) -> tuple[list, str]:
    fields = [field for field in model._meta.concrete_fields if not isinstance(field, AutoFieldMixin)]
    columns, marks = ", ".join(quote(str(field.column)) for field in fields), ", ".join(["%s"] * len(fields))
    table, key = quote(model._meta.db_table), quote(str(model._meta.pk.column))
    return fields, f"INSERT INTO {table} ({columns}) VALUES {', '.join([f'({marks})'] * rows)} RETURNING {key}"
