"""Reports: one kit, and the reports that use it.

The kit: :mod:`text` (numbers and names for people), :mod:`tables`, :mod:`figures`, :mod:`page`
(templates, images, PDF), :mod:`provenance`, :mod:`timeline`. The reports: :mod:`evaluation` with
:mod:`evaluation_tables`, :mod:`evaluation_figures` and :mod:`galleries`; :mod:`exam_report`; :mod:`reading_report`; the
figures of explain in :mod:`nine_panels` and :mod:`learned_panels`. A report is a module that passes
values, and a template that formats them.
"""
