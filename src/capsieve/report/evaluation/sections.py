"""The sections of the page: which numbers, tables and figures stand where, and why one is empty."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from capsieve.report.evaluation.figure_words import figure_alt, figure_caption
from capsieve.report.evaluation.operating import is_paper
from capsieve.report.evaluation.page_rows import MetricTable, PageTable, metric_table, page_table
from capsieve.report.evaluation.symbols import html_symbols
from capsieve.report.formats import plain
from capsieve.statistics.evaluation import Evaluation
from capsieve.statistics.metric import Metric
from capsieve.statistics.table import Table

__all__ = ["Drawn", "PageFigure", "Section", "sections"]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure as an SVG address, and its width and height in CSS pixels."""

    address: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class PageFigure:
    """A figure with its words."""

    drawn: Drawn
    alt: str
    caption: Markup


@dataclass(frozen=True, slots=True)
class Section:
    """A section: words, numbers, figures, tables; or one line that says why it is empty."""

    key: str
    title: str
    intro: Markup
    metrics: MetricTable
    figures: list[PageFigure]
    tables: list[PageTable]
    empty: str


@dataclass(frozen=True, slots=True)
class _Plan:
    key: str
    title: str
    intro: str
    tables: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    empty: str = ""  # why nothing is there; without it the section is left out


_SUBSETS = ("all", "train", "test", "cross-fitted")
_PLANS = (
    _Plan(
        "rates",
        "Sensitivity and specificity",
        "Sensitivity: what is found of what is there. Specificity: what is rightly passed over of "
        "what is normal. Per polyp, one flagged frame is enough.",
        ("cross-fitted",),
    ),
    _Plan(
        "roc",
        "ROC curves",
        "Every threshold is a point. Pre-selection rejects frames before they get a score, so the "
        "curve ends short of (100 %, 100 %); only the area under the whole curve takes the dotted "
        "way from there for granted.",
        figures=("roc", "roc-low"),
        empty="There is no curve: it takes labelled frames of both classes.",
    ),
    _Plan(
        "polyps",
        "Polyp by polyp",
        "A polyp is found where at least one of its frames is flagged.",
        ("sequences",),
        empty="The labels name no polyp.",
    ),
    _Plan(
        "patients",
        "Patient by patient",
        "How the false positives spread over patients.",
        ("false-positives-per-patient",),
        ("false-positives-per-patient",),
        "There are no normal frames that were scored.",
    ),
    _Plan(
        "preselection",
        "Pre-selection, and the values that decide",
        "Frames with too little or too much texture (T_max below T_L or above T_U) are set aside "
        "before anything is measured in them.",
        ("reasons",),
        ("histogram-texture-max", "histogram-radius-max"),
    ),
    _Plan(
        "effort",
        "Reading effort",
        "What a reader has to look at for what is found.",
        ("reading-effort",),
        ("reading-effort",),
        "No exam has frames to read.",
    ),
    _Plan(
        "alarms",
        "Alarms, as a reader meets them",
        "Flagged frames that follow each other are one alarm. A polyp counts as found only if an "
        "alarm comes in time.",
        ("alarms",),
        ("alarms",),
        "The times of the frames are unknown: frames cannot be joined into alarms.",
    ),
    _Plan(
        "localisation",
        "Does the ball lie on the polyp?",
        "A frame may be flagged for the wrong reason. Where outlines of polyps are known, the "
        "centre of the ball should lie inside one.",
        ("localisation", "localisation-polyps"),
        ("froc",),
        "No outlines of polyps (masks or boxes) were given.",
    ),
    _Plan(
        "causes",
        "What the false positives show",
        "Frames labelled with another finding belong to neither class; they are counted here, "
        "apart from sensitivity and specificity.",
        ("causes",),
        ("causes",),
        "The labels name no other findings.",
    ),
)


def sections(evaluation: Evaluation, drawn: Mapping[str, Drawn]) -> list[Section]:
    """Return the sections in the order of the page.

    Parameters
    ----------
    evaluation
        All numbers.
    drawn
        The figures by name.
    """
    found: list[Section] = []
    used: set[str] = {"accounts", "operating-points"}  # the page shows them by itself
    for plan in _PLANS if is_paper(evaluation) else map(_for_scores, _PLANS):
        tables = [table for key in plan.tables if (table := _table(evaluation, key)) is not None]
        if plan.key == "causes" and not evaluation.judged.findings:
            tables = []
        used |= set(plan.tables)
        metrics = [m for m in evaluation.metrics if _section_of(m) == plan.key]
        names = [name for name in plan.figures if name in drawn]
        if plan.key == "causes" and not tables:
            names = []
        empty = "" if tables or names or any(m.value is not None for m in metrics) else plan.empty
        if not (tables or names or metrics or empty):
            continue
        notes = [m.note for m in metrics if m.note] if empty else []
        found.append(
            _section(
                evaluation,
                drawn,
                key=plan.key,
                title=plan.title,
                intro="" if empty else _intro(evaluation, plan),
                metrics=[] if empty else metrics,
                names=[] if empty else names,
                tables=tables,
                empty=empty and " ".join(dict.fromkeys([empty, *notes][:1])),
            )
        )
    if evaluation.comparison is not None:
        used |= {evaluation.comparison.values.key, evaluation.comparison.changed.key}
        found.append(_comparison(evaluation, drawn))
    rest = [table for table in evaluation.tables if table.key not in used]
    if rest:
        found.append(_section(evaluation, drawn, key="more", title="Further tables", tables=rest))
    return found


def _for_scores(plan: _Plan) -> _Plan:
    """Return the plan in the words of a detector whose score alone decides."""
    if plan.key == "preselection":
        intro = "Frames whose score is at least the threshold are flagged."
        return replace(plan, title="Scores", intro=intro, figures=("histogram-score",))
    if plan.key == "roc":
        return replace(plan, intro=plan.intro.partition(". ")[0] + ".")
    if plan.key == "localisation":
        return replace(
            plan,
            title="Does it point at the polyp?",
            intro="A frame may be flagged for the wrong reason. Where outlines of polyps are "
            "known, the place that the detector points at should lie inside one.",
        )
    return plan


def _intro(evaluation: Evaluation, plan: _Plan) -> str:
    """The words of a plan, as far as they are true of this evaluation."""
    curve = evaluation.roc_frames
    if plan.key != "roc" or curve is None or curve.false_positive_rate[-1] < 1:
        return plan.intro
    return plan.intro.partition(". ")[0] + "."


def _comparison(evaluation: Evaluation, drawn: Mapping[str, Drawn]) -> Section:
    comparison = evaluation.comparison
    assert comparison is not None
    return _section(
        evaluation,
        drawn,
        key="comparison",
        title="Compared with other results",
        intro=f"{comparison.name} against {comparison.other}, on the same frames. Differences are "
        "the first minus the second; those of shares are in percentage points.",
        metrics=comparison.metrics,
        names=[name for name in ("comparison",) if name in drawn],
        tables=[table for table in (comparison.values, comparison.changed) if table.rows],
        signed=True,
    )


def _section(
    evaluation: Evaluation,
    drawn: Mapping[str, Drawn],
    *,
    key: str,
    title: str,
    intro: str = "",
    metrics: Sequence[Metric] = (),
    names: Sequence[str] = (),
    tables: Sequence[Table] = (),
    empty: str = "",
    signed: bool = False,
) -> Section:
    return Section(
        key=key,
        title=title,
        intro=html_symbols(plain(intro)),
        metrics=metric_table(metrics, signed=signed),
        figures=[
            PageFigure(
                drawn[name], figure_alt(evaluation, name), html_symbols(figure_caption(name))
            )
            for name in names
        ],
        tables=[page_table(table) for table in tables],
        empty=empty,
    )


def _table(evaluation: Evaluation, key: str) -> Table | None:
    return next((table for table in evaluation.tables if table.key == key), None)


def _section_of(metric: Metric) -> str:
    """The section of a metric, by the first words of its key; "" for single folds.

    A fold has a line in the table of folds; its metrics are among the definitions.
    """
    first, *more = metric.key.split(".")
    if first in ("frames", "polyps"):
        if more and more[0].startswith(("auc", "sensitivity_at")):
            return "roc"
        return "rates" if more and more[0] in _SUBSETS else ""
    return first
