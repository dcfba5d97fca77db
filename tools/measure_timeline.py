"""Measure what the timeline score brings: ``python tools/measure_timeline.py RESULTS LABELS``.

RESULTS is a folder of ``capsieve screen``, or of out-of-fold results of ``capsieve train``; LABELS
what its frames show. Prints, for the frame's score and for the timeline score, the polyps found
where equally many normal frames are flagged, and where there are equally many false alarms (runs of
flagged frames); exam by exam how many more the timeline finds.

Scores that are no probabilities (the paper's R_max) are made probabilities first: a logistic curve
through the frames of all *other* patients, with equal weight for both classes. Frames that the
sieve rejected (score 0) get the probability of their kind.

With ``--false-alarms RESULTS2 TABLE``, frames without polyps of exams of which TABLE (a CSV file
with the columns file, video and frame) names the exam and the frame number: what the same
thresholds flag there. Rows without a video are left out: pictures of which nobody knows the order.

With ``--detector learned`` (or a model file) RESULTS is a folder of exams, such as ``exams`` of
``capsieve phantom``, and RESULTS2 the folder that the files of TABLE are in. Both are screened
first, into ``--out``; an interrupted run goes on there.
"""

import argparse
import csv
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from capsieve.engine.judged_results import read_matched
from capsieve.engine.screening import screen
from capsieve.learned.timeline import FRAME_S, timeline_scores
from capsieve.learned.training.logistic import fit_logistic, sigmoid
from capsieve.statistics.alarm_sets import KINDS, alarms_at
from capsieve.statistics.alarms import alarm_curve
from capsieve.statistics.flagged_runs import run_starts
from capsieve.statistics.judged import NORMAL, POLYP, Judged
from capsieve.statistics.labels import read_labels
from capsieve.store.reader import exam_folders, read_frames

Floats = NDArray[np.float64]

ALARMS = (1, 2, 5, 10, 20)  # false alarms per exam
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2)  # of the normal frames, flagged


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, metavar="RESULTS")
    parser.add_argument("labels", type=Path, metavar="LABELS")
    parser.add_argument("--false-alarms", type=Path, nargs=2, metavar=("RESULTS2", "TABLE"))
    parser.add_argument("--detector", metavar="learned|PATH", help="screen with it first")
    parser.add_argument("--out", type=Path, default=Path("timeline-measured"))
    parser.add_argument("--workers", type=int)
    asked = parser.parse_args()
    results, elsewhere = asked.results, asked.false_alarms and asked.false_alarms[0]
    if asked.detector:
        using = {"detector": asked.detector, "workers": asked.workers}
        results = screened(results, asked.out / "results", **using)
        if elsewhere:
            linked = link_exams(elsewhere, asked.false_alarms[1], asked.out / "exams-elsewhere")
            elsewhere = screened(linked, asked.out / "results-elsewhere", **using)
    matched, _ = read_matched(results, read_labels(asked.labels))
    judged = matched.judged
    calibrated = np.nanmax(judged.score) <= 1
    frame = judged.score if calibrated else out_of_patient(judged)
    by = {
        "frame": replace(judged, score=frame),
        "timeline": replace(judged, score=smoothed(judged, frame)),
    }
    minutes = sum(np.ptp(judged.time[judged.exam == code]) for code in np.unique(judged.exam)) / 60
    print(f"{len(judged.exams)} exams of {minutes:.0f} minutes, {len(judged):,} frames")
    print_classes(by)
    limits = {
        share: {name: threshold_for(each, share) for name, each in by.items()} for share in SHARES
    }
    print("\nnormal frames flagged | polyps found: frame, timeline | more by exam | false alarms")
    for share, limit in limits.items():
        alarms = ", ".join(f"{false_alarms(by[name], limit[name]):.1f}" for name in by)
        print(f"{100 * share:g} % | {found_words(by, limit)} | {alarms}")
    print("\nfalse alarms per exam | polyps found: frame, timeline | more by exam | normal frames")
    curves = {name: alarms_of(each) for name, each in by.items()}
    for most in ALARMS:
        limit = {name: threshold_for_alarms(curve, most) for name, curve in curves.items()}
        flagged = ", ".join(f"{normal_flagged(by[name], limit[name]):.1%}" for name in by)
        print(f"{most:g} | {found_words(by, limit)} | {flagged}")
    if elsewhere:
        far = of_table(elsewhere, asked.false_alarms[1])
        print_elsewhere(judged, far, limits, calibrated=bool(calibrated))


def screened(exams: Path, out: Path, *, detector: str, workers: int | None) -> Path:
    """Screen exams and return the folder of their results."""
    for exam in screen(exams, out, detector=detector, workers=workers):
        if exam.error is not None:
            raise SystemExit(f"{exam.name} failed: {exam.error}")
    return out


def link_exams(pictures: Path, table: Path, folder: Path) -> Path:
    """Make a folder of links for each video of a table, and return the folder of all."""
    with table.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["video"]]
    for row in rows:
        exam = folder / row["video"]
        exam.mkdir(parents=True, exist_ok=True)
        link = exam / Path(row["file"]).name
        if not link.exists():
            os.symlink((pictures / row["file"]).resolve(strict=True), link)
    return folder


def print_elsewhere(
    judged: Judged,
    far: Judged,
    limits: dict[float, dict[str, float]],
    *,
    calibrated: bool,
) -> None:
    """Print false alarms on exams without polyps, at thresholds of the others and at their own."""
    model = None if calibrated else fitted(judged, np.ones(len(judged), bool))
    p = far.score if model is None else mapped(model, far.score)
    other = {"frame": p, "timeline": smoothed(far, p)}
    normal = (far.truth == NORMAL) & ~np.isnan(p)
    print(f"\n{len(far.exams)} exams without polyps, {len(far):,} frames")
    print("normal frames flagged there | here: frame, timeline | false alarms per exam")
    for share, limit in limits.items():
        shares = ", ".join(f"{100 * np.mean(other[n][normal] >= limit[n]):.1f} %" for n in other)
        alarms = ", ".join(f"{alarms_per_exam(far, other[n], limit[n]):.1f}" for n in other)
        print(f"{100 * share:g} % | {shares} | {alarms}")
    print("normal frames flagged here | false alarms per exam: frame, timeline")
    for share in limits:
        own = {n: nth_highest(other[n][normal], share) for n in other}
        alarms = ", ".join(f"{alarms_per_exam(far, other[n], own[n]):.1f}" for n in other)
        print(f"{100 * share:g} % | {alarms}")


def out_of_patient(judged: Judged) -> Floats:
    """Return probabilities by curves that were fitted without the frame's patient."""
    p = np.full(len(judged), np.nan)
    for group in np.unique(judged.group):
        here = judged.group == group
        p[here] = mapped(fitted(judged, ~here), judged.score[here])
    return p


def fitted(judged: Judged, chosen: NDArray[np.bool_]) -> tuple[Floats, float]:
    """Fit log odds that are linear in the score, and free for a score of 0."""
    chosen = chosen & np.isin(judged.truth, (POLYP, NORMAL)) & ~np.isnan(judged.score)
    polyp = judged.truth[chosen] == POLYP
    weights = np.where(polyp, 0.5 / polyp.sum(), 0.5 / (~polyp).sum())
    bounds = np.array([0.0, -np.inf])
    return fit_logistic(
        inputs_of(judged.score[chosen]),
        polyp.astype(np.float64),
        weights,
        ridge=np.full(2, 1e-4),
        least=bounds,
    )


def mapped(model: tuple[Floats, float], score: Floats) -> Floats:
    """Return probabilities; NaN where there is no score."""
    there = ~np.isnan(score)
    p = np.full(len(score), np.nan)
    p[there] = sigmoid(inputs_of(score[there]) @ model[0] + model[1])
    return p


def inputs_of(score: Floats) -> Floats:
    """Return the score in units of about 1, and whether the frame was rejected."""
    return np.column_stack([score / 30.0, score <= 0]).astype(np.float64)


def smoothed(judged: Judged, p: Floats) -> Floats:
    """Return timeline scores, exam by exam."""
    found = np.full(len(p), np.nan)
    for code in np.unique(judged.exam):
        here = judged.exam == code
        found[here] = timeline_scores(
            p[here], frame=judged.frame[here], head=judged.head[here], time=judged.time[here]
        )
    return found


def print_classes(by: dict[str, Judged]) -> None:
    """Print how well each score tells frames apart."""
    for name, judged in by.items():
        polyp, normal = (judged.score[judged.truth == truth] for truth in (POLYP, NORMAL))
        polyp, normal = (each[~np.isnan(each)] for each in (polyp, normal))
        ranks = (
            np.searchsorted(np.sort(normal), polyp, "left"),
            np.searchsorted(np.sort(normal), polyp, "right"),
        )
        area = np.mean(ranks[0] + ranks[1]) / 2 / len(normal)
        limit = np.sort(normal)[::-1][int(0.1 * len(normal))]
        print(
            f"{name}: {len(polyp)} polyp frames, {len(normal):,} normal; AUC {area:.3f}; "
            f"{100 * np.mean(polyp > limit):.1f} % of polyp frames at 90 % specificity"
        )


def threshold_for(judged: Judged, share: float) -> float:
    """Return the lowest threshold that flags at most this share of the normal frames."""
    normal = judged.score[judged.truth == NORMAL]
    return nth_highest(normal[~np.isnan(normal)], share)


def nth_highest(score: Floats, share: float) -> float:
    """Return a threshold just above the first score that must not be flagged."""
    return float(np.nextafter(np.sort(score)[::-1][int(share * len(score))], np.inf))


def false_alarms(judged: Judged, threshold: float) -> float:
    """Return false alarms per exam."""
    alarms = alarms_at(judged, threshold=threshold)
    assert alarms is not None
    return np.count_nonzero(alarms.kind == KINDS.index("false")) / len(alarms.exams)


def normal_flagged(judged: Judged, threshold: float) -> float:
    """Return the share of normal frames that are flagged."""
    normal = judged.score[judged.truth == NORMAL]
    return float(np.mean(normal[~np.isnan(normal)] >= threshold))


def alarms_of(judged: Judged) -> tuple[Floats, Floats]:
    """Return falling thresholds and false alarms per exam."""
    score = judged.score[~np.isnan(judged.score)]
    curve = alarm_curve(judged, thresholds=np.quantile(score, np.linspace(0, 1, 1001)))
    if curve is None:
        raise SystemExit("the exams have no times: false alarms cannot be counted")
    return curve.thresholds, curve.alarms


def threshold_for_alarms(curve: tuple[Floats, Floats], most: float) -> float:
    """Return the lowest threshold down to which false alarms never exceed `most` per exam.

    Lower still, alarms run together, and their number falls again: that is no better sieve.
    """
    too_many = np.flatnonzero(curve[1] > most)
    place = too_many[0] - 1 if len(too_many) else len(curve[1]) - 1
    return float(curve[0][place]) if place >= 0 else np.inf


def found_words(by: dict[str, Judged], limit: dict[str, float]) -> str:
    """Return the polyps that either score finds, and how many more the timeline finds by exam."""
    found = {name: found_at(by[name], limit[name]) for name in by}
    exam = exam_of_polyps(by["frame"])
    gain = [
        int(found["timeline"][exam == code].sum() - found["frame"][exam == code].sum())
        for code in np.unique(exam)
    ]
    counts = ", ".join(f"{int(each.sum())} of {len(each)}" for each in found.values())
    return f"{counts} | {' '.join(f'{value:+d}' for value in gain)}"


def found_at(judged: Judged, threshold: float) -> NDArray[np.bool_]:
    """Return which polyps have a flagged frame in time."""
    alarms = alarms_at(judged, threshold=threshold)
    assert alarms is not None
    return alarms.delay <= 10.0


def exam_of_polyps(judged: Judged) -> NDArray[np.int32]:
    """Return the exam of each polyp, in the order of the alarms' delays."""
    shown = np.flatnonzero((judged.truth == POLYP) & (judged.polyp >= 0))
    _, first = np.unique(judged.polyp[shown], return_index=True)
    return judged.exam[shown[first]]


def of_table(results: Path, table: Path) -> Judged:
    """Return screened frames with the exams and frame numbers of a table, unlabelled."""
    with table.open(newline="", encoding="utf-8") as file:
        told = {Path(row["file"]).name: row for row in csv.DictReader(file) if row["video"]}
    matched, _ = read_matched(results, read_labels(table))
    judged = matched.judged
    names = [
        Path(name).name
        for folder in exam_folders(results)
        for name in read_frames(folder, ["file"])["file"].to_pylist()
    ]
    keep = np.array([name in told for name in names])
    judged = judged.take(keep)
    rows = [told[name] for name in names if name in told]
    exams = sorted({row["video"] for row in rows})
    exam = np.array([exams.index(row["video"]) for row in rows], np.int32)
    frame = np.array([int(row["frame"]) for row in rows], np.int64)
    order = np.lexsort((frame, exam))
    judged = replace(judged, exams=tuple(exams), exam=exam, frame=frame, head=judged.head * 0)
    return judged.take(order)


def alarms_per_exam(judged: Judged, score: Floats, threshold: float) -> float:
    """Return runs of flagged frames with pauses of at most a second, by frame numbers."""
    flagged = np.flatnonzero(score >= threshold)
    stream = judged.exam[flagged].astype(np.int64)
    runs = run_starts(stream, FRAME_S * judged.frame[flagged].astype(np.float64), 1.0)
    return len(runs) / len(judged.exams)


if __name__ == "__main__":
    main()
