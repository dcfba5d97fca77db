"""The words of a reading: what may be said, and how people say it."""

from typing import Literal, get_args

__all__ = [
    "CLEANLINESS_GRADES",
    "CLEANLINESS_SEGMENTS",
    "KINDS",
    "LANDMARKS",
    "PARIS",
    "SEGMENTS",
    "SIZES",
    "VERDICTS",
    "Kind",
]

Kind = Literal[
    "verdict",
    "finding",
    "landmark",
    "cleanliness",
    "note",
    "urgent",
    "confirm",
    "undo",
    "sign",
    "reopen",
]

KINDS: tuple[Kind, ...] = get_args(Kind)
"""What an action can be."""

VERDICTS = {"accept": "polyp", "reject": "no polyp", "unsure": "unsure"}
"""What is said of an event or a frame."""

SIZES = {
    "diminutive": "diminutive (up to 5 mm)",
    "small": "small (6 to 9 mm)",
    "large": "large (10 mm or more)",
}
"""Classes of size, as guidelines for surveillance draw them."""

PARIS = {
    "0-Ip": "0-Ip, pedunculated",
    "0-Isp": "0-Isp, subpedunculated",
    "0-Is": "0-Is, sessile",
    "0-IIa": "0-IIa, slightly elevated",
    "0-IIb": "0-IIb, flat",
    "0-IIc": "0-IIc, slightly depressed",
    "0-III": "0-III, excavated",
}
"""The Paris classification of superficial lesions.

References
----------
The Paris endoscopic classification of superficial neoplastic lesions, Gastrointest. Endosc. 58
(2003) S3-S43.
"""

LANDMARKS = {
    "first-colon": "first frame of the colon",
    "caecum": "caecum",
    "hepatic-flexure": "hepatic flexure",
    "splenic-flexure": "splenic flexure",
    "rectum": "rectum",
    "last-colon": "last frame of the colon",
}
"""In the order in which a capsule passes them."""

SEGMENTS = {
    "right": "right colon",
    "caecum": "caecum",
    "ascending": "ascending colon",
    "hepatic-flexure": "hepatic flexure",
    "transverse": "transverse colon",
    "splenic-flexure": "splenic flexure",
    "left": "left colon",
    "descending": "descending colon",
    "sigmoid": "sigmoid colon",
    "rectum": "rectum",
}
"""Where a finding lies, as finely as the reader can tell: "right" where no more can be told."""

CLEANLINESS_SEGMENTS = {
    "right": "right colon",
    "transverse": "transverse colon",
    "left": "left colon with rectum",
}
"""The three segments that CC-CLEAR grades."""

CLEANLINESS_GRADES = {
    0: "less than 50 % of the mucosa seen",
    1: "50 to 75 % of the mucosa seen",
    2: "more than 75 % of the mucosa seen",
    3: "more than 90 % of the mucosa seen",
}
"""The grades of one segment."""
