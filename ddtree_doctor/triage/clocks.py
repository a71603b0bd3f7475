"""The times that log lines carry, as seconds since the year began."""

from __future__ import annotations

from ddtree_doctor.triage.patterns import pattern

__all__ = ["seconds"]

DAYS = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)
MONTHS = {name: n for n, name in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), start=1)}
# One pattern for every spelling: ISO, syslog (Nov 03), vLLM (11-03), glog (1103).
STAMP = pattern(
    r"(?:(?:\d{4}-)?(\d\d)-(\d\d)|([A-Z][a-z]{2}) {1,2}(\d{1,2})|(\d\d)(\d\d))[T ]"
    r"(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?:([+-])(\d\d):?(\d\d))?"
)


def seconds(stamp: str) -> float | None:
    """Seconds since the year began that `stamp` tells, in UTC where it gives an offset; None where it is no time."""
    found = STAMP.match(stamp)
    if found is None:
        return None
    month = MONTHS.get(found[3], 0) if found[3] else int(found[1] or found[5])
    day = int(found[2] or found[4] or found[6])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    whole = ((DAYS[month - 1] + day - 1) * 24 + int(found[7])) * 3600 + int(found[8]) * 60 + int(found[9])
    offset = (int(found[12]) * 3600 + int(found[13]) * 60) * (-1 if found[11] == "-" else 1) if found[11] else 0
    return whole - offset + float(f"0.{found[10] or 0}")
