"""The paper's detector: one module per step, in the paper's order.

gray, vignetting, extension, texture, midpass, segmentation, geometry, ball, decision

Mamonov, Figueiredo, Figueiredo and Tsai, "Automated polyp detection in colon capsule endoscopy",
IEEE Transactions on Medical Imaging 33 (2014).
"""
