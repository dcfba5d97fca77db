"""The exams that are open at once: few, the last ones used."""

from collections import OrderedDict
from pathlib import Path
from threading import Lock

from capsieve.errors import FileError
from capsieve.review.frames.access import Caches, ExamFrames
from capsieve.store.record import RECORD

__all__ = ["OpenExams"]

_MOST = 4


class OpenExams:
    """Opens exams when they are asked for, and closes those that nobody asked for lately.

    Parameters
    ----------
    most
        How many keep their files and decoders open.
    caches
        What they keep in memory together.
    """

    def __init__(self, *, most: int = _MOST, caches: Caches | None = None) -> None:
        self._most = most
        self.caches = caches or Caches()
        self._open: OrderedDict[Path, tuple[tuple[int, int], ExamFrames]] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._open)

    def exam(self, folder: Path) -> ExamFrames:
        """Return the frames of an exam; anew where it was screened again since.

        Raises
        ------
        FileError
            There is no screened exam.
        """
        try:
            status = (folder / RECORD).stat()
        except OSError as error:
            raise FileError(f"{folder} holds no screened exam: there is no {RECORD}") from error
        written = status.st_mtime_ns, status.st_size
        gone: list[ExamFrames] = []
        with self._lock:
            known = self._open.pop(folder, None)
            if known is not None and known[0] != written:
                gone.append(known[1])
                known = None
            exam = known[1] if known else ExamFrames(folder, caches=self.caches)
            self._open[folder] = (written, exam)
            while len(self._open) > self._most:
                gone.append(self._open.popitem(last=False)[1][1])
        for each in gone:
            each.release()
        return exam

    def close(self) -> None:
        """Close all."""
        with self._lock:
            exams = [exam for _, exam in self._open.values()]
            self._open.clear()
        for exam in exams:
            exam.release()
