# The public names, for type checkers and for the lazy imports of __init__.py.

from .plan import ExamPlan as ExamPlan
from .plan import StudyPlan as StudyPlan
from .plan import plan_exam as plan_exam
from .plan import plan_study as plan_study
from .render import PhantomFrame as PhantomFrame
from .render import render_frame as render_frame
from .sample import polyp_frame as polyp_frame
from .write import write_study as write_study
