"""Write labels in capsieve's own format."""

import json
import os
from pathlib import Path

import pyarrow as pa

from capsieve.atomic_write import atomic_write
from capsieve.errors import FileError, ParameterError
from capsieve.statistics.labels.label_set import LABELS
from capsieve.store.schema import SCHEMA

__all__ = ["write_labels"]


def write_labels(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write labels as CSV or Parquet, by the path's ending; the file appears whole or not at all.

    Parameters
    ----------
    table
        Columns of :data:`~capsieve.statistics.labels.label_set.LABELS`; those that are not there
        are written without content.
    path
        Ends in .csv or .parquet.

    Raises
    ------
    ParameterError
        The table has other columns, or values of another kind.
    FileError
        The path has another ending, or cannot be written.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in (".csv", ".parquet"):
        raise FileError(f"cannot write {path}: labels are .csv or .parquet; choose by the ending")
    table = _complete(table)
    with atomic_write(path) as temporary:
        if ending == ".csv":
            from pyarrow import csv

            csv.write_csv(table, temporary)
        else:
            import pyarrow.parquet as pq

            content = {"schema": SCHEMA, "table": "labels"}
            described = {b"capsieve": json.dumps(content).encode()}
            pq.write_table(table.replace_schema_metadata(described), temporary)


def _complete(table: pa.Table) -> pa.Table:
    strange = [name for name in table.schema.names if name not in LABELS.names]
    if strange:
        raise ParameterError("table", f"labels have no column {strange[0]!r}")
    columns = [
        table[field.name] if field.name in table.schema.names else pa.nulls(len(table), field.type)
        for field in LABELS
    ]
    try:
        return pa.table(columns, names=LABELS.names).cast(LABELS)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ParameterError("table", f"the columns are not those of labels: {error}") from error
