"""DD405: DD305 on a GPU, with real CUDA graphs."""

from __future__ import annotations

from ddtree_doctor.checks.dd305_other_rows_kept_than_accepted import OtherRowsKeptThanAccepted


class GpuOtherRowsKeptThanAccepted(OtherRowsKeptThanAccepted):
    """On a GPU other rows are kept after the verify walk, or other slots freed, than were accepted."""

    code = "DD405"
    tier = "replay-gpu"
    host = "gpu"
