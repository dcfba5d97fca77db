"""Screening of a whole exam: against a loop over its frames, with two workers, and its memory.

The phantom exam of 3,000 frames is rendered once into the folder for temporary files. CPU times are
those of one process after a warm-up; seconds are those of the whole command.
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

FRAMES = 3000
REPEATS = 3


def main() -> None:
    path = exam()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        (done,) = capsieve.screen(path, out / "one", workers=1, overwrite=True)
        assert done.record is not None
        view = done.record["fields_of_view"][0]
        field = capsieve.FieldOfView("circle", view["row"], view["col"], view["radius"])
        detector = capsieve.load_detector("paper")
        detector.score(next(decoded(path)), field)
        to_loop, to_decoding = [], []
        for _ in range(REPEATS):
            alone = cpu(lambda: sum(1 for _ in decoded(path)))
            loop = cpu(lambda: [detector.score(frame, field) for frame in decoded(path)])
            whole = cpu(lambda: capsieve.screen(path, out / "one", workers=1, overwrite=True))
            to_loop.append(whole / loop)
            to_decoding.append(whole / alone)
        line("CPU time / loop of decoding and scoring", f"{median(to_loop):.2f}", "<= 1.4")
        line("CPU time / decoding to RGB alone", f"{median(to_decoding):.2f}", "<= 2.6, aim 2.4")
        long = looped(path, out / "long.mp4", 12_000)
        (one, _), (two, _) = run(long, out / "one", 1), run(long, out / "two", 2)
        line("one worker / two workers, 12,000 frames", f"{one / two:.2f}", ">= 1.7")
        line("frames per second with two workers", f"{12_000 / two:.0f}", "aim 833")
        sizes = [run(looped(path, out / "long.mp4", n), out / "two", 2)[1] for n in (2_000, 20_000)]
        line("largest process at 2,000 frames, MB", f"{sizes[0]:.0f}", "< 600")
        line("at 20,000 frames / at 2,000", f"{sizes[1] / sizes[0]:.2f}", "<= 1.10")


def exam() -> Path:
    """Return the video of the exam; it is rendered if it is missing."""
    study = Path(tempfile.gettempdir()) / "capsieve-benchmark-study"
    options = ["--patients", "1", "--frames", str(FRAMES), "--polyps", "6", "--seed", "3"]
    command = ["phantom", "-o", str(study), *options, "--quiet"]
    if not (study / "labels.csv").exists():
        subprocess.run([sys.executable, "-m", "capsieve", *command], check=True)
    return next((study / "exams").glob("*.mp4"))


def decoded(path: Path):
    """Decode to RGB on one thread."""
    with av.open(str(path)) as container:
        container.streams.video[0].codec_context.thread_count = 1
        for frame in container.decode(video=0):
            yield frame.to_ndarray(format="rgb24")


def looped(path: Path, target: Path, frames: int) -> Path:
    """Write the packets of a video repeatedly until there are `frames` of them."""
    with av.open(str(path)) as source, av.open(str(target), "w") as sink:
        stream = source.streams.video[0]
        copy = sink.add_stream_from_template(stream)
        packets = [packet for packet in source.demux(stream) if packet.size]
        stamps = [(p.pts or 0, p.dts or 0, bytes(p), p.is_keyframe) for p in packets]
        length = max(pts for pts, *_ in stamps) + (stamps[1][1] - stamps[0][1])
        for number in range(frames):
            turn, place = divmod(number, len(stamps))
            pts, dts, data, key = stamps[place]
            packet = av.Packet(data)
            packet.pts, packet.dts = pts + turn * length, dts + turn * length
            packet.time_base, packet.stream = stream.time_base or Fraction(1), copy
            packet.is_keyframe = key
            sink.mux(packet)
    return target


def cpu(work: Callable[[], object]) -> float:
    """Return the CPU seconds of a call."""
    started = time.process_time()
    work()
    return time.process_time() - started


def run(path: Path, out: Path, workers: int) -> tuple[float, float]:
    """Run the command; return its seconds and the megabytes of its largest process."""
    options = ["--workers", str(workers), "--overwrite", "--quiet"]
    command = [sys.executable, "-m", "capsieve", "screen", str(path), "-o", str(out), *options]
    started, largest = time.monotonic(), 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            with suppress(OSError, IndexError):  # processes end at any time
                for pid in [str(process.pid), *children.read_text().split()]:
                    status = Path(f"/proc/{pid}/status").read_text()
                    largest = max(largest, int(status.split("VmHWM:")[1].split()[0]))
            time.sleep(0.1)
    assert process.returncode == 0
    return time.monotonic() - started, largest / 1024


def line(title: str, figure: str, goal: str) -> None:
    print(f"{title:<52}{figure:>8}   {goal}")
