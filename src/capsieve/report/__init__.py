"""Reports: one kit, and the reports that use it.

The kit: text (numbers and names for people), tables, figures, page (templates, images, PDF),
provenance, timeline_scale and timeline. words and evidence: the decision about a frame as text, and
with values, shapes, maps, figure and JSON. The reports: exam, and index over several exams;
evaluation with its tables (evaluation_tables, comparison_tables, count_tables, point_tables),
evaluation_figures and galleries; reading_report. A report is a module that passes values, and a
template that formats them.

The figures of the paper are functions from values to a Drawing: data_flow; nine_panels;
step_figures (texture, geometry, balls, errors); evaluation_figures (histograms, ROC curves);
robustness_figure. learned_panels is the figure of other detectors.
"""
