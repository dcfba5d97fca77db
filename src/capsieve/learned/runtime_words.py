"""What onnxruntime says when a model fails, in words that help.

Its messages begin with codes, places and signatures of its own source; what matters comes last.
"""

__all__ = ["load_failure", "run_failure", "said"]

_LONGEST = 300


def said(error: Exception) -> str:
    """Return onnxruntime's words without what only its authors can use.

    They look like ``[ONNXRuntimeError] : 7 : NAME : Status Message: /a/b.cc:56 void f(int) words``.
    """
    text = " ".join(str(error).split())
    if text.startswith("[ONNXRuntimeError]"):
        text = text.split(" : ", 3)[-1]
    before, found, after = text.partition("/onnxruntime_src/")
    if found:
        text = before.removesuffix("Status Message: ") + _after_signature(after)
    text = text.strip().rstrip(".")
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def load_failure(error: Exception, version: str) -> str:
    """Return why a model cannot be loaded, and what to do.

    Parameters
    ----------
    error
        Of onnxruntime.
    version
        Of onnxruntime.
    """
    words = said(error)
    if "Unsupported model IR version" in words or "is under development" in words:
        return (
            f"it is in a newer ONNX than this onnxruntime ({version}) knows; install a newer "
            "onnxruntime, or export the model for an older opset"
        )
    return f"{words}; export the model again, or try another onnxruntime than {version}"


def run_failure(error: Exception, *, open_size: int | None) -> str:
    """Return why a model failed on a frame, and what to do.

    Parameters
    ----------
    error
        Of onnxruntime.
    open_size
        image.size where the graph leaves it open; None where the graph itself says it.
    """
    words = said(error)
    if open_size is None:
        return f"{words}; export the model again"
    return (
        f"{words}; the graph leaves image.size open, but may not run with {open_size}: say the "
        "size that it was trained with, or a multiple of 32"
    )


def _after_signature(text: str) -> str:
    """Return what follows a place in the source and a signature: ``b.cc:56 void f(int) words``."""
    first = text.find("(")
    if first < 0:
        return text
    depth = 0
    for place in range(first, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            rest = text[place + 1 :].strip().removeprefix("const ")
            return rest or text
    return text
