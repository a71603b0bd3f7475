"""The command line: `doctor` and `ddtree-doctor`."""
