"""Draft trees: the reference DDTree builder, its mask and its verify walk."""
