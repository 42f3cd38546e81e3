"""Rows that are ready before the transaction that writes them, so that it is short: SQLite lets nobody else write meanwhile."""

from collections.abc import Sequence

from django.db import connection, transaction
from django.db.models import ForeignKey, Model

BATCH = 500


def give_keys(rows: Sequence[Model]) -> None:
    """Give new rows of one model primary keys that no other row will get, and their foreign keys those of the rows that they
    point to. Keys of rows that are not written after all stay unused."""
    if not rows:
        return
    foreign = [field for field in rows[0]._meta.concrete_fields if isinstance(field, ForeignKey)]
    for row, key in zip(rows, reserved_keys(type(rows[0]), len(rows)), strict=True):
        row.pk = key
        for field in foreign:
            if field.is_cached(row) and (other := field.get_cached_value(row)) is not None:
                setattr(row, field.name, other)  # sets the key too


@transaction.atomic
def reserved_keys(model: type[Model], count: int) -> list[int]:
    table, column = model._meta.db_table, model._meta.pk.column
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)", [f'"{table}"', column, count]
            )
            return [key for (key,) in cursor.fetchall()]
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
        if known := cursor.fetchone():
            cursor.execute("UPDATE sqlite_sequence SET seq = seq + %s WHERE name = %s", [count, table])
        else:  # nothing was ever written there
            cursor.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [table, count])
    last = known[0] if known else 0
    return list(range(last + 1, last + count + 1))


class Insertion:
    """New rows of one model that have their keys. Making it prepares what `write` sends. as_they_are: also times that are
    otherwise set when a row is stored."""

    def __init__(self, rows: Sequence[Model], as_they_are: bool = False):
        self.rows, self.as_they_are = rows, as_they_are
        if not rows or connection.vendor != "sqlite":
            return
        fields = rows[0]._meta.concrete_fields
        self.values = [
            tuple(
                field.get_db_prep_save(
                    getattr(row, field.attname) if as_they_are else field.pre_save(row, add=True), connection
                )
                for field in fields
            )
            for row in rows
        ]
        quote = connection.ops.quote_name
        columns, marks = ", ".join(quote(str(field.column)) for field in fields), ", ".join(["%s"] * len(fields))
        table = quote(rows[0]._meta.db_table)
        self.statement = f"INSERT INTO {table} ({columns}) VALUES ({marks})"

    def write(self) -> None:
        """One statement for all rows where SQLite is, which takes a third of bulk_create's time there."""
        if not self.rows:
            return
        model = type(self.rows[0])
        if connection.vendor != "sqlite" and self.as_they_are:
            for start in range(0, len(self.rows), BATCH):
                model._base_manager._insert(  # type: ignore[attr-defined]  # as loaddata does
                    self.rows[start : start + BATCH], model._meta.concrete_fields, using=connection.alias, raw=True
                )
            return
        if connection.vendor != "sqlite":
            model._default_manager.bulk_create(self.rows, batch_size=BATCH)
            return
        with connection.cursor() as cursor:
            cursor.executemany(self.statement, self.values)
        for row in self.rows:
            row._state.adding, row._state.db = False, connection.alias
