"""The review app: a page in which an exam is read, decided and signed.

A request passes through ``server`` (connections), ``headers`` and ``security`` (who may ask), and
``app`` (routes). Routes get what they share from ``state``; their bodies are in ``messages``.
"""
