"""Names, units and definitions of all metrics, for people."""

from typing import Literal, NamedTuple

Unit = Literal["share", "area", "frames", "events", "score"]


class Definition(NamedTuple):
    """Name, unit and definition of a metric, for people.

    `among` names what a proportion is a share of, for the note of a metric without a value.
    """

    name: str
    unit: Unit
    text: str
    among: str = ""


_AUC = (
    "Chance that a {unit} scores higher than a normal frame, ties counted half. Frames that were "
    "rejected or not scored have the lowest rank."
)
_UNITS = {"frames": "frame", "polyps": "{polyp}"}

# {polyp} is "polyp", or "run" if runs of frames are used as polyps; {target} is the target
# specificity in percent.
DEFINITIONS: dict[str, Definition] = {
    "frames.sensitivity": Definition(
        "Sensitivity per frame",
        "share",
        "Flagged polyp frames among all polyp frames.",
        "polyp frames",
    ),
    "frames.specificity": Definition(
        "Specificity",
        "share",
        "Normal frames that are not flagged among all scored normal frames.",
        "scored normal frames",
    ),
    "frames.false_positives_per_exam": Definition(
        "False positives per exam", "frames", "Flagged normal frames per exam."
    ),
    "frames.normal_per_exam": Definition(
        "Normal frames per exam", "frames", "Scored normal frames per exam."
    ),
    "polyps.sensitivity": Definition(
        "Sensitivity per {polyp}",
        "share",
        "{polyp}s with at least one flagged frame among all {polyp}s.",
        "named {polyp}s",
    ),
    "polyps.sensitivity_long": Definition(
        "Sensitivity per {polyp} of 5 frames or more",
        "share",
        "{polyp}s with at least one flagged frame among all {polyp}s of 5 frames or more.",
        "{polyp}s of 5 frames or more",
    ),
    "frames.auc": Definition("AUC per frame", "area", _AUC.format(unit="polyp frame")),
    "polyps.auc": Definition(
        "AUC per {polyp}",
        "area",
        _AUC.format(unit="{polyp}") + " The score of a {polyp} is that of its best frame.",
    ),
    **{
        f"{key}.sensitivity_at_target": Definition(
            f"Sensitivity per {unit} at {{target}} % specificity",
            "share",
            f"Highest sensitivity per {unit} of a threshold that at least {{target}} % of the "
            "normal frames do not reach. The threshold is chosen on the same frames, so the value "
            "is optimistic.",
        )
        for key, unit in _UNITS.items()
    },
    **{
        f"preselection.{key}": Definition(
            f"{what[:1].upper()}{what[1:]} that pass pre-selection",
            "share",
            f"Scored {what} that pre-selection does not reject, among all scored {what}.",
            f"scored {what}",
        )
        for key, what in {
            "polyp": "polyp frames",
            "normal": "normal frames",
            "other": "frames with another finding",
        }.items()
    },
    "effort.frames_per_exam": Definition(
        "Frames to read per exam",
        "frames",
        "Flagged frames per exam, labelled or not. Near-duplicates of a flagged frame of the same "
        "event are not counted.",
    ),
    "effort.frames_whole_exam": Definition(
        "Frames of a whole exam", "frames", "All frames per exam, flagged or not."
    ),
    "effort.share_of_frames": Definition(
        "Share of the frames to read",
        "share",
        "Frames to read among all frames of all exams.",
        "frames",
    ),
    "effort.events_per_exam": Definition(
        "Events to read per exam",
        "events",
        "Groups of flagged frames that may show the same polyp, per exam.",
    ),
    "effort.false_events_per_exam": Definition(
        "False events per exam",
        "events",
        "Events with a normal frame and without a polyp frame, per exam.",
    ),
    **{
        f"baseline.{key}.auc": Definition(
            f"AUC of {name}",
            "area",
            f"Area under the ROC curve per frame if {what} were the score, on the same frames.",
        )
        for key, name, what in (
            (
                "redness",
                "mean redness",
                "the share of red in the mean colour, red / (red + green + blue),",
            ),
            ("brightness", "mean brightness", "the mean of red, green and blue"),
            ("sharpness", "sharpness", "the variance of the Laplacian"),
        )
    },
    "localisation.frames": Definition(
        "Hit rate per frame",
        "share",
        "Polyp frames whose best place is inside the outline of a polyp, among all polyp frames "
        "with an outline, flagged or not.",
        "polyp frames with a usable outline",
    ),
    "localisation.flagged": Definition(
        "Hit rate per flagged frame",
        "share",
        "Flagged polyp frames whose best place is inside the outline of a polyp, among all flagged "
        "polyp frames with an outline.",
        "flagged polyp frames with a usable outline",
    ),
    "localisation.polyps": Definition(
        "Hit rate per {polyp}",
        "share",
        "{polyp}s with a flagged frame whose best place is inside the outline of that {polyp}, "
        "among all {polyp}s with an outline.",
        "outlines of named {polyp}s",
    ),
}
"""Every metric by its key."""
