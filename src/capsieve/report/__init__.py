"""Reports: one kit, and the reports that use it.

The kit: text (numbers and names for people), tables, figures, page (templates, images, PDF),
provenance, timeline. The reports: evaluation with evaluation_tables, evaluation_figures and
galleries; exam_report; reading_report; the figures of explain in nine_panels and learned_panels. A
report is a module that passes values, and a template that formats them.

The figures of the paper are functions from values to a Drawing: data_flow; nine_panels;
step_figures (texture, geometry, balls, errors); evaluation_figures (histograms, ROC curves);
robustness_figure.
"""
