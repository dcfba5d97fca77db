"""Whether a frame shows enough of the wall to be judged: a learned pre-selection."""
