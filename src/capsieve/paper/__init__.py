"""The published detector, one module per step.

Mamonov, Figueiredo, Figueiredo and Tsai, "Automated polyp detection in colon capsule endoscopy",
IEEE Transactions on Medical Imaging 33 (2014). Equation numbers in the modules are the paper's.

algorithm      Algorithm 1: `analyze`, `explain`
detector       the same behind the interface of detectors
steps          the step functions under one name, and a recorder of their results
many_settings  `analyze_each`: one frame with many settings
working_frame  the working grid, resampling, the channel
mask           the circular mask
vignetting     correction of the fall-off of light
extension      continuation outside the mask
filters        Gaussian filters
texture        cartoon + texture, texture energy, pre-selection
midpass        mid-pass filter, segmentation threshold
features       connected components, their geometry, best-fit ball, classification
ellipse        the ellipse of inertia of a feature
kernels/       compiled loops
"""
