"""Speed as ratios that are measured in one run. `make bench` prints the table."""
