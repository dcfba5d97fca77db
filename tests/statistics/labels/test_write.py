"""Labels written in capsieve's own format."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capsieve.errors import FileError, ParameterError
from capsieve.statistics.labels import LABELS, read_labels, write_labels
from capsieve.store.schema import SCHEMA

NAMES = st.none() | st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).map(
    str.strip
).filter(bool)
ROWS = st.lists(
    st.tuples(st.sampled_from(["polyp", "normal", "other"]), NAMES, NAMES), min_size=1, max_size=6
)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@given(rows=ROWS)
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_what_is_written_is_read_again(
    tmp_path: Path, ending: str, rows: list[tuple[str, str | None, str | None]]
) -> None:
    labels, blocks, findings = zip(*rows, strict=True)
    content = {
        "exam": ["a, \"b\"\n;c"] * len(rows),
        "frame": range(len(rows)),
        "label": labels,
        "block": blocks,
        "finding": findings,
    }  # fmt: skip
    schema = pa.schema([LABELS.field(name) for name in content])
    path = tmp_path / f"labels.{ending}"
    write_labels(pa.table({name: list(some) for name, some in content.items()}, schema), path)
    again = read_labels(path)
    assert again.problems == again.warnings == ()
    assert again.table.select(schema.names).to_pydict() == {
        name: list(some) for name, some in content.items()
    }


def test_parquet_carries_the_version(tmp_path: Path) -> None:
    table = pa.table({"file": ["a.jpg"], "label": ["polyp"]})
    write_labels(table, tmp_path / "labels.parquet")
    metadata = pq.read_schema(tmp_path / "labels.parquet").metadata
    assert metadata is not None
    assert json.loads(metadata[b"capsieve"]) == {"schema": SCHEMA, "table": "labels"}


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"label": ["polyp"], "reader": ["Ann"]}),
        pa.table({"label": ["polyp"], "frame": ["three"]}),
    ],
)
def test_a_table_that_is_no_labels_is_refused(tmp_path: Path, table: pa.Table) -> None:
    with pytest.raises(ParameterError, match="table"):
        write_labels(table, tmp_path / "labels.csv")
    assert list(tmp_path.iterdir()) == []


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"\.csv or \.parquet"):
        write_labels(pa.table({"label": ["polyp"]}), tmp_path / "labels.json")
