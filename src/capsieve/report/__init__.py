"""Pictures and words about results."""
