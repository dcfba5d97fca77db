"""What matching found wrong with labels, for tests."""


def problems_of(matched):
    return {problem.what: problem.rows for problem in matched.problems}


def examples_of(matched, words):
    (found,) = [problem for problem in matched.problems if words in problem.what]
    return found.examples
