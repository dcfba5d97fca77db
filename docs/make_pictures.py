"""Make the pictures of the documentation, with the program itself: ``make docs``.

Only synthetic frames are shown.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image
from room_pictures import room_pictures

from capsieve.parameters import Parameters
from capsieve.phantom import (
    PhantomFrame,
    StudyPlan,
    plan_study,
    polyp_frame,
    render_frame,
    write_study,
)
from capsieve.report import figures
from capsieve.report.data_flow import data_flow_drawing

IMAGES = Path(__file__).parent / "images"
ROWS, COLS = 4, 6
SIZE = 256

# No first-run pages, and no word to the network.
BROWSER = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--hide-scrollbars", "--window-size=1200,1260"),
)


def capsieve(*arguments: str | Path, folder: str) -> None:
    """Run the program in a folder."""
    command = [sys.executable, "-m", "capsieve", *map(str, arguments)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder)


def data_flow() -> None:
    """Draw how each quantity of the algorithm follows from others."""
    figures.save(data_flow_drawing(Parameters()).figure, IMAGES / "data-flow.svg")


def nine_panels() -> None:
    """Explain a synthetic frame with a polyp."""
    with tempfile.TemporaryDirectory() as folder:
        Image.fromarray(polyp_frame()).save(Path(folder) / "frame.png")
        capsieve("explain", "frame.png", "-o", "nine-panels.png", folder=folder)
        shutil.copy(Path(folder) / "nine-panels.png", IMAGES)


def study_pages() -> None:
    """Screen and evaluate the demo study; photograph both reports and the reading room."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        write_study(plan_study("demo"), Path(folder) / "study")
        capsieve("screen", "study/exams", "-o", "results", "--quiet", folder=folder)
        labels = ("--labels", "study/labels.csv", "--regions", "study")
        capsieve("evaluate", "results", *labels, "-o", "evaluation", folder=folder)
        shutil.copy(Path(folder) / "evaluation" / "figures" / "roc.png", IMAGES / "roc.png")
        if shutil.which("chromium") is None:
            print("Pictures of pages stay as they are: they need the Debian package chromium")
            return
        photograph(Path(folder) / "results" / "patient-1" / "report.html", "report.png")
        photograph(Path(folder) / "evaluation" / "report.html", "evaluation.png")
        room_pictures(Path(folder) / "results", save_small)


def photograph(page: Path, name: str) -> None:
    """Take a picture of the top of a page."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        picture = Path(folder) / name
        place = (f"--user-data-dir={folder}/profile", f"--screenshot={picture}")
        command = ["chromium", *BROWSER, *place, page.as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        with Image.open(picture) as shot:
            save_small(shot, name)


def save_small(shot: Image.Image, name: str) -> None:
    """Save a picture: a palette takes half of the bytes, and the eye sees no difference."""
    shot.convert("RGB").quantize(256, kmeans=2).save(IMAGES / name, optimize=True)


def contact_sheet() -> None:
    """Polyps of every kind in the upper half; folds, motion and what spoils a frame below."""
    study = plan_study("demo", size=SIZE)
    polyps, others = sort_frames(study)
    shown = polyps[: ROWS * COLS // 2]
    shown += others[: ROWS * COLS - len(shown)]
    figure = Figure(figsize=(12, 8.6), dpi=80, facecolor="white")
    FigureCanvasAgg(figure)
    for place, (words, frame) in enumerate(shown, 1):
        axes = figure.add_subplot(ROWS, COLS, place)
        axes.imshow(frame.pixels)
        axes.set_title(words, fontsize=9)
        axes.axis("off")
    figure.subplots_adjust(left=0.01, right=0.99, top=0.96, bottom=0.01, wspace=0.03, hspace=0.14)
    figure.savefig(IMAGES / "phantom.jpg", pil_kwargs={"quality": 85})


def sort_frames(
    study: StudyPlan,
) -> tuple[list[tuple[str, PhantomFrame]], list[tuple[str, PhantomFrame]]]:
    """Return the best view of every polyp, and normal frames that differ in what they show."""
    best: dict[tuple[str, int], tuple[int, str, PhantomFrame]] = {}
    others: dict[str, list[PhantomFrame]] = {}
    for exam in study.exams:
        kinds = {polyp.id: polyp for polyp in exam.plan.polyps}
        for number in range(0, exam.plan.frames, 2):
            frame = render_frame(exam.plan, number)
            truth = frame.truth
            if truth.label == "polyp":
                polyp = truth.polyps[0]
                words = f"{kinds[polyp.id].kind}, {kinds[polyp.id].size_mm:.0f} mm"
                key = (exam.name, polyp.id)
                if key not in best or best[key][0] < polyp.pixels:
                    best[key] = (polyp.pixels, words, frame)
            else:
                what = " and ".join(truth.spoiled) or f"{truth.motion}, lumen {truth.lumen}"
                others.setdefault(what, []).append(frame)
    polyps = [(words, frame) for _, words, frame in best.values()]
    normal: list[tuple[str, PhantomFrame]] = []
    for turn in range(3):  # one of each, then a second and a third
        normal += [(what, seen[turn]) for what, seen in sorted(others.items()) if len(seen) > turn]
    return polyps, normal


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    data_flow()
    nine_panels()
    study_pages()
    contact_sheet()
