"""Screening a whole exam: against a bare loop, against decoding alone, with two workers; memory.

``python -m benchmarks screening`` renders a phantom exam of 3,000 frames once and keeps it in the
folder for temporary files. CPU times are those of one process in which everything was loaded
before. Seconds are those of the whole command, start-up and report included.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from statistics import median

import av

import capsieve
from capsieve.phantom import plan_study, write_study

FRAMES = 3000
LONG = 12_000  # start-up, field of view and report weigh little in it, as in real exams
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


def screened(path: Path, out: Path) -> capsieve.ScreenedExam:
    """Screen in this process."""
    (done,) = capsieve.screen(path, out, workers=1, fresh=True)
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


def command(path: Path, out: Path, workers: int) -> list[str]:
    """Return the command line that a user would type."""
    options = ["--workers", str(workers), "--fresh", "--quiet"]
    return [sys.executable, "-m", "capsieve", "screen", str(path), "-o", str(out), *options]


def run(path: Path, out: Path, workers: int) -> None:
    """Run that command."""
    subprocess.run(command(path, out, workers), check=True, stdout=subprocess.DEVNULL)


def largest_process(path: Path, out: Path) -> float:
    """Return the most megabytes that a process of a run with two workers ever had."""
    most = 0
    with subprocess.Popen(command(path, out, 2), stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            with suppress(OSError, IndexError):  # they come and go
                for pid in [str(process.pid), *children.read_text().split()]:
                    status = Path(f"/proc/{pid}/status").read_text()
                    most = max(most, int(status.split("VmHWM:")[1].split()[0]))
            time.sleep(0.05)
    return most / 1024


def main() -> None:
    path = exam()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        record = screened(path, out / "one").record
        assert record is not None
        view = record["views"][0]
        field = capsieve.FieldOfView("circle", view["row"], view["col"], view["radius"])
        bare_loop(path, field)
        ratios, to_decoding, speed_up = [], [], []
        for _ in range(ROUNDS):
            plain = cpu(lambda: decode(path))
            bare = cpu(lambda: bare_loop(path, field))
            whole = cpu(lambda: screened(path, out / "one"))
            ratios.append(whole / bare)
            to_decoding.append(whole / plain)
            one = wall(lambda: run(path, out / "one", 1))
            two = wall(lambda: run(path, out / "two", 2))
            speed_up.append(one / two)
        line("CPU time / bare loop of decoding and analyze", f"{median(ratios):.2f}", "<= 1.25")
        line("CPU time / decoding to RGB alone", f"{median(to_decoding):.2f}", "aim 3")
        line(f"two workers / one, {FRAMES} frames, whole command", f"{median(speed_up):.2f}", "")
        looped(path, out / "looped.mp4", LONG)
        one = wall(lambda: run(out / "looped.mp4", out / "one", 1))
        two = wall(lambda: run(out / "looped.mp4", out / "two", 2))
        line(f"two workers / one, {LONG} frames, whole command", f"{one / two:.2f}", ">= 1.7")
        line("frames per second of it with two workers", f"{LONG / two:.0f}", "aim 833")
        sizes = []
        for count in (2_000, 20_000):
            looped(path, out / "looped.mp4", count)
            sizes.append(largest_process(out / "looped.mp4", out))
        line("largest process at 2,000 frames, MB", f"{sizes[0]:.0f}", "< 600")
        line("at 20,000 frames / at 2,000", f"{sizes[1] / sizes[0]:.2f}", "<= 1.10")


def line(what: str, figure: str, goal: str) -> None:
    print(f"{what:<52}{figure:>8}   {goal}")


if __name__ == "__main__":
    main()
