"""Text that would do harm in a sink that took it raw."""

from hypothesis import strategies as st

CLASSICS = (
    "\x1b[2J\x1b]0;owned\x07",
    "[/b][link=https://example.org]x[/link]",
    "\n::error::planted\n",
    "<script>alert(1)</script>|`` ` ``|",
    "\u202eright-to-left\u202c\u200b",
    "\x00\x01\x0b\ufffe\uffff",
    "\ud800 lone surrogate",
    "]]><testcase/>",
)

texts = st.one_of(st.sampled_from(CLASSICS), st.text(st.characters(), max_size=60))
