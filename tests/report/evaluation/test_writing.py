from pathlib import Path
from typing import Any

import pytest

from capsieve import FileError
from capsieve.report.evaluation import writing
from capsieve.report.evaluation.writing import write_evaluation
from capsieve.statistics.evaluation import Evaluation
from support.made_evaluation import made_evaluation

CURVES = ("roc_frames", "roc_polyps", "effort", "alarms", "froc", "comparison")
SMALL: dict[str, Any] = dict.fromkeys(CURVES) | {"histograms": ()}


def small(**changes: Any) -> Evaluation:
    """Without most figures, which take their time."""
    return made_evaluation(**(SMALL | {"tables": made_evaluation().tables[:2]} | changes))


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_whole_evaluation_is_written(tmp_path: Path) -> None:
    page = write_evaluation(made_evaluation(), tmp_path / "eval")
    found = names(tmp_path / "eval")
    assert page == tmp_path / "eval" / "report.html"
    assert {"metrics.json", "report.html", "tables/sequences.tex", "figures/roc.svg"} <= found
    assert {"figures/gallery-found.png", "figures/gallery-missed.png"} <= found
    assert {"tables/comparison.csv", "tables/changed-sides.md"} <= found
    figures = {name for name in found if name.startswith("figures/") and "gallery" not in name}
    assert {name[:-4] for name in figures if name.endswith(".svg")} == {
        name[:-4] for name in figures if name.endswith(".png")
    }
    assert page.stat().st_size < 6_000_000


def test_the_same_evaluation_gives_the_same_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_evaluation(small(), tmp_path / name, galleries=False)
    assert names(tmp_path / "a") == names(tmp_path / "b")
    for name in names(tmp_path / "a"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_stale_files_of_ours_go_and_foreign_ones_stay(tmp_path: Path) -> None:
    write_evaluation(small(), tmp_path, galleries=False)
    foreign = [tmp_path / "notes.txt", tmp_path / "tables" / "mine.csv", tmp_path / "x" / "y"]
    for path in foreign:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    assert (tmp_path / "tables" / "sequences.csv").exists()
    write_evaluation(small(tables=made_evaluation().tables[:1]), tmp_path, galleries=False)
    assert not (tmp_path / "tables" / "sequences.csv").exists()
    assert (tmp_path / "tables" / "accounts.csv").exists()
    assert all(path.read_text() == "mine" for path in foreign)


def test_a_forged_list_leads_nowhere_else(tmp_path: Path) -> None:
    folder = tmp_path / "eval"
    write_evaluation(small(), folder, galleries=False)
    victim = tmp_path / "victim.txt"
    victim.write_text("mine")
    other = folder / "deeper" / "kept.txt"
    other.parent.mkdir()
    other.write_text("mine")
    listed = (folder / "files.txt").read_text()
    forged = ["../victim.txt", "tables/../../victim.txt", str(victim), "deeper/kept.txt"]
    (folder / "files.txt").write_text(listed + "\n".join(forged))
    write_evaluation(small(), folder, galleries=False)
    assert victim.exists()
    assert other.exists()


def test_an_interrupted_evaluation_leaves_no_page_and_is_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_evaluation(small(), tmp_path, galleries=False)

    def fail(*_: object) -> None:
        raise FileError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(writing, "write_metrics", fail)
        with pytest.raises(FileError, match="full"):
            write_evaluation(small(), tmp_path, galleries=False)
    assert not (tmp_path / "report.html").exists()
    write_evaluation(small(tables=()), tmp_path, galleries=False)
    assert names(tmp_path) == {"files.txt", "metrics.json", "report.html"}


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "eval").write_text("a file")
    with pytest.raises(FileError, match="eval"):
        write_evaluation(small(), tmp_path / "eval")


def test_the_folder_of_an_exam_is_refused(tmp_path: Path) -> None:
    (tmp_path / "exam.json").write_text("{}")
    with pytest.raises(FileError, match="give another folder"):
        write_evaluation(small(), tmp_path)
    assert names(tmp_path) == {"exam.json"}
