"""Screening a whole exam: against a bare loop, against decoding alone, with two workers; memory.

``python -m benchmarks screening`` renders a phantom exam of 3,000 frames once and keeps it in the
folder for temporary files. CPU times are those of one process in which everything was loaded
before.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from statistics import median

import av

import capsieve
from capsieve.phantom import plan_study, write_study

FRAMES = 3000
ROUNDS = 3


def exam() -> Path:
    """Return the video of the exam, rendered where it is not there yet."""
    study = Path(tempfile.gettempdir()) / "capsieve-benchmark-study"
    plan = plan_study("custom", patients=1, frames=FRAMES, polyps=6, seed=3)
    write_study(plan, study)
    return next((study / "exams").glob("*.mp4"))


def decode(path: Path) -> int:
    """Decode to RGB on one thread, and nothing else."""
    with av.open(str(path)) as container:
        container.streams.video[0].codec_context.thread_count = 1
        return sum(f.to_ndarray(format="rgb24").shape[2] // 3 for f in container.decode(video=0))


def bare_loop(path: Path, field: capsieve.FieldOfView) -> int:
    """Decode and analyse, frame by frame."""
    detector = capsieve.load_detector("paper")
    with av.open(str(path)) as container:
        container.streams.video[0].codec_context.thread_count = 1
        frames = (frame.to_ndarray(format="rgb24") for frame in container.decode(video=0))
        return sum(detector.score(frame, field).label == "polyp" for frame in frames)


def screened(path: Path, out: Path, workers: int) -> capsieve.ScreenedExam:
    """Screen with that many workers."""
    (done,) = capsieve.screen(path, out, workers=workers, fresh=True)
    assert done.complete
    return done


def cpu(work: Callable[[], object]) -> float:
    """Return the CPU seconds of a call."""
    started = time.process_time()
    work()
    return time.process_time() - started


def wall(work: Callable[[], object]) -> float:
    """Return the seconds of a call."""
    started = time.monotonic()
    work()
    return time.monotonic() - started


def looped(path: Path, target: Path, frames: int) -> None:
    """Write the packets of a video again and again, until there are that many frames."""
    with av.open(str(path)) as source, av.open(str(target), "w") as sink:
        stream = source.streams.video[0]
        copy = sink.add_stream_from_template(stream)
        packets = [packet for packet in source.demux(stream) if packet.size]
        stamps = [(packet.pts or 0, packet.dts or 0, bytes(packet)) for packet in packets]
        keys = [packet.is_keyframe for packet in packets]
        length = max(pts for pts, _, _ in stamps) + (stamps[1][1] - stamps[0][1])
        for number in range(frames):
            turn, place = divmod(number, len(stamps))
            pts, dts, data = stamps[place]
            packet = av.Packet(data)
            packet.pts, packet.dts = pts + turn * length, dts + turn * length
            packet.time_base, packet.stream = stream.time_base or Fraction(1), copy
            packet.is_keyframe = keys[place]
            sink.mux(packet)


def largest_process(path: Path, out: Path) -> float:
    """Return the megabytes of the largest process of a run with two workers."""
    code = (
        "import resource, sys, capsieve\n"
        "if __name__ == '__main__':\n"
        "    capsieve.screen(sys.argv[1], sys.argv[2], workers=2, fresh=True)\n"
        "    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss\n"
        "    print(max(own, children) / 1024)\n"
    )
    script = out / "run.py"
    script.write_text(code, encoding="utf-8")
    command = [sys.executable, str(script), str(path), str(out / "memory")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout)


def main() -> None:
    path = exam()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        record = screened(path, out / "one", 1).record
        assert record is not None
        view = record["views"][0]
        field = capsieve.FieldOfView("circle", view["row"], view["col"], view["radius"])
        bare_loop(path, field)
        ratios, to_decoding, speed_up, rates = [], [], [], []
        for _ in range(ROUNDS):
            plain = cpu(lambda: decode(path))
            bare = cpu(lambda: bare_loop(path, field))
            whole = cpu(lambda: screened(path, out / "one", 1))
            ratios.append(whole / bare)
            to_decoding.append(whole / plain)
            one = wall(lambda: screened(path, out / "one", 1))
            two = wall(lambda: screened(path, out / "two", 2))
            speed_up.append(one / two)
            rates.append(FRAMES / two)
        line("CPU time / bare loop of decoding and analyze", f"{median(ratios):.2f}", "<= 1.25")
        line("CPU time / decoding to RGB alone", f"{median(to_decoding):.2f}", "aim 3")
        line("two workers, times as fast as one", f"{median(speed_up):.2f}", ">= 1.7")
        line("frames per second, two workers", f"{median(rates):.0f}", "aim 833")
        sizes = []
        for count in (2_000, 20_000):
            looped(path, out / "looped.mp4", count)
            sizes.append(largest_process(out / "looped.mp4", out))
        line("largest process at 2,000 frames, MB", f"{sizes[0]:.0f}", "< 600")
        line("at 20,000 frames / at 2,000", f"{sizes[1] / sizes[0]:.2f}", "<= 1.10")


def line(what: str, figure: str, goal: str) -> None:
    print(f"{what:<46}{figure:>8}   {goal}")


if __name__ == "__main__":
    main()
