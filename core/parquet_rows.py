"""Rows of Parquet files, as Hugging Face's `datasets` and pandas write them. pyarrow reads them and is installed on its own."""

import base64
import io
from collections.abc import Iterator
from typing import Any, BinaryIO

from core.rows import MAX_DOCUMENT_BYTES, Fail, Row, refusal, renamed

AT_ONCE = 1000  # rows


def rows_of(file: BinaryIO, name: str, columns: dict[str, str], fail: Fail) -> Iterator[Row]:
    """Raises ImportRefused where pyarrow is missing, or cannot read the file, or it is too long when unpacked."""
    try:
        import pyarrow.parquet as parquet  # only where somebody sends such a file
    except ImportError:
        raise refusal(
            name, None, "is a Parquet file; install pyarrow (pip install 'comparena[parquet]'), or send JSON lines"
        ) from None
    content = io.BytesIO(file.read(MAX_DOCUMENT_BYTES + 1))
    long = f"is longer than {MAX_DOCUMENT_BYTES // 2**20} MB; send it in parts, or as JSON lines"
    if content.getbuffer().nbytes > MAX_DOCUMENT_BYTES:
        raise refusal(name, None, long)
    try:
        table = parquet.ParquetFile(content)
        unpacked = sum(table.metadata.row_group(n).total_byte_size for n in range(table.metadata.num_row_groups))
        if unpacked > MAX_DOCUMENT_BYTES:
            raise refusal(name, None, long)
        number = 0
        for batch in table.iter_batches(AT_ONCE):
            for record in batch.to_pylist():
                number += 1
                yield Row(0, renamed(_plain(record), columns), number)
    except (OSError, ValueError, TypeError, NotImplementedError, MemoryError):  # pyarrow's errors are ValueErrors
        raise refusal(name, None, "can't be read as a Parquet file") from None


def _plain(value: Any) -> Any:
    """As JSON would have it."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float) and value != value:
        return None  # pandas writes a missing number as one that is none
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
